// Publishes messages, one for each line, and counts what the broker has confirmed.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "apps/cli/command.h"
#include "apps/cli/lines.h"
#include "apps/cli/stores.h"
#include "apps/cli/terminal.h"
#include "apps/daemon/ports.h"

namespace onceward::cli {
namespace {

struct SendChoice {
  std::string url;
  std::string file = "-";
  bool skip_bad = false;
};

// What is sent together, and held in memory meanwhile.
constexpr std::size_t most_messages = 1000;
constexpr std::size_t most_bytes = 8u << 20;
constexpr int most_mistakes_shown = 20;
constexpr std::chrono::minutes confirm_patience{10};  // a publisher's own deadline is shorter

class Sending {
 public:
  Sending(daemon::Target& target, bool skip_bad) : target_(target), skip_bad_(skip_bad) {}

  void take(const Lines::Line& line) {
    if (!line.too_long && line.text.find_first_not_of(" \t") == std::string::npos) return;
    if (line.too_long) {
      refuse(line.number, "is longer than 16 MiB");
    } else {
      read(line);
    }
    if (batch_.size() >= most_messages || bytes_ >= most_bytes) flush();
  }

  // Nothing of a batch with a mistake is sent, nor of those after it: the rest is only read, to show every mistake at once.
  void flush() {
    if (bad_in_batch_ && !skip_bad_) stopped_ = true;
    if (!stopped_ && !batch_.empty()) publish();
    batch_.clear();
    lines_.clear();
    bytes_ = 0;
    bad_in_batch_ = false;
  }

  std::int64_t sent() const { return sent_; }
  std::int64_t refused() const { return refused_; }
  std::int64_t unconfirmed() const { return unconfirmed_; }
  bool refused_by_broker() const { return refused_by_broker_; }
  bool stopped() const { return stopped_; }
  std::int64_t first_unconfirmed() const { return first_unconfirmed_; }
  const std::string& why_unconfirmed() const { return why_unconfirmed_; }

 private:
  // As whoever receives it will read it.
  void read(const Lines::Line& line) {
    ReadEnvelope read = read_envelope(Bytes::copy_of(line.text));
    if (const auto* const refusal = std::get_if<Refusal>(&read)) {
      return refuse(line.number,
                    fmt::format("{}{}{}", code(refusal->reason), refusal->detail.empty() ? "" : ": ", refusal->detail));
    }
    bytes_ += line.text.size();
    Publication& added = batch_.emplace_back();
    added.envelope = std::get<Envelope>(std::move(read));
    added.destination = target_.destination;
    added.key = target_.key_of(added.envelope);
    lines_.push_back(line.number);
  }

  void refuse(std::int64_t line, const std::string& why) {
    bad_in_batch_ = true;
    show(line, why);
  }

  void show(std::int64_t line, const std::string& why) {
    if (++refused_ <= most_mistakes_shown) fmt::print(stderr, "line {}: {}\n", line, why);
  }

  void publish() {
    std::vector<Receipt> receipts;
    try {
      receipts = publish_all(*target_.publisher, batch_, confirm_patience);
    } catch (const Fault& fault) {
      receipts.resize(batch_.size(), {.tag = 0, .kind = Receipt::Kind::put_off, .why = fault.what()});
    }
    for (std::size_t i = 0; i < receipts.size(); ++i) count(receipts[i], lines_[i]);
    if (unconfirmed_ > 0 || (refused_by_broker_ && !skip_bad_)) stopped_ = true;
  }

  void count(const Receipt& receipt, std::int64_t line) {
    switch (receipt.kind) {
      case Receipt::Kind::confirmed:
        ++sent_;
        break;
      case Receipt::Kind::refused:
        refused_by_broker_ = true;
        show(line, receipt.why);
        break;
      case Receipt::Kind::put_off:
      case Receipt::Kind::in_doubt:
        if (unconfirmed_++ > 0) break;
        why_unconfirmed_ = receipt.why;
        first_unconfirmed_ = line;
        break;
    }
  }

