#include "apps/cli/payload.h"

#include "src/common/base64.h"
#include "src/common/stored_text.h"

namespace onceward::cli {

void add_payload(nlohmann::ordered_json& record, const std::string& payload) {
  if (flaw_of(payload) == TextFlaw::none) {
    record["payload"] = payload;
  } else {
    record["payload_base64"] = to_base64(payload);
  }
}

void add_body(nlohmann::ordered_json& record, const records::Body& body) {
  auto envelope = nlohmann::ordered_json::parse(body.envelope, nullptr, false);
  record["envelope"] = envelope.is_discarded() ? nlohmann::ordered_json(body.envelope) : std::move(envelope);
  add_payload(record, body.payload);
}

}  // namespace onceward::cli
