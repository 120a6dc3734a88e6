#include "apps/checker/calls.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace checker {
namespace {

std::int64_t charged(const Gateway& gateway) {
  std::int64_t sum = 0;
  for (const GatewayCapture& capture : gateway.captures) sum += capture.amount;
  return sum;
}

Tally captured_twice(const Gateway& gateway) {
  Tally twice;
  std::set<std::string> captures;
  for (const GatewayCapture& capture : gateway.captures) {
    if (!captures.insert(capture.capture).second) twice.add(capture.capture);
  }
  return twice;
}

// Nobody will look at it again by himself, and it says why.
bool waits_for_person(const Intent& intent) { return intent.state == "unknown" && !intent.due && !intent.code.empty(); }

// What the gateway was to be asked for; 0 where that cannot be read.
std::int64_t amount_of(const Intent& intent) {
  const auto body = nlohmann::json::parse(intent.body, nullptr, false);
  return body.is_object() ? body.value("amount", std::int64_t{0}) : 0;
}

bool asks_for(const Intent& intent, const GatewayCapture& capture) {
  const auto body = nlohmann::json::parse(intent.body, nullptr, false);
  return body.is_object() && body.value("captureRequestId", "") == capture.capture &&
         amount_of(intent) == capture.amount;
}

// Whether it was sent again while it may have been done: after an outcome that nobody knew, and before a look-up said that it was not.
bool sent_blindly(const std::vector<CallAttempt>& attempts) {
  bool doubt = false;
  for (const CallAttempt& attempt : attempts) {
    const bool call = attempt.kind == "call";
    if (call && doubt) return true;
    if (call) doubt = attempt.outcome == "unknown" || attempt.outcome.empty();
    if (attempt.outcome == "not_done") doubt = false;
  }
  return false;
}

class CallComparison {
 public:
  CallComparison(const Evidence& evidence, Lines& lines) : gateway_(evidence.gateway), lines_(lines) {
    for (const Intent& intent : evidence.ledger) intents_.emplace(intent.key, &intent);
    for (const GatewayCapture& capture : gateway_.captures) captures_.emplace(capture.key, &capture);
    for (const CallAttempt& attempt : evidence.attempts) attempts_[attempt.key].push_back(attempt);
  }

  CallCounts prove() {
    captures();
    losses();
    outcomes();
    requests();
    return unknowns();
  }

 private:
  void captures() {
    Tally wrong;
    std::set<std::string> right;
    for (const GatewayCapture& capture : gateway_.captures) {
      const auto intent = intents_.find(capture.key);
      const bool fits = intent != intents_.end() && asks_for(*intent->second, capture);
      if (!fits || !right.insert(capture.key).second) wrong.add(capture.key);
    }
    std::size_t expected = intents_.size();
    std::int64_t due = 0;
    for (const auto& [key, intent] : intents_) {
      const bool open = waits_for_person(*intent) && !captures_.contains(key);
      expected -= open ? 1 : 0;
      due += open ? 0 : amount_of(*intent);
    }
    lines_.all("captures at the gateway: one for each intent", expected, static_cast<std::int64_t>(right.size()),
               wrong);
    lines_.none("captured twice", captured_twice(gateway_));
    lines_.line("charged at the gateway", money(due), money(charged(gateway_)), due == charged(gateway_));
  }

  void losses() {
    Tally lost, unfinished;
    for (const auto& [key, intent] : intents_) {
      const bool open = intent->due || intent->state == "planned" || intent->state == "attempting";
      if (open) unfinished.add(key);
      if (!captures_.contains(key) && !waits_for_person(*intent)) lost.add(key);
    }
    lines_.none("captures lost", lost);
    lines_.none("calls unfinished", unfinished);
  }

  void outcomes() {
    Tally contradicted;
    for (const auto& [key, intent] : intents_) {
      const auto capture = captures_.find(key);
      const bool done = capture != captures_.end();
      const bool true_yes = intent->state == "succeeded" && done && capture->second->reference == intent->reference;
      const bool true_no = intent->state == "failed" && !done;
      const bool said = intent->state == "succeeded" || intent->state == "failed";
      if (said && !true_yes && !true_no) contradicted.add(key);
    }
    lines_.none("outcomes that the gateway contradicts", contradicted);
  }

  // What the gateway saw was written down before it was sent.
  void requests() {
    Tally unwritten, blind;
    for (const auto& [key, times] : gateway_.seen) {
      std::int64_t calls = 0;
      for (const CallAttempt& attempt : attempts_[key]) calls += attempt.kind == "call" ? 1 : 0;
      for (std::int64_t i = calls; i < times; ++i) unwritten.add(key);
    }
    for (const auto& [key, attempts] : attempts_) {
      if (sent_blindly(attempts)) blind.add(key);
    }
    lines_.none("requests without an attempt in the ledger", unwritten);
    lines_.none("sent again while it was unknown", blind);
  }

  CallCounts unknowns() {
    CallCounts counts{.captures = static_cast<std::int64_t>(gateway_.captures.size())};
    Tally neither;
    for (const auto& [key, intent] : intents_) {
      bool unknown = intent->state == "unknown";
      for (const CallAttempt& attempt : attempts_[key]) unknown = unknown || attempt.outcome == "unknown";
      if (!unknown) continue;
      ++counts.unknown;
      const bool known = intent->state == "succeeded" || intent->state == "failed";
      counts.reconciled += known ? 1 : 0;
      counts.waiting += waits_for_person(*intent) ? 1 : 0;
      if (!known && !waits_for_person(*intent)) neither.add(key);
    }
    lines_.count("unknown outcomes: resolved, or a person's with a reason", counts.unknown,
                 counts.reconciled + counts.waiting, neither.examples());
    return counts;
  }

  const Gateway& gateway_;
  Lines& lines_;
  std::map<std::string, const Intent*> intents_;           // by key
  std::map<std::string, const GatewayCapture*> captures_;  // by key; the first
  std::map<std::string, std::vector<CallAttempt>> attempts_;
};

}  // namespace

CallCounts prove_calls(const Evidence& evidence, Lines& lines) { return CallComparison(evidence, lines).prove(); }

CallCounts prove_charges(const Evidence& evidence, std::int64_t asked, Lines& lines) {
  const Gateway& gateway = evidence.gateway;
  lines.none("captured twice at the gateway", captured_twice(gateway));
  lines.line("charged at the gateway", money(asked), money(charged(gateway)), asked == charged(gateway));
  return {.captures = static_cast<std::int64_t>(gateway.captures.size())};
}

}  // namespace checker
