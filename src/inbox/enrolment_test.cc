#include "src/inbox/enrolment.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace onceward {
namespace {

// Stored in users' databases: a change here locks every enrolled consumer out.
TEST(Enrolment, TextOfADefaultPolicyIsFrozen) {
  EXPECT_EQ(identity_text({}),
            "scheme: hash\n"
            "hash: exact bytes\n"
            "id: envelope message_id\n"
            "producer: message\n"
            "tenant: constant \n"
            "operation: none\n");
}

TEST(Enrolment, TextOfAFullPolicyIsFrozen) {
  IdentityPolicy policy;
  policy.message_id = FromHeader{"X-Id"};
  policy.producer = "billing";
  policy.tenant_header = "X-Tenant";
  policy.scheme = KeyScheme::uuidv7;
  policy.hash = {true, {"/sent_at", "/meta/trace"}};
  policy.operation = OperationPolicy{"capture", FromPayload{"/capture,id"}};
  EXPECT_EQ(identity_text(policy),
            "scheme: uuidv7\n"
            "hash: canonical json without /meta/trace,/sent_at\n"
            "id: header X-Id\n"
            "producer: constant billing\n"
            "tenant: header X-Tenant\n"
            "operation: capture by payload /capture\\,id\n");
}

TEST(Enrolment, OrderOfVolatileFieldsDoesNotMatter) {
  IdentityPolicy one, other;
  one.hash = {true, {"/a", "/b"}};
  other.hash = {true, {"/b", "/a", "/b"}};
  EXPECT_EQ(identity_text(one), identity_text(other));
}

TEST(Enrolment, PartsThatDifferAreNamedOnce) {
  IdentityPolicy one, other;
  other.hash.canonical_json = true;
  other.operation = OperationPolicy{"capture", FromAggregate{}};
  EXPECT_EQ(differing_parts(identity_text(one), identity_text(other)), "hash, operation");
  EXPECT_EQ(differing_parts(identity_text(one), identity_text(one)), "");
}

TEST(Enrolment, WhoKeepsTheOffsetsIsPartOfIt) {
  EXPECT_EQ(identity_text({}, Offsets::inbox), identity_text({})) << "as it always was";
  EXPECT_EQ(differing_parts(identity_text({}), identity_text({}, Offsets::store)), "offsets");
}

TEST(Enrolment, AChangeIsAFaultThatSaysWhatToDo) {
  IdentityPolicy one, other;
  other.scheme = KeyScheme::ulid;
  const Fault fault = identity_changed("captures", identity_text(one), identity_text(other));
  EXPECT_EQ(fault.fault(), FaultCode::scheme_changed);
  EXPECT_NE(std::string(fault.what()).find("\"captures\""), std::string::npos);
  EXPECT_NE(std::string(fault.what()).find("scheme"), std::string::npos);
}

RC_GTEST_PROP(Enrolment, OtherNamesGiveOtherTexts, (const std::string& a, const std::string& b)) {
  RC_PRE(a != b);
  IdentityPolicy one, other;
  one.message_id = FromHeader{a};
  one.hash = {true, {a, b}};
  other.message_id = FromHeader{b};
  other.hash = {true, {a + "," + b}};
  RC_ASSERT(differing_parts(identity_text(one), identity_text(other)) == "hash, id");
}

}  // namespace
}  // namespace onceward
