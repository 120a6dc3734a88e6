// The tables: made by several at once, refused when they are missing or newer; consumers are who they were.
#include <thread>

#include "tests/conformance/suite.h"
#include "tests/fixtures/process.h"

namespace onceward {
namespace {

class Schema : public testing::TestWithParam<Backend> {
 protected:
  std::unique_ptr<StoreUnderTest> under_ = GetParam().make_bare();
};
ONCEWARD_ON_EVERY_STORE(Schema);

TEST_P(Schema, MissingTablesAreSaidToBeMissing) {
  auto store = under_->open();
  const SchemaStatus status = store->schema();
  EXPECT_EQ(status.version, 0);
  EXPECT_GT(status.newest, 0);
  EXPECT_EQ(status.pending.size(), static_cast<std::size_t>(status.newest));
  try {
    store->enroll(consumer());
    FAIL() << "enrolled without tables";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::schema_missing);
    EXPECT_NE(std::string_view(fault.what()).find("onceward store migrate"), std::string_view::npos) << fault.what();
  }
}

TEST_P(Schema, MigrationMakesTheTablesAndCanBeRepeated) {
  auto store = under_->open();
  const SchemaStatus made = store->migrate();
  EXPECT_EQ(made.version, made.newest);
  EXPECT_TRUE(made.pending.empty());
  const Declaration declaration = consumer();
  const Enrolled enrolled = store->enroll(declaration);
  fixtures::apply(*store, enrolled, Inbound(declaration, {Message{}}));
  EXPECT_EQ(store->migrate().version, made.version);
  EXPECT_EQ(under_->open()->schema().version, made.version);
  EXPECT_EQ(under_->effects(), 1);
  EXPECT_EQ(under_->rows_in("migration"), made.newest);
}

TEST_P(Schema, SeveralThreadsAndProcessesMigrateAtOnce) {
  std::vector<std::unique_ptr<Process>> processes;
  for (int at = 0; at < 3; ++at) {
    processes.push_back(
        std::make_unique<Process>(std::vector<std::string>{ONCEWARD_TEST_PROGRAMS "/migrator", under_->address()}));
  }
  std::vector<std::jthread> threads;
  std::vector<std::string> failures(4);
  for (std::string& failure : failures) {
    threads.emplace_back([&] {
      try {
        under_->open()->migrate();
      } catch (const std::exception& thrown) {
        failure = thrown.what();
      }
    });
  }
  threads.clear();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  for (auto& process : processes) EXPECT_EQ(process->wait(), 0) << process->output();
  const SchemaStatus status = under_->open()->schema();
  EXPECT_EQ(status.version, status.newest);
  EXPECT_EQ(under_->rows_in("migration"), status.newest);
}

TEST_P(Schema, NewerTablesAreRefused) {
  auto store = under_->open();
  const int newest = store->migrate().newest;
  under_->reader().run("INSERT INTO " + under_->table("migration") + " (number, name, applied_at) SELECT number + 1, " +
                       "'of the future', applied_at FROM " + under_->table("migration") +
                       " WHERE number = " + std::to_string(newest));
  for (const auto& act : std::vector<std::function<void(Store&)>>{[](Store& late) { late.enroll(consumer()); },
                                                                  [](Store& late) { late.migrate(); }}) {
    auto late = under_->open();
    try {
      act(*late);
      FAIL() << "worked on tables it does not know";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::schema_newer);
      EXPECT_NE(std::string_view(fault.what()).find("newer"), std::string_view::npos) << fault.what();
    }
  }
  EXPECT_EQ(under_->open()->schema().version, newest + 1);
}

class Enrolment : public OnEveryStore {};
ONCEWARD_ON_EVERY_STORE(Enrolment);

TEST_P(Enrolment, ConsumerKeepsItsNumber) {
  EXPECT_EQ(store_->enroll(declaration_).number, enrolled_.number);
  EXPECT_EQ(under_->open()->enroll(declaration_).number, enrolled_.number);
  Declaration same = declaration_;
  same.owner = "another team";
  same.retry.attempts = 9;
  EXPECT_EQ(store_->enroll(same).number, enrolled_.number);
  EXPECT_NE(store_->enroll(consumer("shipping")).number, enrolled_.number);
}

TEST_P(Enrolment, ConsumerWhoseIdentityPolicyChangedIsRefused) {
  std::vector<Declaration> changed(4, declaration_);
  changed[0].identity.scheme = KeyScheme::uuidv7;
  changed[1].identity.hash.canonical_json = true;
  changed[2].identity.operation = OperationPolicy{.name = "capture"};
  changed[3].identity.message_id = FromEnvelope{FromEnvelope::Member::event_id};
  for (const Declaration& other : changed) {
    EXPECT_EQ(fault_of([&] { store_->enroll(other); }), FaultCode::scheme_changed);
  }
  EXPECT_EQ(store_->enroll(declaration_).number, enrolled_.number) << "a refusal is not remembered";
}

TEST_P(Enrolment, SeveralThreadsThatEnrolAtOnceGetOneNumber) {
  std::vector<std::int32_t> numbers(8);
  {
    std::vector<std::jthread> threads;
    for (std::int32_t& number : numbers) {
      threads.emplace_back([&] { number = under_->open()->enroll(consumer("shipping")).number; });
    }
  }
  for (const std::int32_t number : numbers) EXPECT_EQ(number, numbers[0]);
}

}  // namespace
}  // namespace onceward
