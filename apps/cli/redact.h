// URLs as they may be shown: without what opens a door.
#pragma once

#include <string>
#include <string_view>

namespace onceward::cli {

// The password of user:password@, and the value of every parameter whose name sounds like a secret, as ***.
std::string redacted(std::string_view url);

}  // namespace onceward::cli
