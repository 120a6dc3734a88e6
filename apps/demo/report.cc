#include "apps/demo/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "apps/demo/plan.h"

namespace onceward::demo {
namespace {

// 20000 as 20 000.
std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ' ';
    text += digits[i];
  }
  return text;
}

std::uint64_t share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : (100 * part + whole / 2) / whole;
}

std::int64_t count(const Plan& plan, Kind first, Kind last) {
  return std::ranges::count_if(plan.requests,
                               [&](const Request& request) { return request.kind >= first && request.kind <= last; });
}

const char* queue_of(const Run& run) {
  if (run.broker.empty()) return "an embedded queue";
  return run.broker == "kafka" ? "a Kafka of its own" : "a quorum queue on a RabbitMQ of its own";
}

}  // namespace

void print_beginning(const Run& run, const std::string& store) {
  fmt::print("PaymentCaptureRequested, seed {}: {} messages, {}, {},\n{} worker processes {}.\n\n", run.seed,
             grouped(static_cast<std::uint64_t>(run.messages)), queue_of(run), store, run.workers,
             run.naive ? "that take, call the gateway, write, commit and acknowledge, without Onceward"
                       : "of Onceward, and two dispatchers that call a payment gateway");
  std::fflush(stdout);
}

void print_what_was_done(const Run& run, const Supervised& supervised) {
  const Plan plan = make_plan(run.seed, run.messages);
  fmt::print(
      "What was done to it: {} workers were killed with SIGKILL and {} were ended by a message; of {} deliveries, out of\n"
      "order, {} % were duplicates; {} ids came again with another amount; {} messages were poison{}.\n"
      "The payment gateway was slow, lost requests and replies, failed after the work, and was killed with SIGKILL {} time(s){}.\n\n",
      supervised.killed, supervised.aborted, grouped(supervised.deliveries),
      share(supervised.duplicates, supervised.deliveries), count(plan, Kind::conflict, Kind::conflict),
      count(plan, Kind::not_json, Kind::kills),
      run.broker.empty()
          ? ""
          : fmt::format("; the broker was killed\nwith SIGKILL and started again {} time(s)", supervised.restarts),
      supervised.gateways_killed,
      run.naive ? "" : fmt::format(",\nand those who call it {} time(s)", supervised.dispatchers_killed));
}

void print_end(const Run& run, bool holds) {
  if (run.naive) {
    fmt::print(
        "\nThat is what at-least-once delivery does to a consumer that acknowledges last and remembers nothing.\n"
        "The same seed with Onceward: {} --seed {} --messages {}\n",
        run.broker.empty() ? "onceward demo" : "./run demo --broker " + run.broker, run.seed, run.messages);
  } else {
    fmt::print(
        "\n{}\n",
        holds
            ? "Every message had its effect once and was charged once, or is kept with its reason. Without Onceward: --naive"
            : "The proof FAILED.");
  }
}

void print_json(const Run& run, const Supervised& supervised, const nlohmann::json& proof) {
  nlohmann::ordered_json object{{"seed", run.seed},
                                {"published", proof.at("published")},
                                {"distinct", proof.at("distinct")},
                                {"deliveries", supervised.deliveries},
                                {"duplicates", supervised.duplicates},
                                {"conflicts", proof.at("conflicts")},
                                {"poison", proof.at("poison")},
                                {"crashes", proof.at("crashes")},
                                {"effects", proof.at("effects")},
                                {"lost", proof.at("lost")},
                                {"double", proof.at("double")},
                                {"captures", proof.at("captures")},
                                {"unknown", proof.at("unknown")},
                                {"reconciled", proof.at("reconciled")},
                                {"waiting", proof.at("waiting")},
                                {"ok", proof.at("ok").get<bool>() && supervised.trouble.empty()}};
  if (!run.broker.empty()) {
    object["broker"] = run.broker;
    object["broker_restarts"] = proof.at("broker_restarts");
  }
  fmt::print("{}\n", object.dump());
}

}  // namespace onceward::demo
