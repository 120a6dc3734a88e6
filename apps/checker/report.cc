#include "apps/checker/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace checker {
namespace {

struct Colours {
  const char* good = "";
  const char* bad = "";
  const char* strong = "";
  const char* quiet = "";
  const char* end = "";
};

Colours colours() {
  const char* const refused = std::getenv("NO_COLOR");
  if (isatty(STDOUT_FILENO) == 0 || (refused && *refused)) return {};
  return {"\033[32m", "\033[1;31m", "\033[1m", "\033[2m", "\033[0m"};
}

}  // namespace

void print_table(const Proof& proof, bool naive) {
  const Colours in = colours();
  std::size_t name = 0, expected = 8, found = 8;
  for (const Line& line : proof.lines) {
    name = std::max(name, line.name.size());
    expected = std::max(expected, line.expected.size());
    found = std::max(found, line.found.size());
  }
  fmt::print("{}{:<{}}  {:>{}}  {:>{}}{}\n", in.strong, naive ? "DAMAGE" : "PROOF", name + 2, "expected", expected,
             "found", found, in.end);
  for (const Line& line : proof.lines) {
    fmt::print("  {:<{}}  {:>{}}  {:>{}}  {}{}{}", line.name, name, line.expected, expected, line.found, found,
               line.ok ? in.good : in.bad, line.ok ? "ok" : "WRONG", in.end);
    if (!line.ok && !line.examples.empty()) fmt::print("  {}e.g. {}{}", in.quiet, line.examples, in.end);
    fmt::print("\n");
  }
}

void print_json(const Proof& proof) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const Line& line : proof.lines) {
    lines.push_back({{"name", line.name},
                     {"expected", line.expected},
                     {"found", line.found},
                     {"ok", line.ok},
                     {"examples", line.examples}});
  }
  const nlohmann::ordered_json all{{"published", proof.published},
                                   {"distinct", proof.distinct},
                                   {"conflicts", proof.conflicts},
                                   {"poison", proof.poison},
                                   {"crashes", proof.crashes},
                                   {"effects", proof.effects},
                                   {"lost", proof.lost},
                                   {"double", proof.doubled},
                                   {"captures", proof.calls.captures},
                                   {"unknown", proof.calls.unknown},
                                   {"reconciled", proof.calls.reconciled},
                                   {"waiting", proof.calls.waiting},
                                   {"broker_restarts", proof.restarts},
                                   {"ok", proof.ok},
                                   {"lines", lines}};
  fmt::print("{}\n", all.dump(2));
}

}  // namespace checker
