#include "adapters/kafka/trouble.h"

#include <fmt/format.h>

namespace onceward::kafka {
namespace {

constexpr std::size_t least_masked_bytes = 4;

// "host:1/bootstrap: Connect to ... failed: Connection refused (after 0ms in state CONNECT)", and how often it was seen.
std::string_view without_state(std::string_view reason) {
  return reason.substr(0, std::min(reason.find(" (after "), reason.size()));
}

bool says(std::string_view text, std::string_view word) { return text.find(word) != text.npos; }

Trouble::Kind kind_of(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM:
    case RD_KAFKA_RESP_ERR_ILLEGAL_SASL_STATE:
      return Trouble::Kind::login;
    case RD_KAFKA_RESP_ERR__SSL:
      return Trouble::Kind::tls;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
      return Trouble::Kind::permission;
    case RD_KAFKA_RESP_ERR_INCONSISTENT_GROUP_PROTOCOL:
      return Trouble::Kind::protocol;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return Trouble::Kind::no_topic;
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__DESTROY:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
      return Trouble::Kind::unreachable;
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
    case RD_KAFKA_RESP_ERR__STATE:
    case RD_KAFKA_RESP_ERR__NO_OFFSET:
      return Trouble::Kind::busy;
    default:
      return Trouble::Kind::other;
  }
}

}  // namespace

Trouble trouble_of(rd_kafka_resp_err_t error, std::string_view reason, const std::vector<std::string>& secrets) {
  const std::string shown = reason.empty() ? std::string(without_state(rd_kafka_err2str(error)))
                                           : without_secrets(std::string(without_state(reason)), secrets);
  Trouble::Kind kind = kind_of(error);
  bool guessed = false;
  // A listener that speaks the other language only hangs up; librdkafka guesses, and has no code for it.
  if (says(reason, "connecting to a SSL listener?") || says(reason, "connecting to a PLAINTEXT broker listener?") ||
      says(reason, "SSL routines")) {
    guessed = kind != Trouble::Kind::tls;
    kind = Trouble::Kind::tls;
  }
  switch (kind) {
    case Trouble::Kind::unreachable:
      return {kind, fmt::format("cannot be reached: {}", shown)};
    case Trouble::Kind::login:
      return {kind, fmt::format("the log-in was refused: {}; check the user, the password and sasl.mechanism", shown)};
    case Trouble::Kind::tls:
      return {kind, fmt::format("no TLS connection: {}; check security.protocol and ssl.ca.location", shown), guessed};
    case Trouble::Kind::permission:
      return {kind, fmt::format("not allowed: {}", shown)};
    case Trouble::Kind::protocol:
      return {kind,
              fmt::format("the group shares its partitions in another way: {}; write the same rebalance= in all of "
                          "its members",
                          shown)};
    case Trouble::Kind::busy:
    case Trouble::Kind::no_topic:
    case Trouble::Kind::other:
      break;
  }
  return {kind, shown};
}

std::string without_secrets(std::string text, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    if (secret.size() < least_masked_bytes) {
      return "(what librdkafka says is left out, since a password of fewer than 4 bytes would show in it)";
    }
    for (std::size_t at = 0; (at = text.find(secret, at)) != text.npos; at += 3) text.replace(at, secret.size(), "***");
  }
  return text;
}

}  // namespace onceward::kafka
