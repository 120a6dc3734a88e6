#include "src/envelope/cloudevent.h"

#include <algorithm>
#include <limits>

#include "src/common/timestamp.h"
#include "src/envelope/members.h"
#include "src/envelope/payload.h"
#include "src/envelope/refused.h"

namespace onceward {
namespace {

enum Special : std::size_t { specversion, time, mode, special_end };
constexpr std::array<std::string_view, special_end> kSpecial{"specversion", "time", "mode"};
constexpr std::size_t kFirstNumber = kTextMembers.size();
constexpr std::size_t kFirstSpecial = kFirstNumber + kNumberMembers.size();
constexpr std::size_t kUnknown = kFirstSpecial + special_end;
static_assert(kUnknown < 64);

// Not attributes, but names that an extension cannot have.
constexpr std::array<std::string_view, 2> kData{"data", "data_base64"};

std::size_t number_of(std::string_view name) {
  for (std::size_t i = 0; i < kTextMembers.size(); ++i) {
    if (kTextMembers[i].cloudevent == name) return i;
  }
  for (std::size_t i = 0; i < kNumberMembers.size(); ++i) {
    if (kNumberMembers[i].cloudevent == name) return kFirstNumber + i;
  }
  for (std::size_t i = 0; i < kSpecial.size(); ++i) {
    if (kSpecial[i] == name) return kFirstSpecial + i;
  }
  return kUnknown;
}

}  // namespace

bool CloudEventReader::known(std::string_view name) { return number_of(name) != kUnknown; }

std::optional<Refusal> CloudEventReader::attribute(std::string_view name, std::string_view text) {
  const std::size_t number = number_of(name);
  if (number == kUnknown) {
    if (text.find('\0') != std::string_view::npos || name.find('\0') != std::string_view::npos) {
      return refused(Reason::nul_in_text, "extension");
    }
    return builder_.add_header(name, text);
  }
  if (auto refusal = see(number, name)) return refusal;
  if (number < kFirstNumber) return builder_.set(kTextMembers[number], kTextMembers[number].cloudevent, text);
  if (number >= kFirstSpecial) return special(number - kFirstSpecial, text);
  const NumberMember& target = kNumberMembers[number - kFirstNumber];
  builder_.fields.*target.member = read_integer(text);
  if (!(builder_.fields.*target.member)) return refused(Reason::ill_typed_field, target.cloudevent);
  return std::nullopt;
}

std::optional<Refusal> CloudEventReader::unset(std::string_view name) {
  const std::size_t number = number_of(name);
  return number == kUnknown ? std::nullopt : see(number, name);
}

std::optional<Refusal> CloudEventReader::see(std::size_t number, std::string_view name) {
  if (seen_ >> number & 1) return refused(Reason::duplicate_field, name);
  seen_ |= std::uint64_t{1} << number;
  return std::nullopt;
}

std::optional<Refusal> CloudEventReader::special(std::size_t which, std::string_view text) {
  if (which == specversion) {
    if (text != "1.0") return refused(Reason::unsupported_specversion, kSpecial[which]);
    has_specversion_ = true;
  } else if (which == time) {
    builder_.fields.occurred_at = read_timestamp(text);
    if (!builder_.fields.occurred_at) return refused(Reason::malformed_time, kSpecial[which]);
  } else {
    const auto named = mode_named(text);
    if (!named) return refused(Reason::ill_typed_field, kSpecial[which]);
    builder_.fields.mode = *named;
  }
  return std::nullopt;
}

ReadEnvelope CloudEventReader::finish() && {
  EnvelopeFields& fields = builder_.fields;
  if (!has_specversion_) return refused(Reason::missing_field, "specversion");
  if (fields.message_id.empty()) return refused(Reason::missing_message_id, "id");
  if (fields.producer.empty()) return refused(Reason::missing_producer, "source");
  if (fields.event_type.empty()) return refused(Reason::missing_field, "type");
  // A CloudEvent is a fact: its id names the event and the message at once.
  if (fields.event_id.empty()) fields.event_id = EventId(fields.message_id.text());
  return std::move(builder_).finish();
}

std::vector<CloudEventAttribute> attributes_of(const EnvelopeFields& fields) {
  std::vector<CloudEventAttribute> attributes;
  attributes.reserve(kUnknown);
  attributes.push_back({kSpecial[specversion], "1.0"});
  const bool has_own_event_id = fields.event_id.text() != fields.message_id.text();
  for (const TextMember& member : kTextMembers) {
    const std::string_view text = member.get(fields);
    if (text.empty() || member.cloudevent == "datacontenttype") continue;
    if (member.cloudevent == "eventid" && !has_own_event_id) continue;
    attributes.push_back({member.cloudevent, std::string(text)});
  }
  for (const NumberMember& member : kNumberMembers) {
    const auto& value = fields.*member.member;
    if (!value) continue;
    const bool fits =
        *value >= std::numeric_limits<std::int32_t>::min() && *value <= std::numeric_limits<std::int32_t>::max();
    attributes.push_back({member.cloudevent, std::to_string(*value), fits});
  }
  if (fields.occurred_at && writable(*fields.occurred_at)) {
    attributes.push_back({kSpecial[time], write_timestamp(*fields.occurred_at)});
  }
  if (fields.mode != Mode::live) attributes.push_back({kSpecial[mode], std::string(name(fields.mode))});
  return attributes;
}

bool is_extension(const Header& header) {
  if (header.name.empty() || number_of(header.name) != kUnknown) return false;
  if (std::find(kData.begin(), kData.end(), header.name) != kData.end()) return false;
  return is_text(header.value) && std::all_of(header.name.begin(), header.name.end(),
                                              [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

}  // namespace onceward
