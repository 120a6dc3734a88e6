// Bytes that are written once, at the end, in network order: what a std::string does, without clearing what is about to be
// written and without a check for each piece of an element.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace onceward::postgres {

template <class Number>
void store_big_endian(char* out, Number number) {
  static_assert(std::is_unsigned_v<Number> && std::endian::native == std::endian::little);
  if constexpr (sizeof number == 8)
    number = __builtin_bswap64(number);
  else if constexpr (sizeof number == 4)
    number = __builtin_bswap32(number);
  else if constexpr (sizeof number == 2)
    number = __builtin_bswap16(number);
  std::memcpy(out, &number, sizeof number);
}

class ByteBuffer {
 public:
  std::size_t size() const { return size_; }
  char* data() { return bytes_.get(); }
  std::string_view view() const { return {bytes_.get(), size_}; }

  // Room for so many bytes more, which are the caller's to write.
  char* more(std::size_t bytes) {
    if (capacity_ - size_ < bytes) reserve(std::max(size_ + bytes, 2 * capacity_));
    char* const room = bytes_.get() + size_;
    size_ += bytes;
    return room;
  }
  // Room for so many bytes in all.
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace onceward::postgres
