#include "src/effect/statements.h"

#include <cstring>
#include <memory>

namespace onceward {
namespace {

// With a NUL behind it, which libpq wants after text.
std::string_view copy(std::pmr::memory_resource& arena, std::string_view text) {
  char* const bytes = static_cast<char*>(arena.allocate(text.size() + 1, 1));
  if (!text.empty()) std::memcpy(bytes, text.data(), text.size());
  bytes[text.size()] = '\0';
  return {bytes, text.size()};
}

Value copy(std::pmr::memory_resource& arena, const Value& value) {
  if (const auto* text = std::get_if<std::string_view>(&value.get())) return Value(copy(arena, *text));
  if (const auto* blob = std::get_if<Blob>(&value.get())) return Value(Blob{copy(arena, blob->bytes)});
  return value;
}

}  // namespace

void Statements::add(std::uint32_t message, std::string_view sql, std::span<const Value> values) {
  // Handlers run the same few statements for each message: the text is kept once.
  const bool repeated = !statements_.empty() && statements_.back().sql == sql;
  const std::string_view kept_sql = repeated ? statements_.back().sql : copy(arena_, sql);
  Value* kept = nullptr;
  if (!values.empty()) {
    kept = static_cast<Value*>(arena_.allocate(values.size_bytes(), alignof(Value)));
    for (std::size_t i = 0; i < values.size(); ++i) std::construct_at(kept + i, copy(arena_, values[i]));
  }
  statements_.push_back({message, kept_sql, {kept, values.size()}});
}

void Statements::forget(std::uint32_t message) {
  std::erase_if(statements_, [&](const BufferedStatement& statement) { return statement.message == message; });
}

void Statements::clear() {
  statements_.clear();
  arena_.release();
}

}  // namespace onceward
