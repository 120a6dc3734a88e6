// The lines of a file or of standard input, one at a time and none longer than a limit.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>

namespace onceward::cli {

class Lines {
 public:
  Lines(std::istream& in, std::size_t most_bytes) : in_(in), most_bytes_(most_bytes) {}

  struct Line {
    std::int64_t number = 0;  // from 1
    std::string text;         // without its end; empty if it was too long
    bool too_long = false;
  };
  // Nothing at the end.
  std::optional<Line> next();
  std::int64_t bytes_read() const { return bytes_read_; }

 private:
  std::istream& in_;
  const std::size_t most_bytes_;
  std::int64_t number_ = 0;
  std::int64_t bytes_read_ = 0;
};

}  // namespace onceward::cli
