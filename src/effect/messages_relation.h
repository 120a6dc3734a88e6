// The relation `messages` of SQL handlers: the messages of a batch, or any part of them, with their declared fields.
// docs/reference/declaration.md says what each column holds.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onceward/claim.h"
#include "onceward/declaration.h"
#include "onceward/transaction.h"
#include "src/effect/column_buffer.h"
#include "src/effect/fields.h"

namespace onceward {

class MessagesRelation {
 public:
  // The declaration has no mistakes and outlives this.
  explicit MessagesRelation(const Declaration& declaration);
  MessagesRelation(const MessagesRelation&) = delete;
  MessagesRelation& operator=(const MessagesRelation&) = delete;

  // The columns of every message, then the declared fields; a column's number is its place here.
  std::span<const std::string_view> names() const { return names_; }
  // Only these are made from now on: what no statement reads costs nothing.
  void offer(std::span<const std::uint32_t> columns);

  // Begins a batch, which must outlive what is taken of it.
  void begin(std::span<const Claimant> batch, Timestamp received_at);
  // Reads what columns offered need of one message, or says why they cannot hold it. The detail names the column.
  std::optional<Refusal> take(std::uint32_t index);
  // Makes the rows of these messages, all of which were taken, in this order.
  void show(std::span<const std::uint32_t> indexes);
  // Of the rows shown last. Valid until the next show(), take() or begin().
  const Column& column(std::uint32_t number) const { return columns_[number]; }

 private:
  using Buffer = std::variant<ColumnBuffer<std::string_view>, ColumnBuffer<std::int64_t>, ColumnBuffer<Timestamp>,
                              ColumnBuffer<Blob>, ColumnBuffer<Uuid>, ColumnBuffer<Json>>;

  std::optional<Refusal> flaw_in(const Claimant& claimant) const;
  void show_message_column(std::uint32_t number, std::span<const std::uint32_t> indexes);
  void show_fields(std::span<const std::uint32_t> indexes);

  std::vector<std::string_view> names_;
  std::vector<std::uint32_t> offered_;  // columns of every message
  std::vector<std::uint32_t> offered_fields_;
  FieldColumns fields_;
  std::span<const Claimant> batch_;
  Timestamp received_at_{};
  std::vector<std::uint32_t> row_of_;  // in fields_, of each message that was taken
  std::vector<std::uint32_t> rows_;
  std::vector<Buffer> buffers_;
  std::vector<Column> columns_;
  std::vector<std::byte> first_room_;
  std::pmr::monotonic_buffer_resource room_;  // of headers written as JSON
  std::string scratch_;
};

}  // namespace onceward
