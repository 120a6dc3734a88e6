#include "apps/cli/settings.h"

#include "apps/cli/redact.h"
#include "apps/cli/settings_table.h"

namespace onceward::cli {
namespace {

using declaration::Node;
using Json = nlohmann::ordered_json;
using Table = SettingsTable;

Json span_of(const HorizonInputs::Span& span) {
  return span ? Json(declaration::write_duration(*span)) : Json(nullptr);
}

Json source_of(const IdentitySource& source) {
  if (const auto* header = std::get_if<FromHeader>(&source)) return {{"header", header->name}};
  if (const auto* payload = std::get_if<FromPayload>(&source)) return {{"pointer", payload->pointer}};
  if (const auto* member = std::get_if<FromEnvelope>(&source)) return word_of(member->member);
  return "aggregate_version";
}

Json range_of(const VersionRange& range) {
  if (range == VersionRange()) return nullptr;
  return {{"lowest", range.lowest}, {"highest", range.highest}, {"required", range.required}};
}

Json type_of(const FieldDeclaration& field) {
  return field.type == FieldType::decimal ? Json(fmt::format("decimal({})", field.scale)) : word_of(field.type);
}

void add_identity(Table table, const IdentityPolicy& identity) {
  table.add("message_id", source_of(identity.message_id));
  table.add("producer", text_or_none(identity.producer));
  table.add("tenant",
            identity.tenant_header.empty() ? text_or_none(identity.tenant) : Json{{"header", identity.tenant_header}});
  table.add("scheme", word_of(identity.scheme));
  table.add("hash", identity.hash.canonical_json
                        ? Json{{"canonical_json", true}, {"volatile", identity.hash.volatile_fields}}
                        : Json("bytes"));
  table.add("operation", identity.operation
                             ? Json{{"name", identity.operation->name}, {"key", source_of(identity.operation->key)}}
                             : Json(nullptr));
  table.add("missing_id", identity.missing_id_uses_operation ? "operation_key" : "refuse");
}

void add_retention(Table table, const Declaration& consumer) {
  const HorizonInputs& horizon = consumer.horizon;
  table.add("category", word_of(consumer.category));
  table.add("broker_retention", span_of(horizon.broker_retention));
  table.add("longest_retry", span_of(horizon.longest_retry));
  table.add("parking_age", span_of(horizon.parking_age));
  table.add("replay_reach", span_of(horizon.replay_reach));
  table.add("oldest_backup", span_of(horizon.oldest_backup));
  table.add("producer_retry", span_of(horizon.producer_retry));
  table.add("operation_lifetime", span_of(horizon.operation_lifetime));
  table.add("legal", span_of(horizon.legal));
}

void add_limits(Table table, const EnvelopeLimits& limits) {
  table.add("message_bytes", limits.message_bytes);
  table.add("id_bytes", limits.id_bytes);
  table.add("header_count", limits.header_count);
  table.add("header_bytes", limits.header_bytes);
  table.add("depth", limits.depth);
}

void add_work(Table& table, const Declaration& consumer) {
  table.add("sql", consumer.sql);
  table.add("transaction", word_of(consumer.transaction));
  table.add("workers", consumer.workers);
  table.add("batch", consumer.batch);
  table.add("order", word_of(consumer.order));
  table.add("offsets", word_of(consumer.offsets));
  table.add("trust_producer", consumer.trust_producer);
  table.add("gap", word_of(consumer.gap));
  add_retry(table.under("retry"), consumer.retry);
  table.add("dead_letters", consumer.dead_letters);
  table.add("time_bound", declaration::write_duration(consumer.time_bound));
  Json modes = Json::array();
  for (const Mode mode : consumer.modes) modes.push_back(name(mode));
  table.add("modes", std::move(modes));
}

void add_consumer(Table table, const Declaration& consumer) {
  table.add("name", consumer.name);
  table.add("owner", consumer.owner);
  table.add("source", consumer.source.empty() ? Json(nullptr) : Json(redacted(consumer.source)));
  add_work(table, consumer);
  add_identity(table.under("identity"), consumer.identity);
  Table versions = table.under("versions");
  versions.add("schema", range_of(consumer.schema_versions));
  versions.add("event", range_of(consumer.event_versions));
  Table fields = table.under("fields");
  for (const FieldDeclaration& field : consumer.fields) {
    fields.add(field.name, {{"pointer", field.pointer}, {"type", type_of(field)}, {"optional", field.optional}});
  }
  for (std::size_t i = 0; i < consumer.effects.size(); ++i) {
    const EffectDeclaration& effect = consumer.effects[i];
    Table one = table.element("effect", i, effect.name);
    one.add("name", effect.name);
    one.add("kind", word_of(effect.kind));
    one.add("irreversible", effect.irreversible);
  }
  add_calls(table, consumer.calls);
  add_retention(table.under("retention"), consumer);
  add_limits(table.under("limits"), consumer.limits);
}

void add_relay(Table table, const RelayDeclaration& relay) {
  table.add("producer", text_or_none(relay.producer));
  add_retry(table.under("retry"), relay.retry);
  table.add("lease", declaration::write_duration(relay.lease));
  table.add("poll", declaration::write_duration(relay.poll));
}

void add_route(Table table, const RouteDeclaration& route) {
  table.add("name", route.name);
  table.add("types", route.types);
  table.add("to", redacted(route.to));
  table.add("key", text_or_none(route.key));
  table.add("order", word_of(route.order));
}

}  // namespace

std::vector<Setting> settings_of(const Application& application, std::string_view toml, std::string_view file) {
  const auto document = declaration::read_document(toml);
  std::vector<Setting> settings;
  const Table root(settings, file, {}, std::get_if<Node>(&document));
  root.under("store").add("url", application.store.empty() ? Json(nullptr) : Json(redacted(application.store)));
  const AdminDeclaration& admin = application.admin;
  const bool bare = admin.host.find(':') == std::string::npos;
  root.under("admin").add("listen", admin.host.empty() ? Json(nullptr)
                                    : bare             ? Json(fmt::format("{}:{}", admin.host, admin.port))
                                                       : Json(fmt::format("[{}]:{}", admin.host, admin.port)));
  root.under("log").add("format", word_of(application.log.format));
  root.under("log").add("level", word_of(application.log.level));
  root.under("shutdown").add("drain", declaration::write_duration(application.drain));
  if (!application.routes.empty()) add_relay(root.under("relay"), application.relay);
  for (std::size_t i = 0; i < application.routes.size(); ++i) {
    add_route(root.element("route", i, application.routes[i].name), application.routes[i]);
  }
  for (std::size_t i = 0; i < application.endpoints.size(); ++i) {
    add_endpoint(root.element("endpoint", i, application.endpoints[i].name), application.endpoints[i]);
  }
  if (!application.ingress.consumers.empty()) add_ingress(root.under("ingress"), application.ingress);
  for (std::size_t i = 0; i < application.consumers.size(); ++i) {
    add_consumer(root.element("consumer", i, application.consumers[i].name), application.consumers[i]);
  }
  return settings;
}

}  // namespace onceward::cli
