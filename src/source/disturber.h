// Draws what a Disturbance asks for. Our own generator: those of the standard library differ between libraries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "onceward/adapter/disturbance.h"

namespace onceward {

class Disturber {
 public:
  // Throws Fault(source_refused) where a limit is passed.
  explicit Disturber(const Disturbance& disturbance);

  // How many are looked at where `most` are asked for.
  std::size_t looked_at(std::size_t most) const {
    return std::max(most, most + disturbance_.reorder);  // the sum may pass what can be counted
  }
  // Whether an accepted delivery is handed out again.
  bool comes_again();

  template <class Item>
  void shuffle(std::vector<Item>& items) {
    if (disturbance_.reorder == 0) return;
    for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::uint64_t draw();
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(draw() % end); }

  Disturbance disturbance_;
  std::uint64_t state_;
};

}  // namespace onceward
