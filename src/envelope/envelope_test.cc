#include "onceward/envelope.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "src/envelope/arbitrary_envelope.h"

namespace onceward {
namespace {

RC_GTEST_PROP(Envelope, ACopyOwnsEverythingItSays, ()) {
  std::optional<Envelope> copy;
  std::string said;
  {
    const Envelope original = arbitrary_envelope(HeaderNames::any);
    copy = Envelope::copy_of(original.fields());
    RC_ASSERT(*copy == original);
    said = write_json_envelope(original);
  }
  RC_ASSERT(write_json_envelope(*copy) == said);
}

TEST(Envelope, CopiesShareThePayload) {
  EnvelopeFields fields;
  fields.payload = "{}";
  const Envelope one = Envelope::copy_of(fields);
  const Envelope other = one;
  EXPECT_NE(one.payload().data(), fields.payload.data());
  EXPECT_EQ(one.payload().data(), other.payload().data());
}

TEST(Envelope, DiffersWhenAnyMemberDiffers) {
  EnvelopeFields same;
  const Envelope one = Envelope::copy_of(same);
  for (const TextMember& member : kTextMembers) {
    EnvelopeFields fields;
    member.set(fields, "x");
    EXPECT_FALSE(Envelope::copy_of(fields) == one) << member.json;
  }
  for (const NumberMember& member : kNumberMembers) {
    EnvelopeFields fields;
    fields.*member.member = 0;
    EXPECT_FALSE(Envelope::copy_of(fields) == one) << member.json;
  }
}

TEST(Envelope, FindsTheFirstHeaderOfAName) {
  const Header headers[] = {{"a", "1"}, {"b", "2"}, {"a", "3"}};
  EnvelopeFields fields;
  fields.headers = headers;
  const Envelope envelope = Envelope::copy_of(fields);
  EXPECT_EQ(envelope.header("a"), "1");
  EXPECT_EQ(envelope.header("b"), "2");
  EXPECT_EQ(envelope.header("A"), std::nullopt);
}

}  // namespace
}  // namespace onceward
