// What the sources declare, as docs/reference/sources.md shows it.
#include <fstream>
#include <sstream>

#include "tests/conformance/source_suite.h"

namespace onceward {
namespace {

std::string table_of_capabilities() {
  std::string text = "| |";
  for (const SourceBackend& backend : source_backends()) text += " " + backend.name + " |";
  text += "\n|---|";
  for (std::size_t at = 0; at < source_backends().size(); ++at) text += "---|";
  for (const SourceCapabilityRow& row : source_capability_rows()) {
    text += "\n| " + std::string(row.text) + " |";
    for (const SourceBackend& backend : source_backends())
      text += backend.capabilities.*row.member ? " yes |" : " no |";
  }
  return text + "\n";
}

TEST(SourceCapabilities, StandInTheReferenceAsTheyAreDeclared) {
  std::ostringstream page;
  page << std::ifstream(ONCEWARD_SOURCE_DIRECTORY "/docs/reference/sources.md").rdbuf();
  EXPECT_NE(page.str().find(table_of_capabilities()), std::string::npos)
      << "docs/reference/sources.md must hold this table:\n"
      << table_of_capabilities();
}

class DeclaredBySources : public OnEverySource {};
ONCEWARD_ON_EVERY_SOURCE(DeclaredBySources);

TEST_P(DeclaredBySources, AckTimeoutIsToldWhereThereIsOne) {
  EXPECT_EQ(source_->ack_timeout().has_value(), GetParam().capabilities.ack_timeout);
}

TEST_P(DeclaredBySources, OtherProcessesFindItWhereTheyMay) {
  EXPECT_EQ(under_->address().empty(), !GetParam().capabilities.several_processes);
}

TEST_P(DeclaredBySources, DescriptionNamesTheKind) {
  const std::string& name = GetParam().name;  // e.g. rabbitmq-classic
  EXPECT_THAT(source_->describe(), testing::StartsWith(name.substr(0, name.find('-'))));
}

class DurableSources : public OnEverySource {};
ONCEWARD_ON_SOURCES_THAT(DurableSources, durable);

TEST_P(DurableSources, MessagesOutliveEverybodyWhoKnewThem) {
  send({"a", "b"});
  settle(*source_, receive(*source_, 1));
  source_.reset();
  source_ = under_->open();
  EXPECT_EQ(ids_of(receive(*source_)), Ids{"b"});
}

class Disturbed : public OnEverySource {};
ONCEWARD_ON_SOURCES_THAT(Disturbed, disturbs);

TEST_P(Disturbed, AcceptedMessagesComeAgainInTheShareThatWasAskedFor) {
  make({.disturbance = {.duplicates = 0.5, .seed = 7}});
  send(numbered(400));
  Ids all;
  std::uint64_t redelivered = 0;
  for (Deliveries got; !(got = receive(*source_, 100, 0ms)).empty(); settle(*source_, got)) {
    for (const std::string& id : ids_of(got)) all.push_back(id);
    redelivered += static_cast<std::uint64_t>(std::ranges::count(got, true, &Delivery::redelivered));
  }
  EXPECT_NEAR(static_cast<double>(redelivered) / static_cast<double>(all.size()), 0.5, 0.1);
  EXPECT_EQ(source_->counters().redelivered, redelivered);
  all = sorted(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  EXPECT_EQ(all, sorted(numbered(400))) << "and none is lost";
}

TEST_P(Disturbed, ParkedMessagesDoNotComeAgain) {
  make({.disturbance = {.duplicates = 0.9}});
  send(numbered(50));
  settle(*source_, receive_all(*source_, 50), Settle::park);
  EXPECT_TRUE(is_empty(*source_));
}

TEST_P(Disturbed, OrderIsLostAcrossCallsAndNothingElse) {
  make({.disturbance = {.reorder = 20, .seed = 7}});
  send(numbered(100));
  Ids ids;
  for (Deliveries got; !(got = receive(*source_, 1, 0ms)).empty(); settle(*source_, got)) {
    expect_count(got.front(), 1);
    ids.push_back(ids_of(got).front());
  }
  EXPECT_NE(ids, numbered(100));
  EXPECT_EQ(sorted(ids), sorted(numbered(100)));
}

TEST_P(Disturbed, SameSeedGivesTheSameDeliveries) {
  const auto ids_under = [&](std::uint64_t seed) {
    make({.disturbance = {.duplicates = 0.3, .reorder = 20, .seed = seed}});
    send(numbered(100));
    Ids ids;
    for (Deliveries got; !(got = receive(*source_, 7, 0ms)).empty(); settle(*source_, got)) {
      for (const std::string& id : ids_of(got)) ids.push_back(id);
    }
    return ids;
  };
  const Ids once = ids_under(7);
  EXPECT_EQ(once, ids_under(7));
  EXPECT_NE(once, ids_under(8));
}

}  // namespace
}  // namespace onceward
