// The settings of an application as they hold: each with its value and where that comes from.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "onceward/declaration.h"

namespace onceward::cli {

struct Setting {
  std::string key;  // as TOML names it; a consumer's begin with consumer.NAME
  nlohmann::ordered_json value;
  std::string origin;  // "file:12", "default", or what else has decided
};

// Every setting, in the order of docs/reference/declaration.md. `toml` is the text that `application` was read from. URLs
// are shown without their secrets.
std::vector<Setting> settings_of(const Application& application, std::string_view toml, std::string_view file);

}  // namespace onceward::cli
