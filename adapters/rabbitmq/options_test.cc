#include "adapters/rabbitmq/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace onceward {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::string refusal(const std::string& url) {
  try {
    read_rabbitmq_source_url(url);
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::source_refused);
    EXPECT_THAT(fault.what(), Not(HasSubstr("secret")));
    return fault.what();
  }
  return "accepted";
}

TEST(RabbitmqUrl, HostAndQueueAloneHaveTheDefaults) {
  const RabbitmqSourceOptions options = read_rabbitmq_source_url("rabbitmq://localhost?queue=orders");
  ASSERT_EQ(options.connection.hosts.size(), 1u);
  EXPECT_EQ(options.connection.hosts[0].name, "localhost");
  EXPECT_EQ(options.connection.hosts[0].port, 5672);
  EXPECT_EQ(options.connection.user, "guest");
  EXPECT_EQ(options.connection.password, "guest");
  EXPECT_EQ(options.connection.vhost, "/");
  EXPECT_FALSE(options.connection.tls);
  EXPECT_TRUE(options.connection.verify_peer);
  EXPECT_EQ(options.queue, "orders");
  EXPECT_EQ(options.prefetch, 2000);
  EXPECT_EQ(options.delivery_limit, std::nullopt);
  EXPECT_EQ(options.declare, RabbitmqSourceOptions::Declare::nothing);
  EXPECT_EQ(options.format, WireFormat::automatic);
}

TEST(RabbitmqUrl, EveryOptionOfASourceIsRead) {
  const RabbitmqSourceOptions options = read_rabbitmq_source_url(
      "rabbitmqs://us%40er:p%2Fw@a:1,[::1]:2,c/shop?queue=or%20ders&prefetch=7&declare=quorum&consumer_timeout=10m&delivery_limit=5"
      "&format=cloudevents&heartbeat=5s&connection_timeout=2s"
      "&cacertfile=/ca.pem&certfile=/c.pem&keyfile=/k.pem&verify=verify_none");
  const RabbitmqConnection& connection = options.connection;
  ASSERT_EQ(connection.hosts.size(), 3u);
  EXPECT_EQ(connection.hosts[1].name, "::1");
  EXPECT_EQ(connection.hosts[1].port, 2);
  EXPECT_EQ(connection.hosts[2].port, 5671) << "that of TLS";
  EXPECT_EQ(connection.user, "us@er");
  EXPECT_EQ(connection.password, "p/w");
  EXPECT_EQ(connection.vhost, "shop");
  EXPECT_TRUE(connection.tls);
  EXPECT_EQ(connection.ca_file, "/ca.pem");
  EXPECT_EQ(connection.certificate_file, "/c.pem");
  EXPECT_EQ(connection.key_file, "/k.pem");
  EXPECT_FALSE(connection.verify_peer);
  EXPECT_EQ(connection.heartbeat, 5s);
  EXPECT_EQ(connection.connect_deadline, 2s);
  EXPECT_EQ(options.queue, "or ders");
  EXPECT_EQ(options.prefetch, 7);
  EXPECT_EQ(options.declare, RabbitmqSourceOptions::Declare::quorum);
  EXPECT_EQ(options.consumer_timeout, 10min);
  EXPECT_EQ(options.delivery_limit, 5);
  EXPECT_EQ(options.format, WireFormat::structured);
}

TEST(RabbitmqUrl, EveryOptionOfAPublisherIsRead) {
  const auto options = read_rabbitmq_publisher_url("rabbitmq://h/%2F?window=9&confirm_deadline=4s&format=native");
  EXPECT_EQ(options.connection.vhost, "/");
  EXPECT_EQ(options.window, 9u);
  EXPECT_EQ(options.confirm_deadline, 4s);
  EXPECT_EQ(options.format, WireFormat::native);
  try {
    read_rabbitmq_publisher_url("rabbitmq://h?queue=a");
    ADD_FAILURE() << "a publisher has no queue";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::publisher_refused);
  }
}

