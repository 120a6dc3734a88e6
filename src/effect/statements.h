// Statements of handlers, buffered until something waits for an answer: a handler that throws before then has
// written nothing, so nothing needs to be rolled back.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "onceward/transaction.h"

namespace onceward {

struct BufferedStatement {
  std::uint32_t message;  // whose handler asked for it; no_message for the whole batch's
  std::string_view sql;
  std::span<const Value> values;  // text and bytes have a NUL behind them
};

class Statements {
 public:
  static constexpr std::uint32_t no_message = ~std::uint32_t{0};

  void add(std::uint32_t message, std::string_view sql, std::span<const Value> values);
  std::span<const BufferedStatement> all() const { return statements_; }
  bool empty() const { return statements_.empty(); }
  // Drops what `message` has buffered.
  void forget(std::uint32_t message);
  // All were sent.
  void clear();

 private:
  std::pmr::monotonic_buffer_resource arena_;
  std::vector<BufferedStatement> statements_;
};

}  // namespace onceward
