// Any record is an envelope or is refused with its bytes; and what is published of an envelope is received as it was. The
// first byte chooses the format; then come lines "name: value", of which "key" is the key, up to an empty line; the value is
// what follows, and a record without the empty line is a tombstone.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "adapters/kafka/record.h"
#include "tests/fuzz/alike.h"
#include "tests/fuzz/require.h"

namespace once = onceward;
namespace kafka = onceward::kafka;
using once::WireFormat;

namespace {

kafka::Record record_from(std::string_view rest) {
  kafka::Record record;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.empty()) {
      record.value = rest;
      break;
    }
    const std::size_t colon = std::min(line.find(": "), line.size());
    const once::Header header{line.substr(0, colon), line.substr(std::min(colon + 2, line.size()))};
    if (header.name == "key") {
      record.key = header.value;
    } else {
      record.headers.push_back(header);
    }
  }
  return record;
}

void expect_to_come_back(const once::Envelope& envelope, WireFormat format) {
  const kafka::WrittenRecord written = kafka::write_record(envelope, format);
  kafka::Record record;
  if (!written.tombstone) record.value = written.written.body();
  for (const auto& header : written.written.headers) record.headers.push_back({header.name, header.value});
  const once::EnvelopeLimits wide{
      .message_bytes = 1u << 26, .header_count = 200, .header_bytes = 1u << 20, .depth = 512};
  const once::Delivery read = kafka::read_record(record, {WireFormat::automatic, "id", wide});
  ONCEWARD_REQUIRE(!read.refusal);
  ONCEWARD_REQUIRE(once::are_alike(envelope, read.envelope));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::array formats{WireFormat::automatic, WireFormat::native, WireFormat::envelope, WireFormat::structured,
                               WireFormat::binary};
  const WireFormat format = formats[data[0] % formats.size()];
  const kafka::Record record = record_from({reinterpret_cast<const char*>(data) + 1, size - 1});
  const once::EnvelopeLimits limits;
  const once::Delivery read = kafka::read_record(record, {format, "id", limits});
  if (read.refusal) {
    ONCEWARD_REQUIRE(read.envelope.payload() == record.value.value_or(""));
    return 0;
  }
  ONCEWARD_REQUIRE(record.value || read.envelope.header(once::kafka_tombstone_header));
  expect_to_come_back(read.envelope, WireFormat::envelope);
  if (once::is_event(read.envelope)) expect_to_come_back(read.envelope, WireFormat::binary);
  return 0;
}
