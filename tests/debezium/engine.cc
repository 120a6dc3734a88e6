#include "tests/debezium/engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <sstream>

namespace onceward::debezium {
namespace {

constexpr const char* root = ONCEWARD_SOURCE_DIRECTORY;
constexpr std::chrono::minutes patience{3};  // a Java machine that starts beside other tests

std::string content_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(fmt::format("{}/{}", root, file), std::ios::binary).rdbuf();
  return text.str();
}

// What stands between the one and the other, wherever they follow one another.
std::vector<std::string> all_between(const std::string& text, const std::string& before, const std::string& after) {
  std::vector<std::string> all;
  for (std::size_t found = text.find(before); found != std::string::npos; found = text.find(before, found + 1)) {
    const std::size_t begin = found + before.size();
    all.push_back(text.substr(begin, text.find(after, begin) - begin));
  }
  return all;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream all(text);
  for (std::string part; std::getline(all, part, at);) parts.push_back(part);
  return parts;
}

std::string bytes_of(const std::string& hexadecimal) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < hexadecimal.size(); at += 2)
    bytes.push_back(static_cast<char>(std::stoi(hexadecimal.substr(at, 2), nullptr, 16)));
  return bytes;
}

// Where a name stands twice the later one counts.
std::string write_settings(const std::string& directory, const faults::Server& server, const Engine::Options& options) {
  const std::string path = directory + "/settings.properties";
  std::ofstream(path) << options.settings
                      << fmt::format(
                             "\nname=test\ndatabase.hostname=127.0.0.1\ndatabase.port={}\ndatabase.dbname=postgres\n"
                             "offset.storage=org.apache.kafka.connect.storage.FileOffsetBackingStore\n"
                             "offset.storage.file.filename={}\noffset.flush.interval.ms=0\npoll.interval.ms=10\n",
                             server.port(), options.offsets.empty() ? directory + "/offsets" : options.offsets);
  return path;
}

std::vector<std::string> command(const std::string& settings, std::size_t messages) {
  const std::string version = all_between(content_of("scripts/setup/debezium.pin"), "\nDEBEZIUM_VERSION=", "\n").at(0);
  return {"java",
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
          "-cp",
          fmt::format("{}/.deps/debezium/{}/*", root, version),
          fmt::format("{}/tests/debezium/relay.java", root),
          settings,
          std::to_string(messages)};
}

}  // namespace

std::vector<std::string> blocks_of_the_page(const std::string& kind) {
  return all_between(content_of("docs/how-to/debezium.md"), "\n```" + kind + "\n", "```\n");
}

std::vector<std::string> statements_in(const std::string& block) { return split(block, ';'); }

void PrintTo(const Relayed& relayed, std::ostream* out) {
  *out << relayed.topic << " " << relayed.key << " " << testing::PrintToString(relayed.payload);
  for (const std::string& header : relayed.headers) *out << " " << header;
}

Engine::Engine(const faults::Server& server, const Options& options)
    : process_(command(write_settings(directory_.path(), server, options), options.messages)) {}

std::vector<Relayed> Engine::relayed() {
  std::vector<Relayed> all;
  for (const std::string& line : split(process_.output(), '\n')) {
    const std::vector<std::string> parts = split(line, '\t');
    if (parts.size() < 4 || parts[0] != "message") continue;
    all.push_back({parts[1], parts[2], bytes_of(parts[3]), {parts.begin() + 4, parts.end()}});
  }
  return all;
}

void Engine::await(std::size_t messages) {
  fixtures::await(
      fmt::format("{} messages have come", messages),
      [&] {
        const bool running = process_.running();
        if (relayed().size() >= messages) return true;
        if (!running) throw std::runtime_error("Debezium has ended: " + process_.output());
        return false;
      },
      patience);
}

std::vector<Relayed> Engine::finish() {
  if (const int code = process_.wait(patience); code != 0)
    throw std::runtime_error(fmt::format("Debezium has ended with {}: {}", code, process_.output()));
  return relayed();
}

}  // namespace onceward::debezium
