#pragma once

#include <algorithm>
#include <vector>

#include "onceward/envelope.h"

namespace onceward {

// Of several headers of one name JSON has a place for one: the first that can be carried.
template <class Carries>
std::vector<Header> carried_headers(std::span<const Header> headers, Carries&& can_carry) {
  std::vector<Header> carried;
  for (const Header& header : headers) {
    if (can_carry(header) && std::ranges::find(carried, header.name, &Header::name) == carried.end()) {
      carried.push_back(header);
    }
  }
  return carried;
}

}  // namespace onceward
