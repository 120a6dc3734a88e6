// What the URLs of the sources in an application file say, read without asking anybody.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onceward/declaration.h"

namespace onceward::cli {

// Every source whose URL cannot be used, with its place in `toml`, the text that `application` was read from.
std::vector<Mistake> mistakes_in_sources(const Application& application, std::string_view toml,
                                         const std::string& file);

}  // namespace onceward::cli
