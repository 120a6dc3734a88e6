#include "src/effect/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <deque>

#include "src/common/base64.h"
#include "src/common/hex.h"
#include "src/common/timestamp.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// One consumer's columns and the messages they borrow from.
class Taken {
 public:
  explicit Taken(std::vector<FieldDeclaration> fields) : fields_(std::move(fields)), columns_(fields_, 32) {}

  std::optional<Refusal> add(std::string_view payload) {
    EnvelopeFields envelope;
    envelope.payload = payload;
    return columns_.add(envelopes_.emplace_back(Envelope::copy_of(envelope)));
  }
  template <class Values>
  Values values(std::size_t field) {
    return std::get<Values>(columns_.columns()[field].values);
  }
  FieldColumns& columns() { return columns_; }

 private:
  std::vector<FieldDeclaration> fields_;
  FieldColumns columns_;
  std::deque<Envelope> envelopes_;
};

FieldDeclaration field(FieldType type, int scale = 0, bool optional = false) {
  return {"f", "/f", type, scale, optional};
}

// Whether the value, given as JSON, is taken as the type; else why not. Nothing is appended then.
std::string taken_as(FieldType type, const std::string& json, int scale = 0) {
  Taken taken({{"before", "/before", FieldType::int64}, field(type, scale), {"after", "/after", FieldType::text}});
  const auto refusal = taken.add(R"({"before":1,"after":"x","f":)" + json + "}");
  EXPECT_EQ(taken.columns().size(), refusal ? 0u : 1u);
  for (const Column& column : taken.columns().columns()) EXPECT_EQ(rows_of(column), taken.columns().size());
  if (!refusal) return "taken";
  EXPECT_EQ(refusal->detail, "f") << "the field's name, and never its value";
  return std::string(code(refusal->reason));
}

TEST(FieldColumns, HaveTheTypeThatIsDeclared) {
  Taken taken({{"t", "/t", FieldType::text},
               {"i", "/n/i", FieldType::int64},
               {"b", "/b", FieldType::boolean},
               {"at", "/at", FieldType::timestamp},
               {"u", "/u", FieldType::uuid},
               {"y", "/y", FieldType::bytes},
               {"d", "/d", FieldType::decimal, 2}});
  ASSERT_EQ(taken.add(R"({"t":"plain","n":{"i":-9223372036854775808},"b":true,"at":"1970-01-01T00:00:00.000001Z",
                          "u":"00000000-0000-0000-0000-0000000000FF","y":"AP8=","d":12.34})"),
            std::nullopt);
  ASSERT_EQ(taken.add(R"({"t":"with \u00e9scapes\n","n":{"i":0},"b":false,"at":"1970-01-01T01:00:00+01:00",
                          "u":"ff000000-0000-0000-0000-000000000000","y":"","d":"-0.050"})"),
            std::nullopt);
  EXPECT_THAT(taken.values<std::span<const std::string_view>>(0), ElementsAre("plain", "with \xc3\xa9scapes\n"));
  EXPECT_THAT(taken.values<std::span<const std::int64_t>>(1), ElementsAre(std::numeric_limits<std::int64_t>::min(), 0));
  EXPECT_THAT(taken.values<std::span<const bool>>(2), ElementsAre(true, false));
  EXPECT_THAT(taken.values<std::span<const Timestamp>>(3), ElementsAre(Timestamp{1us}, Timestamp{}));
  EXPECT_EQ(taken.values<std::span<const Uuid>>(4)[0].bytes[15], 0xff);
  EXPECT_EQ(taken.values<std::span<const Uuid>>(4)[1].bytes[0], 0xff);
  EXPECT_THAT(taken.values<std::span<const Blob>>(5), ElementsAre(Blob{std::string_view("\0\xff", 2)}, Blob{}));
  EXPECT_THAT(taken.values<Decimals>(6).minor_units, ElementsAre(1234, -5));
  EXPECT_EQ(taken.values<Decimals>(6).scale, 2);
  for (const Column& column : taken.columns().columns()) EXPECT_TRUE(column.present.empty());
}

