// Messages that the store keeps, and how often each was tried.
#include "src/common/stored_text.h"
#include "src/unit/faults.h"
#include "src/unit/unit.h"

namespace onceward {

void Unit::count(const Key& message, Attempt attempt, std::string_view code) {
  require_open();
  counted_.push_back({message, attempt, storable(code)});
}

// Those that this unit has counted and not yet written are known only here.
std::vector<int> Unit::attempts(std::span<const Key> messages) {
  if (messages.empty()) return {};
  std::vector<int> used = guarded([&] { return session_->attempts(messages); });
  for (std::size_t at = counted_written_; at < counted_.size(); ++at) {
    for (std::size_t index = 0; index < messages.size(); ++index) {
      if (messages[index] == counted_[at].message) used[index] += counted_[at].attempt == Attempt::given_back ? -1 : 1;
    }
  }
  return used;
}

std::optional<Kept> Unit::start_due(std::chrono::milliseconds lease) {
  return guarded([&] { return session_->start_due(lease); });
}

std::vector<Kept> Unit::take_due(std::size_t most, std::chrono::milliseconds lease) {
  return guarded([&] { return session_->take_due(most, lease); });
}

void Unit::resume(std::span<const Claimant> batch) {
  guarded([&] {
    if (batch_) throw refused("a unit claims or resumes once");
    if (mark_) throw refused("resume before the first mark: going back to it would let the messages go");
    batch_.emplace(batch, Batch::By::key);
    sent_.resize(batch.size());
    resumed_ = true;
    if (batch.empty()) return;
    session_->resume(*batch_);
    // Their operations were claimed with them, when they were first seen.
    for (const Batch::Index index : batch_->operations_to_claim()) batch_->operation_claimed(index);
  });
}

void Unit::resolve(std::int64_t quarantine) {
  require_open();
  resolved_.push_back(quarantine);
}

}  // namespace onceward
