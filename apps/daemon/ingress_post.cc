#include "apps/daemon/ingress_post.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "apps/daemon/environment.h"
#include "apps/daemon/ports.h"
#include "src/common/sha256.h"
#include "src/ingress/problem.h"
#include "src/ingress/request.h"

namespace onceward::daemon {
namespace {

using ingress::problem_answer;
using std::chrono::seconds;

constexpr std::size_t most_waiting = 16;
constexpr seconds longest_wait_for_a_turn{5};
constexpr seconds statement_bound{10};
constexpr seconds queue_bound{5};
constexpr seconds lease{60};
static_assert(lease > 2 * (statement_bound + queue_bound), "a slow request would be taken over while it runs");
constexpr seconds forgetting_pause{60};
constexpr std::int64_t rows_of_a_step = 1'000;
constexpr int most_steps = 10;

Page page_of(IngressAnswer answer) {
  Page page{answer.status, std::move(answer.content_type), std::move(answer.body)};
  if (answer.retry_after.count() > 0)
    page.headers.emplace_back("Retry-After", std::to_string(answer.retry_after.count()));
  if (answer.repeated) page.headers.emplace_back("Idempotency-Replayed", "true");
  return page;
}

Page busy(std::string_view code, std::string_view title) {
  IngressAnswer answer = problem_answer(503, code, title, "Nothing was done. Repeat the request with the same key.");
  answer.retry_after = seconds(1);
  return page_of(std::move(answer));
}

std::string hash_of(std::string_view text) {
  const Digest digest = sha256(text);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// The token of "Bearer <token>"; the scheme in any case.
std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view scheme = "bearer ";
  const auto same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); };
  if (!std::ranges::equal(authorization.substr(0, scheme.size()), scheme, same)) return {};
  return authorization.substr(scheme.size());
}

const Declaration& consumer_named(const Application& application, const std::string& name) {
  const auto found = std::ranges::find(application.consumers, name, &Declaration::name);
  if (found == application.consumers.end()) {
    throw std::invalid_argument(fmt::format("ingress: there is no consumer {}", name));
  }
  return *found;
}

EmbeddedOptions queue_of(const Declaration& consumer) {
  const SourceOptions source = read_source(consumer.source);
  const auto* const queue = std::get_if<EmbeddedOptions>(&source);
  if (queue == nullptr) {
    throw std::invalid_argument(fmt::format("ingress: the source of consumer {} is no embedded queue", consumer.name));
  }
  EmbeddedOptions options = *queue;
  options.busy_deadline = queue_bound;
  return options;
}

void count(std::atomic<std::uint64_t>& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

IngressPost::IngressPost(const Application& application, Log& log)
    : application_(application), declaration_(application.ingress), log_(log) {
  if (application.admin.host.empty()) {
    throw std::invalid_argument("ingress: requests come to the admin server: write [admin] listen in the file");
  }
  for (const std::string& name : declaration_.consumers) {
    Door& door = doors_[name];
    door.consumer = &consumer_named(application, name);
    door.queue = queue_of(*door.consumer);
    door.writer.emplace(*door.consumer);
    if (door.consumer->identity.scheme != KeyScheme::hash) {
      throw std::invalid_argument(
          fmt::format("ingress: ids made of idempotency keys carry no time, and consumer {} wants ids that do", name));
    }
  }
  const std::string token = text_with_environment(declaration_.token);
  if (token.empty() && !declaration_.token.empty()) {
    throw std::invalid_argument("ingress: the token is empty: set the variable that it is taken from, or leave it out");
  }
  if (!token.empty()) token_hash_ = hash_of(token);
}

IngressPost::Door* IngressPost::door_of(const Request& request) {
  const auto found = doors_.find(request.path.substr(prefix.size()));
  return found == doors_.end() ? nullptr : &found->second;
}

// A page in a browser of this machine can send to it too: those say where they come from.
// Where there is a token everybody needs it: whoever comes through a proxy on this machine looks local.
std::optional<Page> IngressPost::refuse_caller(const Request& request) const {
  if (!token_hash_.empty()) {
    const std::string hash = hash_of(bearer_token(request.header("authorization")));
    if (CRYPTO_memcmp(hash.data(), token_hash_.data(), token_hash_.size()) == 0) return std::nullopt;
  } else if (request.local) {
    if (request.header("origin").empty()) return std::nullopt;
    return page_of(problem_answer(403, "origin_refused", "Requests of a browser are refused",
                                  "Send it without the header Origin, or configure a token and send that."));
  }
  Page page = page_of(problem_answer(401, "token_missing", "The token is missing or wrong",
                                     "Send the header Authorization: Bearer with the token that was configured."));
  page.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"onceward\"");
  return page;
}

std::optional<Page> IngressPost::refuse(const Request& request) {
  if (auto refusal = refuse_caller(request)) return refusal;
  Door* const door = door_of(request);
  if (door == nullptr) {
    return page_of(problem_answer(404, "consumer_unknown", "There is no such consumer",
                                  "Send to /ingress/ and the name of a consumer that the file opens to requests."));
  }
  std::optional<Page> page;
  if (request.method != "POST") {
    page = page_of(problem_answer(405, "method_refused", "Only POST", "A command is sent with POST."));
    page->headers.emplace_back("Allow", "POST");
  } else if (request.header("content-type").empty()) {
    page = page_of(problem_answer(415, "content_type_missing", "The content type is missing",
                                  "Send the header Content-Type, e.g. application/json."));
  } else if (!request.header("content-encoding").empty()) {
    page = page_of(problem_answer(415, "content_encoding_refused", "The body is encoded", "Send it as it is."));
  }
  if (page) count(door->tally.refused);
  return page;
}

