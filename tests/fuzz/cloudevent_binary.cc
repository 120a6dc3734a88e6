// Whatever the reader of binary CloudEvents accepts, it reads again from what was written of it. The input is lines
// "name: value" up to an empty line, then the payload; its first byte chooses the binding.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "onceward/envelope.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::array<std::string_view, 4> prefixes{"ce_", "ce-", "cloudEvents_", "cloudEvents:"};
  const std::string_view prefix = prefixes[data[0] % prefixes.size()];
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<once::Header> headers;
  std::string_view content_type;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) break;
    const std::size_t colon = std::min(line.find(": "), line.size());
    const once::Header header{line.substr(0, colon), line.substr(std::min(colon + 2, line.size()))};
    if (header.name == "content-type") {
      content_type = header.value;
    } else {
      headers.push_back(header);
    }
  }
  const once::Bytes payload = once::Bytes::copy_of(rest);
  const auto read = once::read_cloudevent({headers, content_type, payload}, prefix);
  const auto* envelope = std::get_if<once::Envelope>(&read);
  if (!envelope) return 0;

  const auto written = once::cloudevent_attributes(*envelope, prefix);
  std::vector<once::Header> again_headers;
  for (const auto& attribute : written) again_headers.push_back({attribute.name, attribute.value});
  const auto again = once::read_cloudevent({again_headers, envelope->fields().content_type, payload}, prefix);
  ONCEWARD_REQUIRE(std::holds_alternative<once::Envelope>(again));
  // Headers that cannot be told from attributes are left out the first time; from then on nothing changes.
  const auto& second = std::get<once::Envelope>(again);
  const auto last = once::cloudevent_attributes(second, prefix);
  ONCEWARD_REQUIRE(last.size() <= written.size());
  once::EnvelopeFields one = envelope->fields();
  once::EnvelopeFields other = second.fields();
  one.headers = {};
  other.headers = {};
  ONCEWARD_REQUIRE(once::Envelope::copy_of(one) == once::Envelope::copy_of(other));
  ONCEWARD_REQUIRE(last == written);
  return 0;
}
