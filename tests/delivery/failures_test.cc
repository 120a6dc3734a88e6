// Messages that fail by themselves: retried within their budget, then kept for a person; their neighbours are unharmed.
#include <atomic>
#include <set>

#include "tests/delivery/workplace.h"

namespace onceward {
namespace {

using fixtures::insert_effect;

class Failures : public Workplace {
 protected:
  static bool is_bad(const Envelope& message) { return message.payload().starts_with("bad"); }

  // 200 messages, three of which are bad.
  void push_some_bad() {
    std::vector<fixtures::Message> messages;
    for (int id = 0; id < 200; ++id) {
      messages.push_back({.id = std::to_string(id), .payload = id % 80 == 20 ? "bad" : "good"});
    }
    push(messages);
  }
  void expect_only_the_bad_quarantined(const std::string& reason, int attempts = 3) {
    EXPECT_EQ(under_->effects(), 197);
    EXPECT_EQ(under_->effects("note LIKE 'bad%'"), 0);
    EXPECT_EQ(parked(reason), 3);
    EXPECT_EQ(under_->rows_in("quarantine"), 3);
    EXPECT_EQ(under_->reader().number("SELECT min(attempts) FROM " + under_->table("quarantine")), attempts);
    EXPECT_EQ(under_->reader().number("SELECT max(attempts) FROM " + under_->table("quarantine")), attempts);
    EXPECT_EQ(tally_.quarantined, 3u);
    EXPECT_EQ(failures(), static_cast<std::uint64_t>(3 * attempts));
  }
  std::string insert_note = "INSERT INTO effect (message, note) VALUES ($1, $2)";
};
ONCEWARD_AT_EVERY_STORE(Failures);

TEST_P(Failures, ThrownBeforeAnyStatement) {
  push_some_bad();
  work_off(MessageHandler([](const Envelope& message, Transaction& transaction) -> Outcome {
    if (is_bad(message)) throw std::runtime_error("no");
    return insert_effect(message, transaction);
  }));
  expect_only_the_bad_quarantined("unclassified");
}

TEST_P(Failures, ThrownAfterAStatementNobodyWaitedFor) {
  push_some_bad();
  work_off(MessageHandler([](const Envelope& message, Transaction& transaction) -> Outcome {
    insert_effect(message, transaction);
    transaction.stage(Outgoing{"t", "k", "p"});
    if (is_bad(message)) throw 7;
    return Done{};
  }));
  expect_only_the_bad_quarantined("unclassified");
  EXPECT_EQ(under_->rows_in("outbox"), 197);
}

TEST_P(Failures, ThrownAfterAQuery) {
  push_some_bad();
  work_off(MessageHandler([](const Envelope& message, Transaction& transaction) -> Outcome {
    insert_effect(message, transaction);
    if (is_bad(message)) {
      transaction.query("SELECT 1");
      throw std::runtime_error("no");
    }
    return Done{};
  }));
  expect_only_the_bad_quarantined("unclassified");
  EXPECT_LE(tally_.reruns, 3u) << "each of them has cost its neighbours a round";
}

TEST_P(Failures, OfAStatement) {
  push_some_bad();
  work_off(MessageHandler([](const Envelope& message, Transaction& transaction) -> Outcome {
    insert_effect(message, transaction);
    if (is_bad(message)) transaction.execute("INSERT INTO no_such_table VALUES (1)");
    transaction.stage(Outgoing{"t", "k", "p"});
    return Done{};
  }));
  expect_only_the_bad_quarantined("statement_failed");
  EXPECT_EQ(under_->rows_in("outbox"), 197);
}

TEST_P(Failures, OfAStatementThatWasSwallowed) {
  push_some_bad();
  work_off(MessageHandler([](const Envelope& message, Transaction& transaction) -> Outcome {
    insert_effect(message, transaction);
    if (is_bad(message)) {
      try {
        transaction.query("SELECT * FROM no_such_table");
      } catch (const std::exception&) {
      }
    }
    return Done{};
  }));
  EXPECT_EQ(under_->effects(), 197);
  EXPECT_EQ(under_->rows_in("quarantine"), 3);
}

TEST_P(Failures, ThatTheHandlerReturns) {
  push_some_bad();
  work_off(MessageHandler([](const Envelope& message, Transaction& transaction) -> Outcome {
    insert_effect(message, transaction);
    if (is_bad(message)) return Retry{"not_yet"};
    return Done{};
  }));
  expect_only_the_bad_quarantined("not_yet");
}

TEST_P(Failures, ThatAreForGoodAreNotTriedAgain) {
  push_some_bad();
  work_off(MessageHandler([](const Envelope& message, Transaction& transaction) -> Outcome {
    insert_effect(message, transaction);
    if (is_bad(message)) return Failed{"never"};
    return Done{};
  }));
  expect_only_the_bad_quarantined("never", 1);
}

TEST_P(Failures, OfABatchHandlerAreFoundByHalves) {
  push_some_bad();
  work_off(BatchHandler([this](Messages& messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      messages.whole().execute(insert_note, messages[i].message_id(), messages[i].payload());
      if (is_bad(messages[i])) throw std::runtime_error("no");
    }
  }));
  expect_only_the_bad_quarantined("unclassified");
}

TEST_P(Failures, OfABatchHandlerThatThrowsWhatIsNoException) {
  push_some_bad();
  work_off(BatchHandler([this](Messages& messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      messages.whole().execute(insert_note, messages[i].message_id(), messages[i].payload());
      if (is_bad(messages[i])) throw 7;
    }
  }));
  expect_only_the_bad_quarantined("unclassified");
}

