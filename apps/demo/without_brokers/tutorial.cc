#include "apps/demo/tutorial/tutorial.h"

namespace onceward::demo {
namespace {

[[noreturn]] void refuse_tutorial() {
  throw Fault(FaultCode::source_refused, Poisons::connection, "this build was made without brokers");
}

}  // namespace

std::unique_ptr<Source> open_tutorial(const RabbitmqSourceOptions&) { refuse_tutorial(); }
std::unique_ptr<Source> open_tutorial(const KafkaSourceOptions&) { refuse_tutorial(); }

}  // namespace onceward::demo
