#include "apps/daemon/command_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "onceward/claim.h"
#include "src/common/timestamp.h"
#include "src/envelope/key.h"
#include "src/envelope/payload.h"

namespace onceward::daemon {
namespace {

constexpr std::string_view producer = "ingress";

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

bool is_json(std::string_view content_type) {
  const std::string type = in_lower_case(content_type.substr(0, content_type.find_first_of("; ")));
  return type == "application/json" || type.ends_with("+json");
}

std::string_view without_space_around(std::string_view text) {
  constexpr std::string_view space = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(space);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(space) + 1 - begin);
}

// Whether the consumer would refuse it; it would be parked, long after its sender was told that it was accepted.
std::optional<CommandRefusal> refusal_of(std::string_view bytes, const Declaration& consumer) {
  const auto refusal = [](const Refusal& refused) {
    return CommandRefusal{"command_refused", fmt::format("the consumer refuses such messages: {} {}",
                                                         code(refused.reason), refused.detail)};
  };
  const ReadEnvelope read = read_json_envelope(Bytes::copy_of(bytes), consumer.limits);
  if (const auto* refused = std::get_if<Refusal>(&read)) return refusal(*refused);
  const auto identified = identify(std::get<Envelope>(read), consumer);
  if (const auto* refused = std::get_if<Refusal>(&identified)) return refusal(*refused);
  return std::nullopt;
}

}  // namespace

std::variant<CommandMessage, CommandRefusal> command_message(const Request& request, std::string_view principal,
                                                             const Declaration& consumer) {
  CommandMessage message;
  const std::string_view key = request.header("idempotency-key");
  message.id = to_string(key_of_fields({"onceward/ingress-message/1", principal, request.path, key}));

  EnvelopeFields fields;
  fields.producer = Producer(producer);
  fields.message_id = MessageId(message.id);
  fields.command_id = CommandId(message.id);
  fields.idempotency_key = IdempotencyKey(key);
  fields.event_type = EventType(request.header("onceward-type"));
  fields.correlation_id = CorrelationId(request.header("onceward-correlation-id"));
  fields.partition_key = request.header("onceward-key");
  fields.aggregate_id = AggregateId(request.header("onceward-key"));
  fields.content_type = request.header("content-type");
  fields.payload = request.body;
  if (is_json(fields.content_type)) {
    fields.payload = without_space_around(request.body);
    if (!is_embeddable_json(fields.payload)) return CommandRefusal{"body_malformed", "the body is no JSON"};
  }
  if (const std::string_view time = request.header("onceward-occurred-at"); !time.empty()) {
    fields.occurred_at = read_timestamp(time);
    if (!fields.occurred_at) return CommandRefusal{"command_refused", "Onceward-Occurred-At is no time of RFC 3339"};
  }
  const std::string& tenant_header = consumer.identity.tenant_header;
  const std::array<Header, 1> headers{Header{tenant_header, request.header(in_lower_case(tenant_header))}};
  if (!tenant_header.empty() && !headers[0].value.empty()) fields.headers = headers;

  message.identity = write_json_envelope(Envelope::copy_of(fields));
  fields.trace_parent = request.header("traceparent");
  message.bytes = write_json_envelope(Envelope::copy_of(fields));
  if (auto refusal = refusal_of(message.bytes, consumer)) return *std::move(refusal);
  return message;
}

}  // namespace onceward::daemon