TEST_P(Failures, OfABatchHandlersStatementAreFoundByHalves) {
  push_some_bad();
  work_off(BatchHandler([](Messages& messages) {
    std::vector<std::string_view> ids, notes;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      ids.push_back(messages[i].message_id().text());
      notes.push_back(messages[i].payload());
      messages.on(i).stage(Outgoing{"t", "k", "p"});
    }
    const Column columns[] = {{"id", std::span<const std::string_view>(ids)},
                              {"note", std::span<const std::string_view>(notes)}};
    messages.whole().execute_over(
        {"arrived", columns},
        "INSERT INTO effect (message, note) SELECT CASE note WHEN 'bad' THEN NULL ELSE id END, note FROM arrived");
  }));
  expect_only_the_bad_quarantined("constraint_violated");
  EXPECT_EQ(under_->rows_in("outbox"), 197);
}

TEST_P(Failures, ThatABatchHandlerNames) {
  push_some_bad();
  work_off(BatchHandler([this](Messages& messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (is_bad(messages[i])) {
        messages.finish(i, Failed{"never"});
      } else {
        messages.whole().execute(insert_note, messages[i].message_id(), messages[i].payload());
      }
    }
  }));
  expect_only_the_bad_quarantined("never", 1);
}

TEST_P(Failures, OnlyInCompanyAreSettledOneByOne) {
  under_->reader().run("CREATE TABLE seat (number integer PRIMARY KEY, message text NOT NULL)");
  push_numbered(100);
  work_off(BatchHandler([](Messages& messages) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::string id(messages[i].message_id().text());
      const int seat = id == "70" ? 3 : std::stoi(id);
      messages.whole().execute("INSERT INTO seat (number, message) VALUES ($1, $2)", seat, id);
    }
  }));
  EXPECT_EQ(under_->reader().number("SELECT count(*) FROM seat"), 99);
  EXPECT_EQ(parked("constraint_violated"), 1);
}

TEST_P(Failures, ThatPassAreForgotten) {
  std::atomic<int> tries = 0;
  push({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  work_off(MessageHandler([&](const Envelope& message, Transaction& transaction) -> Outcome {
    insert_effect(message, transaction);
    if (message.message_id().text() == "b" && ++tries < 3) return Retry{"not_yet"};
    return Done{};
  }));
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(under_->effects(), 3);
  EXPECT_EQ(under_->rows_in("inbox_outcome"), 0);
  EXPECT_EQ(under_->rows_in("inbox_body"), 0);
  EXPECT_EQ(under_->rows_in("quarantine"), 0);
  EXPECT_EQ(tally_.processed, 3u);
  EXPECT_EQ(tally_.retried, 2u);
}

TEST_P(Failures, DuplicatesOfAMessageThatWaitsAreHeld) {
  declaration_.retry = {.attempts = 3, .first_delay = std::chrono::hours(1), .longest_delay = std::chrono::hours(1)};
  push({{.id = "a"}});
  const Handler put_off = MessageHandler([](const Envelope&, Transaction&) -> Outcome { return Retry{"not_yet"}; });
  work_until("it waits", [&] { return waiting() == 1; }, put_off);
  push({{.id = "a"}});
  work_until("the duplicate is settled", [&] { return tally_.held == 1; }, put_off);
  EXPECT_EQ(waiting(), 1);
}

TEST_P(Failures, DecisionsOfTheBusinessKeepWhatWasWrittenAndAreNotTriedAgain) {
  push({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  work_off(MessageHandler([](const Envelope& message, Transaction& transaction) -> Outcome {
    insert_effect(message, transaction);
    const std::string_view id = message.message_id().text();
    if (id == "a") return Rejected{"credit_exceeded"};
    if (id == "b") return Ignored{"not_ours"};
    return Done{"receipt 7"};
  }));
  EXPECT_EQ(under_->effects(), 3);
  EXPECT_EQ(under_->rows_in("inbox_outcome"), 3);
  EXPECT_EQ(under_->rows_in("quarantine"), 0);
  EXPECT_EQ(tally_.rejected, 1u);
  EXPECT_EQ(tally_.ignored, 1u);
  EXPECT_EQ(tally_.processed, 1u);
}

TEST_P(Failures, AnUnknownOutcomeWaitsForAPerson) {
  push({{.id = "a"}});
  work_off(MessageHandler([](const Envelope&, Transaction&) -> Outcome { return Unknown{"gateway_silent"}; }));
  EXPECT_EQ(parked("gateway_silent"), 1);
  EXPECT_EQ(failures(), 1u);
}

}  // namespace
}  // namespace onceward
