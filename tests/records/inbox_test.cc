#include "src/records/inbox.h"

#include "tests/records/suite.h"

namespace onceward::records {
namespace {

std::vector<std::string> ids(const std::vector<InboxRow>& rows) {
  std::vector<std::string> all;
  for (const InboxRow& row : rows) all.push_back(row.id);
  return all;
}
using Ids = std::vector<std::string>;

class InboxRecords : public OnEveryStore {
 protected:
  // Each in a transaction of its own, so that each was received later than the one before.
  void receive(const std::vector<Message>& messages, const Handler& handler = insert_effect) {
    for (Message message : messages) {
      if (message.idempotency_key.empty()) message.idempotency_key = message.producer + message.id;
      apply(Inbound(declaration_, {message}), handler);
    }
  }
  void receive_without_tenant(const Message& message) {
    Declaration shipping = consumer("shipping");
    shipping.identity.tenant_header.clear();
    fixtures::apply(*store_, store_->enroll(shipping), Inbound(shipping, {message}));
  }
  Ids listed(const InboxFilter& filter) { return ids(list_inbox(*store_, filter, std::nullopt, 100)->rows); }
  Key key_of(const std::string& id) {
    InboxFilter filter;
    filter.id = id;
    return list_inbox(*store_, filter, std::nullopt, 1)->rows.at(0).key;
  }
};

TEST_P(InboxRecords, PagesShowEachMessageOnceNewestFirst) {
  receive({{.id = "a"}, {.id = "b"}, {.id = "c"}, {.id = "d"}, {.id = "e"}});
  Ids seen;
  std::optional<Key> after;
  for (const bool more : {true, true, false}) {
    const auto page = list_inbox(*store_, {}, after, 2);
    ASSERT_TRUE(page);
    ASSERT_EQ(page->rows.size(), more ? 2u : 1u);
    EXPECT_EQ(page->more, more);
    for (const InboxRow& row : page->rows) seen.push_back(row.id);
    after = page->rows.back().key;
  }
  EXPECT_EQ(seen, (Ids{"e", "d", "c", "b", "a"}));
}

// Messages of one batch are received at one time: the key decides, and none is lost between two pages.
TEST_P(InboxRecords, MessagesOfOneTimeArePagedByTheirKeys) {
  std::vector<Message> messages;
  for (int i = 0; i < 7; ++i)
    messages.push_back({.id = fmt::format("m{}", i), .idempotency_key = fmt::format("k{}", i)});
  apply(Inbound(declaration_, messages));
  std::set<std::string> seen;
  std::optional<Key> after;
  for (int page = 0; page < 7; ++page) {
    const auto one = list_inbox(*store_, {}, after, 1);
    seen.insert(one->rows.at(0).id);
    after = one->rows[0].key;
  }
  EXPECT_EQ(seen.size(), 7u);
}

TEST_P(InboxRecords, APageHas1To1000Rows) {
  receive({{.id = "a"}, {.id = "b"}});
  EXPECT_EQ(list_inbox(*store_, {}, std::nullopt, 0)->rows.size(), 1u);
  EXPECT_EQ(list_inbox(*store_, {}, std::nullopt, 1'000'000)->rows.size(), 2u);
}

TEST_P(InboxRecords, ThereIsNoPageAfterAMessageThatIsNotThere) {
  receive({{.id = "a"}});
  EXPECT_FALSE(list_inbox(*store_, {}, Key{}, 10));
}

TEST_P(InboxRecords, FiltersByEachIdentity) {
  receive({{.id = "a", .producer = "shop", .tenant = "north"}, {.id = "b", .producer = "mail", .tenant = "south"}});
  receive_without_tenant({.id = "c"});
  EXPECT_EQ(listed({.consumer = "shipping"}), Ids{"c"});
  EXPECT_EQ(listed({.consumer = "nobody"}), Ids{});
  EXPECT_EQ(listed({.tenant = "north"}), Ids{"a"});
  EXPECT_EQ(listed({.tenant = ""}), Ids{"c"});
  EXPECT_EQ(listed({.producer = "mail"}), Ids{"b"});
  EXPECT_EQ(listed({.id = "c"}), Ids{"c"});
  EXPECT_EQ(listed({.key = key_of("a")}), Ids{"a"});
  EXPECT_EQ(listed({.id = "x' OR '1' = '1"}), Ids{});
}

TEST_P(InboxRecords, FiltersByTimeWithoutOverlap) {
  receive({{.id = "a"}, {.id = "b"}, {.id = "c"}});
  const Timestamp middle = list_inbox(*store_, {.id = "b"}, std::nullopt, 1)->rows.at(0).received_at;
  EXPECT_EQ(listed({.since = middle}), (Ids{"c", "b"}));
  EXPECT_EQ(listed({.until = middle}), Ids{"a"});
}

TEST_P(InboxRecords, FiltersByStateAndAMessageWithoutOutcomeIsProcessed) {
  receive({{.id = "plain"}});
  receive({{.id = "result"}}, [](const Envelope&, Transaction&) { return Done{"receipt"}; });
  receive({{.id = "no"}}, [](const Envelope&, Transaction&) { return Rejected{"too_late"}; });
  receive({{.id = "again"}},
          [](const Envelope&, Transaction&) { return Retry{"gateway_down", std::chrono::minutes(5)}; });
  EXPECT_EQ(listed({.state = State::processed}), (Ids{"result", "plain"}));
  EXPECT_EQ(listed({.state = State::rejected}), Ids{"no"});
  EXPECT_EQ(listed({.state = State::retryable_failed}), Ids{"again"});
  EXPECT_EQ(listed({.state = State::quarantined}), Ids{});
  const auto rows = list_inbox(*store_, {}, std::nullopt, 10)->rows;
  EXPECT_EQ(rows.at(0).code, "gateway_down");
  EXPECT_GT(rows[0].next_attempt_at.value(), rows[0].received_at + std::chrono::minutes(4));
  EXPECT_EQ(rows.at(3).state, State::processed);
  EXPECT_FALSE(rows[3].next_attempt_at);
}

TEST_P(InboxRecords, AMessageIsShownWithAllThatHangsOnIt) {
  receive({{.id = "m", .idempotency_key = "capture-7"}}, [](const Envelope&, Transaction& transaction) {
    transaction.stage(Outgoing{"payment.captured", "invoice-7", "body", "out-1"});
    transaction.stage(Call{"gateway", "capture/7", "body", "capture"});
    return Done{"12345"};
  });
  const Key key = key_of("m");
  reader().run(fmt::format("INSERT INTO {} (key, at, kind, worker, code) VALUES ({}, {}, 'start', 'w1', '')",
                           table("attempt"), literal(key), time_literal(10)));
  reader().run(fmt::format("INSERT INTO {} (key, at, kind, worker, code) VALUES ({}, {}, 'failure', 'w1', 'timed_out')",
                           table("attempt"), literal(key), time_literal(20)));
  const auto message = read_message(*store_, key);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->row.consumer, "billing");
  EXPECT_EQ(message->row.tenant, "main");
  EXPECT_EQ(message->result_bytes, 5);
  EXPECT_TRUE(message->recorded_at);
  ASSERT_TRUE(message->operation);
  EXPECT_EQ(message->operation->text, "capture-7");
  ASSERT_EQ(message->attempts.size(), 2u);
  EXPECT_EQ(message->attempts[0].kind, "start");
  EXPECT_EQ(message->attempts[0].at, Timestamp(std::chrono::seconds(10)));
  EXPECT_EQ(message->attempts[1].code, "timed_out");
  ASSERT_EQ(message->outgoing.size(), 1u);
  EXPECT_EQ(message->outgoing[0].id, "out-1");
  EXPECT_EQ(message->outgoing[0].type, "payment.captured");
  ASSERT_EQ(message->calls.size(), 1u);
  EXPECT_EQ(message->calls[0].endpoint, "gateway");
  EXPECT_EQ(message->calls[0].key, "capture/7");
  EXPECT_FALSE(message->kept_bytes);
  EXPECT_FALSE(read_body(*store_, key));
  EXPECT_EQ(to_hex(message->payload_hash.bytes),
            reader().value(postgres() ? "SELECT encode(payload_hash, 'hex') FROM onceward.inbox"
                                      : "SELECT lower(hex(payload_hash)) FROM onceward_inbox"));
}

TEST_P(InboxRecords, AKeptBodyIsReadByteForByteAndOnlyWhenAskedFor) {
  receive({{.id = "m", .payload = "{\"a\":\"\xc3\xa9\"}"}},
          [](const Envelope&, Transaction&) { return Retry{"later", std::chrono::minutes(5)}; });
  const Key key = key_of("m");
  EXPECT_EQ(read_message(*store_, key)->kept_bytes, 10);
  const auto body = read_body(*store_, key);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->payload, "{\"a\":\"\xc3\xa9\"}");
  EXPECT_NE(body->envelope.find("\"m\""), std::string::npos);
}

