#include "src/envelope/derived_id.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "src/common/hex.h"
#include "src/common/sha256.h"
#include "src/envelope/key.h"

namespace onceward {
namespace {

using Uuid = std::array<unsigned char, 16>;

void set_version(Uuid& uuid, unsigned char version) {
  uuid[6] = static_cast<unsigned char>((uuid[6] & 0x0f) | version << 4);
  uuid[8] = static_cast<unsigned char>((uuid[8] & 0x3f) | 0x80);
}

void set_time(Uuid& uuid, std::chrono::milliseconds since_1970) {
  const auto count = static_cast<std::uint64_t>(since_1970.count());
  for (int i = 0; i < 6; ++i) uuid[i] = static_cast<unsigned char>(count >> (40 - 8 * i));
}

}  // namespace

IdMask id_mask(std::string_view consumer, std::string_view name, std::uint32_t ordinal) {
  std::array<char, 4> place;
  for (int i = 0; i < 4; ++i) place[i] = static_cast<char>(ordinal >> (24 - 8 * i));
  const Digest digest =
      sha256_of_fields({"onceward/outgoing/1", consumer, name, std::string_view(place.data(), place.size())});
  IdMask mask;
  std::copy_n(digest.begin(), mask.size(), mask.begin());
  return mask;
}

UuidText derived_id(const IdMask& mask, const Key& cause) {
  Uuid uuid;
  for (std::size_t i = 0; i < uuid.size(); ++i) uuid[i] = static_cast<unsigned char>(cause.bytes[i] ^ mask[i]);
  if (const auto time = time_of(cause)) {
    set_time(uuid, time->time_since_epoch());
    set_version(uuid, 7);
  } else {
    set_version(uuid, 8);
  }
  return uuid_text(uuid);
}

std::string fresh_id() {
  Uuid uuid;
  // Without randomness ids would repeat, and a repeated id silently drops a message.
  if (RAND_bytes(uuid.data(), static_cast<int>(uuid.size())) != 1) std::abort();
  set_time(uuid, std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()));
  set_version(uuid, 7);
  return to_uuid(uuid);
}

}  // namespace onceward
