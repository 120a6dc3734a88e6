// The values behind a Column, gathered row by row in memory that is kept from batch to batch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "onceward/transaction.h"

namespace onceward {

// What std::vector<bool> is not: bools that stand beside each other.
class Flags {
 public:
  void push_back(bool flag) {
    if (size_ == capacity_) grow(size_ + 1);
    flags_[size_++] = flag;
  }
  void assign(std::size_t size, bool flag) {
    if (size > capacity_) grow(size);
    std::fill_n(flags_.get(), size, flag);
    size_ = size;
  }
  void resize(std::size_t size) { size_ = std::min(size, size_); }  // never larger
  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  const bool* data() const { return flags_.get(); }
  bool operator[](std::size_t at) const { return flags_[at]; }

 private:
  void grow(std::size_t least) {
    capacity_ = std::max({least, 2 * capacity_, std::size_t{64}});
    auto larger = std::make_unique<bool[]>(capacity_);
    std::copy_n(flags_.get(), size_, larger.get());
    flags_ = std::move(larger);
  }

  std::unique_ptr<bool[]> flags_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

template <class Value>
class ColumnBuffer {
 public:
  void clear() { cut(0); }
  void add(const Value& value) {
    values_.push_back(value);
    if (nulls_) present_.push_back(true);
  }
  void add_null() {
    if (!nulls_) present_.assign(values_.size(), true);
    nulls_ = true;
    values_.push_back(Value{});
    present_.push_back(false);
  }
  // Keeps the first `rows`.
  void cut(std::size_t rows) {
    values_.resize(rows);
    present_.resize(rows);
    if (rows == 0) nulls_ = false;
  }
  // Becomes these rows of the other.
  void pick(const ColumnBuffer& from, std::span<const std::uint32_t> rows) {
    clear();
    for (const std::uint32_t row : rows) values_.push_back(from.values_[row]);
    if (!from.nulls_) return;
    nulls_ = true;
    for (const std::uint32_t row : rows) present_.push_back(from.present_[row]);
  }

  std::size_t size() const { return values_.size(); }
  std::span<const Value> values() const { return {values_.data(), values_.size()}; }
  std::span<const bool> present() const {
    return nulls_ ? std::span<const bool>(present_.data(), present_.size()) : std::span<const bool>();
  }

 private:
  std::conditional_t<std::is_same_v<Value, bool>, Flags, std::vector<Value>> values_;
  Flags present_;  // kept from the first null on
  bool nulls_ = false;
};

}  // namespace onceward
