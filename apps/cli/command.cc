#include "apps/cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace onceward::cli {
namespace {

std::string cell(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
}

void print_table(const std::vector<std::string>& names, const std::vector<nlohmann::ordered_json>& rows) {
  std::vector<std::size_t> widths;
  for (const std::string& name : names) {
    std::size_t width = name.size();
    for (const auto& row : rows) width = std::max(width, cell(row.at(name)).size());
    widths.push_back(width);
  }
  const auto line = [&](auto text_of) {
    std::string text;
    for (std::size_t column = 0; column < names.size(); ++column) {
      text += fmt::format("{:<{}}  ", text_of(names[column]), widths[column]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    fmt::print("{}\n", text);
  };
  line([](std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    return name;
  });
  for (const auto& row : rows) line([&](const std::string& name) { return cell(row.at(name)); });
}

}  // namespace

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
    fmt::print("{}\n", nlohmann::ordered_json(rows).dump(2));
  } else if (session.output == "ndjson") {
    for (const auto& row : rows) fmt::print("{}\n", row.dump());
  } else {
    print_table(names, rows);
  }
}

}  // namespace onceward::cli
