#include "adapters/kafka/retention.h"

#include <gtest/gtest.h>

namespace onceward::kafka {
namespace {

using namespace std::chrono_literals;

KafkaFacts facts_of(const TopicSettings& settings) {
  KafkaFacts facts;
  take_retention(settings, facts);
  return facts;
}

TEST(Retention, IsThatOfTheTopicAndOfItsSegments) {
  for (const char* const policy : {"delete", "compact,delete"}) {
    const auto facts = facts_of({{"cleanup.policy", policy}, {"retention.ms", "5000"}, {"segment.ms", "7000"}});
    EXPECT_EQ(facts.retention, 5s);
    EXPECT_EQ(facts.segment, 7s);
    EXPECT_EQ(facts.retention_unknown, "");
  }
}

TEST(Retention, WithoutALimitOrByCompactionAloneIsForGood) {
  for (const TopicSettings& settings :
       {TopicSettings{{"cleanup.policy", "compact"}, {"retention.ms", "5000"}, {"segment.ms", "7000"}},
        TopicSettings{{"cleanup.policy", "delete"}, {"retention.ms", "-1"}, {"segment.ms", "7000"}},
        TopicSettings{{"cleanup.policy", "delete"}, {"retention.ms", "9223372036854775807"}, {"segment.ms", "7000"}}}) {
    EXPECT_EQ(facts_of(settings).retention, std::nullopt);
    EXPECT_EQ(facts_of(settings).retention_unknown, "");
  }
}

TEST(Retention, IsUnknownWhereAPartOfItIs) {
  const TopicSettings all{{"cleanup.policy", "delete"}, {"retention.ms", "5000"}, {"segment.ms", "7000"}};
  for (const auto& [name, value] : all) {
    TopicSettings others = all;
    others.erase(name);
    EXPECT_EQ(facts_of(others).retention_unknown, "the brokers do not tell " + name);
  }
  for (const char* const no_number : {"", "7 days"}) {
    TopicSettings unread = all;
    unread["segment.ms"] = no_number;
    EXPECT_EQ(facts_of(unread).retention_unknown, "the brokers do not tell segment.ms");
  }
}

}  // namespace
}  // namespace onceward::kafka
