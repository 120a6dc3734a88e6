#include "apps/checker/published.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace checker {

Published read_published(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("{} cannot be read", path));
  Published published;
  for (std::string line; std::getline(file, line);) {
    const auto entry = nlohmann::json::parse(line);
    if (entry.contains("confirmed")) {
      published.confirmed = entry.at("confirmed").get<std::int64_t>();
      continue;
    }
    Message message;
    message.number = entry.at("number").get<std::int64_t>();
    message.kind = entry.at("kind").get<std::string>();
    message.id = entry.at("id").get<std::string>();
    message.capture = entry.at("capture").get<std::string>();
    message.invoice = entry.at("invoice").get<std::string>();
    message.amount = entry.at("amount").get<std::int64_t>();
    message.currency = entry.at("currency").get<std::string>();
    message.payload = entry.value("payload", std::string());
    published.messages.push_back(std::move(message));
  }
  return published;
}

}  // namespace checker
