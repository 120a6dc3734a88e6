// Which member of an envelope has which name on the wire: one table for reading and for writing, so that the two cannot
// drift apart. What has a form of its own (time, mode, headers, payload) is not in it.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "onceward/envelope.h"

namespace onceward {

struct TextMember {
  std::string_view json;
  std::string_view cloudevent;  // attribute or extension
  bool identity;                // limited by id_bytes; else by header_bytes
  std::string_view (*get)(const EnvelopeFields&);
  void (*set)(EnvelopeFields&, std::string_view);
};

struct NumberMember {
  std::string_view json;
  std::string_view cloudevent;
  std::optional<std::int64_t> EnvelopeFields::* member;
};

template <auto member>
constexpr TextMember text_member(std::string_view json, std::string_view cloudevent, bool identity = true) {
  using Text = std::remove_cvref_t<decltype(std::declval<EnvelopeFields>().*member)>;
  return {json, cloudevent, identity,
          [](const EnvelopeFields& fields) -> std::string_view {
            if constexpr (std::is_same_v<Text, std::string_view>) {
              return fields.*member;
            } else {
              return (fields.*member).text();
            }
          },
          [](EnvelopeFields& fields, std::string_view text) { fields.*member = Text(text); }};
}

// An identity may be no part of another's name: `id` is the message's own.
inline constexpr std::array kTextMembers{
    text_member<&EnvelopeFields::message_id>("messageId", "id"),
    text_member<&EnvelopeFields::producer>("producer", "source"),
    text_member<&EnvelopeFields::event_type>("eventType", "type"),
    text_member<&EnvelopeFields::event_id>("eventId", "eventid"),
    text_member<&EnvelopeFields::aggregate_id>("aggregateId", "subject"),
    text_member<&EnvelopeFields::aggregate_type>("aggregateType", "aggregatetype"),
    text_member<&EnvelopeFields::correlation_id>("correlationId", "correlationid"),
    text_member<&EnvelopeFields::causation_id>("causationId", "causationid"),
    text_member<&EnvelopeFields::idempotency_key>("idempotencyKey", "idempotencykey"),
    text_member<&EnvelopeFields::business_key>("businessKey", "businesskey"),
    text_member<&EnvelopeFields::command_id>("commandId", "commandid"),
    text_member<&EnvelopeFields::tenant>("tenant", "tenant"),
    text_member<&EnvelopeFields::partition_key>("partitionKey", "partitionkey"),
    text_member<&EnvelopeFields::source>("source", "sourcesystem", false),
    text_member<&EnvelopeFields::data_schema>("dataSchema", "dataschema", false),
    text_member<&EnvelopeFields::content_type>("contentType", "datacontenttype", false),
    text_member<&EnvelopeFields::trace_parent>("traceparent", "traceparent", false),
};

inline constexpr std::array kNumberMembers{
    NumberMember{"eventVersion", "eventversion", &EnvelopeFields::event_version},
    NumberMember{"schemaVersion", "schemaversion", &EnvelopeFields::schema_version},
    NumberMember{"aggregateVersion", "aggregateversion", &EnvelopeFields::aggregate_version},
};

}  // namespace onceward
