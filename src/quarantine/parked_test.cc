#include "src/quarantine/parked.h"

#include <gtest/gtest.h>

namespace onceward {
namespace {

struct Told {
  std::string_view id{};
  std::string_view aggregate{};
  std::string_view payload = "{}";
  std::vector<Header> headers{};
};
Envelope envelope_that(const Told& told) {
  EnvelopeFields fields;
  fields.producer = Producer("shop");
  fields.message_id = MessageId(told.id);
  fields.aggregate_id = AggregateId(told.aggregate);
  fields.headers = told.headers;
  fields.payload = told.payload;
  return Envelope::copy_of(fields);
}
Key fingerprint(const Told& told, std::string_view reason = "missing_message_id") {
  return parked(envelope_that(told), 1, reason, "").fingerprint;
}

TEST(ParkedWithoutIdentity, IsAnotherOneWhereverItDiffers) {
  const Key one = fingerprint({.aggregate = "1"});
  EXPECT_EQ(one, fingerprint({.aggregate = "1"})) << "delivered again";
  EXPECT_NE(one, fingerprint({.aggregate = "2"}));
  EXPECT_NE(one, fingerprint({.aggregate = "1", .payload = "{ }"}));
  EXPECT_NE(one, fingerprint({.aggregate = "1", .headers = {{"tenant", "a"}}}));
  EXPECT_NE(one, fingerprint({.aggregate = "1"}, "missing_producer"));
  EXPECT_NE(fingerprint({.headers = {{"tenant", "a"}}}), fingerprint({.headers = {{"tenant", "b"}}}));
  EXPECT_NE(fingerprint({.id = "m", .aggregate = "1"}), fingerprint({.id = "m", .aggregate = "2"}))
      << "its policy may take the id from elsewhere";
}

TEST(ParkedWithoutIdentity, IsTheSameWhateverItsBrokerWritesIntoIt) {
  const Key one = fingerprint({.headers = {{"tenant", "a"}}});
  for (const char* const name : {"x-death", "x-first-death-queue", "x-last-death-reason", "x-delivery-count"}) {
    EXPECT_EQ(one, fingerprint({.headers = {{name, "1"}, {"tenant", "a"}}})) << name;
  }
}

TEST(ParkedWithIdentity, IsTheSameBySayingTheSame) {
  const Envelope one = envelope_that({.id = "m", .aggregate = "1"}),
                 other = envelope_that({.id = "m", .aggregate = "2"});
  const auto fingerprint_of = [](const Envelope& envelope, std::string_view id) {
    Claimant claimant;
    claimant.id = IdText(id);
    claimant.envelope = &envelope;
    return parked(claimant, 1, "conflict", "").fingerprint;
  };
  EXPECT_EQ(fingerprint_of(one, "m"), fingerprint_of(other, "m"));
  EXPECT_NE(fingerprint_of(one, "m"), fingerprint_of(one, "n"));
  EXPECT_NE(fingerprint_of(one, ""), fingerprint_of(other, "")) << "the declaration of today finds none";
}

}  // namespace
}  // namespace onceward
