// What is said when a connection cannot be had: one line that tells what to do.
#include "tests/brokers/rabbitmq_world.h"

namespace onceward::brokers {
namespace {

class RabbitmqRefusals : public RabbitmqWorld {
 protected:
  Thrown opening(const RabbitmqConnection& connection, const std::string& queue = {}) {
    return thrown_by([&] {
      RabbitmqSourceOptions options;
      options.connection = connection;
      options.queue = queue.empty() ? queue_.name() : queue;
      open_rabbitmq(options, log_);
    });
  }
  static RabbitmqConnection with_tls() {
    RabbitmqConnection connection = read_rabbitmq_publisher_url(environment("ONCEWARD_TEST_RABBITMQ_TLS")).connection;
    connection.ca_file = environment("ONCEWARD_TEST_RABBITMQ_CA");
    connection.connect_deadline = 60s;
    return connection;
  }
};

TEST_F(RabbitmqRefusals, WrongPassword) {
  RabbitmqConnection connection = rabbitmq_server();
  connection.password = "s3cret";
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr("refuses the user \"guest\"; check the name and the password"));
  EXPECT_THAT(thrown.what, testing::Not(HasSubstr("s3cret")));
}

TEST_F(RabbitmqRefusals, MissingVirtualHost) {
  RabbitmqConnection connection = rabbitmq_server();
  connection.vhost = "nowhere";
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr("the virtual host \"nowhere\" is not there"));
}

TEST_F(RabbitmqRefusals, VirtualHostOfOthers) {
  RabbitmqConnection connection = read_rabbitmq_publisher_url(environment("ONCEWARD_TEST_RABBITMQ_USER")).connection;
  connection.vhost = "/";
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr("not for the user \"onceward\""));
}

TEST_F(RabbitmqRefusals, MissingQueue) {
  const Thrown thrown = opening(rabbitmq_server(), "nowhere");
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr("there is no queue \"nowhere\""));
  EXPECT_THAT(thrown.what, HasSubstr("declare=quorum"));
}

TEST_F(RabbitmqRefusals, QueueOfOthers) {
  const StrangerToRabbitmq stranger;
  const auto source = open(stranger.connection());
  Deliveries deliveries;
  const Thrown thrown = thrown_by([&] { source->receive(deliveries, 1, generous); });
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr(fmt::format("asked for messages of the queue \"{}\"", queue_.name())));
  EXPECT_THAT(thrown.what, HasSubstr("ACCESS_REFUSED"));
  EXPECT_EQ(thrown_by([&] { source->receive(deliveries, 1, generous); }).code, FaultCode::source_refused);
  expect_one_line("the source's connection was lost");  // not once for every try
}

// Each consumer of it would begin with what comes next: what was there before, or came between two connections, would be lost.
TEST_F(RabbitmqRefusals, Stream) {
  const std::string stream = unique_name();
  rabbitmq_api("PUT", "/queues/%2F/" + stream, R"({"durable":true,"arguments":{"x-queue-type":"stream"}})");
  const auto source = open(rabbitmq_server(), stream);
  queue_.client().send(stream, messages(3));
  Deliveries deliveries;
  for (int turn = 0; turn < 2; ++turn) {
    const Thrown thrown = thrown_by([&] { source->receive(deliveries, 1, generous); });
    EXPECT_EQ(thrown.code, FaultCode::source_refused);
    EXPECT_THAT(thrown.what,
                HasSubstr("is a stream, which this source does not read yet; name a classic or a quorum queue"));
  }
  EXPECT_TRUE(deliveries.empty());
  expect_one_line("is a stream");
  RabbitmqSourceOptions options;
  options.connection = rabbitmq_server();
  options.queue = stream;
  EXPECT_THAT(thrown_by([&] { examine_rabbitmq(options); }).what, HasSubstr("is a stream"));
  queue_.client().delete_queue(stream);
}

TEST_F(RabbitmqRefusals, NobodyListens) {
  RabbitmqConnection connection = rabbitmq_server();
  connection.hosts.front().port = static_cast<std::uint16_t>(free_port());
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_unavailable);
  EXPECT_THAT(thrown.what, HasSubstr("nothing listens there"));
}

TEST_F(RabbitmqRefusals, UnknownHost) {
  RabbitmqConnection connection = rabbitmq_server();
  connection.hosts.front().name = "no-such-host.invalid";
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_unavailable);
  EXPECT_THAT(thrown.what, HasSubstr("the host's name is not known"));
}

