// Envelopes for property tests: every member present or absent, with texts that need escaping and payloads of each kind.
#pragma once

#include <rapidcheck.h>

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "onceward/envelope.h"
#include "src/envelope/members.h"

namespace onceward {

inline std::string arbitrary_text(int most_pieces) {
  static const std::vector<std::string> pieces{"a",  "Z",  "7",      "-",      ":",          "%",    " ",
                                               "\"", "\\", "\u00e9", "\u20ac", "\U0001F600", "\n",   "/",
                                               "\t", "{",  "\x7f",   "\x1b",   "id",         "\\u00"};
  std::string text;
  const int count = *rc::gen::inRange(1, most_pieces + 1);
  for (int i = 0; i < count; ++i) text += *rc::gen::elementOf(pieces);
  return text;
}

inline std::string arbitrary_payload() {
  static const std::vector<std::string> payloads{"",
                                                 "{}",
                                                 "null",
                                                 "\"text\"",
                                                 "-1.50e3",
                                                 "{\"a\":[1, 2,{\"b\" : null}]}",
                                                 " {}",
                                                 "{} ",
                                                 "<much wow=\"xml\"/>",
                                                 "{",
                                                 std::string("\0\1\2\xff", 4),
                                                 "caf\u00e9",
                                                 "\xff",
                                                 "\"\\u0000\"",
                                                 std::string(31, '[') + std::string(31, ']'),
                                                 std::string(32, '[') + std::string(32, ']'),
                                                 "01",
                                                 "[1,]"};
  return *rc::gen::elementOf(payloads);
}

struct HeaderNames {
  static std::string any() { return arbitrary_text(4); }
  static std::string extension() {
    return "x" + *rc::gen::container<std::string>(rc::gen::elementOf(std::string("abcxyz019")));
  }
};

// Header names are distinct and made by `header_name`.
template <class HeaderName>
Envelope arbitrary_envelope(HeaderName header_name) {
  std::deque<std::string> texts;
  EnvelopeFields fields;
  for (const TextMember& member : kTextMembers) {
    if (*rc::gen::inRange(0, 3) != 0) member.set(fields, texts.emplace_back(arbitrary_text(6)));
  }
  if (*rc::gen::arbitrary<bool>()) {
    fields.content_type = *rc::gen::element("", "application/json", "application/xml", "a/b+JSON; charset=utf-8");
  }
  for (const NumberMember& member : kNumberMembers) {
    if (*rc::gen::arbitrary<bool>()) fields.*member.member = *rc::gen::arbitrary<std::int64_t>();
  }
  if (*rc::gen::arbitrary<bool>()) {
    fields.occurred_at = Timestamp{std::chrono::microseconds{*rc::gen::inRange<std::int64_t>(0, 253402300800000000)}};
  }
  fields.mode = static_cast<Mode>(*rc::gen::inRange(0, 6));
  std::vector<Header> headers;
  std::set<std::string> names;
  for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
    const auto [name, is_new] = names.insert(header_name());
    if (is_new) headers.push_back({*name, texts.emplace_back(*rc::gen::arbitrary<bool>() ? arbitrary_text(8) : "")});
  }
  fields.headers = headers;
  fields.payload = texts.emplace_back(arbitrary_payload());
  return Envelope::copy_of(fields);
}

// What CloudEvents demands of an envelope is there.
inline Envelope arbitrary_cloudevent() {
  const Envelope any = arbitrary_envelope(HeaderNames::extension);
  EnvelopeFields fields = any.fields();
  if (fields.message_id.empty()) fields.message_id = MessageId("m-1");
  if (fields.producer.empty()) fields.producer = Producer("/orders");
  if (fields.event_type.empty()) fields.event_type = EventType("order.placed");
  if (fields.event_id.empty()) fields.event_id = EventId(fields.message_id.text());
  return Envelope::copy_of(fields);
}

}  // namespace onceward
