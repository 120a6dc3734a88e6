// How long a topic keeps its records, by its settings.
#pragma once

#include <map>
#include <string>

#include "onceward/adapter/kafka.h"

namespace onceward::kafka {

using TopicSettings = std::map<std::string, std::string, std::less<>>;

// Sets `retention` and `segment`, or says in `retention_unknown` what is missing.
void take_retention(const TopicSettings& settings, KafkaFacts& facts);

}  // namespace onceward::kafka
