#include "src/quarantine/kept_envelope.h"

#include <gtest/gtest.h>

#include <array>

namespace onceward {
namespace {

TEST(KeptEnvelope, ReadsBackAsTheSameMessageWithoutItsPayload) {
  const std::array<Header, 1> headers{{{"x-retry", "a \"b\"\n"}}};
  EnvelopeFields fields;
  fields.tenant = Tenant("acme");
  fields.producer = Producer("shop");
  fields.message_id = MessageId("m-\u00e9");
  fields.aggregate_version = 7;
  fields.headers = headers;
  fields.payload = "never written twice";
  const std::string kept = kept_envelope(Envelope(fields, nullptr));
  EXPECT_EQ(kept.find("never"), std::string::npos);

  const ReadEnvelope read = read_json_envelope(Bytes::copy_of(kept));
  ASSERT_TRUE(std::holds_alternative<Envelope>(read));
  const Envelope& envelope = std::get<Envelope>(read);
  EXPECT_EQ(envelope.tenant(), fields.tenant);
  EXPECT_EQ(envelope.producer(), fields.producer);
  EXPECT_EQ(envelope.message_id(), fields.message_id);
  EXPECT_EQ(envelope.aggregate_version(), 7);
  EXPECT_EQ(envelope.header("x-retry"), headers[0].value);
  EXPECT_TRUE(envelope.payload().empty());
}

}  // namespace
}  // namespace onceward
