#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cstdlib>

#include "bench/broker/bare.h"
#include "bench/broker/confirms.h"
#include "onceward/adapter/rabbitmq.h"

namespace onceward::bench {
namespace {

constexpr const char* queue_name = "onceward_bench";
constexpr std::uint16_t prefetch = 4'000;
constexpr std::size_t burst = 128;  // room to wait for when there is none, so that what follows shares packets
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
  void cork(bool corked) {
    const int value = corked ? 1 : 0;
    setsockopt(amqp_get_sockfd(connection_), IPPROTO_TCP, TCP_CORK, &value, sizeof value);
  }
  amqp_connection_state_t get() const { return connection_; }

 private:
  amqp_connection_state_t connection_;
};

class Consumer final : public BareConsumer {
 public:
  Consumer(const RabbitmqConnection& to, const Numbers& numbers) : BareConsumer(numbers), link_(to) {
    amqp_basic_qos(link_.get(), channel, 0, prefetch, false);
    amqp_basic_consume(link_.get(), channel, amqp_cstring_bytes(queue_name), amqp_empty_bytes, false, false, false,
                       amqp_empty_table);
    link_.check("basic.consume");
  }

  using BareConsumer::receive;
  void receive(const Take& take, std::size_t most) override {
    timeval wait{0, 20'000};
    amqp_maybe_release_buffers(link_.get());
    for (std::size_t count = 0; count < most; ++count) {
      amqp_envelope_t envelope;
      const auto reply = amqp_consume_message(link_.get(), &envelope, &wait, 0);
      if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION && reply.library_error == AMQP_STATUS_TIMEOUT) return;
      if (reply.reply_type != AMQP_RESPONSE_NORMAL) fail("basic.deliver");
      take(message_of(envelope.message));
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
  BareMessage message_of(const amqp_message_t& from) {
    const amqp_basic_properties_t& properties = from.properties;
    const auto text = [&](amqp_flags_t flag, const amqp_bytes_t& bytes) {
      return (properties._flags & flag) != 0 ? view_of(bytes) : std::string_view();
    };
    BareMessage message{.id = text(AMQP_BASIC_MESSAGE_ID_FLAG, properties.message_id),
                        .type = text(AMQP_BASIC_TYPE_FLAG, properties.type),
                        .producer = text(AMQP_BASIC_APP_ID_FLAG, properties.app_id),
                        .correlation_id = text(AMQP_BASIC_CORRELATION_ID_FLAG, properties.correlation_id),
                        .content_type = text(AMQP_BASIC_CONTENT_TYPE_FLAG, properties.content_type),
                        .body = view_of(from.body)};
    if ((properties._flags & AMQP_BASIC_TIMESTAMP_FLAG) != 0) message.seconds = properties.timestamp;
    headers_.clear();
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) != 0) {
      for (int i = 0; i < properties.headers.num_entries; ++i) {
        const amqp_table_entry_t& entry = properties.headers.entries[i];
        if (entry.value.kind != AMQP_FIELD_KIND_UTF8) continue;  // what the queue itself adds
        headers_.push_back({view_of(entry.key), view_of(entry.value.value.bytes)});
      }
    }
    message.headers = headers_;
    return message;
  }

  Link link_;
  std::vector<BareHeader> headers_;
  std::uint64_t acknowledged_ = 0;
};

class Publisher final : public BarePublisher {
 public:
  Publisher(const RabbitmqConnection& to, std::size_t window) : link_(to), confirms_(window) {
    amqp_confirm_select(link_.get(), channel);
    link_.check("confirm.select");
  }

  void begin_burst() override { link_.cork(in_burst_ = true); }
  void end_burst() override { link_.cork(in_burst_ = false); }

  void publish(const BareMessage& message) override {
    if (confirms_.room() == 0) make_room();
    amqp_basic_properties_t properties = properties_of(message);
    if (amqp_basic_publish(link_.get(), channel, amqp_empty_bytes, amqp_cstring_bytes(queue_name), false, false,
                           &properties, bytes_of(message.body)) != AMQP_STATUS_OK) {
      fail("basic.publish");
    }
    confirms_.add();
  }

  std::uint64_t confirmed() override {
    while (!confirms_.all() && read_confirm(timeval{0, 0})) {
    }
    return confirms_.prefix();
  }

  void await_confirms() override {
    while (!confirms_.all()) read_confirm(timeval{60, 0});
  }

