// Three nodes of RabbitMQ for all tests that kill some of them: to make them costs more than most tests take.
#pragma once

#include "tests/brokers/rabbitmq_server.h"

namespace onceward::outages {

// All of it runs on return, whatever the test before has killed. Ends with the last test.
brokers::RabbitmqServer& whole_cluster();

}  // namespace onceward::outages
