// URLs and headers as they may be shown: without what opens a door.
#pragma once

#include <string>
#include <string_view>

namespace onceward::cli {

// The password of user:password@, and the value of every parameter whose name sounds like a secret, as ***.
std::string redacted(std::string_view url);
// Whether a header's value is not shown: it comes from the environment, or its name sounds like a secret.
bool is_secret(std::string_view header, std::string_view value);

}  // namespace onceward::cli
