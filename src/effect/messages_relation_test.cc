#include "src/effect/messages_relation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <numeric>

#include "src/declaration/sql_names.h"

namespace onceward {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using Texts = std::span<const std::string_view>;
using Numbers = std::span<const std::int64_t>;

constexpr Timestamp received{1'700'000'000'000'000us};

class MessagesRelations : public testing::Test {
 protected:
  MessagesRelations() {
    declaration_.name = "payments";
    declaration_.fields = {{"amount", "/amount", FieldType::decimal, 2}, {"note", "/note", FieldType::text, 0, true}};
  }

  EnvelopeFields message(std::string_view id, std::string_view payload = R"({"amount":1})") {
    EnvelopeFields fields;
    fields.message_id = MessageId(id);
    fields.producer = Producer("shop");
    fields.payload = payload;
    return fields;
  }
  void receive(const EnvelopeFields& fields) {
    envelopes_.push_back(Envelope::copy_of(fields));
    claimants_.push_back(std::get<Claimant>(identify(envelopes_.back(), declaration_)));
  }
  MessagesRelation& begin(std::vector<std::string_view> offered = {}) {
    relation_.emplace(declaration_);
    std::vector<std::uint32_t> numbers(relation_->names().size());
    std::iota(numbers.begin(), numbers.end(), 0u);
    if (!offered.empty())
      std::erase_if(
          numbers, [&](std::uint32_t i) { return std::ranges::find(offered, relation_->names()[i]) == offered.end(); });
    relation_->offer(numbers);
    relation_->begin(claimants_, received);
    return *relation_;
  }
  void take_all() {
    for (std::uint32_t i = 0; i < claimants_.size(); ++i) EXPECT_EQ(relation_->take(i), std::nullopt);
  }
  const Column& column(std::string_view name) {
    const auto names = relation_->names();
    return relation_->column(static_cast<std::uint32_t>(std::ranges::find(names, name) - names.begin()));
  }
  template <class Values>
  Values values(std::string_view name) {
    return std::get<Values>(column(name).values);
  }

  Declaration declaration_;
  std::deque<Envelope> envelopes_;
  std::vector<Claimant> claimants_;
  std::optional<MessagesRelation> relation_;
};

TEST_F(MessagesRelations, ColumnsAreThoseOfTheDeclarationThenTheFields) {
  const MessagesRelation relation(declaration_);
  std::vector<std::string_view> expected(declaration::message_columns().begin(), declaration::message_columns().end());
  expected.push_back("amount");
  expected.push_back("note");
  EXPECT_TRUE(std::ranges::equal(relation.names(), expected));
}

TEST_F(MessagesRelations, WholeMessageIsShown) {
  const std::array<Header, 3> headers{Header{"a", "1\"\n"}, Header{"b", "2"}, Header{"a", "3"}};
  EnvelopeFields fields = message("m1", R"({"amount":12.34,"note":"n"})");
  fields.event_id = EventId("e"), fields.command_id = CommandId("c"), fields.event_type = EventType("paid");
  fields.event_version = 2, fields.schema_version = 3, fields.aggregate_version = 4;
  fields.aggregate_type = AggregateType("invoice"), fields.aggregate_id = AggregateId("i");
  fields.correlation_id = CorrelationId("co"), fields.causation_id = CausationId("ca");
  fields.idempotency_key = IdempotencyKey("ik"), fields.business_key = BusinessKey("bk");
  fields.partition_key = "pk", fields.source = "erp", fields.occurred_at = Timestamp{5us}, fields.mode = Mode::live;
  fields.content_type = "application/json", fields.trace_parent = "00-1", fields.headers = headers;
  receive(fields);
  begin();
  take_all();
  const std::array<std::uint32_t, 1> first{0};
  relation_->show(first);
  const std::pair<std::string_view, std::string_view> texts[] = {{"message_id", "m1"},
                                                                 {"event_id", "e"},
                                                                 {"command_id", "c"},
                                                                 {"type", "paid"},
                                                                 {"aggregate_id", "i"},
                                                                 {"correlation_id", "co"},
                                                                 {"causation_id", "ca"},
                                                                 {"idempotency_key", "ik"},
                                                                 {"business_key", "bk"},
                                                                 {"partition_key", "pk"},
                                                                 {"tenant", ""},
                                                                 {"producer", "shop"},
                                                                 {"source", "erp"},
                                                                 {"mode", "live"},
                                                                 {"content_type", "application/json"},
                                                                 {"trace_parent", "00-1"},
                                                                 {"aggregate_type", "invoice"},
                                                                 {"note", "n"}};
  for (const auto& [name, text] : texts) EXPECT_THAT(values<Texts>(name), ElementsAre(text)) << name;
  const std::pair<std::string_view, std::int64_t> numbers[] = {
      {"event_version", 2}, {"schema_version", 3}, {"aggregate_version", 4}, {"ordinal", 0}};
  for (const auto& [name, number] : numbers) EXPECT_THAT(values<Numbers>(name), ElementsAre(number)) << name;
  EXPECT_THAT(values<std::span<const Timestamp>>("occurred_at"), ElementsAre(Timestamp{5us}));
  EXPECT_THAT(values<std::span<const Timestamp>>("received_at"), ElementsAre(received));
  EXPECT_THAT(values<std::span<const Json>>("headers"), ElementsAre(Json{R"({"a":"1\"\n","b":"2"})"}));
  EXPECT_THAT(values<std::span<const Blob>>("payload"), ElementsAre(Blob{R"({"amount":12.34,"note":"n"})"}));
  EXPECT_EQ(values<std::span<const Blob>>("payload_hash")[0].bytes.size(), 32u);
  EXPECT_EQ(values<std::span<const Uuid>>("message_key")[0].bytes, claimants_[0].key.bytes);
  EXPECT_THAT(values<Decimals>("amount").minor_units, ElementsAre(1234));
  for (const std::string_view name : relation_->names()) EXPECT_TRUE(column(name).present.empty()) << name;
}

TEST_F(MessagesRelations, WhatAMessageDoesNotCarryIsNull) {
  receive(message("m1"));
  begin();
  take_all();
  const std::array<std::uint32_t, 1> first{0};
  relation_->show(first);
  std::vector<std::string_view> never_null;
  for (const std::string_view name : relation_->names()) {
    if (column(name).present.empty()) never_null.push_back(name);
  }
  EXPECT_THAT(never_null, ElementsAre("message_id", "tenant", "producer", "received_at", "mode", "headers", "payload",
                                      "payload_hash", "message_key", "ordinal", "amount"));
  EXPECT_THAT(values<std::span<const Json>>("headers"), ElementsAre(Json{"{}"}));
}

TEST_F(MessagesRelations, AnyPartIsShownInAnyOrder) {
  for (const char* id : {"a", "b", "c", "d"}) receive(message(id));
  begin();
  take_all();
  for (const std::vector<std::uint32_t>& part :
       {std::vector<std::uint32_t>{0, 1, 2, 3}, {3, 1}, {2}, {}, {3, 2, 1, 0}, {0, 1, 2, 3}}) {
    relation_->show(part);
    ASSERT_EQ(values<Texts>("message_id").size(), part.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      EXPECT_EQ(values<Texts>("message_id")[i], claimants_[part[i]].id.text());
      EXPECT_EQ(values<Numbers>("ordinal")[i], part[i]);
    }
    EXPECT_EQ(values<Decimals>("amount").minor_units.size(), part.size());
  }
}

TEST_F(MessagesRelations, FieldsStayWithTheirMessagesWhereSomeWereRefused) {
  receive(message("a", R"({"amount":1})"));
  receive(message("b", R"({"amount":"much"})"));
  receive(message("c", R"({"amount":3})"));
  begin();
  EXPECT_EQ(relation_->take(2), std::nullopt);
  EXPECT_EQ(relation_->take(1), (Refusal{Reason::ill_typed_field, "amount"}));
  EXPECT_EQ(relation_->take(0), std::nullopt);
  const std::array<std::uint32_t, 2> part{0, 2};
  relation_->show(part);
  EXPECT_THAT(values<Texts>("message_id"), ElementsAre("a", "c"));
  EXPECT_THAT(values<Decimals>("amount").minor_units, ElementsAre(100, 300));
}

TEST_F(MessagesRelations, TextThatNoStoreTakesIsTheMessagesOwnRefusal) {
  EnvelopeFields fields = message("a");
  fields.partition_key = "\xff";
  receive(fields);
  fields = message("b");
  fields.source = std::string_view("x\0y", 3);
  receive(fields);
  fields = message("c");
  const std::array<Header, 1> headers{Header{"h", "\xff"}};
  fields.headers = headers;
  receive(fields);
  begin();
  EXPECT_EQ(relation_->take(0), (Refusal{Reason::invalid_utf8, "partition_key"}));
  EXPECT_EQ(relation_->take(1), (Refusal{Reason::nul_in_text, "source"}));
  EXPECT_EQ(relation_->take(2), (Refusal{Reason::invalid_utf8, "headers"}));
  begin({"message_id", "amount"});
  take_all();  // no statement reads it
}

TEST_F(MessagesRelations, NextBatchBeginsAnew) {
  receive(message("a"));
  begin({"message_id", "headers", "amount"});
  take_all();
  const std::array<std::uint32_t, 1> first{0};
  relation_->show(first);
  claimants_.clear();
  receive(message("b", R"({"amount":2})"));
  relation_->begin(claimants_, received);
  take_all();
  relation_->show(first);
  EXPECT_THAT(values<Texts>("message_id"), ElementsAre("b"));
  EXPECT_THAT(values<Decimals>("amount").minor_units, ElementsAre(200));
}

}  // namespace
}  // namespace onceward
