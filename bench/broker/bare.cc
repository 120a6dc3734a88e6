#include "bench/broker/bare.h"

namespace onceward::bench {

void BareBroker::fill(std::span<const Index> deliveries) {
  publisher_.reset();
  make();
  publisher_ = open_publisher();
  publisher_->begin_burst();
  for (const Index index : deliveries) publish(index);
  publisher_->end_burst();
  publisher_->await_confirms();
}

void BareBroker::publish(Index index) {
  const Message& message = work_.messages[index];
  const BareHeader id{"id", message.id};
  BareMessage sent{.id = message.id,
                   .type = "payment.requested",
                   .producer = producer_name,
                   .content_type = "application/json",
                   .key = message.account_key,
                   .body = message.payload};
  if (!has_properties()) sent.headers = {&id, 1};
  publisher_->publish(sent);
}

}  // namespace onceward::bench