 private:
  void make_room() {
    if (in_burst_) link_.cork(false);
    while (confirms_.room() < std::min(burst, confirms_.window())) read_confirm(timeval{60, 0});
    if (in_burst_) link_.cork(true);
  }

  amqp_basic_properties_t properties_of(const BareMessage& message) {
    amqp_basic_properties_t properties{};
    const auto set = [&](amqp_flags_t flag, amqp_bytes_t& property, std::string_view text) {
      if (text.empty()) return;
      property = bytes_of(text);
      properties._flags |= flag;
    };
    set(AMQP_BASIC_MESSAGE_ID_FLAG, properties.message_id, message.id);
    set(AMQP_BASIC_TYPE_FLAG, properties.type, message.type);
    set(AMQP_BASIC_APP_ID_FLAG, properties.app_id, message.producer);
    set(AMQP_BASIC_CORRELATION_ID_FLAG, properties.correlation_id, message.correlation_id);
    set(AMQP_BASIC_CONTENT_TYPE_FLAG, properties.content_type, message.content_type);
    properties.delivery_mode = 2;
    properties._flags |= AMQP_BASIC_DELIVERY_MODE_FLAG;
    if (message.seconds != 0) {
      properties.timestamp = message.seconds;
      properties._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
    }
    if (message.headers.empty()) return properties;
    entries_.resize(message.headers.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      entries_[i].key = bytes_of(message.headers[i].name);
      entries_[i].value.kind = AMQP_FIELD_KIND_UTF8;
      entries_[i].value.value.bytes = bytes_of(message.headers[i].value);
    }
    properties.headers = {static_cast<int>(entries_.size()), entries_.data()};
    properties._flags |= AMQP_BASIC_HEADERS_FLAG;
    return properties;
  }

  // False if none has come by then.
  bool read_confirm(const timeval& wait) {
    amqp_frame_t frame;
    amqp_maybe_release_buffers(link_.get());
    const int status = amqp_simple_wait_frame_noblock(link_.get(), &frame, &wait);
    if (status == AMQP_STATUS_TIMEOUT) return false;
    if (status != AMQP_STATUS_OK) fail("a confirm");
    if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD) fail("no ack");
    const auto* const ack = static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
    ack->multiple != 0 ? confirms_.confirm_up_to(ack->delivery_tag) : confirms_.confirm(ack->delivery_tag);
    return true;
  }

  Link link_;
  Confirms confirms_;
  std::vector<amqp_table_entry_t> entries_;
  bool in_burst_ = false;
};

class Rabbitmq final : public BareBroker {
 public:
  Rabbitmq(const std::string& url, const Workload& work, QueueKind kind)
      : BareBroker(work),
        url_(url + "?queue=" + queue_name),
        options_(read_rabbitmq_source_url(url_)),
        kind_(kind),
        link_(options_.connection) {}
  ~Rabbitmq() override { remove(); }

  std::string name() const override { return kind_ == QueueKind::quorum ? "rabbitmq-quorum" : "rabbitmq"; }
  std::vector<std::string> settings() const override {
    return {
        fmt::format("RabbitMQ, a {} queue, persistent messages; prefetch {}, multiple acknowledgements; published "
                    "with {} or fewer unconfirmed",
                    kind_ == QueueKind::quorum ? "quorum" : "classic", prefetch, window())};
  }

  void make() override {
    remove();
    declare();
  }
  std::unique_ptr<BarePublisher> open_publisher() override {
    return std::make_unique<Publisher>(options_.connection, window());
  }
  std::unique_ptr<BareConsumer> consume() override {
    return std::make_unique<Consumer>(options_.connection, numbers());
  }
  std::unique_ptr<Source> open_source(std::unique_ptr<StreamKeeper>) override {
    RabbitmqSourceOptions options = options_;
    options.prefetch = prefetch;
    return open_rabbitmq(options);
  }
  std::string target_url() const override { return url_; }
  std::string_view attribute_prefix() const override { return "cloudEvents_"; }
  bool has_properties() const override { return true; }

 private:
  static std::size_t window() { return RabbitmqPublisherOptions().window; }

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

  const std::string url_;
  const RabbitmqSourceOptions options_;
  const QueueKind kind_;
  Link link_;
};

}  // namespace

std::unique_ptr<BareBroker> bare_rabbitmq(const std::string& url, const Workload& work, QueueKind kind) {
  return std::make_unique<Rabbitmq>(url, work, kind);
}

}  // namespace onceward::bench
