#include "apps/checker/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

namespace checker {
namespace {

// What must become of each kind of message that cannot have an effect.
struct Poison {
  std::string_view kind;
  std::string_view reason;
  bool remembered = true;  // it had an identity, so the inbox knows it
  bool parked = true;      // else it is only recorded as rejected
};
constexpr std::array<Poison, 9> poisons{{
    {"not JSON", "malformed_json", false},
    {"no message id", "missing_message_id", false},
    {"unknown schema version", "unsupported_schema_version", false},
    {"no correlation id", "missing_correlation_id"},
    {"no capture request id", "missing_capture_request_id"},
    {"amount not positive", "amount_not_positive", true, false},
    {"handler throws", "unclassified"},
    {"SQL error", "constraint_violated"},
    {"kills its worker", "attempts_exhausted"},
}};
constexpr int state_rejected = 9;
constexpr std::int64_t neighbourhood = 64;  // messages on either side

const Poison* poison_named(std::string_view kind) {
  for (const Poison& poison : poisons) {
    if (poison.kind == kind) return &poison;
  }
  return nullptr;
}

bool same(const Capture& effect, const Message& message) {
  return effect.id == message.id && effect.capture == message.capture && effect.invoice == message.invoice &&
         effect.amount == message.amount && effect.currency == message.currency;
}

// Whether the payload of what leaves asks for that very capture.
bool asks_for(const std::string& payload, const Capture& effect) {
  const auto json = nlohmann::json::parse(payload, nullptr, false);
  return json.is_object() && json.value("captureRequestId", "") == effect.capture &&
         json.value("invoice", "") == effect.invoice && json.value("currency", "") == effect.currency &&
         json.contains("amount") && json.at("amount") == effect.amount;
}

class Comparison {
 public:
  Comparison(const Published& published, const Evidence& evidence, const Run& run)
      : published_(published),
        evidence_(evidence),
        naive_(run.naive || run.only_effects),
        only_effects_(run.only_effects),
        at_broker_(!run.broker.empty()),
        endpoint_(run.endpoint) {
    for (const Capture& capture : evidence.captures) effects_[capture.id].push_back(&capture);
    for (const Parked& parked : evidence.parked) parked_.emplace(parked.id, &parked);
    for (const Message& message : published.messages) enter(message);
    queued_.insert(evidence.queued.begin(), evidence.queued.end());
  }

  Proof prove() {
    proof_.published = static_cast<std::int64_t>(published_.messages.size());
    proof_.poison = static_cast<std::int64_t>(poison_.size());
    proof_.conflicts = static_cast<std::int64_t>(conflicts_.size());
    proof_.distinct = static_cast<std::int64_t>(good_.size()) + proof_.poison;
    proof_.effects = static_cast<std::int64_t>(evidence_.captures.size());
    proof_.crashes = evidence_.killed + evidence_.aborted;
    proof_.restarts = evidence_.restarts;
    lines_.count(at_broker_ ? "published and confirmed by the broker" : "published and confirmed by the queue",
                 proof_.published, published_.confirmed);
    messages();
    content();
    balance();
    if (!naive_) records();
    if (!only_effects_) calls();
    conflicts();
    if (!naive_) poison();
    ending();
    proof_.lines = lines_.take();
    proof_.ok = true;
    for (const Line& line : proof_.lines) proof_.ok = proof_.ok && line.ok;
    return std::move(proof_);
  }

 private:
  void enter(const Message& message) {
    if (const Poison* const kind = poison_named(message.kind)) {
      poison_.emplace_back(&message, kind);
      if (!message.id.empty()) poisonous_.insert(message.id);
    } else if (message.kind == "conflict") {
      conflicts_[message.id] = &message;
    } else {
      good_.emplace(message.id, &message);  // those that were sent again are the same
    }
  }

  // Every message that the queue took is an effect, or is kept where a person finds it, or is still in the queue.
  void messages() {
    Tally lost, doubled;
    for (const auto& [id, message] : good_) {
      if (!effects_.contains(id) && !parked_.contains(id) && !queued_.contains(id)) lost.add(id);
    }
    for (const auto& [message, kind] : poison_) {
      const bool somewhere = kept(*message, *kind) || effects_.contains(message->id) || queued_.contains(message->id);
      if (!somewhere) lost.add(name_of(*message));
    }
    for (const auto& [id, rows] : effects_) {
      for (std::size_t i = 1; i < rows.size() && !id.empty(); ++i) doubled.add(id);  // without an id nobody can tell
    }
    // Which ones a broker still holds it does not tell; at best they are those that are missing.
    proof_.lost = std::max<std::int64_t>(0, lost.count() - evidence_.left);
    proof_.doubled = doubled.count();
    lines_.count("distinct messages", proof_.distinct, proof_.distinct - proof_.lost);
    lines_.count("effects", static_cast<std::int64_t>(good_.size()), proof_.effects);
    lines_.count("lost", 0, proof_.lost, lost.examples());
    lines_.none("double", doubled);
  }

