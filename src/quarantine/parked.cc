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

// The fingerprint is over the fields "onceward/parked/1", consumer number, tenant, producer, message id, payload, reason; or
// "onceward/parked-key/1", consumer number, key, reason.
Parked make(const Envelope& envelope, const Identity& identity, std::int32_t consumer, std::string_view reason,
            std::string_view detail, const Key* key = nullptr) {
  const std::string number = std::to_string(consumer);
  const Digest digest = key == nullptr
                            ? sha256_of_fields({"onceward/parked/1", number, identity.tenant, identity.producer,
                                                identity.id, envelope.payload(), reason})
                            : sha256_of_fields({"onceward/parked-key/1",
                                                number,
                                                {reinterpret_cast<const char*>(key->bytes.data()), key->bytes.size()},
                                                reason});
  Parked row{{},
             consumer,
             storable(reason),
             beginning(storable(detail)),
             storable(identity.tenant),
             storable(identity.producer),
             storable(identity.id),
             kept_envelope(envelope),
             envelope.payload()};
  std::copy_n(digest.begin(), row.fingerprint.bytes.size(), row.fingerprint.bytes.begin());
  return row;
}

}  // namespace

Parked parked(const Envelope& envelope, std::int32_t consumer, std::string_view reason, std::string_view detail) {
  const EnvelopeFields& fields = envelope.fields();
  return make(envelope, {fields.tenant.text(), fields.producer.text(), fields.message_id.text()}, consumer, reason,
              detail);
}

Parked parked(const Claimant& claimant, std::int32_t consumer, std::string_view reason, std::string_view detail,
              Told told) {
  return make(*claimant.envelope, {claimant.tenant.text(), claimant.producer.text(), claimant.id}, consumer, reason,
              detail, told == Told::by_key ? &claimant.key : nullptr);
}

}  // namespace onceward
