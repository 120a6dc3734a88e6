// The places of several fields in a JSON text, found in one walk over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "onceward/declaration.h"
#include "src/common/json.h"

namespace onceward {

class FieldPlaces {
 public:
  // Pointers as RFC 6901 writes them, none empty.
  explicit FieldPlaces(std::span<const FieldDeclaration> fields);

  static constexpr std::uint32_t nowhere = 0;                    // the root is no field
  static constexpr std::uint32_t ambiguous = ~std::uint32_t{0};  // a key on the way stands there twice

  // For each field the index of its node. Valid until the next call.
  std::span<const std::uint32_t> find(const JsonDocument& document);
  std::size_t depth() const { return depth_; }  // of the deepest field

 private:
  struct Way {
    std::string token;
    std::optional<std::uint32_t> index;  // of an array's element
    std::uint32_t step;                  // that it leads to
  };
  struct Step {
    std::vector<Way> ways;
    std::vector<std::uint32_t> fields;  // that end here
    bool seen = false;
  };
  std::uint32_t step_after(std::uint32_t step, const std::string& token);
  void walk(const JsonDocument& document, std::uint32_t step, std::uint32_t node);
  void arrive(const JsonDocument& document, std::uint32_t step, std::uint32_t node);
  void lose(std::uint32_t step);

  std::vector<Step> steps_{1};
  std::vector<std::uint32_t> places_;
  std::size_t depth_ = 0;
  std::string scratch_;
};

}  // namespace onceward
