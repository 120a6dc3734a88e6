// Puts messages into the embedded queue, one for each line.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iostream>

#include "apps/cli/command.h"
#include "apps/cli/lines.h"
#include "apps/cli/terminal.h"
#include "onceward/adapter/embedded.h"

namespace onceward::cli {
namespace {

struct SendChoice {
  std::string url;
  std::string file = "-";
  bool skip_bad = false;
};

// What is sent together: durable with one write, and held in memory meanwhile.
constexpr std::size_t most_messages = 1000;
constexpr std::size_t most_bytes = 8u << 20;
constexpr int most_mistakes_shown = 20;

class Sending {
 public:
  Sending(EmbeddedSender& sender, bool skip_bad) : sender_(sender), skip_bad_(skip_bad) {}

  void take(Lines::Line line) {
    if (!line.too_long && line.text.find_first_not_of(" \t") == std::string::npos) return;
    const std::string why = line.too_long ? "is longer than 16 MiB" : wrong_with(line.text);
    if (!why.empty()) {
      ++refused_;
      bad_in_batch_ = true;
      if (refused_ <= most_mistakes_shown) fmt::print(stderr, "line {}: {}\n", line.number, why);
    } else {
      bytes_ += line.text.size();
      batch_.push_back(std::move(line.text));
    }
    if (batch_.size() >= most_messages || bytes_ >= most_bytes) flush();
  }

  // Nothing of a batch with a mistake is sent, nor of those after it: the rest is only read, to show every mistake at once.
  void flush() {
    if (bad_in_batch_ && !skip_bad_) stopped_ = true;
    if (!stopped_ && !batch_.empty()) {
      const std::vector<std::string_view> messages(batch_.begin(), batch_.end());
      sender_.send(messages);
      sent_ += static_cast<std::int64_t>(batch_.size());
    }
    batch_.clear();
    bytes_ = 0;
    bad_in_batch_ = false;
  }

  std::int64_t sent() const { return sent_; }
  std::int64_t refused() const { return refused_; }
  bool stopped() const { return stopped_; }

 private:
  // As whoever receives it will read it.
  static std::string wrong_with(const std::string& text) {
    const ReadEnvelope read = read_envelope(Bytes::copy_of(text));
    const auto* refusal = std::get_if<Refusal>(&read);
    return refusal ? fmt::format("{}{}{}", code(refusal->reason), refusal->detail.empty() ? "" : ": ", refusal->detail)
                   : std::string();
  }

  EmbeddedSender& sender_;
  const bool skip_bad_;
  std::vector<std::string> batch_;
  std::size_t bytes_ = 0;
  bool bad_in_batch_ = false;
  bool stopped_ = false;
  std::int64_t sent_ = 0;
  std::int64_t refused_ = 0;
};

std::int64_t size_of(const std::string& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

void send_lines(Session& session, const SendChoice& choice) {
  if (!choice.url.starts_with("embedded:")) {
    throw CLI::ValidationError("queue", "this build sends to embedded:PATH only; to a broker, use its own tools");
  }
  std::ifstream file;
  if (choice.file != "-") file.open(choice.file, std::ios::binary);
  if (!file) throw CLI::ValidationError(choice.file, "cannot be read");
  EmbeddedSender sender(read_embedded_url(choice.url));
  Sending sending(sender, choice.skip_bad);
  Lines lines(choice.file == "-" ? std::cin : file, EnvelopeLimits().message_bytes);
  {
    ProgressBar bar("messages", choice.file == "-" ? 0 : size_of(choice.file));
    while (auto line = lines.next()) {
      sending.take(std::move(*line));
      bar.show(lines.bytes_read(), sending.sent());
    }
    sending.flush();
  }
  if (sending.refused() > most_mistakes_shown) {
    fmt::print(stderr, "... and {} more line(s)\n", sending.refused() - most_mistakes_shown);
  }
  print_rows(session, {"sent", "refused"}, {{{"sent", sending.sent()}, {"refused", sending.refused()}}});
  if (!sending.stopped()) return;
  fmt::print(stderr,
             "onceward: stopped at a batch with mistakes; mend them and send the whole file again, duplicates are "
             "harmless, or pass --skip-bad\n");
  session.ending = Exit::error;
}

}  // namespace

void add_send(CLI::App& parent, Session& session) {
  CLI::App* const command =
      add_command(parent, "send", "Puts messages into an embedded queue, one JSON envelope or CloudEvent a line",
                  "onceward send embedded:queue.db messages.ndjson");
  auto choice = std::make_shared<SendChoice>();
  command->add_option("queue", choice->url, "embedded:PATH[?queue=NAME]")->required();
  command->add_option("file", choice->file, "A file of lines; - is standard input")->capture_default_str();
  command->add_flag("--skip-bad", choice->skip_bad, "Leaves out lines that are no message, and sends the rest");
  add_output_option(*command, session);
  command->callback([&session, choice] { send_lines(session, *choice); });
}

}  // namespace onceward::cli
