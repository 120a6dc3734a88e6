#include "src/envelope/derived_id.h"

#include <gtest/gtest.h>

#include <set>
#include <variant>

#include "src/envelope/key.h"

namespace onceward {
namespace {

Key cause(KeyScheme scheme, std::string_view id) {
  return std::get<Key>(message_key(scheme, Tenant("acme"), "billing", Producer("orders"), id));
}

const Key kHashCause = cause(KeyScheme::hash, "m-1");
const Key kTimeCause = cause(KeyScheme::uuidv7, "01890a5d-ac96-774b-bcce-b302099a8057");

// Known answers, made with another implementation from the comment in derived_id.h. A change of derivation would send
// every message of a re-run out again under a new id.
TEST(DerivedId, NeverChanges) {
  EXPECT_EQ(derived_id("billing", kHashCause, "payment.captured", 0), "3d422b1a-844e-8cd7-b32f-8b2ed2a9abca");
  EXPECT_EQ(derived_id("billing", kHashCause, "payment.captured", 1), "36fd3c42-d3fe-84f7-9abf-e1c4cc726ea9");
  EXPECT_EQ(derived_id("billing", kTimeCause, "payment.captured", 0), "01890a5d-aa90-762c-8769-a7f5076af5d5");
}

TEST(DerivedId, DiffersWithEveryArgument) {
  const std::set<std::string> ids{
      derived_id("billing", kHashCause, "captured", 0), derived_id("Billing", kHashCause, "captured", 0),
      derived_id("billing", kTimeCause, "captured", 0), derived_id("billing", kHashCause, "Captured", 0),
      derived_id("billing", kHashCause, "captured", 1), derived_id("billing", kHashCause, "captured", 1u << 24)};
  EXPECT_EQ(ids.size(), 6u);
}

TEST(DerivedId, OfATimeCarryingCauseCarriesItsTimeDownstream) {
  const std::string id = derived_id("billing", kTimeCause, "captured", 0);
  const auto next = message_key(KeyScheme::uuidv7, Tenant(), "shipping", Producer("billing"), id);
  ASSERT_TRUE(std::holds_alternative<Key>(next));
  EXPECT_EQ(time_of(std::get<Key>(next)), time_of(kTimeCause));
}

TEST(FreshId, IsAUuidOfVersionSevenWithTheTimeOfNow) {
  const auto before =
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  const std::string id = fresh_id();
  const auto time = time_in_uuidv7(id);
  ASSERT_TRUE(time) << id;
  EXPECT_GE(*time, before);
  EXPECT_LE(*time, std::chrono::system_clock::now().time_since_epoch());
  EXPECT_NE(id, fresh_id());
}

}  // namespace
}  // namespace onceward
