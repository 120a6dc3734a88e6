#include "src/quarantine/parked.h"

#include <algorithm>

#include "src/common/sha256.h"

namespace onceward {

// Over the fields "onceward/parked/1", consumer number, tenant, producer, message id, payload, reason.
Parked parked(const Envelope& envelope, std::int32_t consumer, std::string_view reason, std::string_view detail) {
  const Digest digest =
      sha256_of_fields({"onceward/parked/1", std::to_string(consumer), envelope.tenant().text(),
                        envelope.producer().text(), envelope.message_id().text(), envelope.payload(), reason});
  Parked row{{}, consumer, std::string(reason), std::string(detail), &envelope};
  std::copy_n(digest.begin(), row.fingerprint.bytes.size(), row.fingerprint.bytes.begin());
  return row;
}

}  // namespace onceward
