// The daemon's front door: POST /ingress/<consumer> puts a command into the consumer's embedded queue, once for each key.
//
// The queue and the store are two places. The request is reserved in the store, then the message is sent, then the answer is
// kept. Whoever dies in between leaves a reservation; the next try sends a message with the same id, and the consumer's inbox
// absorbs the second. What the inbox already knows with another content is refused, as far as it is known by then.
//
// The server's thread asks; one thread of its own has the store and the queues, so that a store that is slow keeps nobody
// waiting but those who want it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "apps/daemon/admin_server.h"
#include "apps/daemon/command_message.h"
#include "onceward/adapter/embedded.h"
#include "onceward/declaration.h"
#include "onceward/ingress.h"
#include "onceward/log.h"

namespace onceward::daemon {

class IngressPost {
 public:
  static constexpr std::string_view prefix = "/ingress/";

  // The application and the log must outlive it. Throws std::invalid_argument for what cannot be opened: no admin address, a
  // consumer that has no embedded queue, a token that is not in the environment.
  IngressPost(const Application& application, Log& log);

  // On the server's thread; of requests whose path begins with the prefix.
  std::optional<Page> refuse(const Request& without_body);
  Page refuse_large(const Request& without_body);
  static Page refuse_unread(unsigned status);  // of what may have been for anybody
  void serve(Request request, Respond respond);

  // On a thread of its own, which has the store: until `stop` is asked for; then what waits is served, and what comes later
  // refused. Every request has its answer on return; whether a client still reads it is the server's matter.
  void run(std::stop_token stop);

  std::size_t most_body_bytes() const { return declaration_.most_body_bytes; }
  std::map<std::string, const IngressTally*> tallies() const;

 private:
  using Clock = std::chrono::steady_clock;

  // Where a consumer's commands go.
  struct Door {
    const Declaration* consumer = nullptr;
    EmbeddedOptions queue;
    IngressTally tally;
    std::optional<CommandWriter> writer;     // of the post's thread
    std::unique_ptr<EmbeddedSender> sender;  // likewise
  };
  struct Waiting {
    Request request;
    Respond respond;
    Clock::time_point since;
  };

  Door* door_of(const Request& request);
  // The answer to somebody who may not ask.
  std::optional<Page> refuse_caller(const Request& request) const;
  std::optional<Waiting> next(std::stop_token stop);
  Page answer(const Waiting& waiting);
  IngressAnswer ask(Door& door, const Request& request);
  Store& store();
  void tell(bool away);
  void forget_expired();

  const Application& application_;
  const IngressDeclaration& declaration_;
  Log& log_;
  std::string token_hash_;  // empty: there is no token
  std::map<std::string, Door> doors_;

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Waiting> waiting_;  // guarded
  bool closed_ = false;          // guarded; written by the post's thread only

  std::unique_ptr<Store> store_;  // of the post's thread
  bool away_ = false;             // likewise
  Clock::time_point forgotten_at_ = Clock::now();
};

}  // namespace onceward::daemon
