#include "bench/worker/callgrind.h"

#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace onceward::bench {
namespace {

// "(7) name" says the name of 7, "(7)" refers to it.
class Names {
 public:
  std::string named(std::string_view text) {
    if (!text.starts_with('(')) return std::string(text);
    const std::size_t end = text.find(')');
    const std::string number(text.substr(0, end));
    if (end + 1 < text.size()) names_[number] = std::string(text.substr(end + 2));
    return names_[number];
  }

 private:
  std::map<std::string, std::string> names_;
};

std::int64_t number_at(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class Reader {
 public:
  void read(std::string_view line) {
    if (line.empty()) return;
    if (const auto object = after(line, "ob=")) {
      here_.object = objects_.named(*object);
    } else if (const auto called_object = after(line, "cob=")) {
      objects_.named(*called_object);
    } else if (const auto function = after(line, "fn=")) {
      here_.function = functions_.named(*function);
    } else if (const auto called = after(line, "cfn=")) {
      called_ = functions_.named(*called);
    } else if (const auto calls = after(line, "calls=")) {
      if (called_.starts_with("operator new")) profile_.news[here_] += number_at(*calls);
      callee_next_ = true;
    } else if (std::strchr("0123456789+-*", line.front()) != nullptr) {
      if (!callee_next_) profile_.instructions[here_] += number_at(line.substr(line.find(' ') + 1));
      callee_next_ = false;
    }
  }
  Profile profile() { return std::move(profile_); }

 private:
  static std::optional<std::string_view> after(std::string_view line, std::string_view prefix) {
    if (!line.starts_with(prefix)) return std::nullopt;
    return line.substr(prefix.size());
  }

  Names objects_, functions_;
  FunctionName here_;
  std::string called_;
  bool callee_next_ = false;  // the next line is the cost of what was called
  Profile profile_;
};

using Counts = std::map<FunctionName, std::int64_t>;

Counts less(const Counts& earlier, Counts later) {
  for (const auto& [name, count] : earlier) later[name] -= count;
  return later;
}

}  // namespace

Profile read_callgrind(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("callgrind left no " + path);
  Reader reader;
  for (std::string line; std::getline(file, line);) reader.read(line);
  return reader.profile();
}

Profile difference(const Profile& earlier, const Profile& later) {
  return {less(earlier.instructions, later.instructions), less(earlier.news, later.news)};
}

}  // namespace onceward::bench
