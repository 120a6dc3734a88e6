// Whatever the reader of structured CloudEvents accepts, it reads again from what was written of it, up to the headers
// that the format cannot carry: those are gone after the first time, and nothing else.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "onceward/envelope.h"
#include "src/envelope/cloudevent.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = once::read_cloudevent(once::Bytes::copy_of(text));
  const auto* envelope = std::get_if<once::Envelope>(&read);
  if (!envelope) return 0;
  std::vector<once::Header> headers(envelope->headers().begin(), envelope->headers().end());
  std::erase_if(headers, [](const once::Header& header) { return !once::is_extension(header); });
  once::EnvelopeFields fields = envelope->fields();
  fields.headers = headers;
  const once::Envelope carried = once::Envelope::copy_of(fields);

  const auto again = once::read_cloudevent(once::Bytes::copy_of(once::write_cloudevent(*envelope)));
  ONCEWARD_REQUIRE(std::holds_alternative<once::Envelope>(again));
  ONCEWARD_REQUIRE(std::get<once::Envelope>(again) == carried);
  return 0;
}
