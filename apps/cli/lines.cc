#include "apps/cli/lines.h"

namespace onceward::cli {

std::optional<Lines::Line> Lines::next() {
  std::streambuf& buffer = *in_.rdbuf();
  Line line{++number_, {}, false};
  bool any = false;
  for (int c = buffer.sbumpc(); c != std::char_traits<char>::eof(); c = buffer.sbumpc()) {
    any = true;
    ++bytes_read_;
    if (c == '\n') break;
    if (line.text.size() < most_bytes_) {
      line.text += static_cast<char>(c);
    } else {
      line.too_long = true;
    }
  }
  if (!any) return std::nullopt;
  if (line.text.ends_with('\r')) line.text.pop_back();
  if (line.too_long) line.text.clear();
  return line;
}

}  // namespace onceward::cli
