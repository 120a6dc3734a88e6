// The view with the default names of Debezium's event router, on every store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fixtures/store_under_test.h"

namespace onceward::debezium {
namespace {

using fixtures::TextRow;
using fixtures::TextRows;

class RouterView : public testing::TestWithParam<fixtures::Backend> {
 protected:
  void send(const Outgoing& outgoing) {
    const auto unit = store_->begin({});
    unit->whole().stage(outgoing);
    ASSERT_EQ(unit->commit(), Commit::committed);
  }
  TextRows events() {
    return under_->reader().read("SELECT id, aggregatetype, aggregateid, type FROM " + under_->table("outbox_event") +
                                 " ORDER BY position");
  }
  // Into outbox_waiting, as the relay does it.
  void set_back(const std::string& id, const std::string& state) {
    const std::string now = GetParam().name.starts_with("sqlite") ? "0, '', '', 0" : "now(), '', '', now()";
    under_->reader().run(
        "INSERT INTO " + under_->table("outbox_waiting") +
        " SELECT position + 1000, staged_at, consumer, cause, aggregate_version, event_version, id, type, "
        "key, tenant, aggregate_type, aggregate_id, correlation_id, causation_id, trace_parent, "
        "content_type, headers, payload, 1, 0, 0, '', '" +
        state + "', 1, " + now + " FROM " + under_->table("outbox") + " WHERE id = '" + id + "'");
    under_->reader().run("DELETE FROM " + under_->table("outbox") + " WHERE id = '" + id + "'");
  }

  std::unique_ptr<fixtures::StoreUnderTest> under_ = GetParam().make();
  std::unique_ptr<Store> store_ = under_->open();
};
INSTANTIATE_TEST_SUITE_P(Store, RouterView, testing::ValuesIn(fixtures::backends()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RouterView, HasWhatHasYetToLeave) {
  send({.type = "paid", .key = "7", .payload = "{}", .id = "of an aggregate", .aggregate_type = "order"});
  send({.type = "paid", .key = "", .payload = "{}", .id = "of none"});
  send({.type = "paid", .key = "8", .payload = "{}", .id = "put off"});
  send({.type = "paid", .key = "9", .payload = "{}", .id = "set aside"});
  set_back("put off", "waiting");
  set_back("set aside", "aside");
  EXPECT_EQ(events(),
            (TextRows{TextRow{"of an aggregate", "order", "7", "paid"}, TextRow{"of none", "paid", "of none", "paid"},
                      TextRow{"put off", "paid", "8", "paid"}}));
}

}  // namespace
}  // namespace onceward::debezium
