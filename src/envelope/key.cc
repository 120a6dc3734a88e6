#include "src/envelope/key.h"

#include <algorithm>

#include "src/common/hex.h"
#include "src/common/sha256.h"

namespace onceward {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kSecondsEnd = std::int64_t{1} << 31;

Key beginning_of(const Digest& digest) {
  Key key;
  std::copy_n(digest.begin(), key.bytes.size(), key.bytes.begin());
  return key;
}

Key hash_key(const Digest& digest) {
  Key key = beginning_of(digest);
  key.bytes[0] |= 0x80;
  return key;
}

Key time_key(std::int64_t second, const Digest& digest) {
  Key key;
  for (int i = 0; i < 4; ++i) key.bytes[i] = static_cast<unsigned char>(second >> (24 - 8 * i));
  std::copy_n(digest.begin(), 12, key.bytes.begin() + 4);
  return key;
}

constexpr std::optional<unsigned> crockford_digit(char digit) {
  constexpr std::string_view digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const std::size_t at = digits.find(digit);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(at);
}

}  // namespace

std::optional<milliseconds> time_in_uuidv7(std::string_view id) {
  if (id.size() != 36 || id[14] != '7') return std::nullopt;
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (id[i] != '-') return std::nullopt;
      continue;
    }
    const auto digit = hex_digit(id[i]);
    if (!digit) return std::nullopt;
    if (i < 13) time = time << 4 | *digit;
    if (i == 19 && (*digit & 0xc) != 0x8) return std::nullopt;
  }
  return milliseconds{static_cast<std::int64_t>(time)};
}

std::optional<milliseconds> time_in_ulid(std::string_view id) {
  if (id.size() != 26 || id[0] > '7') return std::nullopt;
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < id.size(); ++i) {
    const auto digit = crockford_digit(id[i]);
    if (!digit) return std::nullopt;
    if (i < 10) time = time << 5 | *digit;
  }
  return milliseconds{static_cast<std::int64_t>(time)};
}

std::variant<Key, Reason> message_key(KeyScheme scheme, Tenant tenant, std::string_view consumer, Producer producer,
                                      std::string_view id) {
  const auto digest = [&] {
    return sha256_of_fields({"onceward/message/1", tenant.text(), consumer, producer.text(), id});
  };
  if (scheme == KeyScheme::hash) return hash_key(digest());
  const auto time = scheme == KeyScheme::uuidv7 ? time_in_uuidv7(id) : time_in_ulid(id);
  if (!time) return Reason::malformed_message_id;
  const std::int64_t second = (std::chrono::floor<seconds>(*time) - kKeyEpoch.time_since_epoch()).count();
  if (second < 0 || second >= kSecondsEnd) return Reason::id_time_out_of_range;
  return time_key(second, digest());
}

Key unnamed_key(Tenant tenant, std::string_view consumer, Producer producer, std::string_view operation,
                std::string_view idempotency_key) {
  return hash_key(
      sha256_of_fields({"onceward/unnamed/1", tenant.text(), consumer, producer.text(), operation, idempotency_key}));
}

Key operation_key(Tenant tenant, std::string_view consumer, std::string_view operation,
                  std::string_view idempotency_key) {
  return hash_key(sha256_of_fields({"onceward/operation/1", tenant.text(), consumer, operation, idempotency_key}));
}

Key position_key(std::string_view consumer, const Position& position) {
  return hash_key(sha256_of_fields({"onceward/position/1", consumer, position.stream->name,
                                    std::to_string(position.stream->begun), std::to_string(position.offset)}));
}

Key key_of_fields(std::initializer_list<std::string_view> fields) { return beginning_of(sha256_of_fields(fields)); }

std::optional<std::chrono::sys_seconds> time_of(const Key& key) {
  if (key.bytes[0] & 0x80) return std::nullopt;
  std::int64_t second = 0;
  for (int i = 0; i < 4; ++i) second = second << 8 | key.bytes[i];
  return kKeyEpoch + seconds{second};
}

Key lowest_key_at(std::chrono::sys_seconds time) {
  const std::int64_t second = (time - kKeyEpoch).count();
  return time_key(std::clamp<std::int64_t>(second, 0, kSecondsEnd - 1), Digest{});
}

}  // namespace onceward