  void content() {
    Tally wrong;
    for (const Capture& effect : evidence_.captures) {
      if (version_of(effect) == nullptr) wrong.add(effect.id);
    }
    lines_.none("wrong content", wrong);
  }

  // The message whose content the effect has; nothing if it was never published, or must not have an effect.
  const Message* version_of(const Capture& effect) const {
    const auto good = good_.find(effect.id);
    if (good == good_.end()) return nullptr;
    if (same(effect, *good->second)) return good->second;
    const auto conflict = conflicts_.find(effect.id);
    return conflict != conflicts_.end() && same(effect, *conflict->second) ? conflict->second : nullptr;
  }

  // Of two messages with one id the one that came first counts; deliveries are reordered, so the effect tells which.
  const Message& counted(const std::string& id, const Message& original) const {
    const auto effect = effects_.find(id);
    const Message* const version = effect == effects_.end() ? nullptr : version_of(*effect->second.front());
    return version ? *version : original;
  }

  std::int64_t asked_for() const {
    std::int64_t asked = 0;
    for (const auto& [id, message] : good_) asked += counted(id, *message).amount;
    return asked;
  }

  void balance() {
    const std::int64_t asked = asked_for();
    std::int64_t captured = 0;
    for (const Capture& effect : evidence_.captures) captured += effect.amount;
    lines_.line("balance, by what was published", money(asked), money(evidence_.balance), asked == evidence_.balance);
    lines_.line("balance, by the sum of captures", money(captured), money(evidence_.balance),
                captured == evidence_.balance);
  }

  void records() {
    std::size_t known = good_.size();
    for (const auto& [message, kind] : poison_) known += kind->remembered ? 1 : 0;
    Tally unknown;
    std::set<std::string> seen;
    for (const std::string& id : evidence_.inbox) {
      if ((!good_.contains(id) && !poisonous_.contains(id)) || !seen.insert(id).second) unknown.add(id);
    }
    lines_.all("inbox rows: effects and known outcomes", known, static_cast<std::int64_t>(seen.size()), unknown);
    std::set<std::string> caused;
    Tally wrong;
    for (const Outgoing& row : evidence_.outbox) {
      const Capture* const effect = effect_of(row.cause);
      const bool right = effect && row.type == "payment.capturing" && row.key == effect->invoice &&
                         asks_for(row.payload, *effect) && caused.insert(row.cause).second;
      if (!right) wrong.add(row.cause);
    }
    lines_.all("outbox rows: one for each effect", good_.size(), static_cast<std::int64_t>(caused.size()), wrong);
    intents();
  }

  void intents() {
    std::map<std::string, const Capture*> by_key;
    for (const auto& [id, rows] : effects_) by_key.emplace(rows.front()->capture, rows.front());
    std::set<std::string> right;
    Tally wrong;
    for (const Intent& intent : evidence_.ledger) {
      const auto effect = by_key.find(intent.key);
      const bool fits = effect != by_key.end() && intent.endpoint == endpoint_ &&
                        asks_for(intent.body, *effect->second) && right.insert(intent.key).second;
      if (!fits) wrong.add(intent.key);
    }
    lines_.all("ledger intents: one for each effect", good_.size(), static_cast<std::int64_t>(right.size()), wrong);
  }

  void calls() {
    proof_.calls = naive_ ? prove_charges(evidence_, asked_for(), lines_) : prove_calls(evidence_, lines_);
  }

  void conflicts() {
    Tally both, missing;
    std::int64_t kept = 0;
    for (const auto& [id, other] : conflicts_) {
      const auto rows = effects_.find(id);
      std::set<const Message*> applied;
      if (rows != effects_.end()) {
        for (const Capture* row : rows->second) applied.insert(version_of(*row));
      }
      if (applied.size() > 1) both.add(id);
      // The version that was not applied must be the one that is kept.
      const Message& refused = applied.contains(other) ? *good_.at(id) : *other;
      parks(id, "conflict", refused) ? void(++kept) : missing.add(id);
    }
    if (!naive_) lines_.count("conflicts parked", proof_.conflicts, kept, missing.examples());
    lines_.none("conflicts applied", both);
  }

  bool parks(const std::string& id, std::string_view reason, const Message& message) {
    const Capture content{id, message.capture, message.invoice, message.currency, message.amount};
    const auto [begin, end] = parked_.equal_range(id);
    for (auto row = begin; row != end; ++row) {
      if (row->second->reason == reason && asks_for(row->second->payload, content)) {
        explained_.insert(row->second);
        return true;
      }
    }
    return false;
  }

