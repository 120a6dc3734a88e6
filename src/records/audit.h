// What people do, written down with who and why in the transaction that does it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "onceward/port/store.h"

namespace onceward::records {

inline constexpr std::size_t most_who_bytes = 255;
inline constexpr std::size_t most_why_bytes = 1'000;

// What is wrong with them; empty if nothing.
std::string wrong_with(std::string_view who, std::string_view why);
// The same of any text that is kept.
std::string wrong_with_text(std::string_view what, std::string_view text, std::size_t most_bytes);

struct AuditEntry {
  std::string_view who;
  std::string_view why;
  std::string action;  // quarantine.retry
  std::string object;  // quarantine/17
  std::string detail;  // JSON; no other entry has the same
};
void write_audit(Transaction& transaction, Dialect dialect, const AuditEntry& entry);
// Whether the entry was committed: asked where a commit was not answered.
bool is_audited(Transaction& transaction, Dialect dialect, std::string_view detail);

// Adds a member to an object that is being written; nothing for an empty text.
void add_member(std::string& json, std::string_view name, std::string_view text);

}  // namespace onceward::records
