// How a kept message is shown to somebody who asked for it: its bytes exactly, and what its envelope says.
#pragma once

#include <nlohmann/json.hpp>

#include "src/records/inbox.h"

namespace onceward::cli {

// Adds `payload` as text or, where it is none, `payload_base64`.
void add_payload(nlohmann::ordered_json& record, const std::string& payload);
// The same and `envelope`.
void add_body(nlohmann::ordered_json& record, const records::Body& body);

}  // namespace onceward::cli
