#include "apps/demo/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <stdexcept>

#include "apps/demo/plan.h"
#include "onceward/adapter/embedded.h"

namespace onceward::demo {
namespace {

constexpr std::size_t at_once = 250;

void send(EmbeddedSender& sender, std::ofstream& log, std::uint64_t seed, std::span<const Request> requests) {
  std::vector<std::string> messages;
  for (const Request& request : requests) {
    messages.push_back(bytes_of(seed, request));
    log << log_line(seed, request) << '\n';
  }
  if (!log.flush()) throw std::runtime_error("the log of what is published cannot be written");
  const std::vector<std::string_view> views(messages.begin(), messages.end());
  sender.send(views);
  log << fmt::format(R"({{"confirmed":{}}})", requests.back().number) << '\n' << std::flush;
}

}  // namespace

void generate(const Run& run) {
  const Plan plan = make_plan(run.seed, run.messages);
  EmbeddedOptions options;
  options.path = run.queue();
  EmbeddedSender sender(options);
  std::ofstream log(run.file("published.ndjson"));
  const std::span<const Request> all(plan.requests);
  for (std::size_t at = 0; at < all.size(); at += at_once) {
    send(sender, log, run.seed, all.subspan(at, std::min(at_once, all.size() - at)));
  }
}

}  // namespace onceward::demo
