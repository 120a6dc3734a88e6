#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <fmt/format.h>
#include <sys/time.h>

#include <cstdlib>

#include "bench/broker/bare.h"
#include "onceward/adapter/rabbitmq.h"

namespace onceward::bench {
namespace {

constexpr const char* queue_name = "onceward_bench";
constexpr std::uint16_t prefetch = 4'000;
constexpr std::size_t confirm_window = 1'000;
constexpr amqp_channel_t channel = 1;

[[noreturn]] void fail(const char* doing) {
  fmt::print(stderr, "bench: {}\n", doing);
  std::abort();
}

amqp_bytes_t bytes_of(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }
std::string_view view_of(const amqp_bytes_t& bytes) { return {static_cast<const char*>(bytes.bytes), bytes.len}; }

class Link {
 public:
  explicit Link(const RabbitmqConnection& to) : connection_(amqp_new_connection()) {
    amqp_socket_t* const socket = amqp_tcp_socket_new(connection_);
    if (amqp_socket_open(socket, to.hosts.front().name.c_str(), to.hosts.front().port) != 0) fail("no connection");
    const auto login = amqp_login(connection_, to.vhost.c_str(), 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, to.user.c_str(),
                                  to.password.c_str());
    if (login.reply_type != AMQP_RESPONSE_NORMAL) fail("no log-in");
    amqp_channel_open(connection_, channel);
    check("channel.open");
  }
  ~Link() {
    amqp_connection_close(connection_, AMQP_REPLY_SUCCESS);
    amqp_destroy_connection(connection_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void check(const char* doing) {
    if (amqp_get_rpc_reply(connection_).reply_type != AMQP_RESPONSE_NORMAL) fail(doing);
  }
  amqp_connection_state_t get() const { return connection_; }

 private:
  amqp_connection_state_t connection_;
};

class Consumer final : public BareConsumer {
 public:
  Consumer(const RabbitmqConnection& to, const Numbers& numbers) : link_(to), numbers_(numbers) {
    amqp_basic_qos(link_.get(), channel, 0, prefetch, false);
    amqp_basic_consume(link_.get(), channel, amqp_cstring_bytes(queue_name), amqp_empty_bytes, false, false, false,
                       amqp_empty_table);
    link_.check("basic.consume");
  }

  void receive(std::vector<Index>& into, std::size_t most) override {
    timeval wait{0, 20'000};
    amqp_maybe_release_buffers(link_.get());
    for (std::size_t count = 0; count < most; ++count) {
      amqp_envelope_t envelope;
      const auto reply = amqp_consume_message(link_.get(), &envelope, &wait, 0);
      if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION && reply.library_error == AMQP_STATUS_TIMEOUT) return;
      if (reply.reply_type != AMQP_RESPONSE_NORMAL) fail("basic.deliver");
      into.push_back(numbers_.of(view_of(envelope.message.properties.message_id)));
      tag_ = envelope.delivery_tag;
      amqp_destroy_envelope(&envelope);
      wait = {0, 0};
    }
  }
  // Tags count the deliveries of the channel.
  void acknowledge(std::uint64_t count) override {
    if (count > acknowledged_) amqp_basic_ack(link_.get(), channel, count, true);
    acknowledged_ = count;
  }

 private:
  Link link_;
  const Numbers& numbers_;
  std::uint64_t tag_ = 0, acknowledged_ = 0;
};

class Rabbitmq final : public BareBroker {
 public:
  Rabbitmq(const std::string& url, const Workload& work, QueueKind kind)
      : url_(url + "?queue=" + queue_name),
        options_(read_rabbitmq_source_url(url_)),
        work_(work),
        kind_(kind),
        numbers_(work),
        link_(options_.connection) {
    amqp_confirm_select(link_.get(), channel);
    link_.check("confirm.select");
  }
  ~Rabbitmq() override { remove(); }

  std::string name() const override { return kind_ == QueueKind::quorum ? "rabbitmq-quorum" : "rabbitmq"; }
  std::vector<std::string> settings() const override {
    return {fmt::format("RabbitMQ, a {} queue, persistent messages; prefetch {}, multiple acknowledgements",
                        kind_ == QueueKind::quorum ? "quorum" : "classic", prefetch)};
  }

  void fill(std::span<const Index> deliveries) override {
    remove();
    declare();
    for (const Index index : deliveries) {
      send(index);
      while (sent_ - confirmed_ >= confirm_window) await_confirm();
    }
    while (confirmed_ < sent_) await_confirm();
  }

  std::unique_ptr<BareConsumer> consume() override { return std::make_unique<Consumer>(options_.connection, numbers_); }
  std::size_t most_consumers() const override { return 16; }
  std::unique_ptr<Source> open_source(std::unique_ptr<StreamKeeper>) override {
    RabbitmqSourceOptions options = options_;
    options.prefetch = prefetch;
    return open_rabbitmq(options);
  }
  void publish(Index message) override {
    send(message);
    while (sent_ - confirmed_ >= confirm_window) await_confirm();
  }

 private:
  void remove() {
    amqp_queue_delete(link_.get(), channel, amqp_cstring_bytes(queue_name), false, false);
    link_.check("queue.delete");
  }
  void declare() {
    amqp_table_entry_t type;
    type.key = amqp_cstring_bytes("x-queue-type");
    type.value.kind = AMQP_FIELD_KIND_UTF8;
    type.value.value.bytes = amqp_cstring_bytes(kind_ == QueueKind::quorum ? "quorum" : "classic");
    amqp_table_t arguments{1, &type};
    amqp_queue_declare(link_.get(), channel, amqp_cstring_bytes(queue_name), false, true, false, false, arguments);
    link_.check("queue.declare");
  }
  void send(Index index) {
    const Message& message = work_.messages[index];
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG |
                        AMQP_BASIC_TYPE_FLAG | AMQP_BASIC_APP_ID_FLAG;
    properties.content_type = amqp_cstring_bytes("application/json");
    properties.delivery_mode = 2;
    properties.message_id = bytes_of(message.id);
    properties.type = amqp_cstring_bytes("payment.requested");
    properties.app_id = bytes_of(producer_name);
    if (amqp_basic_publish(link_.get(), channel, amqp_empty_bytes, amqp_cstring_bytes(queue_name), false, false,
                           &properties, bytes_of(message.payload)) != AMQP_STATUS_OK) {
      fail("basic.publish");
    }
    ++sent_;
  }
  // On one queue they come in order.
  void await_confirm() {
    amqp_frame_t frame;
    amqp_maybe_release_buffers(link_.get());
    if (amqp_simple_wait_frame(link_.get(), &frame) != AMQP_STATUS_OK) fail("a confirm");
    if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) fail("no ack");
    const auto* const ack = static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
    confirmed_ = ack->delivery_tag;
  }

  const std::string url_;
  const RabbitmqSourceOptions options_;
  const Workload& work_;
  const QueueKind kind_;
  const Numbers numbers_;
  Link link_;
  std::uint64_t sent_ = 0, confirmed_ = 0;
};

}  // namespace

std::unique_ptr<BareBroker> bare_rabbitmq(const std::string& url, const Workload& work, QueueKind kind) {
  return std::make_unique<Rabbitmq>(url, work, kind);
}

}  // namespace onceward::bench
