#include "src/envelope/key.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace onceward {
namespace {

constexpr std::string_view kUuid = "01890a5d-ac96-774b-bcce-b302099a8057";  // 2023-06-30T03:34:18.518Z
constexpr std::string_view kUlid = "01H455VB4PEX5VSKNK084SN02Q";            // the same 128 bits

Key made(const std::variant<Key, Reason>& answer) { return std::get<Key>(answer); }

Key key_of(std::string_view id, KeyScheme scheme = KeyScheme::hash) {
  return made(message_key(scheme, Tenant("acme"), "billing", Producer("orders"), id));
}

Key key_at(std::string_view consumer, Stream stream, std::int64_t offset) {
  return position_key(consumer, {std::make_shared<const Stream>(std::move(stream)), offset, offset});
}

Reason key_refusal(std::string_view id, KeyScheme scheme) {
  const auto answer = message_key(scheme, Tenant("acme"), "billing", Producer("orders"), id);
  EXPECT_TRUE(std::holds_alternative<Reason>(answer)) << id;
  return std::get<Reason>(answer);
}

// Known answers, made with another implementation from the grammar in key.h. If one of these fails, every id that is
// stored anywhere would be taken for new: change the code back, never the answer.
TEST(KeyDerivation, NeverChanges) {
  EXPECT_EQ(to_string(key_of("m-1")), "fe331268-1155-3adb-438d-3fe939e8434c");
  EXPECT_EQ(to_string(made(message_key(KeyScheme::hash, Tenant(), "billing", Producer("orders"), "m-1"))),
            "9447b3bc-ee88-465e-0f05-7621c52f0024");
  EXPECT_EQ(to_string(key_of(kUuid, KeyScheme::uuidv7)), "1961123a-120d-dc89-0940-9c724cf98a67");
  EXPECT_EQ(to_string(key_of(kUlid, KeyScheme::ulid)), "1961123a-7351-f356-37ca-21af49cad4b8");
  EXPECT_EQ(to_string(operation_key(Tenant("acme"), "billing", "capture", "cap-7")),
            "f7b168d8-772c-46a6-13f9-ca716e517020");
  EXPECT_EQ(to_string(unnamed_key(Tenant("acme"), "billing", Producer("orders"), "capture", "cap-7")),
            "889968ef-1fe5-100b-b93c-aba8ad5ff8dc");
  EXPECT_EQ(to_string(key_at("billing", {"payments/3", 9, 2}, 1234567890123)), "d414f669-78c3-d1c5-226b-7fcf1e330783");
}

TEST(KeyDerivation, KeepsPositionsApartAndForgetsTheEpoch) {
  const Key key = key_at("billing", {"payments/3", 9, 2}, 7);
  EXPECT_EQ(key_at("billing", {"payments/3", 11, 2}, 7), key) << "whoever reads it";
  for (const Key& other : {key_at("books", {"payments/3", 9, 2}, 7), key_at("billing", {"payments/4", 9, 2}, 7),
                           key_at("billing", {"payments/3", 9, 3}, 7), key_at("billing", {"payments/3", 9, 2}, 8)}) {
    EXPECT_NE(other, key);
  }
}

TEST(KeyDerivation, KeepsEveryPartOfTheScopeApart) {
  const auto key = [](std::string_view tenant, std::string_view consumer, std::string_view producer,
                      std::string_view id) {
    return made(message_key(KeyScheme::hash, Tenant(tenant), consumer, Producer(producer), id));
  };
  const Key one = key("t", "c", "p", "i");
  EXPECT_NE(one, key("T", "c", "p", "i"));
  EXPECT_NE(one, key("t", "C", "p", "i"));
  EXPECT_NE(one, key("t", "c", "P", "i"));
  EXPECT_NE(one, key("t", "c", "p", "I"));
  EXPECT_NE(key("", "c", "ab", "c"), key("", "c", "a", "bc"));
  EXPECT_NE(key("ab", "c", "p", "i"), key("a", "bc", "p", "i"));
}

TEST(KeyDerivation, NeverTakesAnOperationForAMessage) {
  const Key operation = operation_key(Tenant("t"), "c", "p", "i");
  EXPECT_NE(operation, made(message_key(KeyScheme::hash, Tenant("t"), "c", Producer("p"), "i")));
  EXPECT_NE(operation, unnamed_key(Tenant("t"), "c", Producer("p"), "i", ""));
  EXPECT_NE(unnamed_key(Tenant("t"), "c", Producer("p"), "o", "i"),
            unnamed_key(Tenant("t"), "c", Producer("q"), "o", "i"));
}

TEST(TimeCarryingId, PutsItsSecondInFrontOfTheKey) {
  const auto second =
      std::chrono::sys_days{std::chrono::June / 30 / 2023} + std::chrono::seconds{3 * 3600 + 34 * 60 + 18};
  EXPECT_EQ(time_of(key_of(kUuid, KeyScheme::uuidv7)), second);
  EXPECT_EQ(time_of(key_of(kUlid, KeyScheme::ulid)), second);
  EXPECT_EQ(time_of(key_of(kUuid, KeyScheme::hash)), std::nullopt);
}

TEST(TimeCarryingId, IsRefusedInAnyOtherSpelling) {
  for (const std::string_view id :
       {"", "01890A5D-AC96-774B-BCCE-B302099A8057", "01890a5d-ac96-474b-bcce-b302099a8057" /* version 4 */,
        "01890a5d-ac96-774b-7cce-b302099a8057" /* variant 0 */, "01890a5d-ac96-774b-ccce-b302099a8057",
        "01890a5dac96774bbcceb302099a8057", "{01890a5d-ac96-774b-bcce-b302099a8057}",
        "01890a5d-ac96-774b-bcce-b302099a805", "01890a5d-ac96-774b-bcce-b302099a80577",
        "01890a5d_ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a805g",
        "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057", "01H455VB4PEX5VSKNK084SN02Q"}) {
    EXPECT_EQ(key_refusal(id, KeyScheme::uuidv7), Reason::malformed_message_id) << id;
  }
  for (const std::string_view id :
       {"", "01h455vb4pex5vsknk084sn02q", "81H455VB4PEX5VSKNK084SN02Q" /* past 128 bits */,
        "01H455VB4PEX5VSKNK084SN02I" /* no I L O U */, "01H455VB4PEX5VSKNK084SN02U", "O1H455VB4PEX5VSKNK084SN02Q",
        "01H455VB4PEX5VSKNK084SN02", "01H455VB4PEX5VSKNK084SN02QQ", "01890a5d-ac96-774b-bcce-b302099a8057"}) {
    EXPECT_EQ(key_refusal(id, KeyScheme::ulid), Reason::malformed_message_id) << id;
  }
}

TEST(TimeCarryingId, IsRefusedOutsideTheYearsThatAKeyCanCarry) {
  // 2010-01-01T00:00:00Z is 1262304000; the 31 bits end 2147483648 seconds later.
  EXPECT_EQ(key_refusal("0125e72e-77ff-7000-8000-000000000000", KeyScheme::uuidv7), Reason::id_time_out_of_range);
  EXPECT_EQ(to_string(key_of("0125e72e-7800-7000-8000-000000000000", KeyScheme::uuidv7)).substr(0, 8), "00000000");
  EXPECT_EQ(to_string(key_of("0319e72e-77ff-7000-8000-000000000000", KeyScheme::uuidv7)).substr(0, 8), "7fffffff");
  EXPECT_EQ(key_refusal("0319e72e-7800-7000-8000-000000000000", KeyScheme::uuidv7), Reason::id_time_out_of_range);
  EXPECT_EQ(key_refusal("7ZZZZZZZZZZZZZZZZZZZZZZZZZ", KeyScheme::ulid), Reason::id_time_out_of_range);
  EXPECT_EQ(key_refusal("00000000000000000000000000", KeyScheme::ulid), Reason::id_time_out_of_range);
}

std::string uuidv7_at(std::uint64_t milliseconds) {
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-7000-8000-000000000000", static_cast<unsigned>(milliseconds >> 16),
                static_cast<unsigned>(milliseconds & 0xffff));
  return text;
}

RC_GTEST_PROP(KeyRange, HoldsTheTimeKeysOfItsSecondsAndNoHashKey, (const std::string& id)) {
  const auto second = *rc::gen::inRange<std::int64_t>(0, (std::int64_t{1} << 31) - 1);
  const auto time = kKeyEpoch + std::chrono::seconds{second};
  const auto millisecond = *rc::gen::inRange<std::uint64_t>(0, 1000);
  const Key key = key_of(uuidv7_at(static_cast<std::uint64_t>(time.time_since_epoch().count()) * 1000 + millisecond),
                         KeyScheme::uuidv7);
  const Key low = lowest_key_at(time);
  const Key high = lowest_key_at(time + std::chrono::seconds{1});
  RC_ASSERT(low <= key);
  RC_ASSERT(key < high);
  RC_ASSERT(high < key_of(id, KeyScheme::hash));
}

}  // namespace
}  // namespace onceward
