#include "src/relay/row.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "src/common/json.h"
#include "src/quarantine/dead_letter.h"

namespace onceward::relay {
namespace {

// What the views of an envelope point into.
struct Storage {
  Row row;
  std::string producer;
  std::deque<std::string> unescaped;
  std::vector<Header> headers;

  std::string_view text(std::size_t column) const {
    const auto* text = std::get_if<std::string>(&row[column]);
    return text ? std::string_view(*text) : std::string_view();
  }
  std::optional<std::int64_t> number(std::size_t column) const {
    const auto* number = std::get_if<std::int64_t>(&row[column]);
    return number ? std::optional(*number) : std::nullopt;
  }
  std::string_view bytes(std::size_t column) const {
    const auto* blob = std::get_if<OwnedBlob>(&row[column]);
    return blob ? std::string_view(blob->bytes) : std::string_view();
  }
};

// Headers are an object of texts, as staging wrote it. What another hand wrote, and is no such object, is left out.
void read_headers(Storage& storage, std::string_view json) {
  if (json.empty()) return;
  const auto parsed = parse_json(json, {.limit = 2});
  const auto* const document = std::get_if<JsonDocument>(&parsed);
  if (document == nullptr || document->nodes.front().kind != JsonKind::object) return;
  const auto text = [&](const JsonNode& node) {
    std::string& scratch = storage.unescaped.emplace_back();
    return text_of(*document, node, scratch);
  };
  for (std::uint32_t at = 1; at + 1 < document->nodes.size();) {
    const JsonNode& name = document->nodes[at];
    const JsonNode& value = document->nodes[name.next];
    if (value.kind == JsonKind::string) storage.headers.push_back({text(name), text(value)});
    at = value.next;
  }
}

}  // namespace

void order_by_version(std::span<OutboxRow> rows) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::vector<std::size_t>> of_aggregates;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const EnvelopeFields& fields = rows[i].envelope.fields();
    if (rows[i].key.empty() || !fields.aggregate_version) continue;
    of_aggregates[{rows[i].key, fields.aggregate_type.text(), fields.aggregate_id.text()}].push_back(i);
  }
  const auto version = [](const OutboxRow& row) {
    return std::pair(*row.envelope.fields().aggregate_version, row.position);
  };
  for (auto& [aggregate, places] : of_aggregates) {
    if (std::ranges::is_sorted(places, {}, [&](std::size_t i) { return version(rows[i]); })) continue;
    std::vector<OutboxRow> sorted;
    for (const std::size_t i : places) sorted.push_back(std::move(rows[i]));
    std::ranges::sort(sorted, {}, version);
    for (std::size_t i = 0; i < places.size(); ++i) rows[places[i]] = std::move(sorted[i]);
  }
}

OutboxRow outbox_row(Row row, std::string_view producer) {
  const auto storage = std::make_shared<Storage>(Storage{std::move(row), std::string(producer), {}, {}});
  const Storage& kept = *storage;
  read_headers(*storage, kept.text(11));
  EnvelopeFields fields;
  fields.producer = Producer(kept.producer);
  fields.partition_key = kept.text(1);
  fields.message_id = MessageId(kept.text(2));
  fields.event_type = EventType(kept.text(3));
  fields.tenant = Tenant(kept.text(4));
  fields.aggregate_type = AggregateType(kept.text(5));
  fields.aggregate_id = AggregateId(kept.text(6));
  fields.correlation_id = CorrelationId(kept.text(7));
  fields.causation_id = CausationId(kept.text(8));
  fields.trace_parent = kept.text(9);
  fields.content_type = kept.text(10);
  fields.payload = kept.bytes(12);
  fields.aggregate_version = kept.number(13);
  fields.event_version = kept.number(14);
  if (const auto micros = kept.number(15)) fields.occurred_at = Timestamp(std::chrono::microseconds(*micros));
  fields.headers = kept.headers;
  OutboxRow made;
  made.position = kept.number(0).value_or(0);
  made.key = kept.text(1);
  made.id = kept.text(2);
  made.type = kept.text(3);
  made.storage = storage;
  made.partition_key = made.key;
  made.payload_bytes = kept.bytes(12).size();
  if (fields.content_type != dead_letter_content_type) {
    made.envelope = Envelope(fields, storage);
    return made;
  }
  made.envelope = dead_letter(kept.headers, fields.payload);
  const EnvelopeFields& message = made.envelope.fields();
  made.partition_key = message.partition_key.empty() ? message.aggregate_id.text() : message.partition_key;
  return made;
}

}  // namespace onceward::relay
