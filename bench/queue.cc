// `./run bench queue`: how fast our own queues take messages in and hand them out, to know that they are not what limits a
// demo or another bench.
//
// Timings that miss their bar are printed and forgiven, since machines are shared; a message that is lost or comes twice is
// exit code 1.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>

#include "bench/work/report.h"
#include "bench/work/workload.h"
#include "onceward/adapter/embedded.h"
#include "onceward/adapter/memory.h"

namespace onceward::bench {
namespace {

constexpr double embedded_bar = 100'000;

struct Options {
  std::string messages = "100k";
  std::size_t batch = 1000;
  std::size_t rounds = 5;
  std::string output = "table";
  std::string directory;
  bool json() const { return output == "json"; }
};

using Views = std::vector<std::string_view>;
using Rates = std::map<std::string, std::vector<double>>;  // messages a second, by name

std::vector<std::string> make_messages(std::size_t count) {
  std::vector<std::string> messages;
  for (const Message& message : make_workload({.deliveries = count, .repeats_percent = 0}).messages) {
    EnvelopeFields fields;
    fields.message_id = MessageId(message.id);
    fields.producer = Producer(producer_name);
    fields.event_type = EventType(outgoing_type);
    fields.content_type = "application/json";
    fields.payload = message.payload;
    messages.push_back(write_json_envelope(Envelope::copy_of(fields)));
  }
  return messages;
}

double rate(std::size_t count, const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return static_cast<double>(count) / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void in_batches(const Views& messages, std::size_t batch,
                const std::function<void(std::span<const std::string_view>)>& to) {
  for (std::size_t at = 0; at < messages.size(); at += batch) {
    to(std::span(messages).subspan(at, std::min(batch, messages.size() - at)));
  }
}

// Receives and settles until nothing is left. Throws unless each message came once.
void drain(Source& source, std::size_t count, std::size_t batch) {
  std::vector<Delivery> deliveries;
  std::vector<Settlement> settlements;
  std::size_t received = 0;
  while (received < count) {
    deliveries.clear();
    settlements.clear();
    source.receive(deliveries, batch, std::chrono::seconds(10));
    if (deliveries.empty()) break;
    for (const Delivery& delivery : deliveries) settlements.push_back({delivery.tag, Settle::accept});
    source.settle(settlements);
    received += deliveries.size();
  }
  deliveries.clear();
  source.receive(deliveries, batch, std::chrono::milliseconds(0));
  if (received != count || !deliveries.empty() || source.counters().settled != count) {
    throw std::runtime_error(fmt::format("{} messages were sent, {} received", count, received));
  }
}

void measure_embedded(const Options& options, const Views& messages, Rates& rates) {
  const auto file = std::filesystem::path(options.directory) / "bench.queue";
  const auto remove = [&] {
    for (const char* const suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
  };
  remove();
  {
    EmbeddedSender sender({.path = file});
    const auto source = open_embedded({.path = file});
    rates["embedded send"].push_back(
        rate(messages.size(), [&] { in_batches(messages, options.batch, [&](auto part) { sender.send(part); }); }));
    rates["embedded receive"].push_back(rate(messages.size(), [&] { drain(*source, messages.size(), options.batch); }));
  }
  remove();
}

void measure_memory(const Options& options, const Views& messages, Rates& rates) {
  MemoryQueue queue;
  const auto source = queue.open();
  rates["memory send"].push_back(
      rate(messages.size(), [&] { in_batches(messages, options.batch, [&](auto part) { queue.push(part); }); }));
  rates["memory receive"].push_back(rate(messages.size(), [&] { drain(*source, messages.size(), options.batch); }));
}

int run(const Options& options) {
  const std::vector<std::string> messages = make_messages(parse_count(options.messages));
  const Views views(messages.begin(), messages.end());
  if (!options.json()) {
    fmt::print(
        "{} messages of {} bytes; batches of {}; each embedded batch is durable (WAL, synchronous=FULL); medians of {} "
        "rounds\n",
        views.size(), views.front().size(), options.batch, options.rounds);
  }
  Progress progress;
  Rates rates;
  for (std::size_t round = 0; round < options.rounds; ++round) {
    progress.say(fmt::format("round {} of {}", round + 1, options.rounds));
    measure_embedded(options, views, rates);
    measure_memory(options, views, rates);
  }
  progress.say("");
  std::vector<Line> lines;
  std::vector<Bar> bars;
  for (const auto& [name, all] : rates) {
    const std::size_t space = name.find(' ');
    const double middle = median(all);
    lines.push_back({.store = name.substr(0, space),
                     .name = name.substr(space + 1),
                     .per_second = middle,
                     .ratio_to_floor = {},
                     .wal_bytes = {},
                     .statements = {},
                     .fsyncs = {},
                     .round_trips = {}});
    bars.push_back({fmt::format("{}: {}/s ({}/s or more)", name, short_number(middle), short_number(embedded_bar)),
                    middle >= embedded_bar});
  }
  options.json() ? print_json(lines) : print_table(lines);
  return print_bars(bars, options.json()) ? 0 : 1;
}

}  // namespace
}  // namespace onceward::bench

int main(int argc, char** argv) {
  onceward::bench::Options options;
  options.directory = std::filesystem::temp_directory_path();
  CLI::App app("How fast our own queues take messages in, and hand them out until they are settled.");
  app.add_option("-o,--output", options.output, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_option("--messages", options.messages, "Messages a round, like 100k")->capture_default_str();
  app.add_option("--batch", options.batch, "Messages a call")->check(CLI::Range(1, 100'000))->capture_default_str();
  app.add_option("--rounds", options.rounds, "How often")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--directory", options.directory, "Where the file is made; the disk that is measured");
  app.footer("Example: ./run bench queue --batch 100");
  CLI11_PARSE(app, argc, argv);
  try {
    return onceward::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench queue: {}\n", error.what());
    return 1;
  }
}
