#include "src/relay/flight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward::relay {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;
using Kind = Result::Kind;

class FlightTest : public testing::Test {
 protected:
  void add(std::uint64_t number, std::string key, bool ordered = true, bool again = false) {
    Row row(row_width);
    row[1] = std::move(key);
    row[2] = std::to_string(number);
    flight_.add({.number = number, .row = outbox_row(std::move(row), "shop"), .ordered = ordered, .again = again});
  }
  std::vector<std::uint64_t> next(std::size_t most = 100) {
    std::vector<std::uint64_t> tags;
    for (const Publication& publication : flight_.next(most)) tags.push_back(publication.tag);
    return tags;
  }
  void answer(std::uint64_t tag, Receipt::Kind kind) { flight_.answer({.tag = tag, .kind = kind, .why = "so"}); }
  std::vector<std::pair<std::uint64_t, Kind>> results() {
    std::vector<std::pair<std::uint64_t, Kind>> all;
    for (const Result& result : flight_.results()) all.emplace_back(result.number, result.kind);
    return all;
  }

  Flight flight_{{.put_off = 2, .in_doubt = 1}};
};

TEST_F(FlightTest, WithoutOrderAllGoAtOnce) {
  for (const std::uint64_t number : {1, 2, 3}) add(number, "a", false);
  EXPECT_THAT(next(2), ElementsAre(1, 2));
  EXPECT_THAT(next(), ElementsAre(3));
  answer(2, Receipt::Kind::confirmed);
  answer(1, Receipt::Kind::refused);
  EXPECT_THAT(results(), ElementsAre(std::pair(2, Kind::published), std::pair(1, Kind::refused)));
  EXPECT_EQ(flight_.size(), 1u);
}

TEST_F(FlightTest, OfAKeyOneIsUnderWayAtATime) {
  add(1, "a");
  add(2, "a");
  add(3, "b");
  EXPECT_THAT(next(), ElementsAre(1, 3));
  EXPECT_THAT(next(), ElementsAre());
  answer(1, Receipt::Kind::confirmed);
  EXPECT_THAT(next(), ElementsAre(2));
}

TEST_F(FlightTest, AKeyThatIsRefusedStopsAndNoOther) {
  add(1, "a");
  add(2, "a");
  add(3, "b");
  next();
  answer(1, Receipt::Kind::refused);
  add(4, "a");
  add(5, "b");
  EXPECT_THAT(results(),
              ElementsAre(std::pair(1, Kind::refused), std::pair(2, Kind::behind), std::pair(4, Kind::behind)));
  answer(3, Receipt::Kind::confirmed);
  EXPECT_THAT(next(), ElementsAre(5));
  add(1, "a", true, true);
  EXPECT_THAT(next(), ElementsAre(1));
  answer(1, Receipt::Kind::confirmed);
  flight_.open("a");
  add(6, "a");
  EXPECT_THAT(next(), ElementsAre(6));
}

TEST_F(FlightTest, WhatIsInDoubtGoesAgainBeforeTheNextOfItsKey) {
  add(1, "a");
  add(2, "a");
  next();
  answer(1, Receipt::Kind::in_doubt);
  EXPECT_THAT(next(), ElementsAre(1));
  answer(1, Receipt::Kind::confirmed);
  EXPECT_THAT(next(), ElementsAre(2));
}

TEST_F(FlightTest, WhatIsPutOffTooOftenWhileOthersAreConfirmedStepsAside) {
  add(1, "a", false);
  add(2, "b", false);
  next();
  answer(2, Receipt::Kind::confirmed);
  results();
  for (int i = 0; i < 2; ++i) {
    answer(1, Receipt::Kind::put_off);
    EXPECT_THAT(next(), ElementsAre(1));
    EXPECT_TRUE(results().empty());
  }
  answer(1, Receipt::Kind::put_off);
  EXPECT_THAT(results(), ElementsAre(std::pair(1, Kind::put_off)));
}

TEST_F(FlightTest, WhatIsInDoubtTooOftenWhileOthersAreConfirmedStepsAside) {
  add(1, "a");
  add(2, "a");
  add(3, "b");
  next();
  answer(3, Receipt::Kind::confirmed);
  results();
  answer(1, Receipt::Kind::in_doubt);
  EXPECT_THAT(next(), ElementsAre(1));
  answer(1, Receipt::Kind::in_doubt);
  EXPECT_THAT(results(), ElementsAre(std::pair(1, Kind::put_off), std::pair(2, Kind::behind)));
}

// An outage is no message's fault, however long it is.
TEST_F(FlightTest, WhereNothingIsConfirmedNothingStepsAside) {
  add(1, "a", false);
  next();
  answer(1, Receipt::Kind::confirmed);
  results();
  add(2, "a", false);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(next(), ElementsAre(2));
    answer(2, i % 2 == 0 ? Receipt::Kind::put_off : Receipt::Kind::in_doubt);
  }
  EXPECT_TRUE(results().empty());
}

TEST_F(FlightTest, WhatWasSentIsGivenBackOnlyWhereThatIsAskedFor) {
  add(1, "a");
  add(2, "a");
  add(3, "", false);
  next();
  add(4, "b");
  flight_.give_back(false);
  EXPECT_THAT(results(), ElementsAre(std::pair(4, Kind::away)));
  flight_.give_back(true);
  EXPECT_THAT(results(),
              UnorderedElementsAre(std::pair(1, Kind::away), std::pair(2, Kind::behind), std::pair(3, Kind::away)));
  EXPECT_EQ(flight_.size(), 0u);
  answer(1, Receipt::Kind::confirmed);
  EXPECT_TRUE(results().empty());
}

TEST_F(FlightTest, WhatWasNotTakenKeepsItsPlace) {
  for (const std::uint64_t number : {1, 2, 3}) add(number, "a", false);
  const auto publications = flight_.next(2);
  flight_.take_back(publications);
  EXPECT_THAT(next(), ElementsAre(1, 2, 3));
}

TEST_F(FlightTest, AReceiptOfNobodyIsIgnored) {
  answer(7, Receipt::Kind::confirmed);
  EXPECT_TRUE(results().empty());
}

}  // namespace
}  // namespace onceward::relay
