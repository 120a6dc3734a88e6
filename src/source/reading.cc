#include "src/source/reading.h"

#include "src/wire/wire.h"

namespace onceward {

Delivery read_delivery(const Bytes& bytes, const EnvelopeLimits& limits) {
  return delivery_of(read_envelope(bytes, limits), bytes);
}

}  // namespace onceward
