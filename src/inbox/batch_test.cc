// The algebra of a batch against a reference that takes one message at a time.
#include "src/inbox/batch.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "src/inbox/batch_model.h"

namespace onceward::model {
namespace {

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
}  // namespace onceward::model
