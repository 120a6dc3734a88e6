#include "src/declaration/path.h"

#include <algorithm>

#include "src/declaration/text.h"

namespace onceward::declaration {

std::string Path::text() const {
  std::string text;
  for (const Step& step : steps_) {
    if (const auto* key = std::get_if<std::string>(&step)) {
      if (!text.empty()) text += '.';
      text += excerpt(*key);
    } else {
      text += '[' + std::to_string(std::get<std::size_t>(step)) + ']';
    }
  }
  return text;
}

bool Path::leads_to(const Path& other) const {
  return steps_.size() <= other.steps_.size() && std::equal(steps_.begin(), steps_.end(), other.steps_.begin());
}

Path Path::with(Step step) const {
  Path path = *this;
  path.steps_.push_back(std::move(step));
  return path;
}

}  // namespace onceward::declaration