TEST(FieldColumns, TakeNoOtherType) {
  const std::pair<FieldType, std::vector<std::string>> wrong[] = {
      {FieldType::text, {"1", "true", "{}", "[\"a\"]"}},
      {FieldType::int64, {"\"1\"", "true", "1.0", "1e0", "1E2", "0.5", "{}", "[]"}},
      {FieldType::boolean, {"1", "\"true\"", "{}", "[]"}},
      {FieldType::timestamp, {"0", "true", "{}"}},
      {FieldType::uuid,
       {"0", "\"\"", "\"6e9bca2c6a314d0f9e290f8c0c5ad3a1\"", "\"g0000000-0000-0000-0000-000000000000\""}},
      {FieldType::bytes, {"0", "\"AP8\"", "\"A P8=\"", "\"\\u0000\"", "[0]"}},
      {FieldType::decimal, {"true", "\"\"", "\"1,5\"", "\" 1\"", "\"+1\"", "\"1\\u0000\"", "{}", "[1]"}}};
  for (const auto& [type, values] : wrong) {
    for (const std::string& json : values) EXPECT_EQ(taken_as(type, json), "ill_typed_field") << json;
  }
  for (const char* json : {"\"\"", "\"2026-02-30T00:00:00Z\"", "\"2026-01-01 00:00:00Z\"", "\"2026-01-01T00:00:00\""})
    EXPECT_EQ(taken_as(FieldType::timestamp, json), "malformed_time") << json;
}

TEST(FieldColumns, HoldNumbersExactlyOrNotAtAll) {
  EXPECT_EQ(taken_as(FieldType::int64, "9223372036854775807"), "taken");
  EXPECT_EQ(taken_as(FieldType::int64, "-0"), "taken");
  EXPECT_EQ(taken_as(FieldType::int64, "9223372036854775808"), "number_out_of_range");
  EXPECT_EQ(taken_as(FieldType::int64, "-9223372036854775809"), "number_out_of_range");
  EXPECT_EQ(taken_as(FieldType::decimal, "12.340", 2), "taken");
  EXPECT_EQ(taken_as(FieldType::decimal, "1e2", 2), "taken");
  EXPECT_EQ(taken_as(FieldType::decimal, "\"12.34\"", 2), "taken");
  EXPECT_EQ(taken_as(FieldType::decimal, "12.345", 2), "number_out_of_range");
  EXPECT_EQ(taken_as(FieldType::decimal, "\"12.345\"", 2), "number_out_of_range");
  EXPECT_EQ(taken_as(FieldType::decimal, "92233720368547758.08", 2), "number_out_of_range");
}

TEST(FieldColumns, HoldNoNul) {
  EXPECT_EQ(taken_as(FieldType::text, R"("a\u0000b")"), "nul_in_text");
  EXPECT_EQ(taken_as(FieldType::text, R"("a\\u0000b")"), "taken");
}

TEST(FieldColumns, MissWhatIsAbsentOrNull) {
  Taken taken({field(FieldType::int64)});
  EXPECT_EQ(taken.add("{}"), (Refusal{Reason::missing_field, "f"}));
  EXPECT_EQ(taken.add(R"({"f":null})"), (Refusal{Reason::missing_field, "f"}));
  EXPECT_EQ(taken.add(R"({"F":1})"), (Refusal{Reason::missing_field, "f"}));
  EXPECT_EQ(taken.add("[1]"), (Refusal{Reason::missing_field, "f"}));
  EXPECT_EQ(taken.columns().size(), 0u);
}

TEST(FieldColumns, OptionalFieldsAreNullWhereTheyAreMissing) {
  for (const FieldType type : {FieldType::text, FieldType::int64, FieldType::boolean, FieldType::timestamp,
                               FieldType::uuid, FieldType::bytes, FieldType::decimal}) {
    Taken taken({field(type, 0, true)});
    EXPECT_EQ(taken.add("{}"), std::nullopt);
    EXPECT_EQ(taken.add(R"({"f":null})"), std::nullopt);
    EXPECT_THAT(taken.columns().columns()[0].present, ElementsAre(false, false));
    EXPECT_NE(taken.add(R"({"f":[]})"), std::nullopt) << "an optional field that is there has its type";
    EXPECT_EQ(taken.columns().size(), 2u);
  }
}

TEST(FieldColumns, NeedJsonOnlyWhereFieldsAreDeclared) {
  Taken taken({field(FieldType::int64, 0, true)});
  EXPECT_EQ(taken.add(""), (Refusal{Reason::malformed_json, "payload"}));
  EXPECT_EQ(taken.add("<xml/>"), (Refusal{Reason::malformed_json, "payload"}));
  EXPECT_EQ(taken.add(R"({"f":1,"x":tru})"), (Refusal{Reason::malformed_json, "payload"}));
  EXPECT_EQ(taken.add(R"({"f":1} {)"), (Refusal{Reason::malformed_json, "payload"}));
  EXPECT_EQ(taken.add("{\"f\":1,\"x\":\"\xff\"}"), (Refusal{Reason::invalid_utf8, "payload"}));
  EXPECT_EQ(taken.add(std::string(33, '[') + std::string(33, ']')), (Refusal{Reason::too_deep, "payload"}));
  Taken without({});
  EXPECT_EQ(without.add("<xml/>"), std::nullopt);
  EXPECT_EQ(without.columns().size(), 1u);
}

