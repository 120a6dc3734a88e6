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

std::string id_of(std::string_view consumer, const Key& cause, std::string_view name, std::uint32_t ordinal) {
  const UuidText text = derived_id(id_mask(consumer, name, ordinal), cause);
  return {text.data(), text.size()};
}

// Known answers, made with another implementation from the comment in derived_id.h. A change of derivation would send
// every message of a re-run out again under a new id.
TEST(DerivedId, NeverChanges) {
  EXPECT_EQ(id_of("billing", kHashCause, "payment.captured", 0), "98452d8b-114b-8ab0-b674-048e956cfeec");
  EXPECT_EQ(id_of("billing", kHashCause, "payment.captured", 1), "80683071-c89b-8482-8a29-929e04ff40e7");
  EXPECT_EQ(id_of("billing", kTimeCause, "payment.captured", 0), "01890a5d-aa90-7ce2-bcb9-a715e07d37c7");
}

TEST(DerivedId, DiffersWithEveryArgument) {
  const std::set<std::string> ids{
      id_of("billing", kHashCause, "captured", 0), id_of("Billing", kHashCause, "captured", 0),
      id_of("billing", kTimeCause, "captured", 0), id_of("billing", kHashCause, "Captured", 0),
      id_of("billing", kHashCause, "captured", 1), id_of("billing", kHashCause, "captured", 1u << 24)};
  EXPECT_EQ(ids.size(), 6u);
}

TEST(DerivedId, OfATimeCarryingCauseCarriesItsTimeDownstream) {
  const std::string id = id_of("billing", kTimeCause, "captured", 0);
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
