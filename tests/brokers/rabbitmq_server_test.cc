// What a RabbitMQ of one's own can be made to do: die, run out of memory, lose patience, take only small messages.
#include "tests/brokers/rabbitmq_server.h"

#include <fstream>

#include "tests/brokers/rabbitmq_world.h"
#include "tests/fixtures/certificates.h"

namespace onceward::brokers {
namespace {

// Somebody who has settled some of the messages of a queue.
struct Consumer {
  std::string queue;
  std::unique_ptr<Source> source;
  Deliveries held;
};

class RabbitmqServers : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    known_ = std::make_unique<Certificates>();
    server_ = std::make_unique<RabbitmqServer>(
        std::vector<std::string>{"max_message_size=1000000", "frame_max=16384", "tcp_listen_options.send_timeout=1000",
                                 "ssl_options.verify=verify_peer", "ssl_options.fail_if_no_peer_cert=true",
                                 "ssl_options.cacertfile=" + known_->ca()});
  }
  static void TearDownTestSuite() {
    server_.reset();
    known_.reset();
  }

  static std::unique_ptr<Publisher> publisher(Log& log, std::chrono::milliseconds deadline = generous) {
    RabbitmqPublisherOptions options;
    options.connection = server_->connection();
    options.confirm_deadline = deadline;
    return open_rabbitmq_publisher(options, log);
  }

  Consumer consumer(const QueueArguments& arguments) {
    RabbitmqSourceOptions options;
    options.connection = server_->connection();
    options.queue = unique_name();
    {
      RabbitmqClient client(options.connection);
      client.declare_queue(options.queue, arguments);
      client.send(options.queue, messages(20));
    }
    server_->sync();
    auto source = open_rabbitmq(options, log_);
    const Deliveries all = receive(*source, 20);
    settle(*source, {all.begin(), all.begin() + 5});
    return {options.queue, std::move(source), {all.begin() + 5, all.end()}};
  }

  // Suspends or resumes the process of a classic queue.
  static void tell_queue(const std::string& name, const std::string& what) {
    server_->evaluate(
        fmt::format("{{ok, Q}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\"{}\">>)), "
                    "sys:{}(amqqueue:get_pid(Q)).",
                    name, what));
  }

  std::ptrdiff_t lines_with(const std::string& part) const {
    return std::ranges::count_if(log_.all(), [&](const std::string& line) { return line.find(part) != line.npos; });
  }

  static std::unique_ptr<Certificates> known_;  // whose clients the server lets in by TLS
  static std::unique_ptr<RabbitmqServer> server_;
  Lines log_;
};
std::unique_ptr<Certificates> RabbitmqServers::known_;
std::unique_ptr<RabbitmqServer> RabbitmqServers::server_;

TEST_F(RabbitmqServers, KilledOneComesBackWithWhatWasUnsettled) {
  Consumer consumers[] = {consumer({.quorum = true}), consumer({.quorum = false})};
  const auto sender = publisher(log_);
  std::this_thread::sleep_for(1s);  // acknowledgements are not confirmed: until the broker has written them
  server_->kill();
  const Publication away = publication(1, "", consumers[0].queue);
  EXPECT_EQ(thrown_by([&] { sender->publish({&away, 1}); }).code, FaultCode::publisher_unavailable);
  for (Consumer& one : consumers) {
    Deliveries none;
    EXPECT_EQ(thrown_by([&] { one.source->receive(none, 1, generous); }).code, FaultCode::source_unavailable);
    EXPECT_EQ(thrown_by([&] { settle(*one.source, one.held); }).code, std::nullopt) << "their tags are no longer known";
    EXPECT_EQ(one.source->counters().settle_failed, one.held.size());
  }
  server_->start();
  for (Consumer& one : consumers) {
    std::set<std::string> came;
    await("what was unsettled has come back", [&] {
      Deliveries again;
      one.source->receive(again, 100, 1s);
      settle(*one.source, again);
      came.merge(ids_of(again));
      return std::ranges::includes(came, ids_of(one.held));
    });
  }
  sender->publish({&away, 1});
  EXPECT_EQ(collect(*sender).at(0).kind, Kind::confirmed);
}

