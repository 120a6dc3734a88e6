#include "adapters/rabbitmq/outgoing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/fixtures/kept_log.h"
#include "tests/fixtures/rabbitmq.h"
#include "tests/fixtures/waiting.h"

namespace onceward::rabbitmq {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;
using Kind = Receipt::Kind;
using testing::ElementsAre;

// Put without a look at room(), and the poison before what is to be in doubt with it: what comes behind it is never answered,
// what comes before it may be confirmed first.
class OutgoingMessages : public testing::Test {
 protected:
  OutgoingMessages() {
    header_.key = bytes_of("CC");  // which RabbitMQ wants to be a list
    header_.value.kind = AMQP_FIELD_KIND_UTF8;
    header_.value.value.bytes = bytes_of("a text");
    poisonous_._flags = AMQP_BASIC_HEADERS_FLAG;
    poisonous_.headers = {1, &header_};
    outgoing_.require_connection();
  }
  // One for each letter, and what became of it: those with a 'p' are what the broker closes a channel over.
  std::vector<Kind> put(std::string_view letters) {
    outgoing_.require_connection();
    outgoing_.begin();
    for (std::size_t i = 0; i < letters.size(); ++i) {
      outgoing_.put({i, "", queue_.name(), letters[i] == 'p' ? &poisonous_ : &plain_, "{}"});
    }
    outgoing_.end();
    std::vector<Receipt> receipts;
    await("all are answered", [&] {
      outgoing_.collect(receipts, 1s);
      return outgoing_.outstanding() == 0;
    });
    std::ranges::sort(receipts, {}, &Receipt::tag);
    std::vector<Kind> kinds;
    for (const Receipt& receipt : receipts) kinds.push_back(receipt.kind);
    return kinds;
  }

  RabbitmqQueue queue_;
  KeptLog log_;
  amqp_table_entry_t header_{};
  amqp_basic_properties_t plain_{}, poisonous_{};
  Outgoing outgoing_{{.connection = rabbitmq_server()}, "a test", log_};
};

TEST_F(OutgoingMessages, WaitForTheOneBeforeWhileTheyGoOneByOne) {
  EXPECT_THAT(put("poo"), testing::Each(Kind::in_doubt)) << "nobody knows which it was";
  EXPECT_THAT(put("oopoo"), ElementsAre(Kind::confirmed, Kind::confirmed, Kind::refused, Kind::put_off, Kind::put_off));
}

TEST_F(OutgoingMessages, ThatWereNotSentGoOneByOneToo) {
  put("poo");
  EXPECT_THAT(put("poooooooo").front(), Kind::refused);
  EXPECT_THAT(put("oooooooop"),
              testing::AllOf(testing::Contains(Kind::confirmed).Times(8), testing::Contains(Kind::refused)));
}

TEST_F(OutgoingMessages, GoTogetherAgainAfterwards) {
  const std::size_t window = outgoing_.room();
  put("po");
  EXPECT_EQ(outgoing_.room(), 1u);
  EXPECT_THAT(put("ooooo"), testing::Each(Kind::confirmed));
  EXPECT_EQ(outgoing_.room(), window);
}

}  // namespace
}  // namespace onceward::rabbitmq
