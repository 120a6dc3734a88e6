#include <algorithm>

#include "onceward/envelope.h"

namespace onceward {

namespace {

constexpr std::size_t kSlack = 64;  // what simdjson may read past the end

}  // namespace

Bytes Bytes::copy_of(std::string_view bytes) {
  auto data = std::make_shared_for_overwrite<char[]>(bytes.size() + kSlack);
  std::copy(bytes.begin(), bytes.end(), data.get());
  std::fill_n(data.get() + bytes.size(), kSlack, '\0');
  Bytes copy;
  copy.data_ = std::move(data);
  copy.size_ = bytes.size();
  return copy;
}

}  // namespace onceward
