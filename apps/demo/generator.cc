#include "apps/demo/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>

#include "apps/daemon/ports.h"
#include "apps/demo/broker.h"
#include "apps/demo/plan.h"
#include "apps/demo/shared_tally.h"
#include "onceward/adapter/embedded.h"

namespace onceward::demo {
namespace {

constexpr std::size_t at_once = 250;
// A broker is killed while there is still something to send.
constexpr std::uint64_t most_ahead = 1'000;
constexpr std::chrono::milliseconds pause_ahead{2};
constexpr std::chrono::minutes confirm_patience{2};

// Returns when the bytes are kept by the queue, as they are.
class Sender {
 public:
  virtual ~Sender() = default;
  virtual void send(std::span<const Request> requests) = 0;
};

class ToFile final : public Sender {
 public:
  explicit ToFile(const Run& run) : seed_(run.seed), sender_(EmbeddedOptions{.path = run.queue()}) {}
  void send(std::span<const Request> requests) override {
    std::vector<std::string> messages;
    for (const Request& request : requests) messages.push_back(bytes_of(seed_, request));
    const std::vector<std::string_view> views(messages.begin(), messages.end());
    sender_.send(views);
  }

 private:
  const std::uint64_t seed_;
  EmbeddedSender sender_;
};

// What the broker did not confirm is published again with the same bytes, however often.
class ToBroker final : public Sender {
 public:
  explicit ToBroker(const Run& run)
      : run_(run), target_(daemon::open_target(target_url(run))), tally_(run.file("tally")) {}
  void send(std::span<const Request> requests) override {
    while (!run_.naive && sent_ > tally_->received + most_ahead) std::this_thread::sleep_for(pause_ahead);
    std::vector<Publication> open;
    for (const Request& request : requests) open.push_back(publication(request));
    while (!open.empty()) open = unconfirmed_of(std::move(open));
    sent_ += requests.size();
  }

 private:
  // The bytes are the payload, and their content type says that they are an envelope; some are none.
  Publication publication(const Request& request) const {
    const std::string bytes = bytes_of(run_.seed, request), key = std::to_string(request.subject);
    EnvelopeFields fields;
    fields.content_type = "application/vnd.onceward.envelope+json";
    fields.partition_key = key;
    fields.payload = bytes;
    Publication made;
    made.envelope = Envelope::copy_of(fields);
    made.destination = target_.destination;
    made.key = target_.key_of(made.envelope);
    return made;
  }

  std::vector<Publication> unconfirmed_of(std::vector<Publication> publications) {
    std::vector<Receipt> receipts;
    try {
      receipts = publish_all(*target_.publisher, publications, confirm_patience);
    } catch (const Fault& fault) {
      if (!fault.transient()) throw;
      std::this_thread::sleep_for(pause_without_broker);
      return publications;
    }
    std::vector<Publication> open;
    for (std::size_t i = 0; i < receipts.size(); ++i) {
      if (receipts[i].kind == Receipt::Kind::refused) throw std::runtime_error(receipts[i].why);
      if (receipts[i].kind != Receipt::Kind::confirmed) open.push_back(std::move(publications[i]));
    }
    return open;
  }

  const Run& run_;
  daemon::Target target_;
  SharedTally tally_;
  std::uint64_t sent_ = 0;
};

std::unique_ptr<Sender> open_sender(const Run& run) {
  if (run.broker.empty()) return std::make_unique<ToFile>(run);
  return std::make_unique<ToBroker>(run);
}

void send(Sender& sender, std::ofstream& log, std::uint64_t seed, std::span<const Request> requests) {
  for (const Request& request : requests) log << log_line(seed, request) << '\n';
  if (!log.flush()) throw std::runtime_error("the log of what is published cannot be written");
  sender.send(requests);
  log << fmt::format(R"({{"confirmed":{}}})", requests.back().number) << '\n' << std::flush;
}

}  // namespace

void generate(const Run& run) {
  const Plan plan = make_plan(run.seed, run.messages);
  const auto sender = open_sender(run);
  std::ofstream log(run.file("published.ndjson"));
  const std::span<const Request> all(plan.requests);
  for (std::size_t at = 0; at < all.size(); at += at_once) {
    send(*sender, log, run.seed, all.subspan(at, std::min(at_once, all.size() - at)));
  }
}

}  // namespace onceward::demo
