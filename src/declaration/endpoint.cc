#include "src/declaration/endpoint.h"

#include <fmt/format.h>

#include "src/declaration/consumer.h"

namespace onceward::declaration {

// Static and not in an unnamed namespace, where into<>() would not find an overload of read().

static void read(Reading& reading, const Item& item, double& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&item.node.value))
    value = static_cast<double>(*whole);
  else if (const auto* number = std::get_if<double>(&item.node.value))
    value = *number;
  else
    reading.wrong_kind(item, "a number", "without quotes, e.g. 50 or 0.5");
}

// A duration that is kept in a larger unit than people may write.
template <class Unit>
static void read_whole(Reading& reading, const Item& item, Unit& value, std::string_view unit) {
  std::chrono::milliseconds duration = value;
  read(reading, item, duration);
  value = std::chrono::floor<Unit>(duration);
  if (value != duration) reading.mistake(item, fmt::format("is no whole number of {}", unit), "round it");
}
static void read(Reading& reading, const Item& item, std::chrono::seconds& value) {
  read_whole(reading, item, value, "seconds");
}
static void read(Reading& reading, const Item& item, std::chrono::hours& value) {
  read_whole(reading, item, value, "hours");
}

// What is declared stands for the default, and is not added to it.
template <auto Member, class Value>
static void instead(Reading& reading, const Item& item, Value& value) {
  (value.*Member).clear();
  read(reading, item, value.*Member);
}

using Headers = std::vector<std::pair<std::string, std::string>>;
static void read(Reading& reading, const Item& item, Headers& headers) {
  const Table* table = table_in(reading, item);
  if (table == nullptr) return;
  for (const Entry& entry : table->entries) {
    auto& [name, value] = headers.emplace_back(entry.key, std::string());
    read(reading, {entry.value, item.path / entry.key}, value);
  }
}

static void read(Reading& reading, const Item& item, std::optional<LookUpDeclaration>& look_up) {
  using Declared = LookUpDeclaration;
  constexpr Key<Declared> keys[] = {{"url", into<&Declared::url>},
                                    {"done_pointer", into<&Declared::done_pointer>},
                                    {"done_values", instead<&Declared::done_values>},
                                    {"not_done_pointer", into<&Declared::not_done_pointer>},
                                    {"not_done_values", instead<&Declared::not_done_values>},
                                    {"done", instead<&Declared::done>},
                                    {"not_done", instead<&Declared::not_done>},
                                    {"reference", into<&Declared::reference>},
                                    {"settle", into<&Declared::settle>},
                                    {"every", into<&Declared::every>},
                                    {"attempts", into<&Declared::attempts>}};
  read_table(reading, item, keys, look_up.emplace());
}

static void read(Reading& reading, const Item& item, std::optional<ListDeclaration>& list) {
  using Declared = ListDeclaration;
  constexpr Key<Declared> keys[] = {{"url", into<&Declared::url>},
                                    {"items", into<&Declared::items>},
                                    {"key", into<&Declared::key>},
                                    {"reference", into<&Declared::reference>},
                                    {"next", into<&Declared::next>}};
  read_table(reading, item, keys, list.emplace());
}

constexpr Key<EndpointDeclaration> endpoint_keys[] = {
    {"name", into<&EndpointDeclaration::name>},
    {"url", into<&EndpointDeclaration::url>},
    {"method", into<&EndpointDeclaration::method>},
    {"headers", into<&EndpointDeclaration::headers>},
    {"content_type", into<&EndpointDeclaration::content_type>},
    {"key_header", into<&EndpointDeclaration::key_header>},
    {"idempotent", into<&EndpointDeclaration::idempotent>},
    {"key_lifetime", into<&EndpointDeclaration::key_lifetime>},
    {"succeeded", instead<&EndpointDeclaration::succeeded>},
    {"failed", instead<&EndpointDeclaration::failed>},
    {"later", instead<&EndpointDeclaration::later>},
    {"reference", into<&EndpointDeclaration::reference>},
    {"look_up", into<&EndpointDeclaration::look_up>},
    {"list", into<&EndpointDeclaration::list>},
    {"connect_timeout", into<&EndpointDeclaration::connect_timeout>},
    {"timeout", into<&EndpointDeclaration::timeout>},
    {"most_response_bytes", into<&EndpointDeclaration::most_response_bytes>},
    {"ca_file", into<&EndpointDeclaration::ca_file>},
    {"from", into<&EndpointDeclaration::from>},
    {"notification", into<&EndpointDeclaration::notification>},
    {"concurrency", into<&EndpointDeclaration::concurrency>},
    {"rate", into<&EndpointDeclaration::rate>},
    {"retry", into<&EndpointDeclaration::retry>},
    {"lease", into<&EndpointDeclaration::lease>},
    {"poll", into<&EndpointDeclaration::poll>},
    {"circuit_failures", into<&EndpointDeclaration::circuit_failures>},
    {"circuit_pause", into<&EndpointDeclaration::circuit_pause>},
    {"approval", into<&EndpointDeclaration::approval>},
    {"approval_lifetime", into<&EndpointDeclaration::approval_lifetime>},
};

EndpointDeclaration read_endpoint(Reading& reading, const Node& node) {
  EndpointDeclaration endpoint;
  read_table(reading, {node, Path()}, endpoint_keys, endpoint);
  return endpoint;
}

void read_ingress(Reading& reading, const Item& item, Application& application) {
  constexpr Key<IngressDeclaration> keys[] = {{"consumers", into<&IngressDeclaration::consumers>},
                                              {"token", into<&IngressDeclaration::token>},
                                              {"expiry", into<&IngressDeclaration::expiry>},
                                              {"most_body_bytes", into<&IngressDeclaration::most_body_bytes>}};
  read_table(reading, item, keys, application.ingress);
}

}  // namespace onceward::declaration
