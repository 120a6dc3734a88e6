#include "apps/cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace onceward::cli {
namespace {

std::string json_text(const nlohmann::ordered_json& value, int indent = -1) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Ids come from others: what would command the terminal is shown as an escape.
std::string cell(const nlohmann::ordered_json& value) {
  if (!value.is_string()) return value.is_null() ? "-" : json_text(value);
  std::string text;
  for (const char c : value.get<std::string>()) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  return text;
}

// A nested list is a line for each of its elements.
void add_lines(std::string& text, const nlohmann::ordered_json& record, std::size_t width) {
  for (const auto& [name, value] : record.items()) {
    if (!value.is_array()) {
      text += fmt::format("{:<{}}  {}\n", name, width, cell(value));
      continue;
    }
    text += fmt::format("{:<{}}  {}\n", name, width, value.size());
    for (const auto& element : value) text += fmt::format("{:<{}}    {}\n", "", width, cell(element));
  }
}

}  // namespace

std::string table_of(const std::vector<std::string>& names, const std::vector<nlohmann::ordered_json>& rows) {
  std::vector<std::size_t> widths;
  for (const std::string& name : names) {
    std::size_t width = name.size();
    for (const auto& row : rows) width = std::max(width, cell(row.at(name)).size());
    widths.push_back(width);
  }
  std::string table;
  const auto line = [&](auto text_of) {
    std::string text;
    for (std::size_t column = 0; column < names.size(); ++column) {
      text += fmt::format("{:<{}}  ", text_of(names[column]), widths[column]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    table += text + "\n";
  };
  line([](std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    return name;
  });
  for (const auto& row : rows) line([&](const std::string& name) { return cell(row.at(name)); });
  return table;
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& summary,
                      const std::string& example) {
  CLI::App* const command = parent.add_subcommand(name, summary);
  command->footer("Example: " + example);
  return command;
}

void add_output_option(CLI::App& command, Session& session) {
  command.add_option("-o,--output", session.output, "How data is printed on stdout")
      ->check(CLI::IsMember({"table", "json", "ndjson"}))
      ->capture_default_str();
}

void print_rows(const Session& session, const std::vector<std::string>& names,
                const std::vector<nlohmann::ordered_json>& rows) {
  if (session.output == "json") {
    fmt::print("{}\n", json_text(rows, 2));
  } else if (session.output == "ndjson") {
    for (const auto& row : rows) fmt::print("{}\n", json_text(row));
  } else {
    fmt::print("{}", table_of(names, rows));
  }
}

void print_record(const Session& session, const nlohmann::ordered_json& record) {
  if (session.output != "table") return fmt::print("{}\n", json_text(record, session.output == "json" ? 2 : -1));
  std::size_t width = 0;
  for (const auto& [name, value] : record.items()) width = std::max(width, name.size());
  std::string text;
  add_lines(text, record, width);
  fmt::print("{}", text);
}

}  // namespace onceward::cli