  void poison() {
    for (const Poison& kind : poisons) {
      std::int64_t expected = 0, right = 0;
      Tally missing;
      for (const auto& [message, its] : poison_) {
        if (its != &kind) continue;
        ++expected;
        kept(*message, kind) ? void(++right) : missing.add(name_of(*message));
      }
      const char* const where = kind.parked ? "parked" : "recorded";
      lines_.count(fmt::format("{}: {} ({})", where, kind.kind, kind.reason), expected, right, missing.examples());
    }
    neighbours();
    Tally stray, unfinished;
    for (const Parked& row : evidence_.parked) {
      if (!explained_.contains(&row)) stray.add(fmt::format("{} ({})", row.id, row.reason));
    }
    for (const Outcome& outcome : evidence_.outcomes) {
      const bool waits = outcome.state == 1 || outcome.state == 2 || outcome.state == 5 || outcome.state == 10;
      if (waits) unfinished.add(outcome.id);
    }
    lines_.none("parked without a cause", stray);
    lines_.none("unfinished", unfinished);
  }

  // Whether the poisonous message is where it belongs, with its reason.
  bool kept(const Message& message, const Poison& kind) {
    if (naive_) return false;
    if (!kind.parked) {
      for (const Outcome& outcome : evidence_.outcomes) {
        if (outcome.id == message.id && outcome.state == state_rejected && outcome.code == kind.reason) return true;
      }
      return false;
    }
    const auto [begin, end] = parked_.equal_range(message.id);
    for (auto row = begin; row != end; ++row) {
      const bool its = row->second->reason == kind.reason && row->second->payload == message.payload;
      if (!its || claimed_by_other(*row->second, message)) continue;
      explained_.insert(row->second);
      return true;
    }
    return false;
  }

  // One row explains one message.
  bool claimed_by_other(const Parked& row, const Message& message) {
    const auto [owner, inserted] = owners_.emplace(&row, &message);
    return owner->second != &message;
  }

  void neighbours() {
    std::set<std::string> near;
    for (const auto& [killer, kind] : poison_) {
      if (kind->kind != "kills its worker") continue;
      for (const Message& message : published_.messages) {
        const bool innocent = good_.contains(message.id) && !poison_named(message.kind);
        if (innocent && std::abs(message.number - killer->number) <= neighbourhood) near.insert(message.id);
      }
    }
    std::int64_t unharmed = 0;
    Tally harmed;
    for (const std::string& id : near) {
      const auto [begin, end] = parked_.equal_range(id);
      bool parked = false;
      for (auto row = begin; row != end; ++row) parked = parked || row->second->reason != "conflict";
      effects_.contains(id) && !parked ? void(++unharmed) : harmed.add(id);
    }
    lines_.count("innocent neighbours of the killer", static_cast<std::int64_t>(near.size()), unharmed,
                 harmed.examples());
  }

  void ending() {
    Tally left;
    for (const std::string& id : evidence_.queued) left.add(id);
    lines_.count("left in the queue", 0, left.count() + evidence_.left, left.examples());
    if (only_effects_) return;
    if (at_broker_) lines_.some("broker killed and restarted", evidence_.restarts);
    lines_.some("workers killed with SIGKILL", evidence_.killed);
    lines_.some("workers ended by a message", evidence_.aborted);
    lines_.some("gateway killed with SIGKILL", evidence_.gateways_killed);
    if (!naive_) lines_.some("dispatchers killed with SIGKILL", evidence_.dispatchers_killed);
    Tally failed;
    for (const std::string& how : evidence_.failed) failed.add(how);
    lines_.none("processes ended by themselves", failed);
  }

  const Capture* effect_of(const std::string& id) const {
    const auto found = effects_.find(id);
    return found == effects_.end() ? nullptr : found->second.front();
  }
  static std::string name_of(const Message& message) {
    return message.id.empty() ? fmt::format("number {}", message.number) : message.id;
  }

  const Published& published_;
  const Evidence& evidence_;
  const bool naive_;  // no record of Onceward's is looked at
  const bool only_effects_, at_broker_;
  const std::string endpoint_;
  Proof proof_;
  Lines lines_;
  std::map<std::string, std::vector<const Capture*>> effects_;
  std::multimap<std::string, const Parked*> parked_;
  std::map<std::string, const Message*> good_;       // by id; the first version
  std::map<std::string, const Message*> conflicts_;  // by id; the other version
  std::vector<std::pair<const Message*, const Poison*>> poison_;
  std::set<std::string> poisonous_, queued_;
  std::set<const Parked*> explained_;
  std::map<const Parked*, const Message*> owners_;
};

}  // namespace

Proof prove(const Published& published, const Evidence& evidence, const Run& run) {
  return Comparison(published, evidence, run).prove();
}

}  // namespace checker
