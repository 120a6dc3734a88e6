// A member whose next message is no longer there.
#include <fmt/format.h>

#include "adapters/kafka/member.h"

namespace onceward::kafka {

void Member::reset_out_of_range() {
  for (const std::int32_t number : std::set<std::int32_t>(out_of_range_)) {
    if (rebalance_) return;  // heard of meanwhile
    if (assignment_.find(number) == nullptr) {
      out_of_range_.erase(number);
      continue;
    }
    try {
      reset(number);
    } catch (const Fault& fault) {
      if (fault.fault() != FaultCode::lost_race) throw;
      out_of_range_.erase(number);
      doubt(number);
    }
  }
}

void Member::reset(std::int32_t number) {
  using OutOfRange = KafkaSourceOptions::OutOfRange;
  const bool latest = options_.out_of_range == OutOfRange::latest;
  Partition& partition = *assignment_.find(number);
  // What is held of a kept stream would be fenced when that begins anew, and nobody else has it.
  const bool moves = options_.out_of_range != OutOfRange::refuse;
  if (moves && partition.stream && (partition.held() > 0 || partition.has_waiting())) return;
  if (rd_kafka_assignment_lost(client_.get()) != 0) return;
  std::int64_t low = 0, high = 0;
  const auto error = rd_kafka_query_watermark_offsets(client_.get(), options_.topic.c_str(), number, &low, &high,
                                                      static_cast<int>(answer_deadline.count()));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) throw client_.fault(trouble_of(error, {}));
  const std::int64_t wanted = partition.position();
  // What was said of another position: it has moved since, or was never a number.
  const bool stale = wanted < 0 || (wanted >= low && wanted <= high);
  const std::string what = fmt::format("partition {} of {}: offset {} comes next and is not there; {} to {} are",
                                       number, options_.topic, wanted, low, high);
  if (options_.out_of_range == OutOfRange::refuse && !stale) {
    // Without the end, which moves: said once, and not for every message that is sent there.
    throw client_.refused(fmt::format(
        "partition {} of {}: offset {} comes next and is not there, the first is {}; {}out_of_range=earliest or latest",
        number, options_.topic, wanted, low, keeper_ == nullptr ? "set the group's offset, or " : "write "));
  }
  if (!stale) {
    client_.say(LogLevel::warn, fmt::format("{}; it goes on at {}", what, latest ? high : low));
    move_to(number, latest ? high : low);
  }
  // As begin_at_the_ends(); of a stream its keeper knows.
  if (const auto trouble = latest && keeper_ == nullptr ? commit(answer_deadline) : std::nullopt) {
    if (trouble->kind == Trouble::Kind::busy) return;
    throw client_.fault(*trouble);
  }
  if (hears_of_a_rebalance()) return;
  fetch_again(number);
  out_of_range_.erase(number);
}

void Member::move_to(std::int32_t number, std::int64_t offset) {
  Partition& partition = *assignment_.find(number);
  auto stream = partition.stream;
  // Further back, it is another topic of the same name: nothing that was known holds. At an end that was chosen, the keeper
  // has to know it before the first message comes.
  const bool back = offset < partition.position();
  const bool chosen = stream && options_.out_of_range == KafkaSourceOptions::OutOfRange::latest;
  if (back || chosen) {
    if (stream) stream = std::make_shared<const Stream>(keeper_->begin(*stream, offset));
    assignment_.add(number, offset).stream = stream;
  }
  assignment_.find(number)->skip_to(offset);
}

}  // namespace onceward::kafka
