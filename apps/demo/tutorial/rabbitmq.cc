#include <amqp.h>
#include <amqp_tcp_socket.h>

#include "apps/demo/tutorial/tutorial.h"
#include "src/wire/wire.h"

namespace onceward::demo {
namespace {

constexpr amqp_channel_t channel = 1;
constexpr std::uint16_t tutorial_prefetch = 64;
constexpr int frame_bytes = 131'072;

void require(bool good, const char* what) {
  if (!good) throw Fault(FaultCode::source_unavailable, Poisons::connection, std::string("rabbitmq: ") + what);
}

class RabbitmqTutorial final : public Source {
 public:
  explicit RabbitmqTutorial(const RabbitmqSourceOptions& options) : connection_(amqp_new_connection(), end) {
    const RabbitmqConnection& to = options.connection;
    const timeval patience{10, 0};
    amqp_socket_t* const socket = amqp_tcp_socket_new(get());
    require(amqp_socket_open_noblock(socket, to.hosts.front().name.c_str(), to.hosts.front().port, &patience) == 0,
            "no connection");
    require(good(amqp_login(get(), to.vhost.c_str(), 0, frame_bytes, 0, AMQP_SASL_METHOD_PLAIN, to.user.c_str(),
                            to.password.c_str())),
            "no log-in");
    amqp_channel_open(get(), channel);
    require(good(amqp_get_rpc_reply(get())), "channel.open");
    amqp_basic_qos(get(), channel, 0, tutorial_prefetch, 0);
    require(good(amqp_get_rpc_reply(get())), "basic.qos");
    amqp_basic_consume(get(), channel, amqp_cstring_bytes(options.queue.c_str()), amqp_empty_bytes, 0, 0, 0,
                       amqp_empty_table);
    require(good(amqp_get_rpc_reply(get())), "basic.consume");
  }

  void receive(std::vector<Delivery>& into, std::size_t most, std::chrono::milliseconds wait) override {
    timeval patience{0, std::chrono::duration_cast<std::chrono::microseconds>(wait).count()};
    amqp_maybe_release_buffers(get());
    for (std::size_t i = 0; i < most; ++i, patience = {0, 0}) {
      amqp_envelope_t envelope;
      const amqp_rpc_reply_t reply = amqp_consume_message(get(), &envelope, &patience, 0);
      if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION && reply.library_error == AMQP_STATUS_TIMEOUT) return;
      require(good(reply), "the connection has ended");
      const amqp_bytes_t body = envelope.message.body;
      const Bytes bytes = Bytes::copy_of({static_cast<const char*>(body.bytes), body.len});
      Delivery& delivery = into.emplace_back(delivery_of(read_envelope(bytes), bytes));
      delivery.tag = envelope.delivery_tag;
      delivery.redelivered = envelope.redelivered != 0;
      amqp_destroy_envelope(&envelope);
    }
  }

  void settle(std::span<const Settlement> settlements) override {
    for (const auto& [tag, how] : settlements) {
      const int status = how == Settle::accept ? amqp_basic_ack(get(), channel, tag, 0)
                                               : amqp_basic_reject(get(), channel, tag, how == Settle::redeliver);
      require(status == AMQP_STATUS_OK, "basic.ack");
    }
  }

  void wake() noexcept override {}
  std::optional<std::chrono::milliseconds> ack_timeout() const override { return std::nullopt; }
  SourceCounters counters() const override { return {}; }
  std::string describe() const override { return "rabbitmq, by librabbitmq alone"; }

 private:
  static bool good(const amqp_rpc_reply_t& reply) { return reply.reply_type == AMQP_RESPONSE_NORMAL; }
  static void end(amqp_connection_state_t connection) { amqp_destroy_connection(connection); }
  amqp_connection_state_t get() const { return connection_.get(); }

  const std::unique_ptr<std::remove_pointer_t<amqp_connection_state_t>, void (*)(amqp_connection_state_t)> connection_;
};

}  // namespace

std::unique_ptr<Source> open_tutorial(const RabbitmqSourceOptions& options) {
  return std::make_unique<RabbitmqTutorial>(options);
}

}  // namespace onceward::demo