  daemon::Target& target_;
  const bool skip_bad_;
  std::vector<Publication> batch_;
  std::vector<std::int64_t> lines_;  // where each of the batch stands
  std::size_t bytes_ = 0;
  bool bad_in_batch_ = false;
  bool stopped_ = false;
  bool refused_by_broker_ = false;
  std::int64_t sent_ = 0;
  std::int64_t refused_ = 0;
  std::int64_t unconfirmed_ = 0;
  std::int64_t first_unconfirmed_ = 0;
  std::string why_unconfirmed_;
};

std::int64_t size_of(const std::string& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

daemon::Target open_place_to_send(const std::string& url) {
  try {
    return daemon::open_target(url);
  } catch (const std::invalid_argument& mistake) {
    throw CLI::ValidationError("queue", mistake.what());
  }
}

void tell_how_it_ended(Session& session, const Sending& sending) {
  if (sending.unconfirmed() > 0) {
    fmt::print(stderr,
               "onceward: {} message(s) were not confirmed, the first of them in line {}, and nothing behind them was "
               "sent: {}; send all of it again, duplicates are harmless\n",
               sending.unconfirmed(), sending.first_unconfirmed(), sending.why_unconfirmed());
    session.ending = Exit::unavailable;
  } else if (sending.stopped()) {
    fmt::print(stderr,
               "onceward: stopped at a batch with mistakes; mend them and send the whole file again, duplicates are "
               "harmless, or pass --skip-bad\n");
    session.ending = Exit::error;
  } else if (sending.refused_by_broker()) {
    session.ending = Exit::error;
  }
}

void send_lines(Session& session, const SendChoice& choice) {
  std::ifstream file;
  if (choice.file != "-") file = open_file(choice.file);
  daemon::Target target = open_place_to_send(choice.url);
  Sending sending(target, choice.skip_bad);
  Lines lines(choice.file == "-" ? std::cin : file, EnvelopeLimits().message_bytes);
  {
    ProgressBar bar("messages", choice.file == "-" ? 0 : size_of(choice.file));
    // Whoever writes to us is to see an outage by our end, and not to write to nobody.
    while (auto line = sending.unconfirmed() > 0 ? std::nullopt : lines.next()) {
      sending.take(*line);
      bar.show(lines.bytes_read(), sending.sent());
    }
    sending.flush();
  }
  if (sending.refused() > most_mistakes_shown) {
    fmt::print(stderr, "... and {} more line(s)\n", sending.refused() - most_mistakes_shown);
  }
  print_rows(session, {"sent", "refused", "unconfirmed"},
             {{{"sent", sending.sent()}, {"refused", sending.refused()}, {"unconfirmed", sending.unconfirmed()}}});
  tell_how_it_ended(session, sending);
}

}  // namespace

void add_send(CLI::App& parent, Session& session) {
  CLI::App* const command =
      add_command(parent, "send", "Publishes messages, one JSON envelope or CloudEvent a line, and waits for confirms",
                  "onceward send embedded:queue.db messages.ndjson\n"
                  "         onceward send 'rabbitmq://user:${PASSWORD}@broker/shop?queue=orders' messages.ndjson\n"
                  "         onceward send 'rabbitmqs://broker/shop?exchange=events&routing_key=order' messages.ndjson\n"
                  "         onceward send kafka://broker:9092/orders messages.ndjson");
  auto choice = std::make_shared<SendChoice>();
  command
      ->add_option("queue", choice->url,
                   "embedded:PATH[?queue=NAME], rabbitmq://HOST/VHOST?queue=NAME or ?exchange=NAME&routing_key=KEY, "
                   "kafka://HOST/TOPIC; ${NAME} is taken from the environment")
      ->required();
  command->add_option("file", choice->file, "A file of lines; - is standard input")->capture_default_str();
  command->add_flag("--skip-bad", choice->skip_bad,
                    "Leaves out lines that are no message or that the broker refuses, and sends the rest");
  add_output_option(*command, session);
  command->callback([&session, choice] { send_lines(session, *choice); });
}

}  // namespace onceward::cli
