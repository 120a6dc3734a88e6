// The way to a key of a declaration, e.g. identity.operation.key or effect[1].name. It names keys as TOML writes them;
// both the text and a value made in C++ are addressed by it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace onceward::declaration {

class Path {
 public:
  using Step = std::variant<std::string, std::size_t>;

  Path() = default;
  explicit Path(std::string_view key) : steps_{std::string(key)} {}

  Path operator/(std::string_view key) const { return with(std::string(key)); }
  Path operator[](std::size_t index) const { return with(index); }

  const std::vector<Step>& steps() const { return steps_; }
  std::string text() const;

  bool leads_to(const Path& other) const;  // the other is the same, or inside of it
  bool touches(const Path& other) const { return leads_to(other) || other.leads_to(*this); }

 private:
  Path with(Step step) const;

  std::vector<Step> steps_;
};

}  // namespace onceward::declaration
