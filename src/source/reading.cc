#include "src/source/reading.h"

namespace onceward {

Delivery read_delivery(const Bytes& bytes, const EnvelopeLimits& limits) {
  Delivery delivery;
  ReadEnvelope read = read_envelope(bytes, limits);
  if (auto* const envelope = std::get_if<Envelope>(&read)) {
    delivery.envelope = std::move(*envelope);
    return delivery;
  }
  EnvelopeFields unread;
  unread.payload = bytes.view();
  delivery.envelope = Envelope(unread, bytes.owner());
  delivery.refusal = std::get<Refusal>(std::move(read));
  return delivery;
}

}  // namespace onceward
