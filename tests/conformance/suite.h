// The contract of Store, UnitOfWork, Enlistment and Transaction, as tests that run on every adapter.
#pragma once

#include <gtest/gtest.h>

#include "tests/fixtures/store_under_test.h"

namespace onceward {

using namespace fixtures;  // NOLINT: the fixtures are the suite's vocabulary

class OnEveryStore : public testing::TestWithParam<Backend> {
 protected:
  // What the tables hold of one consumer's work: equal before and after whatever must leave no trace.
  struct Traces {
    std::int64_t inbox, outcomes, bodies, operations, effects, outbox, facts, ledger, quarantine;
    friend bool operator==(const Traces&, const Traces&) = default;
    friend void PrintTo(const Traces& t, std::ostream* out) {
      *out << "inbox " << t.inbox << " outcomes " << t.outcomes << " bodies " << t.bodies << " operations "
           << t.operations << " effects " << t.effects << " outbox " << t.outbox << " facts " << t.facts << " ledger "
           << t.ledger << " quarantine " << t.quarantine;
    }
  };
  Traces traces() {
    return {under_->rows_in("inbox"),
            under_->rows_in("inbox_outcome"),
            under_->rows_in("inbox_body"),
            under_->rows_in("operation"),
            under_->effects(),
            under_->rows_in("outbox"),
            under_->rows_in("outbox_fact"),
            under_->rows_in("ledger"),
            under_->rows_in("quarantine")};
  }
  static constexpr Traces nothing{};

  std::unique_ptr<UnitOfWork> begin() { return store_->begin(enrolled_); }
  std::vector<Answer> apply(const Inbound& inbound, const Handler& handler = insert_effect) {
    return fixtures::apply(*store_, enrolled_, inbound, handler);
  }

  std::unique_ptr<StoreUnderTest> under_ = GetParam().make();
  std::unique_ptr<Store> store_ = under_->open();
  Declaration declaration_ = consumer();
  Enrolled enrolled_ = store_->enroll(declaration_);
};

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) { return info.param.name; }

using Verdicts = std::vector<Verdict>;

}  // namespace onceward

#define ONCEWARD_ON_EVERY_STORE(suite) \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::ValuesIn(fixtures::backends()), backend_name)
