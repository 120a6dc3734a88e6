#include "src/quarantine/parked.h"

#include <algorithm>

#include "src/common/sha256.h"
#include "src/common/stored_text.h"
#include "src/quarantine/kept_envelope.h"

namespace onceward {
namespace {

struct Identity {
  std::string_view tenant, producer, id;
};

// As much of it as is kept, without half a character at its end.
std::string beginning(std::string text) {
  if (text.size() <= most_detail_bytes) return text;
  std::size_t end = most_detail_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

// What is the same on every delivery of the same message.
std::string lasting_part(const Envelope& envelope) {
  EnvelopeFields fields = envelope.fields();
  std::vector<Header> headers(fields.headers.begin(), fields.headers.end());
  std::erase_if(headers, is_brokers_own);
  fields.headers = headers;
  return kept_envelope(Envelope(fields, nullptr));
}

// Fingerprints, each over these fields. Of a message with an identity:
//   "onceward/parked/1", consumer number, tenant, producer, message id, payload, reason
Digest fingerprint_by_identity(const Identity& identity, std::string_view payload, std::int32_t consumer,
                               std::string_view reason) {
  return sha256_of_fields({"onceward/parked/1", std::to_string(consumer), identity.tenant, identity.producer,
                           identity.id, payload, reason});
}

// Of one without, where whatever differs is another message:
//   "onceward/parked/2", consumer number, lasting part of the envelope, payload, reason
Digest fingerprint_by_content(const Envelope& envelope, std::int32_t consumer, std::string_view reason) {
  return sha256_of_fields(
      {"onceward/parked/2", std::to_string(consumer), lasting_part(envelope), envelope.payload(), reason});
}

// Of one that is told by where it stood, whatever its id says:
//   "onceward/parked-key/1", consumer number, key, reason
Digest fingerprint_by_key(const Key& key, std::int32_t consumer, std::string_view reason) {
  const std::string_view bytes{reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()};
  return sha256_of_fields({"onceward/parked-key/1", std::to_string(consumer), bytes, reason});
}

Parked make(const Envelope& envelope, const Identity& identity, const Digest& fingerprint, std::int32_t consumer,
            std::string_view reason, std::string_view detail) {
  Parked row{{},
             consumer,
             storable(reason),
             beginning(storable(detail)),
             storable(identity.tenant),
             storable(identity.producer),
             storable(identity.id),
             kept_envelope(envelope),
             envelope.payload()};
  std::copy_n(fingerprint.begin(), row.fingerprint.bytes.size(), row.fingerprint.bytes.begin());
  return row;
}

}  // namespace

bool is_brokers_own(const Header& header) {
  constexpr std::string_view beginnings[] = {"x-death", "x-first-death-", "x-last-death-", "x-delivery-count",
                                             "x-acquired-count"};
  return std::ranges::any_of(beginnings, [&](std::string_view begin) { return header.name.starts_with(begin); });
}

Parked parked(const Envelope& envelope, std::int32_t consumer, std::string_view reason, std::string_view detail) {
  const EnvelopeFields& fields = envelope.fields();
  return make(envelope, {fields.tenant.text(), fields.producer.text(), fields.message_id.text()},
              fingerprint_by_content(envelope, consumer, reason), consumer, reason, detail);
}

Parked parked(const Claimant& claimant, std::int32_t consumer, std::string_view reason, std::string_view detail,
              Told told) {
  const Envelope& envelope = *claimant.envelope;
  const Identity identity{claimant.tenant.text(), claimant.producer.text(), claimant.id};
  const Digest fingerprint = told == Told::by_key ? fingerprint_by_key(claimant.key, consumer, reason)
                             : identity.id.empty()
                                 ? fingerprint_by_content(envelope, consumer, reason)
                                 : fingerprint_by_identity(identity, envelope.payload(), consumer, reason);
  return make(envelope, identity, fingerprint, consumer, reason, detail);
}

}  // namespace onceward
