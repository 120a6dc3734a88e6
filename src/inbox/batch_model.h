// What the tests of the algebra share: messages that collide with one another, a reference that takes them one at a
// time, and a store that takes them set-wise, as the real ones do.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "src/inbox/batch.h"

namespace onceward {

inline void PrintTo(const Answer& answer, std::ostream* out) {
  constexpr std::array<const char*, 4> verdicts{"first", "duplicate", "conflict", "held"};
  *out << verdicts.at(static_cast<std::size_t>(answer.verdict)) << (answer.by_operation ? " by operation" : "");
  if (answer.recorded) {
    *out << " state " << static_cast<int>(answer.recorded->state) << " code '" << answer.recorded->code << "' result '"
         << answer.recorded->result << "'";
    if (answer.recorded->original) *out << " original " << int{answer.recorded->original->bytes[15]};
  }
}

namespace model {

// A message drawn from very few keys, names and contents, so that everything collides with everything. The key is
// drawn apart from the readable identity: a collision of keys must be told from a repetition.
struct Spec {
  int key = 0;
  int readable = 0;
  int content = 0;
  int operation = -1;  // -1: none
  int operation_text = 0;
  int outcome = 0;
  friend bool operator==(const Spec&, const Spec&) = default;
};

inline std::ostream& operator<<(std::ostream& out, const Spec& spec) {
  return out << "{key " << spec.key << ", id " << spec.readable << ", content " << spec.content << ", operation "
             << spec.operation << "/" << spec.operation_text << ", outcome " << spec.outcome << "}";
}

inline Key key_of(int number, int kind) {
  Key key;
  key.bytes[0] = static_cast<unsigned char>(255 - number);  // so that key order is not the order of the numbers
  key.bytes[14] = static_cast<unsigned char>(kind);
  key.bytes[15] = static_cast<unsigned char>(number);
  return key;
}

inline PayloadHash hash_of(int content) {
  PayloadHash hash;
  hash.bytes[31] = static_cast<unsigned char>(content);  // the last byte: a compare that stops early is seen
  return hash;
}

// Four identities that differ in one part each.
struct Readable {
  std::string_view tenant, producer, id;
};
constexpr std::array<Readable, 4> readables{
    {{"", "shop", "1"}, {"", "shop", "2"}, {"", "till", "1"}, {"t", "shop", "1"}}};

inline Claimant claimant_of(const Spec& spec) {
  const Readable& readable = readables.at(static_cast<std::size_t>(spec.readable));
  Claimant claimant{.key = key_of(spec.key, 0),
                    .tenant = Tenant(readable.tenant),
                    .producer = Producer(readable.producer),
                    .id = IdText(readable.id),
                    .payload_hash = hash_of(spec.content),
                    .operation = std::nullopt};
  if (spec.operation >= 0) {
    claimant.operation = {key_of(spec.operation, 1),
                          IdText::owning("operation " + std::to_string(spec.operation_text))};
  }
  return claimant;
}

inline const std::vector<Recorded>& outcomes() {
  static const std::vector<Recorded> all{{State::processed, "", "", std::nullopt},
                                         {State::processed, "", "receipt 7", std::nullopt},
                                         {State::ignored, "not_ours", "", std::nullopt},
                                         {State::rejected, "too_late", "", std::nullopt},
                                         {State::retryable_failed, "soon", "", std::nullopt},
                                         {State::quarantined, "broken", "", std::nullopt}};
  return all;
}
inline const Recorded& outcome_of(const Spec& spec) { return outcomes().at(static_cast<std::size_t>(spec.outcome)); }

// What a database keeps between batches.
struct Tables {
  struct Inbox {
    int readable;
    int content;
    friend bool operator==(const Inbox&, const Inbox&) = default;
  };
  struct Operation {
    int text;
    int content;
    Key message;
    friend bool operator==(const Operation&, const Operation&) = default;
  };
  std::map<Key, Inbox> inbox;
  std::map<Key, Recorded> outcomes;  // only what is not plain done
  std::map<Key, Operation> operations;
  friend bool operator==(const Tables&, const Tables&) = default;

