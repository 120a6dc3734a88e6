// The parts of the relay that speak to the store, on every store.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/relay/leases.h"
#include "src/relay/pages.h"
#include "tests/fixtures/store_under_test.h"

namespace onceward::relay {

using namespace fixtures;  // NOLINT: the fixtures are the suite's vocabulary

struct Sent {
  std::string key = "k";
  std::optional<std::int64_t> version{};
  std::string payload = "{}";
};

inline void stage(Transaction& transaction, const Sent& sent) {
  transaction.stage(
      Outgoing{.type = "paid", .key = sent.key, .payload = sent.payload, .aggregate_version = sent.version});
}

// Everything that is there for these slots, from one place to the next.
inline std::vector<OutboxRow> read_all(Pages& pages, std::span<const int> slots, Place& place, int most = 100) {
  std::vector<OutboxRow> rows;
  for (;;) {
    Page page = pages.read(slots, place, std::nullopt, most);
    for (OutboxRow& row : page.rows) rows.push_back(std::move(row));
    if (page.to == place) return rows;
    place = page.to;
  }
}

class OnEveryStore : public testing::TestWithParam<Backend> {
 protected:
  bool postgres() const { return !GetParam().name.starts_with("sqlite"); }
  Reader& reader() { return under_->reader(); }
  std::string table(const std::string& name) const { return under_->table(name); }

  void send(const std::vector<Sent>& all) {
    const auto unit = store_->begin({});
    for (const Sent& sent : all) stage(unit->whole(), sent);
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  // Where every slot stands.
  Place start() {
    return {reader().number("SELECT min(tick) FROM " + table("relay_place")),
            reader().number("SELECT min(position) FROM " + table("relay_place"))};
  }

  TickName newest_tick() {
    if (!postgres()) return {};
    const std::string newest = "FROM onceward.relay_tick ORDER BY number DESC LIMIT 1";
    return {reader().number("SELECT number " + newest), reader().value("SELECT token " + newest)};
  }
  // As a failover does that loses the end of what was committed.
  void lose_last_move() {
    const std::string moves = table("relay_move");
    reader().run(fmt::format("DELETE FROM {} WHERE number = (SELECT max(number) FROM {})", moves, moves));
  }

  std::unique_ptr<StoreUnderTest> under_ = GetParam().make();
  std::unique_ptr<Store> store_ = under_->open();
  std::vector<int> every_slot_ = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) { return info.param.name; }

}  // namespace onceward::relay

// Where several write at once: ticks are of use only there.
#define ONCEWARD_WHERE_SEVERAL_WRITE(suite)                                                                       \
  INSTANTIATE_TEST_SUITE_P(Store, suite,                                                                          \
                           testing::ValuesIn(fixtures::backends_that(&fixtures::Capabilities::concurrent_units)), \
                           backend_name)
// Where what is tested does not depend on how the relay speaks with its store, a pooler in between shows nothing more.
#define ONCEWARD_ON_BOTH_STORES(suite)                                                                               \
  INSTANTIATE_TEST_SUITE_P(Store, suite,                                                                             \
                           testing::ValuesIn(fixtures::backends_that(&fixtures::Capabilities::prepares_statements)), \
                           backend_name)
#define ONCEWARD_ON_EVERY_STORE(suite) \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::ValuesIn(fixtures::backends()), backend_name)
