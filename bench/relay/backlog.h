// What the relay finds: the work's outgoing messages as rows of the outbox, by hand, a transaction for each batch of them.
#pragma once

#include <span>
#include <string>

#include "bench/work/workload.h"

namespace onceward::bench {

void stage_backlog(const std::string& url, const Workload& work, std::span<const Index> messages, std::size_t batch);

}  // namespace onceward::bench