TEST_F(RabbitmqRefusals, SilentHostIsGivenUpInTime) {
  RabbitmqConnection connection = through(proxy_);
  connection.connect_deadline = 500ms;
  proxy_.set({"AMQP", Rule::Act::stall, 1});
  const auto begin = std::chrono::steady_clock::now();
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_unavailable);
  EXPECT_THAT(thrown.what, HasSubstr("no answer came in time"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

// Whoever stops a worker waits for one host that is silent, and not for all of them.
TEST_F(RabbitmqRefusals, WakeEndsTheSearchForAHost) {
  Proxy other(rabbitmq_server().hosts.front().port);
  RabbitmqConnection connection = through(proxy_);
  connection.hosts.push_back({"127.0.0.1", static_cast<std::uint16_t>(other.port())});
  connection.connect_deadline = 3s;
  const auto source = open(connection);
  proxy_.set({"AMQP", Rule::Act::stall, 1});
  proxy_.cut_all();
  const std::jthread stopper([&] {
    await("the first host is silent", [&] { return proxy_.fired() == 1; });
    source->wake();
  });
  Deliveries deliveries;
  EXPECT_EQ(thrown_by([&] { source->receive(deliveries, 1, generous); }).code, FaultCode::source_unavailable);
  EXPECT_EQ(other.accepted(), 0);
  source->receive(deliveries, 1, 0ms);
  EXPECT_EQ(other.accepted(), 1) << "it goes on where it has ended";
}

TEST_F(RabbitmqRefusals, TlsToThePlainPort) {
  RabbitmqConnection connection = with_tls();
  connection.hosts = rabbitmq_server().hosts;
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr("no TLS there"));
}

TEST_F(RabbitmqRefusals, PlainToTheTlsPort) {
  RabbitmqConnection connection = rabbitmq_server();
  connection.hosts = with_tls().hosts;
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_refused) << thrown.what;
  EXPECT_THAT(thrown.what, HasSubstr("write rabbitmqs://"));
}

TEST_F(RabbitmqRefusals, UnknownCa) {
  RabbitmqConnection connection = with_tls();
  connection.ca_file.clear();
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr("cacertfile="));
  connection.verify_peer = false;
  EXPECT_THAT(opening(connection, "nowhere").what, HasSubstr("there is no queue")) << "unless nobody looks at it";
}

TEST_F(RabbitmqRefusals, CaFileThatIsNone) {
  RabbitmqConnection connection = with_tls();
  connection.ca_file = "/nowhere/ca.pem";
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr("cacertfile cannot be read"));
}

TEST_F(RabbitmqRefusals, CertificateForAnotherName) {
  RabbitmqConnection connection = with_tls();
  // The library compares names only: an address is none, though it stands in the certificate.
  connection.hosts.front().name = "127.0.0.1";
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_refused);
  EXPECT_THAT(thrown.what, HasSubstr("another name"));
}

TEST_F(RabbitmqRefusals, AnotherHostIsTriedNext) {
  RabbitmqConnection connection = rabbitmq_server();
  connection.hosts.insert(connection.hosts.begin(), {"127.0.0.1", static_cast<std::uint16_t>(free_port())});
  EXPECT_EQ(opening(connection).code, std::nullopt);
}

// One that is down says nothing that helps.
TEST_F(RabbitmqRefusals, OfSeveralHostsTheOneThatRefusesIsHeard) {
  RabbitmqConnection connection = rabbitmq_server();
  connection.password = "s3cret";
  connection.hosts.push_back({"127.0.0.1", static_cast<std::uint16_t>(free_port())});
  for (int turn = 0; turn < 2; ++turn) {
    const Thrown thrown = opening(connection);
    EXPECT_EQ(thrown.code, FaultCode::source_refused);
    EXPECT_THAT(thrown.what, HasSubstr("refuses the user"));
    std::swap(connection.hosts.front(), connection.hosts.back());
  }
}

TEST_F(RabbitmqRefusals, TlsToSomebodyWhoHangsUpIsTriedAgain) {
  Proxy deaf(static_cast<int>(with_tls().hosts.front().port));
  deaf.refuse(true);
  RabbitmqConnection connection = with_tls();
  connection.hosts.front().port = static_cast<std::uint16_t>(deaf.port());
  const Thrown thrown = opening(connection);
  EXPECT_EQ(thrown.code, FaultCode::source_unavailable) << thrown.what;
}

TEST_F(RabbitmqRefusals, PublisherSaysTheSameInItsOwnCodes) {
  RabbitmqPublisherOptions options;
  options.connection = rabbitmq_server();
  options.connection.password = "s3cret";
  EXPECT_EQ(thrown_by([&] { open_rabbitmq_publisher(options); }).code, FaultCode::publisher_refused);
  options.connection.hosts.front().port = static_cast<std::uint16_t>(free_port());
  EXPECT_EQ(thrown_by([&] { open_rabbitmq_publisher(options); }).code, FaultCode::publisher_unavailable);
}

TEST_F(RabbitmqRefusals, TlsWithTheRightCaWorks) {
  RabbitmqSourceOptions options;
  options.connection = with_tls();
  options.queue = unique_name();
  options.declare = RabbitmqSourceOptions::Declare::classic;
  const auto source = open_rabbitmq(options, log_);
  RabbitmqPublisherOptions to;
  to.connection = with_tls();
  const auto sender = open_rabbitmq_publisher(to, log_);
  EnvelopeFields fields;
  const std::string payload(300'000, 'x');
  fields.message_id = MessageId("m-1");
  fields.producer = Producer("shop");
  fields.event_type = EventType("paid");
  fields.content_type = "text/plain";
  fields.payload = payload;
  std::vector<Publication> publications(5, {0, "", options.queue, Envelope::copy_of(fields)});
  for (const Receipt& receipt : publish_all(*sender, publications, generous)) {
    EXPECT_EQ(receipt.kind, Kind::confirmed) << receipt.why;
  }
  const Deliveries deliveries = receive(*source, 5);
  EXPECT_TRUE(deliveries.back().envelope.payload() == payload);
  settle(*source, deliveries);
  EXPECT_EQ(source->counters().settled, 5u);
  RabbitmqConnection plain = rabbitmq_server();
  plain.vhost = options.connection.vhost;
  RabbitmqClient(plain).delete_queue(options.queue);
}

}  // namespace
}  // namespace onceward::brokers
