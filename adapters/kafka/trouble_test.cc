#include "adapters/kafka/trouble.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward::kafka {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Trouble, NamesTheHostAndTheReasonInOneLine) {
  const Trouble trouble =
      trouble_of(RD_KAFKA_RESP_ERR__TRANSPORT,
                 "b:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused (after 0ms in "
                 "state CONNECT)");
  EXPECT_EQ(trouble.text, "cannot be reached: b:1/bootstrap: Connect to ipv4#127.0.0.1:1 failed: Connection refused");
  EXPECT_FALSE(trouble.needs_somebody());
}

TEST(Trouble, WhoCanHelpIsTold) {
  EXPECT_THAT(trouble_of(RD_KAFKA_RESP_ERR__AUTHENTICATION, "no").text,
              AllOf(HasSubstr("log-in"), HasSubstr("password")));
  EXPECT_THAT(trouble_of(RD_KAFKA_RESP_ERR__SSL, "no").text, AllOf(HasSubstr("TLS"), HasSubstr("ssl.ca.location")));
  for (const auto error : {RD_KAFKA_RESP_ERR__AUTHENTICATION, RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED,
                           RD_KAFKA_RESP_ERR__SSL, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
                           RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART}) {
    EXPECT_TRUE(trouble_of(error, {}).needs_somebody()) << rd_kafka_err2name(error);
  }
  for (const auto error : {RD_KAFKA_RESP_ERR__TRANSPORT, RD_KAFKA_RESP_ERR__RESOLVE, RD_KAFKA_RESP_ERR__TIMED_OUT,
                           RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS}) {
    EXPECT_FALSE(trouble_of(error, {}).needs_somebody()) << rd_kafka_err2name(error);
  }
}

TEST(Trouble, ListenerOfTheOtherLanguageIsATlsTrouble) {
  EXPECT_EQ(trouble_of(RD_KAFKA_RESP_ERR__TRANSPORT,
                       "Disconnected while requesting ApiVersion: might be caused by incorrect security.protocol "
                       "configuration (connecting to a SSL listener?)")
                .kind,
            Trouble::Kind::tls);
  const Trouble cut =
      trouble_of(RD_KAFKA_RESP_ERR__TRANSPORT, "error:0A000126:SSL routines::unexpected eof while reading");
  EXPECT_EQ(cut.kind, Trouble::Kind::tls);
  EXPECT_TRUE(cut.guessed) << "a broker that shuts down looks the same";
  EXPECT_FALSE(trouble_of(RD_KAFKA_RESP_ERR__SSL, "SSL routines::certificate verify failed").guessed);
}

TEST(Trouble, SecretsAreTakenOut) {
  EXPECT_EQ(without_secrets("a s3cret and s3cret, not s3", {"s3cret", ""}), "a *** and ***, not s3");
  EXPECT_EQ(without_secrets("s3cr is masked", {"s3cr"}), "*** is masked");
}

TEST(Trouble, ShortSecretDoesNotShowByWhatIsMissing) {
  EXPECT_EQ(without_secrets("apple pie", {"p"}), without_secrets("quince jam", {"p"}));
  EXPECT_THAT(without_secrets("apple pie", {"s3cret", "pie"}), Not(HasSubstr("***")));
  const Trouble trouble = trouble_of(RD_KAFKA_RESP_ERR__TRANSPORT, "SSL routines of h:1 (after 2ms)", {"S"});
  EXPECT_EQ(trouble.kind, Trouble::Kind::tls) << "what it is still counts";
  EXPECT_THAT(trouble.text, AllOf(HasSubstr("no TLS connection"), Not(HasSubstr("h:1"))));
}

}  // namespace
}  // namespace onceward::kafka