  Recorded recorded_of(const Key& message) const {
    const auto found = outcomes.find(message);
    return found == outcomes.end() ? Recorded{} : found->second;
  }
};

inline Answer answer_from(bool same, Recorded recorded, bool by_operation) {
  if (!same) return {Verdict::conflict, std::nullopt, by_operation};
  return {terminal(recorded.state) ? Verdict::duplicate : Verdict::held, recorded, by_operation};
}

// One message after the other, each seeing what the ones before it left behind.
class Reference {
 public:
  explicit Reference(Tables& tables) : tables_(tables) {}

  Answer take(const Spec& spec) {
    const Key key = key_of(spec.key, 0);
    const auto [row, is_new] = tables_.inbox.try_emplace(key, Tables::Inbox{spec.readable, spec.content});
    if (!is_new) return repeat(spec, key, row->second);
    if (spec.operation >= 0) {
      const auto [operation, operation_is_new] = tables_.operations.try_emplace(
          key_of(spec.operation, 1), Tables::Operation{spec.operation_text, spec.content, key});
      if (!operation_is_new) return lost_[key] = lose(spec, key, operation->second);
    }
    if (outcome_of(spec) != Recorded{}) tables_.outcomes[key] = outcome_of(spec);
    return {};
  }

 private:
  Answer repeat(const Spec& spec, const Key& key, const Tables::Inbox& row) const {
    const bool same = row == Tables::Inbox{spec.readable, spec.content};
    // A copy in the batch of a message that lost its operation just now is answered as that one was.
    if (const auto lost = lost_.find(key); same && lost != lost_.end()) return lost->second;
    return answer_from(same, tables_.recorded_of(key), false);
  }

  Answer lose(const Spec& spec, const Key& key, const Tables::Operation& operation) {
    const bool same = operation.text == spec.operation_text && operation.content == spec.content;
    Answer answer = answer_from(same, tables_.recorded_of(operation.message), true);
    if (answer.recorded) answer.recorded->original = operation.message;
    tables_.outcomes[key] = same ? Recorded{State::duplicate, "", "", operation.message}
                                 : Recorded{State::quarantined, "operation_conflict", "", std::nullopt};
    return answer;
  }

  Tables& tables_;
  std::map<Key, Answer> lost_;
};

// Holds what the batch borrows.
struct Claimants {
  explicit Claimants(const std::vector<Spec>& batch) : specs(batch) {
    for (const Spec& spec : specs) all.push_back(claimant_of(spec));
  }
  std::vector<Spec> specs;
  std::vector<Claimant> all;
};

inline bool strictly_rising(const std::vector<Key>& keys) {
  return std::adjacent_find(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return !(a < b); }) ==
         keys.end();
}

// What a store does with a batch, each step over the whole set. `by_key` is how PostgreSQL answers.
class SetWise {
 public:
  SetWise(Tables& tables, const Claimants& claimants, bool by_key)
      : tables_(tables), claimants_(claimants), by_key_(by_key), batch_(claimants.all) {}

  Batch& claim() {
    claim_identities();
    claim_operations();
    for (const Batch::Index index : batch_.to_look_up()) look_up(index);
    for (const Batch::Index index : batch_.operations_to_look_up()) look_up_operation(index);
    return batch_;
  }

  void write_outcomes() {
    for (Batch::Index index = 0; index < claimants_.all.size(); ++index) {
      if (batch_.first(index)) batch_.finish(index, outcome_of(claimants_.specs[index]));
    }
    for (const Batch::Record& record : batch_.records()) {
      const bool is_new = tables_.outcomes.emplace(claimants_.all[record.index].key, record.recorded).second;
      RC_ASSERT(is_new);
    }
  }

