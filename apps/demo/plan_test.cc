#include "apps/demo/plan.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "onceward/envelope.h"

namespace onceward::demo {
namespace {

std::map<Kind, int> counts_of(const Plan& plan) {
  std::map<Kind, int> counts;
  for (const Request& request : plan.requests) ++counts[request.kind];
  return counts;
}

std::string text_of(const Plan& plan) {
  std::string text;
  for (const Request& request : plan.requests) text += log_line(plan.seed, request) + bytes_of(plan.seed, request);
  return text;
}

TEST(DemoPlan, IsAFunctionOfItsSeed) {
  EXPECT_EQ(text_of(make_plan(7, 1000)), text_of(make_plan(7, 1000)));
  EXPECT_NE(text_of(make_plan(7, 1000)), text_of(make_plan(8, 1000)));
}

TEST(DemoPlan, HasSomeOfEverything) {
  for (const std::int64_t messages : {Plan::least_messages, std::int64_t{20'000}}) {
    auto counts = counts_of(make_plan(7, messages));
    for (int kind = 0; kind < kinds; ++kind) EXPECT_GT(counts[static_cast<Kind>(kind)], 0) << kind;
    EXPECT_EQ(counts[Kind::kills], 1);
    std::int64_t distinct = 0;
    for (const auto& [kind, count] : counts) distinct += kind == Kind::resent || kind == Kind::conflict ? 0 : count;
    EXPECT_EQ(distinct, messages);
  }
}

TEST(DemoPlan, MessagesWithoutAnIdAreToldApartByTheirEnvelopesAlone) {
  std::set<std::string> bytes, payloads;
  for (const Request& request : make_plan(7, Plan::least_messages).requests) {
    if (request.kind != Kind::no_message_id) continue;
    bytes.insert(bytes_of(7, request));
    payloads.insert(payload_of(7, request));
  }
  EXPECT_EQ(bytes.size(), 3u);
  EXPECT_EQ(payloads.size(), 1u);
}

TEST(DemoPlan, RepeatsComeAfterWhatTheyRepeat) {
  const Plan plan = make_plan(3, 2000);
  std::map<std::int64_t, const Request*> seen;
  for (const Request& request : plan.requests) {
    if (request.kind == Kind::resent) {
      ASSERT_TRUE(seen.contains(request.subject));
      EXPECT_EQ(bytes_of(3, request), bytes_of(3, *seen[request.subject]));
    } else if (request.kind == Kind::conflict) {
      ASSERT_TRUE(seen.contains(request.subject));
      EXPECT_NE(payload_of(3, request), payload_of(3, *seen[request.subject]));
    } else {
      EXPECT_TRUE(seen.emplace(request.subject, &request).second);
    }
  }
}

TEST(DemoPlan, MessagesAreWhatTheirKindSays) {
  const Plan plan = make_plan(7, 500);
  for (const Request& request : plan.requests) {
    const auto read = read_envelope(Bytes::copy_of(bytes_of(7, request)));
    if (request.kind == Kind::not_json) {
      EXPECT_TRUE(std::holds_alternative<Refusal>(read));
      continue;
    }
    ASSERT_TRUE(std::holds_alternative<Envelope>(read)) << bytes_of(7, request);
    const auto& envelope = std::get<Envelope>(read);
    EXPECT_EQ(envelope.message_id().empty(), request.kind == Kind::no_message_id);
    EXPECT_EQ(envelope.correlation_id().empty(), request.kind == Kind::no_correlation);
    EXPECT_EQ(envelope.schema_version() == 1, request.kind != Kind::unknown_schema);
    EXPECT_EQ(envelope.payload(), payload_of(7, request));
    const auto line = nlohmann::json::parse(log_line(7, request));
    EXPECT_EQ(line.at("id"), envelope.message_id().text());
    EXPECT_EQ(line.at("kind"), name(request.kind));
  }
}

}  // namespace
}  // namespace onceward::demo
