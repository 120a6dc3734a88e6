// A canonical text is JSON, and canonical itself; what is left out stays left out.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/common/json.h"
#include "src/envelope/canonical_json.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

namespace {

std::variant<std::string, once::Reason> canonical(std::string_view text, const std::vector<std::string>& left_out) {
  const auto parsed = once::parse_json(text, {});
  if (const auto* reason = std::get_if<once::Reason>(&parsed)) return *reason;
  return once::canonical_json(std::get<once::JsonDocument>(parsed), left_out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto once_written = canonical(text, {});
  if (const auto* written = std::get_if<std::string>(&once_written)) {
    ONCEWARD_REQUIRE(canonical(*written, {}) == once_written);
  }
  // Members, not elements: what follows a left-out element takes its place.
  const std::vector<std::string> members{"/a", "/b/c", "/~0/~1"};
  const auto left_out = canonical(text, members);
  // A name may be there twice in what is left out.
  ONCEWARD_REQUIRE(std::holds_alternative<std::string>(left_out) || std::holds_alternative<once::Reason>(once_written));
  if (const auto* written = std::get_if<std::string>(&left_out)) {
    ONCEWARD_REQUIRE(canonical(*written, members) == left_out);
    ONCEWARD_REQUIRE(canonical(*written, {}) == left_out);
  }
  return 0;
}