TEST_P(InboxRecords, ABusinessDuplicateNamesItsOriginal) {
  receive({{.id = "first", .idempotency_key = "k"}, {.id = "second", .idempotency_key = "k"}});
  const Key original = key_of("first");
  const auto second = read_message(*store_, key_of("second"));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->row.state, State::duplicate);
  EXPECT_EQ(second->original, original);
}

TEST_P(InboxRecords, NobodyIsShownForAKeyThatIsNotThere) { EXPECT_FALSE(read_message(*store_, Key{})); }

TEST_P(InboxRecords, MessagesAreFoundByTheNamesThatPeopleKnow) {
  receive({{.id = "m", .producer = "shop", .tenant = "north"}, {.id = "m", .producer = "mail", .tenant = "north"}});
  receive_without_tenant({.id = "m"});
  EXPECT_EQ(find_messages(*store_, {"billing", "m"}).size(), 2u);
  const auto by_key = find_messages(*store_, {"shipping", "m", "shop"});
  ASSERT_EQ(by_key.size(), 1u);
  EXPECT_EQ(by_key[0].consumer, "shipping");
  const auto of_some_tenant = find_messages(*store_, {"billing", "m", "mail"});
  ASSERT_EQ(of_some_tenant.size(), 1u);
  EXPECT_EQ(of_some_tenant[0].producer, "mail");
  EXPECT_EQ(find_messages(*store_, {"billing", "m", {}, "north"}).size(), 2u);
  EXPECT_EQ(find_messages(*store_, {"billing", "m", "shop", "north"}).size(), 1u);
  EXPECT_EQ(find_messages(*store_, {"billing", "m", "shop", "south"}).size(), 0u);
  EXPECT_EQ(find_messages(*store_, {"nobody", "m", "shop"}).size(), 0u);
}

TEST_P(InboxRecords, ConsumersAreNamed) {
  store_->enroll(consumer("accounts"));
  EXPECT_EQ(consumer_names(*store_), (Ids{"accounts", "billing"}));
}

ONCEWARD_ON_EVERY_STORE(InboxRecords);

}  // namespace
}  // namespace onceward::records
