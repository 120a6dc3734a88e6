// Rights that are taken away from a source that runs, on a broker with an authorizer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/brokers/kafka_server.h"
#include "tests/fixtures/kafka.h"
#include "tests/fixtures/receiving.h"

namespace onceward {
namespace {

using namespace fixtures;  // NOLINT: the fixtures are the tests' vocabulary
using namespace std::chrono_literals;
using brokers::KafkaServer;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Right = KafkaTopic::Right;
using std::chrono::steady_clock;

const std::string user = "onceward";

// Whoever does not log in may do everything; the one user, what a test allows.
class KafkaPermissions : public testing::TestWithParam<Right> {
 protected:
  KafkaPermissions() {
    topic_.allow(Right::read_topic, user);
    topic_.allow(Right::read_group, user);
    topic_.send(numbered_records(0, 1));
  }

  KafkaSourceOptions options() const {
    const std::string url = topic_.url();
    return read_kafka_source_url(server_.sasl_url() + url.substr(url.find('/', sizeof "kafka://")) +
                                 "&ssl.ca.location=" + server_.directory() + "/tls/ca.pem");
  }

  // What it says; nothing if it works.
  static std::string said_by(Source& source) {
    try {
      EXPECT_TRUE(receive(source, 1, 100ms).empty());
      return "";
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::source_refused) << fault.what();
      return fault.what();
    }
  }

  KafkaServer server_{
      KafkaServer::Through::nothing,
      1,
      {"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users=User:ANONYMOUS"}};
  KafkaTopic topic_{1, server_.brokers()};
};
INSTANTIATE_TEST_SUITE_P(Of, KafkaPermissions, testing::Values(Right::read_topic, Right::read_group),
                         [](const auto& of) { return of.param == Right::read_topic ? "Topic" : "Group"; });

TEST_P(KafkaPermissions, RightThatIsTakenAwayIsMissedUntilItIsBack) {
  const auto source = open_kafka(options());
  settle(*source, receive_all(*source, 1));
  topic_.forbid(GetParam(), user);
  std::string said;
  await("it is missed", [&] { return !(said = said_by(*source)).empty(); });
  EXPECT_THAT(said, AllOf(HasSubstr("not allowed"), HasSubstr("authorization failed")));
  for (const auto end = steady_clock::now() + 5s; steady_clock::now() < end;) {
    ASSERT_NE(said_by(*source), "") << "it is still missing";
  }
  topic_.allow(GetParam(), user);
  topic_.send(numbered_records(1, 2));
  std::vector<Delivery> deliveries;
  await("it is back", [&] {
    try {
      deliveries = receive(*source, 1, 100ms);
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::source_refused) << fault.what();
    }
    return !deliveries.empty();
  });
  EXPECT_THAT(payloads_of(deliveries), ElementsAre("1"));
  EXPECT_EQ(said_by(*source), "");
}

TEST_P(KafkaPermissions, RightThatIsNotThereIsMissedFromTheBeginning) {
  topic_.forbid(GetParam(), user);
  try {
    open_kafka(options());
    FAIL() << "it was opened";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::source_refused);
    EXPECT_THAT(fault.what(), HasSubstr("not allowed"));
  }
}

}  // namespace
}  // namespace onceward
