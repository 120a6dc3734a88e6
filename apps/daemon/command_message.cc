#include "apps/daemon/command_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "onceward/adapter/embedded.h"
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

}  // namespace

CommandWriter::CommandWriter(const Declaration& consumer)
    : consumer_(consumer), tenant_header_(in_lower_case(consumer.identity.tenant_header)), calls_(consumer) {
  if (!consumer.sql.empty()) effect_.emplace(consumer.sql, consumer);
}

std::string_view CommandWriter::principal_of(const Request& request) const {
  return tenant_header_.empty() ? std::string_view() : request.header(tenant_header_);
}

std::variant<CommandMessage, CommandRefusal> CommandWriter::write(const Request& request, std::string_view principal) {
  const std::string_view key = request.header("idempotency-key");
  EnvelopeFields fields;
  fields.producer = Producer(producer);
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
  const std::array<Header, 1> headers{Header{consumer_.identity.tenant_header, request.header(tenant_header_)}};
  if (!tenant_header_.empty() && !headers[0].value.empty()) fields.headers = headers;

  CommandMessage message;
  message.identity = write_json_envelope(Envelope::copy_of(fields));
  message.id = to_string(key_of_fields({"onceward/ingress-message/1", principal, request.path, key, message.identity}));
  fields.message_id = MessageId(message.id);
  fields.command_id = CommandId(message.id);
  fields.trace_parent = request.header("traceparent");
  message.bytes = write_json_envelope(Envelope::copy_of(fields));
  if (message.bytes.size() > EmbeddedOptions::most_message_bytes) {
    return CommandRefusal{"body_too_large", "Send less in one request.", 413};
  }
  if (const auto refused = check(message)) {
    return CommandRefusal{"command_refused", fmt::format("the consumer refuses such messages: {} {}",
                                                         code(refused->reason), refused->detail)};
  }
  return message;
}

// It would be parked, long after its sender was told that it was accepted.
std::optional<Refusal> CommandWriter::check(CommandMessage& message) {
  const ReadEnvelope read = read_json_envelope(Bytes::copy_of(message.bytes), consumer_.limits);
  if (const auto* refused = std::get_if<Refusal>(&read)) return *refused;
  const auto identified = identify(std::get<Envelope>(read), consumer_);
  if (const auto* refused = std::get_if<Refusal>(&identified)) return *refused;
  const auto& claimant = std::get<Claimant>(identified);
  if (effect_) {
    effect_->begin({&claimant, 1}, {});
    if (auto refused = effect_->take(0)) return refused;
    if (auto refused = calls_.make(claimant)) return refused;
  }
  message.claim = {.message = claimant.key, .operation = {}, .payload_hash = claimant.payload_hash};
  if (claimant.operation) message.claim.operation = claimant.operation->key;
  return std::nullopt;
}

}  // namespace onceward::daemon
