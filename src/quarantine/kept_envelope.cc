#include "src/quarantine/kept_envelope.h"

namespace onceward {

std::string kept_envelope(const Envelope& envelope) {
  EnvelopeFields fields = envelope.fields();
  fields.payload = {};
  return write_json_envelope(Envelope(fields, nullptr));
}

}  // namespace onceward
