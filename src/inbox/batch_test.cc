// The algebra of a batch against a reference that takes one message at a time, then under every ending that a
// transaction can have.
#include "src/inbox/batch.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <set>

namespace onceward {

void PrintTo(const Answer& answer, std::ostream* out) {
  constexpr std::array<const char*, 4> verdicts{"first", "duplicate", "conflict", "held"};
  *out << verdicts.at(static_cast<std::size_t>(answer.verdict)) << (answer.by_operation ? " by operation" : "");
  if (answer.recorded) {
    *out << " state " << static_cast<int>(answer.recorded->state) << " code '" << answer.recorded->code << "' result '"
         << answer.recorded->result << "'";
    if (answer.recorded->original) *out << " original " << int{answer.recorded->original->bytes[15]};
  }
}

namespace {

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

std::ostream& operator<<(std::ostream& out, const Spec& spec) {
  return out << "{key " << spec.key << ", id " << spec.readable << ", content " << spec.content << ", operation "
             << spec.operation << "/" << spec.operation_text << ", outcome " << spec.outcome << "}";
}

Key key_of(int number, int kind) {
  Key key;
  key.bytes[0] = static_cast<unsigned char>(255 - number);  // so that key order is not the order of the numbers
  key.bytes[14] = static_cast<unsigned char>(kind);
  key.bytes[15] = static_cast<unsigned char>(number);
  return key;
}

PayloadHash hash_of(int content) {
  PayloadHash hash;
  hash.bytes[31] = static_cast<unsigned char>(content);  // the last byte: a compare that stops early is seen
  return hash;
}

// Four identities that differ in one part each.
struct Readable {
  std::string_view tenant, producer, id;
};
constexpr std::array<Readable, 4> readables{{{"", "shop", "1"}, {"", "shop", "2"}, {"", "till", "1"}, {"t", "shop", "1"}}};

Claimant claimant_of(const Spec& spec) {
  const Readable& readable = readables.at(static_cast<std::size_t>(spec.readable));
  Claimant claimant{.key = key_of(spec.key, 0),
                    .tenant = Tenant(readable.tenant),
                    .producer = Producer(readable.producer),
                    .id = std::string(readable.id),
                    .payload_hash = hash_of(spec.content),
                    .operation = std::nullopt};
  if (spec.operation >= 0) {
    claimant.operation = {key_of(spec.operation, 1), "operation " + std::to_string(spec.operation_text)};
  }
  return claimant;
}

const std::vector<Recorded>& outcomes() {
  static const std::vector<Recorded> all{
      {State::processed, "", "", std::nullopt},          {State::processed, "", "receipt 7", std::nullopt},
      {State::ignored, "not_ours", "", std::nullopt},    {State::rejected, "too_late", "", std::nullopt},
      {State::retryable_failed, "soon", "", std::nullopt}, {State::quarantined, "broken", "", std::nullopt}};
  return all;
}
const Recorded& outcome_of(const Spec& spec) { return outcomes().at(static_cast<std::size_t>(spec.outcome)); }

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

Answer answer_from(bool same, Recorded recorded, bool by_operation) {
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

bool strictly_rising(const std::vector<Key>& keys) {
  return std::adjacent_find(keys.begin(), keys.end(), [](const Key& a, const Key& b) { return !(a < b); }) == keys.end();
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

bool same_answer(const Answer& a, const Answer& b) {
  return a.verdict == b.verdict && a.recorded == b.recorded && a.by_operation == b.by_operation;
}

std::string describe(const Answer& answer) { return testing::PrintToString(answer); }

rc::Gen<Spec> any_spec() {
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

RC_GTEST_PROP(Batch, AnswersAndRecordsWhatOneMessageAtATimeWould, (bool by_key)) {
  const auto batches = *rc::gen::container<std::vector<Specs>>(rc::gen::container<Specs>(any_spec()));
  Tables one_by_one;
  Tables set_wise;
  for (const Specs& specs : batches) {
    Reference reference(one_by_one);
    std::vector<Answer> expected;
    for (const Spec& spec : specs) expected.push_back(reference.take(spec));

    const Claimants claimants(specs);
    SetWise store(set_wise, claimants, by_key);
    Batch& batch = store.claim();
    store.write_outcomes();
    RC_ASSERT(batch.resolved());
    const std::vector<Answer> answers = batch.answers();
    RC_ASSERT(answers.size() == expected.size());
    for (std::size_t index = 0; index < answers.size(); ++index) {
      RC_LOG() << index << " " << specs[index] << ": expected " << describe(expected[index]) << ", answered "
               << describe(answers[index]) << "\n";
      RC_ASSERT(same_answer(answers[index], expected[index]));
      RC_ASSERT(batch.first(static_cast<Batch::Index>(index)) == (expected[index].verdict == Verdict::first));
    }
    RC_ASSERT(set_wise == one_by_one);
  }
}

// Where a batch is cut is chance. It may decide who of several is first, and nothing else.
RC_GTEST_PROP(Batch, WhereItIsCutDoesNotChangeTheTables, ()) {
  const auto specs = *rc::gen::container<Specs>(any_spec());
  const auto cut = *rc::gen::inRange<std::size_t>(0, specs.size() + 1);
  const auto apply = [](Tables& tables, Specs part) {
    const Claimants claimants(part);
    SetWise store(tables, claimants, true);
    store.claim();
    store.write_outcomes();
  };
  Tables whole;
  apply(whole, specs);
  Tables parts;
  apply(parts, Specs(specs.begin(), specs.begin() + static_cast<std::ptrdiff_t>(cut)));
  apply(parts, Specs(specs.begin() + static_cast<std::ptrdiff_t>(cut), specs.end()));
  RC_ASSERT(whole == parts);
}

enum class Ending { committed, failed, in_doubt_and_landed, in_doubt_and_lost, crash_before, crash_after };

std::ostream& operator<<(std::ostream& out, Ending ending) { return out << "ending " << static_cast<int>(ending); }

constexpr bool lands(Ending ending) {
  return ending == Ending::committed || ending == Ending::in_doubt_and_landed || ending == Ending::crash_after;
}

struct Step {
  std::vector<std::size_t> delivered;  // of the messages that exist, repeats included
  Ending ending = Ending::committed;
  bool by_key = false;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  out << step.ending << " of";
  for (const std::size_t index : step.delivered) out << " " << index;
  return out;
}

// A broker that delivers until it is told, and a database that keeps only what was committed.
class World {
 public:
  explicit World(Specs messages) : messages_(std::move(messages)), settled_(messages_.size()) {}

  void run(const Step& step) {
    Specs specs;
    for (const std::size_t index : step.delivered) specs.push_back(messages_[index]);
    const Claimants claimants(specs);
    Tables inside = tables_;  // the transaction's own view
    std::vector<std::size_t> effects = effects_;
    SetWise store(inside, claimants, step.by_key);
    Batch& batch = store.claim();
    for (Batch::Index index = 0; index < specs.size(); ++index) {
      if (batch.first(index)) effects.push_back(step.delivered[index]);
    }
    store.write_outcomes();
    const std::vector<Answer> answers = batch.answers();
    if (!lands(step.ending)) return;
    tables_ = std::move(inside);
    effects_ = std::move(effects);
    if (step.ending != Ending::committed) return;  // it landed, and nobody here knows
    for (std::size_t at = 0; at < answers.size(); ++at) settle(step.delivered[at], answers[at]);
  }

  void deliver_until_settled() {
    for (int rounds = 0; rounds < 2; ++rounds) {
      Step step;
      for (std::size_t index = 0; index < messages_.size(); ++index) step.delivered.push_back(index);
      run(step);
    }
  }

  void check() const {
    std::map<int, int> by_identity;
    std::map<int, int> by_operation;
    for (const std::size_t index : effects_) {
      const Spec& spec = messages_[index];
      RC_ASSERT(++by_identity[spec.key] == 1);
      if (spec.operation >= 0) RC_ASSERT(++by_operation[spec.operation] == 1);
    }
    for (std::size_t index = 0; index < messages_.size(); ++index) check_one(index);
  }

 private:
  // Once applied, always applied; once refused, never applied.
  void settle(std::size_t index, const Answer& answer) {
    RC_ASSERT(!(answer.verdict == Verdict::first && settled_[index]));
    settled_[index] = true;
  }

  void check_one(std::size_t index) const {
    const Spec& spec = messages_[index];
    RC_ASSERT(settled_[index]);
    const auto applied = [&](auto same) {
      return std::count_if(effects_.begin(), effects_.end(), [&](std::size_t other) { return same(messages_[other]); });
    };
    const auto& row = tables_.inbox.at(key_of(spec.key, 0));
    if (!(row == Tables::Inbox{spec.readable, spec.content})) {
      // Another message came first under this key: this one must never have been applied.
      RC_ASSERT(applied([&](const Spec& other) {
                  return other.key == spec.key && (other.readable != spec.readable || other.content != spec.content);
                }) <= 1);
      RC_ASSERT(applied([&](const Spec& other) {
                  return other.key == spec.key && other.readable == spec.readable && other.content == spec.content;
                }) == 0);
      return;
    }
    const Recorded recorded = tables_.recorded_of(key_of(spec.key, 0));
    const bool lost = recorded.state == State::duplicate || recorded.code == "operation_conflict";
    RC_ASSERT(applied([&](const Spec& other) { return other.key == spec.key; }) == (lost ? 0 : 1));
    if (recorded.original) RC_ASSERT(tables_.inbox.contains(*recorded.original));
  }

  Specs messages_;
  std::vector<bool> settled_;
  Tables tables_;
  std::vector<std::size_t> effects_;  // committed, by index of the message that was applied
};

rc::Gen<Step> any_step(std::size_t messages) {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::delivered,
                   rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, messages))),
      rc::gen::set(&Step::ending, rc::gen::element(Ending::committed, Ending::failed, Ending::in_doubt_and_landed,
                                                   Ending::in_doubt_and_lost, Ending::crash_before, Ending::crash_after)),
      rc::gen::set(&Step::by_key));
}

RC_GTEST_PROP(Batch, EveryEndingAndRedeliveryAppliesEachMessageOnce, ()) {
  const auto messages = *rc::gen::nonEmpty(rc::gen::container<Specs>(any_spec()));
  World world(messages);
  for (const Step& step : *rc::gen::container<std::vector<Step>>(any_step(messages.size()))) world.run(step);
  world.deliver_until_settled();
  world.check();
}

// The small cases for people, each one that some system got wrong.
std::vector<Verdict> verdicts_after(const Specs& before, const Specs& specs) {
  Tables tables;
  const Claimants earlier(before);
  SetWise first(tables, earlier, true);
  first.claim();
  first.write_outcomes();
  const Claimants claimants(specs);
  SetWise second(tables, claimants, true);
  Batch& batch = second.claim();
  second.write_outcomes();
  std::vector<Verdict> verdicts;
  for (const Answer& answer : batch.answers()) verdicts.push_back(answer.verdict);
  return verdicts;
}

using enum Verdict;
using Verdicts = std::vector<Verdict>;
constexpr int retry = 4;

TEST(Batch, OneConflictBetweenDuplicatesIsNotTakenForOne) {
  const Spec same{.key = 1};
  const Spec other{.key = 1, .content = 1};
  EXPECT_EQ(verdicts_after({same}, {same, other, same}), (Verdicts{duplicate, conflict, duplicate}));
  EXPECT_EQ(verdicts_after({}, {same, other, same}), (Verdicts{first, conflict, duplicate}));
  EXPECT_EQ(verdicts_after({other}, {same, other, same}), (Verdicts{conflict, duplicate, conflict}));
}

TEST(Batch, CollisionOfKeysIsAConflict) {
  for (const int readable : {1, 2, 3}) {
    const Spec stranger{.key = 1, .readable = readable};
    EXPECT_EQ(verdicts_after({{.key = 1}}, {stranger}), Verdicts{conflict});
    EXPECT_EQ(verdicts_after({}, {{.key = 1}, stranger}), (Verdicts{first, conflict}));
  }
}

TEST(Batch, MessageThatWaitsForItsRetryIsHeld) {
  const Spec waiting{.key = 1, .outcome = retry};
  EXPECT_EQ(verdicts_after({waiting}, {waiting}), Verdicts{held});
  EXPECT_EQ(verdicts_after({}, {waiting, waiting}), (Verdicts{first, held}));
  EXPECT_EQ(verdicts_after({waiting}, {{.key = 1, .content = 1}}), Verdicts{conflict});
}

TEST(Batch, SecondMessageOfAnOperationIsNotFirst) {
  const Spec original{.key = 1, .operation = 0};
  const Spec repeat{.key = 2, .operation = 0};
  const Spec other_content{.key = 2, .content = 1, .operation = 0};
  const Spec other_text{.key = 2, .operation = 0, .operation_text = 1};
  EXPECT_EQ(verdicts_after({original}, {repeat}), Verdicts{duplicate});
  EXPECT_EQ(verdicts_after({}, {original, repeat}), (Verdicts{first, duplicate}));
  EXPECT_EQ(verdicts_after({}, {original, other_content}), (Verdicts{first, conflict}));
  EXPECT_EQ(verdicts_after({original}, {other_content}), Verdicts{conflict});
  EXPECT_EQ(verdicts_after({original}, {other_text}), Verdicts{conflict});
  EXPECT_EQ(verdicts_after({}, {original, other_text}), (Verdicts{first, conflict}));
}

TEST(Batch, RepeatedMessageDoesNotTakeAnOperation) {
  // The second copy names another operation: it is a conflict by content or a repeat, never a second claim.
  const Spec applied{.key = 1, .operation = 0};
  const Spec copy_with_other_operation{.key = 1, .operation = 1};
  const Spec next{.key = 2, .operation = 1};
  EXPECT_EQ(verdicts_after({applied}, {copy_with_other_operation, next}), (Verdicts{duplicate, first}));
  EXPECT_EQ(verdicts_after({}, {applied, copy_with_other_operation, next}), (Verdicts{first, duplicate, first}));
}

TEST(Batch, NothingDeliveredAsksForNothing) {
  Batch batch(std::span<const Claimant>{});
  EXPECT_TRUE(batch.to_claim().empty());
  EXPECT_TRUE(batch.operations_to_claim().empty());
  EXPECT_TRUE(batch.to_look_up().empty());
  EXPECT_TRUE(batch.resolved());
  EXPECT_TRUE(batch.answers().empty());
  EXPECT_TRUE(batch.records().empty());
}

}  // namespace
}  // namespace onceward
