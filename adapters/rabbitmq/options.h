#pragma once

#include "onceward/adapter/rabbitmq.h"

namespace onceward::rabbitmq {

// Throw Fault(source_refused), Fault(publisher_refused) for what passes a limit.
void check(const RabbitmqSourceOptions& options);
void check(const RabbitmqPublisherOptions& options);
void check(const RabbitmqTarget& target);

// rabbitmq://host:port[,host:port]/vhost, without who logs in.
std::string describe(const RabbitmqConnection& connection);

}  // namespace onceward::rabbitmq
