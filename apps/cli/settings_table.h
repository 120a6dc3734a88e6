// What the settings of every table have in common: where each comes from, and how its value is written.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/settings.h"
#include "src/declaration/choices.h"
#include "src/declaration/document.h"
#include "src/declaration/duration.h"

namespace onceward::cli {

template <class Enum>
nlohmann::ordered_json word_of(Enum value) {
  for (const auto& choice : declaration::Choices<Enum>::all) {
    if (choice.value == value) return choice.word;
  }
  return nullptr;
}

template <class Enum>
nlohmann::ordered_json word_of(const std::optional<Enum>& value) {
  return value ? word_of(*value) : nlohmann::ordered_json(nullptr);
}

inline nlohmann::ordered_json text_or_none(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

// Adds settings of one table of the file, and looks up where each stands.
class SettingsTable {
 public:
  SettingsTable(std::vector<Setting>& settings, std::string_view file, std::string prefix,
                const declaration::Node* node)
      : settings_(settings), file_(file), prefix_(std::move(prefix)), node_(node) {}

  void add(const std::string& key, nlohmann::ordered_json value) {
    settings_.push_back({prefix_ + key, std::move(value), origin_of(key)});
  }

  // The table under a key of this one.
  SettingsTable under(const std::string& key) const {
    const auto* table = node_ ? std::get_if<declaration::Table>(&node_->value) : nullptr;
    const auto* entry = table ? table->find(key) : nullptr;
    return {settings_, file_, prefix_ + key + ".", entry ? &entry->value : nullptr};
  }
  // An element of the array under a key, under a name of its own.
  SettingsTable element(const std::string& key, std::size_t index, const std::string& name) const {
    const auto* table = node_ ? std::get_if<declaration::Table>(&node_->value) : nullptr;
    const auto* entry = table ? table->find(key) : nullptr;
    const auto* array = entry ? std::get_if<declaration::Array>(&entry->value.value) : nullptr;
    const bool there = array != nullptr && index < array->size();
    return {settings_, file_, fmt::format("{}{}.{}.", prefix_, key, name), there ? &(*array)[index] : nullptr};
  }

 private:
  std::string origin_of(const std::string& key) const {
    const auto* table = node_ ? std::get_if<declaration::Table>(&node_->value) : nullptr;
    const auto* entry = table ? table->find(key) : nullptr;
    return entry ? fmt::format("{}:{}", file_, entry->place.line) : "default";
  }

  std::vector<Setting>& settings_;
  std::string_view file_;
  std::string prefix_;
  const declaration::Node* node_;
};

inline void add_retry(SettingsTable table, const RetryBudget& retry) {
  table.add("attempts", retry.attempts);
  table.add("first_delay", declaration::write_duration(retry.first_delay));
  table.add("longest_delay", declaration::write_duration(retry.longest_delay));
}

// Of what leaves by calls and comes in by requests. What may hold a secret is shown as ***.
void add_endpoint(SettingsTable table, const EndpointDeclaration& endpoint);
void add_calls(const SettingsTable& consumer, const std::vector<CallDeclaration>& calls);
void add_ingress(SettingsTable table, const IngressDeclaration& ingress);

}  // namespace onceward::cli
