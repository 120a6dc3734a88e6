#define OPENSSL_SUPPRESS_DEPRECATED
#include "bench/floor/identity.h"

#include <openssl/sha.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace onceward::bench {
namespace {

void append_field(std::string& to, std::string_view field) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<char>(field.size() >> shift));
  to += field;
}

std::array<unsigned char, 32> sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest;
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(digest.data(), &context);
  return digest;
}

std::uint64_t hex_value(char digit) {
  return static_cast<std::uint64_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

// Seconds since 2010, out of the 48 bits of milliseconds with which a UUID of version 7 begins.
std::uint32_t seconds_of(std::string_view uuid) {
  std::uint64_t milliseconds = 0;
  for (int i = 0; i < 8; ++i) milliseconds = milliseconds << 4 | hex_value(uuid[i]);
  for (int i = 9; i < 13; ++i) milliseconds = milliseconds << 4 | hex_value(uuid[i]);
  return static_cast<std::uint32_t>(milliseconds / 1000 - 1'262'304'000);
}

std::uint64_t big_endian(const unsigned char* bytes) {
  std::uint64_t number;
  std::memcpy(&number, bytes, sizeof number);
  return __builtin_bswap64(number);
}

bool before(const Identity& a, const Identity& b) {
  if (a.order != b.order) return a.order < b.order;
  return a.key != b.key ? a.key < b.key : a.message < b.message;
}

}  // namespace

Identities::Identities(Ids ids) : ids_(ids) {
  append_field(hashed_, "onceward/message/1");
  append_field(hashed_, "");
  append_field(hashed_, consumer_name);
  append_field(hashed_, producer_name);
  prefix_bytes_ = hashed_.size();
}

Identity Identities::of(const Message& message) {
  Identity identity;
  hashed_.resize(prefix_bytes_);
  append_field(hashed_, message.id);
  const auto digest = sha256(hashed_);
  if (ids_ == Ids::random) {
    std::memcpy(identity.key.data(), digest.data(), 16);
    identity.key[0] |= 0x80;
  } else {
    const std::uint32_t seconds = __builtin_bswap32(seconds_of(message.id));
    std::memcpy(identity.key.data(), &seconds, 4);
    std::memcpy(identity.key.data() + 4, digest.data(), 12);
  }
  identity.hash = sha256(message.payload);
  identity.order = big_endian(identity.key.data());
  identity.first = true;
  return identity;
}

std::span<Identity> Identities::of(const Workload& work, std::span<const Index> deliveries) {
  sorted_.clear();
  for (const Index index : deliveries) {
    sorted_.push_back(of(work.messages[index]));
    sorted_.back().message = index;
  }
  std::sort(sorted_.begin(), sorted_.end(), before);
  const auto same = [](const Identity& a, const Identity& b) {
    if (a.key != b.key) return false;
    if (a.hash != b.hash) std::abort();  // a conflict, which this work never holds
    return true;
  };
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end(), same), sorted_.end());
  return sorted_;
}

}  // namespace onceward::bench