Page IngressPost::refuse_large(const Request& request) {
  if (Door* const door = door_of(request)) count(door->tally.refused);
  return page_of(ingress::answer_of(ingress::Problem::body_too_large));
}

Page IngressPost::refuse_unread(unsigned status) {
  return page_of(status == 431
                     ? problem_answer(431, "header_too_large", "The header is too large", "Send at most 8 KiB of it.")
                     : problem_answer(status, "request_malformed", "The request is malformed", "It is no HTTP/1.1."));
}

void IngressPost::serve(Request request, Respond respond) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ && waiting_.size() < most_waiting) {
      waiting_.push_back({std::move(request), std::move(respond), Clock::now()});
      changed_.notify_one();
      return;
    }
  }
  if (Door* const door = door_of(request)) count(door->tally.failed);
  respond(busy("too_busy", "Too many requests at once"));
}

std::optional<IngressPost::Waiting> IngressPost::next(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, forgetting_pause, [this] { return !waiting_.empty(); });
  if (waiting_.empty()) {
    closed_ = stop.stop_requested();
    return std::nullopt;
  }
  Waiting first = std::move(waiting_.front());
  waiting_.pop_front();
  return first;
}

void IngressPost::run(std::stop_token stop) {
  for (;;) {
    if (auto waiting = next(stop)) {
      Page page = answer(*waiting);
      waiting->respond(std::move(page));
    } else if (closed_) {  // not by the token: one who came after next() has looked at it would never be answered
      return;
    }
    if (Clock::now() - forgotten_at_ >= forgetting_pause) forget_expired();
  }
}

Page IngressPost::answer(const Waiting& waiting) {
  Door& door = *door_of(waiting.request);
  if (Clock::now() - waiting.since > longest_wait_for_a_turn) {
    count(door.tally.failed);
    return busy("too_busy", "Too many requests at once");
  }
  try {
    IngressAnswer given = ask(door, waiting.request);
    tell(given.status == 503);
    return page_of(std::move(given));
  } catch (const Fault& fault) {  // of a store that could not be opened
    if (fault.poisons() == Poisons::process) throw;
    count(door.tally.failed);
    tell(true);
    return page_of(ingress::answer_of(ingress::Problem::store_unavailable, seconds(2)));
  }
}

IngressAnswer IngressPost::ask(Door& door, const Request& request) {
  const IngressOptions options{
      .lease = lease, .expiry = declaration_.expiry, .most_body_bytes = EmbeddedOptions::most_message_bytes};
  const std::string operation = fmt::format("POST {}", request.path);
  IngressRequest asked{.principal = door.writer->principal_of(request),
                       .operation = operation,
                       .key = request.header("idempotency-key"),
                       .body = request.body};
  const auto refused = [&](IngressAnswer why) {
    count(door.tally.refused);
    return why;
  };
  if (const auto problem = ingress::wrong_with(asked, options)) return refused(ingress::answer_of(*problem));
  const auto made = door.writer->write(request, asked.principal);
  if (const auto* const refusal = std::get_if<CommandRefusal>(&made)) {
    return refused(problem_answer(refusal->status, refusal->code, "The command is refused", refusal->detail));
  }
  const auto& message = std::get<CommandMessage>(made);
  asked.body = message.identity;
  return Ingress(store(), door.tally, options).serve(asked, [&](const IngressRequest&, Transaction& transaction) {
    if (records::is_conflict(transaction, store().dialect(), message.claim)) {
      IngressAnswer conflict =
          problem_answer(422, "command_conflict", "The consumer knows another such command",
                         "Another command with the same identity was carried out. Nothing was done.");
      conflict.keep = false;
      return conflict;
    }
    if (!door.sender) door.sender = std::make_unique<EmbeddedSender>(door.queue);
    const std::string_view bytes = message.bytes;
    door.sender->send({&bytes, 1});
    return IngressAnswer{.status = 202, .body = fmt::format(R"({{"messageId":"{}"}})", message.id)};
  });
}

Store& IngressPost::store() {
  if (!store_) store_ = open_store(application_.store, statement_bound);
  return *store_;
}

// One line when it begins and one when it is over.
void IngressPost::tell(bool away) {
  if (away == away_) return;
  away_ = away;
  away ? log_.write(LogLevel::warn, "requests are answered with 503: the store or a queue is away", {})
       : log_.write(LogLevel::info, "requests are carried out again", {});
}

void IngressPost::forget_expired() {
  forgotten_at_ = Clock::now();
  try {
    IngressTally uncounted;
    Ingress ingress(store(), uncounted);
    for (int step = 0; step < most_steps && ingress.forget_expired(rows_of_a_step) == rows_of_a_step; ++step) {
    }
  } catch (const Fault& fault) {
    if (fault.poisons() == Poisons::process) throw;  // else the next time
  }
}

std::map<std::string, const IngressTally*> IngressPost::tallies() const {
  std::map<std::string, const IngressTally*> all;
  for (const auto& [name, door] : doors_) all[name] = &door.tally;
  return all;
}

}  // namespace onceward::daemon
