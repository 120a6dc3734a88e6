#include "bench/floor/outgoing.h"

#include <fmt/format.h>

#include <iterator>

namespace onceward::bench {
namespace {

std::string named(const BareBroker& broker, std::string_view attribute) {
  return std::string(broker.attribute_prefix()) + std::string(attribute);
}

}  // namespace

OutgoingRow row_of(const Message& message) {
  return {.id = message.id,
          .type = outgoing_type,
          .key = message.account_key,
          .aggregate_type = aggregate_type,
          .aggregate_id = message.account_key,
          .correlation_id = message.id,
          .causation_id = message.id,
          .content_type = "application/json",
          .payload = message.outgoing,
          .version = message.version};
}

Composer::Composer(const BareBroker& broker, Attributes attributes)
    : has_properties_(broker.has_properties()),
      attributes_(attributes),
      texts_{{named(broker, "id"), &OutgoingRow::id},
             {named(broker, "type"), &OutgoingRow::type},
             {named(broker, "subject"), &OutgoingRow::aggregate_id},
             {named(broker, "aggregatetype"), &OutgoingRow::aggregate_type},
             {named(broker, "correlationid"), &OutgoingRow::correlation_id},
             {named(broker, "causationid"), &OutgoingRow::causation_id},
             {named(broker, "partitionkey"), &OutgoingRow::key}},
      specversion_(named(broker, "specversion")),
      source_(named(broker, "source")),
      version_(named(broker, "aggregateversion")),
      time_(named(broker, "time")) {}

const BareMessage& Composer::compose(const OutgoingRow& row) {
  headers_.clear();
  if (!has_properties_) {
    if (attributes_ == Attributes::native) headers_.push_back({"id", row.id});
    headers_.push_back({"content-type", row.content_type});
  }
  if (attributes_ == Attributes::cloudevent) {
    headers_.push_back({specversion_, "1.0"});
    headers_.push_back({source_, producer_name});
    for (const Named& text : texts_) headers_.push_back({text.name, row.*text.value});
    number_.clear();
    fmt::format_to(std::back_inserter(number_), "{}", row.version);
    headers_.push_back({version_, number_});
    headers_.push_back({time_, staged_time});
  }
  message_ = {.id = row.id,
              .type = row.type,
              .producer = producer_name,
              .correlation_id = row.correlation_id,
              .content_type = row.content_type,
              .seconds = staged_seconds,
              .key = row.key,
              .headers = headers_,
              .body = row.payload};
  return message_;
}

}  // namespace onceward::bench
