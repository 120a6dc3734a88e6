#include "src/ingress/request.h"

#include "src/common/stored_text.h"

namespace onceward::ingress {
namespace {

bool is_name(std::string_view text) { return text.size() <= most_name_bytes && flaw_of(text) == TextFlaw::none; }

}  // namespace

std::optional<Problem> wrong_with(const IngressRequest& request, const IngressOptions& options) {
  if (request.key.empty()) return Problem::key_missing;
  if (request.key.size() > most_name_bytes || !is_printable(request.key)) return Problem::key_malformed;
  if (!is_name(request.principal) || !is_name(request.operation) || !is_name(request.content_type)) {
    return Problem::request_malformed;
  }
  if (request.body.size() > options.most_body_bytes) return Problem::body_too_large;
  return std::nullopt;
}

}  // namespace onceward::ingress
