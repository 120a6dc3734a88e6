// This process as people know it.
#pragma once

#include <string>

namespace onceward::daemon {

std::string process_name();  // host:pid

}  // namespace onceward::daemon