TEST_F(RabbitmqServers, OurCertificateIsShownToWhoWantsIt) {
  RabbitmqSourceOptions options;
  options.connection = server_->connection();
  options.connection.tls = true;
  options.connection.hosts.front() = {"localhost",
                                      static_cast<std::uint16_t>(options.connection.hosts.front().port + 1)};
  options.connection.ca_file = server_->directory() + "/tls/ca.pem";
  options.queue = unique_name();
  options.declare = RabbitmqSourceOptions::Declare::classic;
  const auto opening = [&] { return thrown_by([&] { open_rabbitmq(options, log_); }); };
  const Thrown without = opening();
  EXPECT_EQ(without.code, FaultCode::source_refused);
  EXPECT_THAT(without.what, HasSubstr("name it in certfile= and keyfile="));
  const Certificates unknown;
  options.connection.certificate_file = unknown.certificate();
  options.connection.key_file = unknown.key();
  const Thrown of_a_stranger = opening();
  EXPECT_EQ(of_a_stranger.code, FaultCode::source_refused);
  EXPECT_THAT(of_a_stranger.what, HasSubstr("does it know who signed our certfile=?"));
  options.connection.certificate_file = known_->certificate();
  options.connection.key_file = known_->key();
  EXPECT_EQ(opening().code, std::nullopt) << opening().what;
}

// Before there is a connection, where TLS 1.3 says it afterwards. That version is chosen for a process of its own.
TEST_F(RabbitmqServers, OurCertificateIsMissedByTls12) {
  const TemporaryDirectory folder;
  const std::string configuration = folder.path() + "/openssl.cnf";
  std::ofstream(configuration) << "openssl_conf = all\n[all]\nssl_conf = ssl\n[ssl]\nsystem_default = old\n[old]\n"
                               << "MaxProtocol = TLSv1.2\n";
  const std::string url = fmt::format("rabbitmqs://guest:guest@localhost:{}/%2F?queue=q&cacertfile={}/tls/ca.pem",
                                      server_->connection().hosts.front().port + 1, server_->directory());
  const Ran ran =
      run({"/usr/bin/env", "OPENSSL_CONF=" + configuration, ONCEWARD_TEST_PROGRAMS "/receiver", url, "leave", "1"});
  EXPECT_THAT(ran.output, HasSubstr("name it in certfile= and keyfile="));
}

TEST_F(RabbitmqServers, TooLargeIsRefusedAndTheOthersAreNot) {
  const std::string name = unique_name();
  RabbitmqClient client(server_->connection());
  client.declare_queue(name);
  const auto sender = publisher(log_);
  const auto decided = publish_until_decided(
      *sender,
      {publication(1, "", name), publication(2, "", name, std::string(1'000'001, 'x')), publication(3, "", name)});
  EXPECT_EQ(decided.at(1).kind, Kind::confirmed);
  EXPECT_EQ(decided.at(2).kind, Kind::refused);
  EXPECT_THAT(decided.at(2).why, HasSubstr("larger than"));
  EXPECT_EQ(decided.at(3).kind, Kind::confirmed);
}

// 16 KiB are all that fit here; what does not fit is found out before it is sent.
TEST_F(RabbitmqServers, FramesAreNoLargerThanTheServerTakes) {
  const std::string name = unique_name();
  RabbitmqClient client(server_->connection());
  client.declare_queue(name);
  const auto sender = publisher(log_);
  const std::string large(500'000, 'x'), header(20'000, 'h');
  EnvelopeFields fields;
  fields.message_id = MessageId("3");
  fields.producer = Producer("shop");
  fields.event_type = EventType("sent");
  const Header headers[] = {{"much", header}};
  fields.headers = headers;
  std::vector<Publication> publications{
      publication(1, "", name, large), publication(2, "", name), {3, "", name, Envelope::copy_of(fields)}};
  sender->publish(publications);
  const Receipts receipts = collect(*sender);
  EXPECT_EQ(receipts.at(0).kind, Kind::confirmed) << receipts.at(0).why;
  EXPECT_EQ(receipts.at(1).kind, Kind::confirmed) << receipts.at(1).why;
  EXPECT_EQ(receipts.at(2).kind, Kind::refused);
  EXPECT_THAT(receipts.at(2).why, HasSubstr("frame_max"));
  EXPECT_EQ(client.take(name)->body, large);
  EXPECT_THAT(log_.all(), testing::IsEmpty());
}

// Two to one exchange, which is deleted between them. The queue does not get round to confirming the first.
TEST_F(RabbitmqServers, WhatIsStoredIsNotBlamedForWhatCameLater) {
  const std::string name = unique_name(), exchange = unique_name();
  RabbitmqClient client(server_->connection());
  client.declare_queue(name, {.quorum = false});
  client.declare_exchange(exchange, "fanout");
  client.bind(name, exchange, "");
  const auto sender = publisher(log_);
  const Publication stored = publication(1, exchange, ""), later = publication(2, exchange, "");
  tell_queue(name, "suspend");
  sender->publish({&stored, 1});
  client.delete_exchange(exchange);
  sender->publish({&later, 1});
  for (const Receipt& receipt : collect(*sender)) EXPECT_EQ(receipt.kind, Kind::in_doubt) << receipt.why;
  tell_queue(name, "resume");
  await("the first is there", [&] { return client.depth(name) == 1; });
}

