// Streams that change hands.
#include "src/unit/faults.h"
#include "src/unit/unit.h"

namespace onceward {

std::vector<TakenOver> Unit::take_over(std::span<const std::string> streams) {
  if (!by_position()) throw refused("streams are kept for a consumer with offsets = \"store\"");
  return guarded([&] { return session_->take_over(streams); });
}

Stream Unit::begin_stream(const Stream& stream, std::int64_t next) {
  return guarded([&] {
    auto begun = session_->begin_stream(stream, next);
    if (!begun) throw Fault(FaultCode::lost_race, Poisons::transaction, "the stream was taken over by somebody else");
    return std::move(*begun);
  });
}

}  // namespace onceward
