// Shows messages of a queue or topic and gives them back.
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "apps/cli/command.h"
#include "apps/daemon/ports.h"
#include "src/common/base64.h"
#include "src/common/stored_text.h"
#include "src/declaration/duration.h"

namespace onceward::cli {
namespace {

using std::chrono::milliseconds;

struct TailChoice {
  std::string url;
  std::string output = "ndjson";
  std::uint16_t most = 10;
  milliseconds wait{5'000};
  std::optional<bool> from_end;
};

constexpr milliseconds longest_tail_wait{24 * 3'600'000};

const char* what_it_does_to(std::string_view url) {
  if (url.starts_with("kafka:"))
    return "the topic is read without a group: nothing is committed, no consumer is disturbed";
  if (url.starts_with("embedded:")) {
    return "messages are held while they are shown, and given back; their delivery count rises";
  }
  return "messages are held while they are shown, and given back to the queue; each is redelivered then, and on a quorum "
         "queue that counts towards its delivery limit";
}

nlohmann::ordered_json refused_message(const Delivery& delivery) {
  nlohmann::ordered_json shown{{"refused", code(delivery.refusal->reason)}, {"detail", delivery.refusal->detail}};
  const std::string_view payload = delivery.envelope.payload();
  const bool text = flaw_of(payload) == TextFlaw::none;
  shown[text ? "payload" : "payload_base64"] = text ? std::string(payload) : to_base64(payload);
  return shown;
}

// One line. Between the tokens of a payload that is JSON an end of line means nothing, and inside of them there is none.
std::string line_of(const Delivery& delivery) {
  if (delivery.refusal) {
    return refused_message(delivery).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  std::string line = write_json_envelope(delivery.envelope);
  for (char& c : line) c = c == '\n' || c == '\r' ? ' ' : c;
  return line;
}

nlohmann::ordered_json row_of(const Delivery& delivery) {
  const Envelope& envelope = delivery.envelope;
  const auto text_of = [](std::string_view text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  return {
      {"id", delivery.refusal ? nlohmann::ordered_json(code(delivery.refusal->reason))
                              : text_of(envelope.message_id().text())},
      {"producer", text_of(envelope.producer().text())},
      {"type", text_of(envelope.event_type().text())},
      {"bytes", envelope.payload().size()},
      {"deliveries", delivery.deliveries == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(delivery.deliveries)},
      {"partition", delivery.partition < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(delivery.partition)}};
}

void show_messages(const TailChoice& choice, const std::vector<Delivery>& deliveries, bool first) {
  std::string text;
  if (choice.output == "ndjson") {
    for (const Delivery& delivery : deliveries) text += line_of(delivery) + "\n";
  } else {
    std::vector<nlohmann::ordered_json> rows;
    for (const Delivery& delivery : deliveries) rows.push_back(row_of(delivery));
    text = table_of({"id", "producer", "type", "bytes", "deliveries", "partition"}, rows);
    if (!first) text.erase(0, text.find('\n') + 1);
  }
  fmt::print("{}", text);
  std::fflush(stdout);
}

std::unique_ptr<Source> open_to_tail(const TailChoice& choice) {
  try {
    return daemon::open_to_look(choice.url, {choice.most, choice.from_end});
  } catch (const std::invalid_argument& mistake) {
    throw CLI::ValidationError("queue", mistake.what());
  }
}

void tail(const TailChoice& choice) {
  const auto source = open_to_tail(choice);
  fmt::print(stderr, "onceward: {}\n", what_it_does_to(choice.url));
  std::vector<Delivery> deliveries;
  for (std::size_t held = 0; held < choice.most; held += deliveries.size()) {
    deliveries.clear();
    source->receive(deliveries, choice.most - held, choice.wait);
    if (deliveries.empty()) break;
    show_messages(choice, deliveries, held == 0);
  }
  // Closing gives all of it back. What is given back before comes here again at once, and counts twice.
}

void add_tail_options(CLI::App& command, TailChoice& choice) {
  command
      .add_option(
          "queue", choice.url,
          "embedded:PATH[?queue=NAME], rabbitmq://HOST/VHOST?queue=NAME or kafka://HOST/TOPIC; ${NAME} is taken "
          "from the environment")
      ->required();
  command.add_option("-n", choice.most, "Messages that are shown at most")
      ->check(CLI::Range(1, 65'535))
      ->capture_default_str();
  command.add_option_function<std::string>(
      "--wait",
      [&choice](const std::string& text) {
        const auto wait = declaration::read_duration(text);
        if (!wait || *wait > longest_tail_wait)
          throw CLI::ValidationError("--wait", "write 500ms, 5s, 2m, at most 24h");
        choice.wait = *wait;
      },
      "How long to wait for the next message: 500ms, 5s, 2m [5s]");
  command
      .add_option_function<std::string>(
          "--from", [&choice](const std::string& text) { choice.from_end = text == "latest"; },
          "Of a topic: its beginning, or what comes from now on")
      ->check(CLI::IsMember({"earliest", "latest"}));
  command.add_option("-o,--output", choice.output, "Our JSON envelope a line, or a table without payloads")
      ->check(CLI::IsMember({"ndjson", "table"}))
      ->capture_default_str();
}

}  // namespace

void add_tail(CLI::App& parent, Session&) {
  CLI::App* const command =
      add_command(parent, "tail", "Shows messages of a queue or topic as they come, and gives them back",
                  "onceward tail 'rabbitmq://user:${PASSWORD}@broker/shop?queue=orders' -n 3\n"
                  "         onceward tail kafka://broker:9092/orders --from latest --wait 1m");
  auto choice = std::make_shared<TailChoice>();
  add_tail_options(*command, *choice);
  command->callback([choice] { tail(*choice); });
}

}  // namespace onceward::cli
