// What the URLs in an application file say, read without asking anybody.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "onceward/declaration.h"

namespace onceward::cli {

// The store, every source and target whose URL cannot be used, and every endpoint whose secrets are not there, with its place in `toml`, the text that `application` was read from.
std::vector<Mistake> mistakes_in_urls(const Application& application, std::string_view toml, const std::string& file);

}  // namespace onceward::cli