// The broker confirms in the order of its queues, and not of our sending.
TEST_F(RabbitmqServers, ConfirmIsForTheMessageThatItNames) {
  const std::string slow = unique_name(), quick = unique_name();
  RabbitmqClient client(server_->connection());
  client.declare_queue(slow, {.quorum = false});
  client.declare_queue(quick, {.quorum = false});
  const auto sender = publisher(log_);
  tell_queue(slow, "suspend");
  const std::vector<Publication> publications{publication(1, "", slow), publication(2, "", quick)};
  sender->publish(publications);
  Receipts receipts;
  await("a confirm has come", [&] {
    sender->collect(receipts, 1s);
    return !receipts.empty();
  });
  EXPECT_EQ(sender->outstanding(), 1u);
  tell_queue(slow, "resume");
  for (const Receipt& receipt : collect(*sender)) receipts.push_back(receipt);
  ASSERT_EQ(receipts.size(), 2u);
  EXPECT_EQ(receipts[0].tag, 2u);
  EXPECT_EQ(receipts[1].tag, 1u);
  for (const Receipt& receipt : receipts) EXPECT_EQ(receipt.kind, Kind::confirmed) << receipt.why;
}

// The broker, which is here to have no patience, sends as much as it gets: all of it comes back.
TEST_F(RabbitmqServers, WhoeverWritesAlsoReads) {
  Proxy proxy(server_->connection().hosts.front().port);
  proxy.throttle(20'000);
  RabbitmqPublisherOptions options;
  options.connection = through(proxy, server_->connection());
  options.confirm_deadline = generous;
  const auto sender = open_rabbitmq_publisher(options, log_);
  std::vector<Publication> publications;
  for (std::uint64_t tag = 1; tag <= 60; ++tag) {
    publications.push_back(publication(tag, "", "no such queue", std::string(600'000, 'x')));
  }
  sender->publish(publications);
  const Receipts receipts = collect(*sender);
  EXPECT_EQ(std::ranges::count(receipts, Kind::refused, &Receipt::kind), 60) << receipts.back().why;
  EXPECT_THAT(log_.all(), testing::IsEmpty());
}

TEST_F(RabbitmqServers, BlockedConnectionPutsOffUntilTheBrokerGoesOn) {
  const std::string name = unique_name();
  RabbitmqClient client(server_->connection());
  client.declare_queue(name);
  const auto sender = publisher(log_, 3s);
  server_->tool({"set_vm_memory_high_watermark", "absolute", "1"});
  std::vector<Publication> publications;
  for (std::uint64_t tag = 1; tag <= 5; ++tag) publications.push_back(publication(tag, "", name));
  std::string why;
  await("publishing is put off", [&] {
    sender->publish(publications);
    for (const Receipt& receipt : collect(*sender)) {
      EXPECT_NE(receipt.kind, Kind::refused) << receipt.why;
      if (receipt.kind == Kind::put_off) why = receipt.why;
    }
    return !why.empty();
  });
  EXPECT_THAT(why, HasSubstr("blocks publishing (low on memory)"));
  EXPECT_EQ(lines_with("the broker blocks publishing connection=onceward publisher why=low on memory"), 1);
  server_->tool({"set_vm_memory_high_watermark", "absolute", "1GB"});
  await("publishing goes on", [&] {
    const Publication one = publication(9, "", name);
    sender->publish({&one, 1});
    return collect(*sender).at(0).kind == Kind::confirmed;
  });
  EXPECT_EQ(lines_with("the broker blocks publishing"), 1);
  EXPECT_EQ(lines_with("the broker takes publications again"), 1);
}

// It says so only to those who publish; here to everybody who is connected.
TEST_F(RabbitmqServers, BlockedConnectionStillSettles) {
  const std::string name = unique_name();
  RabbitmqSourceOptions options;
  options.connection = server_->connection();
  options.queue = name;
  {
    RabbitmqClient client(options.connection);
    client.declare_queue(name);
    client.send(name, messages(2));
  }
  const auto source = open_rabbitmq(options, log_);
  const Deliveries held = receive(*source, 2);
  server_->evaluate(
      "Said = rabbit_binary_generator:build_simple_method_frame(0, {'connection.blocked', <<\"low on memory\">>}, "
      "rabbit_framing_amqp_0_9_1), [gen_tcp:send(Port, Said) || Pid <- rabbit_networking:connections(), "
      "Port <- erlang:ports(), erlang:port_info(Port, connected) =:= {connected, Pid}].");
  EXPECT_EQ(thrown_by([&] { settle(*source, held); }).what, "");
  EXPECT_EQ(source->counters().settled, 2u);
}

// A broker that waits for a second, and one of its queues.
class Impatient {
 public:
  Impatient(RabbitmqServer& server, Log& log) : server_(server), log_(log) { wait_for(1s, 300ms); }
  ~Impatient() { be_patient(); }
  Impatient(const Impatient&) = delete;
  Impatient& operator=(const Impatient&) = delete;

  std::unique_ptr<Source> open(int count, std::uint16_t prefetch, const QueueArguments& arguments = {},
                               std::chrono::milliseconds believed = 1s) {
    client_.declare_queue(name_, arguments);
    client_.send(name_, messages(count));
    RabbitmqSourceOptions options;
    options.connection = server_.connection();
    options.queue = name_;
    options.prefetch = prefetch;
    options.consumer_timeout = believed;
    return open_rabbitmq(options, log_);
  }
  void be_patient() { wait_for(30min, 1min); }
  std::uint32_t depth() { return client_.depth(name_); }

 private:
  void wait_for(std::chrono::milliseconds timeout, std::chrono::milliseconds look) {
    server_.evaluate(
        fmt::format("application:set_env(rabbit, channel_tick_interval, {}), "
                    "application:set_env(rabbit, consumer_timeout, {}).",
                    look.count(), timeout.count()));
  }

  RabbitmqServer& server_;
  Log& log_;
  const std::string name_ = unique_name();
  RabbitmqClient client_{server_.connection()};
};

void tend_until_said(Source& source, const Lines& log) {
  await("the broker has lost its patience", [&] {
    Deliveries none;
    source.receive(none, 0, 0ms);
    return !log.all().empty();
  });
}

TEST_F(RabbitmqServers, ConsumerTimeoutIsSurvivedAndSaid) {
  Impatient broker(*server_, log_);
  const auto source = broker.open(2, 2000);
  const Deliveries held = receive(*source, 2);
  EXPECT_EQ(source->ack_timeout(), 1s);
  tend_until_said(*source, log_);
  EXPECT_THAT(log_.all(), testing::ElementsAre(HasSubstr("delivery acknowledgement on channel 1 timed out")));
  settle(*source, held);
  EXPECT_EQ(source->counters().settle_failed, 2u);
  for (const Delivery& delivery : held) {
    const Deliveries again = receive(*source, 1);
    EXPECT_EQ(ids_of(again), ids_of({delivery}));
    settle(*source, again);
  }
  EXPECT_EQ(source->counters().settled, 2u);
}

// Many more are pushed than can be handled in time. All that wait come back with those that are late, and who has come too often
// is dropped: the last of them before a handler has seen it, unless fewer are pushed then.
TEST_F(RabbitmqServers, SlowHandlerGetsFewerAtATimeAndAllOfThem) {
  constexpr std::size_t count = 120;
  Impatient broker(*server_, log_);
  const auto source = broker.open(count, 2000, {.delivery_limit = 3});
  std::set<std::string> handled;
  await("all are handled", [&] {
    Deliveries one;
    source->receive(one, 1, 1s);
    if (!one.empty()) std::this_thread::sleep_for(50ms);  // its handler
    handled.merge(ids_of(one));
    thrown_by([&] { settle(*source, one); });  // comes back
    return handled.size() == count;
  });
  EXPECT_GE(source->counters().reconnects, 1u);
  EXPECT_LE(source->counters().received, count + 10);
  EXPECT_THAT(log_.all().at(0), testing::Not(HasSubstr("prefetch=2000")));
}

// On the connection that it has: whoever makes a new one to take more uses up a delivery of each that was pushed.
TEST_F(RabbitmqServers, AsManyAsBeforeArePushedOnceTheyAreHandledQuickly) {
  constexpr std::size_t count = 2000, prefetch = 64;
  for (const bool quorum : {true, false}) {
    Lines log;
    Impatient broker(*server_, log);
    const auto source = broker.open(count, prefetch, {.quorum = quorum}, 60s);
    receive(*source, 1);
    tend_until_said(*source, log);
    broker.be_patient();
    await("as many are pushed as before", [&] {
      settle(*source, receive(*source, 1));
      return count - source->counters().settled - broker.depth() >= prefetch;
    });
    await("all are settled", [&] {
      Deliveries some;
      source->receive(some, prefetch, 1s);
      settle(*source, some);
      return source->counters().settled == count;
    });
    EXPECT_THAT(log.all(), testing::ElementsAre(HasSubstr("prefetch=1 ")));
    EXPECT_EQ(source->counters().reconnects, 1u);
  }
}

}  // namespace
}  // namespace onceward::brokers
