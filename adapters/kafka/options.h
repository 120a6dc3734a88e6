#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "onceward/adapter/kafka.h"

namespace onceward::kafka {

// Throws Fault(source_refused) for what passes a limit, and for a property of librdkafka's that is not ours to pass on.
void check(const KafkaSourceOptions& options);
// The same of a reader, which has no group.
void check_reader(const KafkaSourceOptions& options);
// The same with Fault(publisher_refused).
void check(const KafkaPublisherOptions& options);
void check(const KafkaTarget& target);

// Why a property of librdkafka's is not passed on; nothing for one that is.
std::optional<std::string> why_refused(std::string_view property);
// Whether its value is nobody's business.
bool is_secret(std::string_view property);

}  // namespace onceward::kafka
