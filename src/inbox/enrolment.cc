#include "src/inbox/enrolment.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace onceward {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

// One line stays one line, whatever a name holds.
std::string escaped(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\\' || c == ',') {
      (line += '\\') += c;
    } else {
      line += c;
    }
  }
  return line;
}

std::string_view stored_name(FromEnvelope::Member member) {
  switch (member) {
    case FromEnvelope::Member::message_id:
      return "message_id";
    case FromEnvelope::Member::event_id:
      return "event_id";
    case FromEnvelope::Member::command_id:
      return "command_id";
    case FromEnvelope::Member::idempotency_key:
      return "idempotency_key";
    case FromEnvelope::Member::business_key:
      return "business_key";
  }
  return "";
}

std::string text_of(const IdentitySource& source) {
  return std::visit(Overloaded{
                        [](const FromEnvelope& from) { return fmt::format("envelope {}", stored_name(from.member)); },
                        [](const FromHeader& from) { return fmt::format("header {}", escaped(from.name)); },
                        [](const FromPayload& from) { return fmt::format("payload {}", escaped(from.pointer)); },
                        [](const FromAggregate&) { return std::string("aggregate"); },
                    },
                    source);
}

std::string text_of(const HashPolicy& hash) {
  if (!hash.canonical_json) return "exact bytes";
  std::vector<std::string> left_out;
  for (const std::string& pointer : hash.volatile_fields) left_out.push_back(escaped(pointer));
  std::sort(left_out.begin(), left_out.end());
  left_out.erase(std::unique(left_out.begin(), left_out.end()), left_out.end());
  return fmt::format("canonical json without {}", fmt::join(left_out, ","));
}

std::string tenant_text(const IdentityPolicy& policy) {
  if (!policy.tenant_header.empty()) return fmt::format("header {}", escaped(policy.tenant_header));
  return fmt::format("constant {}", escaped(policy.tenant));
}

std::string producer_text(const IdentityPolicy& policy) {
  return policy.producer.empty() ? "message" : fmt::format("constant {}", escaped(policy.producer));
}

std::string operation_text(const IdentityPolicy& policy) {
  if (!policy.operation) return "none";
  return fmt::format("{} by {}", escaped(policy.operation->name), text_of(policy.operation->key));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string_view stored_name(KeyScheme scheme) {
  switch (scheme) {
    case KeyScheme::hash:
      return "hash";
    case KeyScheme::uuidv7:
      return "uuidv7";
    case KeyScheme::ulid:
      return "ulid";
  }
  return "";
}

std::string identity_text(const IdentityPolicy& policy, Offsets offsets) {
  return fmt::format("scheme: {}\nhash: {}\nid: {}\nproducer: {}\ntenant: {}\noperation: {}\n{}",
                     stored_name(policy.scheme), text_of(policy.hash), text_of(policy.message_id),
                     producer_text(policy), tenant_text(policy), operation_text(policy),
                     offsets == Offsets::store ? "offsets: store\n" : "");
}

std::string differing_parts(std::string_view enrolled, std::string_view declared) {
  const auto before = lines_of(enrolled);
  const auto now = lines_of(declared);
  std::vector<std::string_view> parts;
  const auto name_missing_in = [&](const auto& others, std::string_view line) {
    const std::string_view part = line.substr(0, line.find(':'));
    const bool same = std::find(others.begin(), others.end(), line) != others.end();
    if (!same && std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
  };
  for (const std::string_view line : before) name_missing_in(now, line);
  for (const std::string_view line : now) name_missing_in(before, line);
  return fmt::format("{}", fmt::join(parts, ", "));
}

Fault identity_changed(std::string_view consumer, std::string_view enrolled, std::string_view declared) {
  return Fault(FaultCode::scheme_changed, Poisons::transaction,
               fmt::format("consumer \"{}\" was enrolled with another identity policy ({} differ): with the new one "
                           "every message already applied would count as new. Declare it as it was, or give the "
                           "changed consumer a new name",
                           consumer, differing_parts(enrolled, declared)));
}

}  // namespace onceward