TEST(FieldColumns, RefuseAKeyThatStandsTwice) {
  Taken taken({field(FieldType::int64)});
  EXPECT_EQ(taken.add(R"({"f":1,"f":1})"), (Refusal{Reason::duplicate_field, "f"}));
  EXPECT_EQ(taken.add(R"({"f":1,"g":1,"g":2})"), std::nullopt) << "who reads g?";
}

TEST(FieldColumns, RefusedMessageLeavesItsNeighboursAlone) {
  Taken taken({{"a", "/a", FieldType::text}, {"b", "/b", FieldType::int64, 0, true}, {"c", "/c", FieldType::boolean}});
  EXPECT_EQ(taken.add(R"({"a":"one\u0021","c":true})"), std::nullopt);
  EXPECT_NE(taken.add(R"({"a":"two\u0021","b":2,"c":"no"})"), std::nullopt);
  EXPECT_EQ(taken.add(R"({"a":"three","b":3,"c":false})"), std::nullopt);
  EXPECT_THAT(taken.values<std::span<const std::string_view>>(0), ElementsAre("one!", "three"));
  EXPECT_THAT(taken.columns().columns()[1].present, ElementsAre(false, true));
  EXPECT_EQ(taken.values<std::span<const std::int64_t>>(1)[1], 3);
  EXPECT_THAT(taken.values<std::span<const bool>>(2), ElementsAre(true, false));
}

TEST(FieldColumns, ClearedBeginAnew) {
  Taken taken({field(FieldType::text, 0, true)});
  taken.add("{}");
  taken.columns().clear();
  EXPECT_EQ(taken.columns().size(), 0u);
  taken.add(R"({"f":"\u0041"})");
  EXPECT_THAT(taken.values<std::span<const std::string_view>>(0), ElementsAre("A"));
  EXPECT_TRUE(taken.columns().columns()[0].present.empty());
}

TEST(FieldColumns, PartOfTheRowsIsPicked) {
  Taken taken({field(FieldType::decimal, 2, true)});
  for (const char* payload : {R"({"f":1})", "{}", R"({"f":3})"}) taken.add(payload);
  const std::array<std::uint32_t, 2> rows{2, 1};
  const Column column = taken.columns().column(0, rows);
  EXPECT_EQ(column.name, "f");
  EXPECT_EQ(std::get<Decimals>(column.values).minor_units[0], 300);
  EXPECT_EQ(std::get<Decimals>(column.values).scale, 2);
  EXPECT_THAT(column.present, ElementsAre(true, false));
}

RC_GTEST_PROP(FieldColumns, TextComesOutAsItWasWritten, (const std::vector<std::vector<int>>& texts)) {
  Taken taken({field(FieldType::text)});
  std::vector<std::string> expected;
  for (const std::vector<int>& bytes : texts) {
    std::string text;
    for (const int byte : bytes) text += static_cast<char>((byte % 127 + 127) % 127 + 1);
    RC_ASSERT(!taken.add("{\"f\":" + json_string(text) + "}"));
    expected.push_back(text);
  }
  const auto values = taken.values<std::span<const std::string_view>>(0);
  RC_ASSERT(std::vector<std::string>(values.begin(), values.end()) == expected);
}

RC_GTEST_PROP(FieldColumns, TypedValuesComeOutAsTheyWereWritten,
              (std::int64_t number, bool truth, const std::array<unsigned char, 16>& uuid, const std::string& bytes)) {
  Taken taken({{"i", "/i", FieldType::int64},
               {"b", "/b", FieldType::boolean},
               {"u", "/u", FieldType::uuid},
               {"y", "/y", FieldType::bytes},
               {"at", "/at", FieldType::timestamp}});
  const Timestamp time{std::chrono::microseconds(*rc::gen::inRange<std::int64_t>(0, 253'402'300'800'000'000))};
  const std::string payload = "{\"i\":" + std::to_string(number) + ",\"b\":" + (truth ? "true" : "false") +
                              ",\"u\":\"" + to_uuid(uuid) + "\",\"y\":\"" + to_base64(bytes) + "\",\"at\":\"" +
                              write_timestamp(time) + "\"}";
  RC_ASSERT(!taken.add(payload));
  RC_ASSERT(taken.values<std::span<const std::int64_t>>(0)[0] == number);
  RC_ASSERT(taken.values<std::span<const bool>>(1)[0] == truth);
  RC_ASSERT(taken.values<std::span<const Uuid>>(2)[0].bytes == uuid);
  RC_ASSERT(taken.values<std::span<const Blob>>(3)[0].bytes == bytes);
  RC_ASSERT(taken.values<std::span<const Timestamp>>(4)[0] == time);
}

}  // namespace
}  // namespace onceward
