// Any properties that librabbitmq can decode make an envelope or are refused with the body; and what is published of an
// envelope is received as it was. The first byte chooses the format, the next is the length of the body; the properties, as
// AMQP 0-9-1 has them on the wire, are the rest.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/rabbitmq/properties.h"
#include "tests/fuzz/alike.h"
#include "tests/fuzz/require.h"

namespace once = onceward;
namespace rabbitmq = onceward::rabbitmq;
using once::WireFormat;

namespace {

void expect_to_come_back(const once::Envelope& envelope, WireFormat format) {
  rabbitmq::MessageWriter writer(format);
  const auto written = writer.write(envelope);
  if (std::holds_alternative<std::string>(written)) return;  // AMQP cannot carry it
  const auto& message = std::get<0>(written);
  std::array<char, 128 * 1024> room;
  const auto* const properties = message.properties;
  ONCEWARD_REQUIRE(amqp_encode_properties(AMQP_BASIC_CLASS, const_cast<amqp_basic_properties_t*>(properties),
                                          {room.size(), room.data()}) > 0);
  const once::EnvelopeLimits wide{
      .message_bytes = 1u << 26, .header_count = 500, .header_bytes = 1u << 20, .depth = 512};
  rabbitmq::MessageReader reader(WireFormat::automatic, wide);
  const once::Delivery read = reader.read(*properties, once::Bytes::copy_of(message.body));
  ONCEWARD_REQUIRE(!read.refusal);
  ONCEWARD_REQUIRE(once::are_alike(envelope, read.envelope));
}

void try_message(const amqp_basic_properties_t& properties, std::string_view body, WireFormat format) {
  rabbitmq::MessageReader reader(format, {});
  const once::Delivery read = reader.read(properties, once::Bytes::copy_of(body));
  if (read.refusal) {
    ONCEWARD_REQUIRE(read.envelope.payload() == body);
    return;
  }
  expect_to_come_back(read.envelope, WireFormat::envelope);
  if (once::is_event(read.envelope)) expect_to_come_back(read.envelope, WireFormat::binary);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  constexpr std::array formats{WireFormat::automatic, WireFormat::native, WireFormat::envelope, WireFormat::structured,
                               WireFormat::binary};
  std::string rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string body = rest.substr(0, data[1]);
  rest.erase(0, body.size());
  amqp_pool_t pool;
  init_amqp_pool(&pool, 4096);
  void* decoded = nullptr;
  if (amqp_decode_properties(AMQP_BASIC_CLASS, &pool, {rest.size(), rest.data()}, &decoded) == AMQP_STATUS_OK) {
    try_message(*static_cast<const amqp_basic_properties_t*>(decoded), body, formats[data[0] % formats.size()]);
  }
  empty_amqp_pool(&pool);
  return 0;
}
