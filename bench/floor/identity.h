// Identities by hand: the key of key.h's grammar and the payload's hash, with nothing checked. The lowest-level SHA-256
// that OpenSSL has, into buffers that are reused.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/work/workload.h"

namespace onceward::bench {

struct Identity {
  std::array<unsigned char, 16> key;
  std::array<unsigned char, 32> hash;
  std::uint64_t order;  // the key's first bytes as a number
  Index message;
  bool first;  // told by the store
};

class Identities {
 public:
  explicit Identities(Ids ids);

  // The distinct messages among the deliveries, sorted by key; all of them `first` until told otherwise.
  std::span<Identity> of(const Workload& work, std::span<const Index> deliveries);
  Identity of(const Message& message);

 private:
  Ids ids_;
  std::string hashed_;  // the fields before the id are always the same
  std::size_t prefix_bytes_;
  std::vector<Identity> sorted_;
};

}  // namespace onceward::bench