 private:
  void claim_identities() {
    std::vector<Key> offered;
    for (const Batch::Index index : batch_.to_claim()) {
      const Claimant& claimant = claimants_.all[index];
      offered.push_back(claimant.key);
      const Spec& spec = claimants_.specs[index];
      if (!tables_.inbox.try_emplace(claimant.key, Tables::Inbox{spec.readable, spec.content}).second) continue;
      if (by_key_) {
        RC_ASSERT(batch_.claimed(claimant.key));
      } else {
        batch_.claimed(index);
      }
    }
    RC_ASSERT(strictly_rising(offered));
    const auto distinct = std::set<Key>(offered.begin(), offered.end());
    for (const Claimant& claimant : claimants_.all) RC_ASSERT(distinct.contains(claimant.key));
    RC_ASSERT(!batch_.claimed(key_of(99, 0)));
  }

  void claim_operations() {
    std::vector<Key> offered;
    for (const Batch::Index index : batch_.operations_to_claim()) {
      const Spec& spec = claimants_.specs[index];
      const Key key = claimants_.all[index].operation->key;
      offered.push_back(key);
      const Tables::Operation row{spec.operation_text, spec.content, claimants_.all[index].key};
      if (!tables_.operations.try_emplace(key, row).second) continue;
      if (by_key_) {
        RC_ASSERT(batch_.operation_claimed(key));
      } else {
        batch_.operation_claimed(index);
      }
    }
    RC_ASSERT(strictly_rising(offered));
    RC_ASSERT(!batch_.operation_claimed(key_of(99, 1)));
  }

  void look_up(Batch::Index index) {
    const Key& key = claimants_.all[index].key;
    const Tables::Inbox& row = tables_.inbox.at(key);
    const Readable& readable = readables.at(static_cast<std::size_t>(row.readable));
    const KnownMessage known{readable.tenant, readable.producer, readable.id, hash_of(row.content),
                             tables_.recorded_of(key)};
    RC_ASSERT(!batch_.resolved());
    if (by_key_) {
      RC_ASSERT(batch_.known(key, known));
    } else {
      batch_.known(index, known);
    }
  }

  void look_up_operation(Batch::Index index) {
    const Key& key = claimants_.all[index].operation->key;
    const Tables::Operation& row = tables_.operations.at(key);
    const KnownOperation known{"operation " + std::to_string(row.text), row.message, hash_of(row.content),
                               tables_.recorded_of(row.message)};
    RC_ASSERT(!batch_.resolved());
    if (by_key_) {
      RC_ASSERT(batch_.known_operation(key, known));
    } else {
      batch_.known_operation(index, known);
    }
  }

  Tables& tables_;
  const Claimants& claimants_;
  bool by_key_;
  Batch batch_;
};

inline bool same_answer(const Answer& a, const Answer& b) {
  return a.verdict == b.verdict && a.recorded == b.recorded && a.by_operation == b.by_operation;
}

inline std::string describe(const Answer& answer) { return testing::PrintToString(answer); }

inline rc::Gen<Spec> any_spec() {
  return rc::gen::build<Spec>(
      rc::gen::set(&Spec::key, rc::gen::inRange(0, 9)),
      // Mostly one name a key, as it is with real keys; sometimes a collision.
      rc::gen::set(&Spec::readable, rc::gen::weightedOneOf<int>({{6, rc::gen::just(0)}, {2, rc::gen::inRange(0, 4)}})),
      rc::gen::set(&Spec::content, rc::gen::weightedOneOf<int>({{3, rc::gen::just(0)}, {1, rc::gen::just(1)}})),
      rc::gen::set(&Spec::operation, rc::gen::inRange(-2, 4)),
      rc::gen::set(&Spec::operation_text, rc::gen::weightedOneOf<int>({{4, rc::gen::just(0)}, {1, rc::gen::just(1)}})),
      rc::gen::set(&Spec::outcome, rc::gen::inRange(0, static_cast<int>(outcomes().size()))));
}

using Specs = std::vector<Spec>;

}  // namespace model
}  // namespace onceward
