#include "apps/checker/gateway.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace checker {

Gateway read_gateway(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("{} cannot be read", path));
  Gateway gateway;
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::json::parse(text);
    if (line.contains("seen")) ++gateway.seen[line.at("seen").get<std::string>()];
    if (!line.contains("captured")) continue;
    gateway.captures.push_back({line.at("captured").get<std::string>(), line.at("capture").get<std::string>(),
                                line.at("reference").get<std::string>(), line.at("amount").get<std::int64_t>()});
  }
  return gateway;
}

}  // namespace checker
