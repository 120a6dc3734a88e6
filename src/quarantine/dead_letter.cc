#include "src/quarantine/dead_letter.h"

#include <algorithm>

#include "onceward/declaration.h"
#include "src/common/hex.h"
#include "src/common/json.h"
#include "src/envelope/members.h"
#include "src/quarantine/kept_envelope.h"
#include "src/wire/wire.h"

namespace onceward {
namespace {

constexpr std::string_view consumer_header = "onceward-consumer";
constexpr std::string_view reason_header = "onceward-reason";

std::string headers_of(const Parked& parked, std::string_view consumer) {
  std::string object;
  char before = '{';
  for (const Header& header : {Header{consumer_header, consumer}, Header{reason_header, parked.reason},
                               Header{dead_letter_envelope_header, parked.envelope}}) {
    object += before;
    append_json_string(object, header.name);
    object += ':';
    append_json_string(object, header.value);
    before = ',';
  }
  return object + '}';
}

// Of one that was dead before, here or elsewhere, the last says why; and where RabbitMQ has sent it besides is its business.
bool is_not_copied(const Header& header) {
  return header.name == consumer_header || header.name == reason_header || header.name == "CC" ||
         header.name == "BCC" || is_brokers_own(header);
}

// Of a message that could not be read, what its broker said of it was kept as headers.
bool put_back(const Header& header, EnvelopeFields& fields) {
  if (!header.name.starts_with(kept_prefix)) return false;
  const std::string_view name = header.name.substr(kept_prefix.size());
  const auto member = std::ranges::find(kTextMembers, name, &TextMember::json);
  if (member == kTextMembers.end() || !member->get(fields).empty()) return false;
  member->set(fields, header.value);
  return true;
}

}  // namespace

DeadLetters::DeadLetters(std::span<const StagedOutgoing> staged, std::span<const Parked* const> parked,
                         std::string_view consumer)
    : rows_(staged.begin(), staged.end()) {
  const std::string& type = texts_.emplace_back(dead_letter_type(consumer));
  for (const Parked* const one : parked) {
    StagedOutgoing& row = rows_.emplace_back();
    row.cause = no_cause;
    row.message.type = type;
    row.message.id = one->id.empty() ? std::string_view(texts_.emplace_back(to_hex(one->fingerprint.bytes))) : one->id;
    row.message.content_type = dead_letter_content_type;
    row.message.payload = one->payload;
    row.headers_json = texts_.emplace_back(headers_of(*one, consumer));
    row.tenant = one->tenant;
  }
}

Envelope dead_letter(std::span<const Header> headers, std::string_view payload) {
  const auto kept = std::ranges::find(headers, dead_letter_envelope_header, &Header::name);
  const Envelope message = as_kept(kept == headers.end() ? std::string_view("{}") : kept->value, payload);
  EnvelopeFields fields = message.fields();
  std::vector<Header> all(fields.headers.begin(), fields.headers.end());
  std::erase_if(all, [&](const Header& own) { return is_not_copied(own) || (fields.unread && put_back(own, fields)); });
  std::ranges::copy_if(headers, std::back_inserter(all),
                       [](const Header& header) { return header.name != dead_letter_envelope_header; });
  fields.headers = all;
  return Envelope::copy_of(fields);
}

}  // namespace onceward