TEST(RabbitmqUrl, TargetIsAQueueOrAnExchange) {
  const RabbitmqTarget queue = read_rabbitmq_target_url("rabbitmqs://u:secret@h/shop?queue=or%20ders&window=9");
  EXPECT_EQ(queue.exchange, "");
  EXPECT_EQ(queue.routing_key, "or ders");
  EXPECT_EQ(queue.options.connection.vhost, "shop");
  EXPECT_EQ(queue.options.window, 9u);
  const RabbitmqTarget exchange = read_rabbitmq_target_url("rabbitmq://h?exchange=events&routing_key=order.paid");
  EXPECT_EQ(exchange.exchange, "events");
  EXPECT_EQ(exchange.routing_key, "order.paid");
  EXPECT_EQ(read_rabbitmq_target_url("rabbitmq://h?exchange=fanout").routing_key, "");
  for (const char* const url :
       {"rabbitmq://u:secret@h", "rabbitmq://h?queue=", "rabbitmq://h?exchange=", "rabbitmq://h?routing_key=k",
        "rabbitmq://h?queue=q&exchange=e", "rabbitmq://h?queue=q&routing_key=k", "rabbitmq://h?queue=q&prefetch=3"}) {
    try {
      read_rabbitmq_target_url(url);
      ADD_FAILURE() << url;
    } catch (const Fault& fault) {
      EXPECT_EQ(fault.fault(), FaultCode::publisher_refused);
      EXPECT_THAT(fault.what(), Not(HasSubstr("secret")));
    }
  }
}

TEST(RabbitmqUrl, WhatWouldLoseMessagesIsRefusedWithTheReason) {
  for (const char* const option : {"no_ack=true", "auto_ack=true", "autoAck=1"}) {
    EXPECT_THAT(refusal(std::string("rabbitmq://h?queue=q&") + option),
                HasSubstr("only after its effect is committed"));
  }
  EXPECT_THAT(refusal("rabbitmq://h?queue=q&prefetch=0"), HasSubstr("would let the broker push all it has"));
}

TEST(RabbitmqUrl, WhatIsMissingOrUnknownIsSaid) {
  EXPECT_THAT(refusal("amqp://h?queue=a"), HasSubstr("rabbitmq://user:password@host:port/vhost"));
  EXPECT_THAT(refusal("rabbitmq://h"), HasSubstr("?queue=name"));
  EXPECT_THAT(refusal("rabbitmq://u:secret@h/a/b?queue=q"), HasSubstr("%2F"));
  EXPECT_THAT(refusal("rabbitmq://u:secret@h?queue=q&prefech=3"), HasSubstr(R"(did you mean "prefetch"?)"));
  EXPECT_THAT(refusal("rabbitmq://u:secret@h?queue=q&declare=yes"), HasSubstr("no, classic, quorum"));
  EXPECT_THAT(refusal("rabbitmqs://h?queue=q&certfile=/c.pem"), HasSubstr("belong together"));
  EXPECT_THAT(refusal("rabbitmq://h?queue=q&cacertfile=/c.pem"), HasSubstr("rabbitmqs://"));
  EXPECT_THAT(refusal("rabbitmq://h?queue=q&verify=verify_none"), HasSubstr("rabbitmqs://"));
  EXPECT_THAT(refusal("rabbitmq://h?queue=q&management=ftp://u:secret@h"), HasSubstr("or https://"));
  for (const char* const scheme : {"http", "https"}) {
    EXPECT_EQ(refusal(std::string("rabbitmq://h?queue=q&management=") + scheme + "://u:secret@h:1"), "accepted");
  }
}

TEST(RabbitmqUrl, ValuesHaveTheirLimits) {
  for (const char* const option : {"prefetch=0", "prefetch=65536", "heartbeat=0s", "heartbeat=11m", "heartbeat=10",
                                   "connection_timeout=1ms", "consumer_timeout=999ms", "heartbeat=1900ms",
                                   "delivery_limit=0", "delivery_limit=-2", "delivery_limit=1000001"}) {
    EXPECT_NE(refusal(std::string("rabbitmq://h?queue=q&") + option), "accepted") << option;
  }
  EXPECT_NE(refusal("rabbitmq://h?queue=" + std::string(256, 'q')), "accepted");
  EXPECT_EQ(refusal("rabbitmq://h?queue=" + std::string(255, 'q')), "accepted");
}

TEST(RabbitmqUrl, WhatIsMadeInCodeHasTheSameLimits) {
  RabbitmqSourceOptions options = read_rabbitmq_source_url("rabbitmq://127.0.0.1:1?queue=q");
  options.prefetch = 0;
  EXPECT_THROW(open_rabbitmq(options), Fault);
  RabbitmqPublisherOptions publisher = read_rabbitmq_publisher_url("rabbitmq://127.0.0.1:1");
  publisher.window = 0;
  try {
    open_rabbitmq_publisher(publisher);
    ADD_FAILURE() << "taken";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::publisher_refused);
  }
}

TEST(RabbitmqUrl, DescriptionHasNoCredentials) {
  const auto connection = read_rabbitmq_publisher_url("rabbitmqs://me:secret@a:1,[::1]:2/%2F").connection;
  EXPECT_EQ(rabbitmq::describe(connection), "rabbitmqs://a:1,[::1]:2/%2F");
}

}  // namespace
}  // namespace onceward
