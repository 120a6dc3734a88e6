#include "apps/cli/redact.h"
#include "apps/cli/settings_table.h"

namespace onceward::cli {
namespace {

using declaration::write_duration;
using Json = nlohmann::ordered_json;

Json url_or_none(const std::string& url) { return url.empty() ? Json(nullptr) : Json(redacted(url)); }

void add_headers(SettingsTable table, const EndpointDeclaration& endpoint) {
  for (const auto& [name, value] : endpoint.headers) {
    table.add(name, is_secret(name, value) ? Json("***") : Json(value));
  }
}

void add_look_up(SettingsTable table, const LookUpDeclaration& look_up) {
  table.add("url", url_or_none(look_up.url));
  table.add("done_pointer", text_or_none(look_up.done_pointer));
  table.add("done_values", look_up.done_values);
  table.add("not_done_pointer", text_or_none(look_up.not_done_pointer));
  table.add("not_done_values", look_up.not_done_values);
  table.add("done", look_up.done);
  table.add("not_done", look_up.not_done);
  table.add("reference", text_or_none(look_up.reference));
  table.add("settle", write_duration(look_up.settle));
  table.add("every", write_duration(look_up.every));
  table.add("attempts", look_up.attempts);
}

void add_list(SettingsTable table, const ListDeclaration& list) {
  table.add("url", url_or_none(list.url));
  table.add("items", text_or_none(list.items));
  table.add("key", text_or_none(list.key));
  table.add("reference", text_or_none(list.reference));
  table.add("next", text_or_none(list.next));
}

void add_request(SettingsTable& table, const EndpointDeclaration& endpoint) {
  table.add("name", endpoint.name);
  table.add("url", url_or_none(endpoint.url));
  table.add("method", endpoint.method);
  add_headers(table.under("headers"), endpoint);
  table.add("content_type", endpoint.content_type);
  table.add("key_header", endpoint.key_header);
  table.add("ca_file", text_or_none(endpoint.ca_file));
  table.add("from", text_or_none(endpoint.from));
  table.add("notification", word_of(endpoint.notification));
}

void add_answers(SettingsTable& table, const EndpointDeclaration& endpoint) {
  table.add("idempotent", endpoint.idempotent);
  table.add("key_lifetime", endpoint.idempotent ? Json(write_duration(endpoint.key_lifetime)) : Json(nullptr));
  table.add("succeeded", endpoint.succeeded);
  table.add("failed", endpoint.failed);
  table.add("later", endpoint.later);
  table.add("reference", text_or_none(endpoint.reference));
  table.add("most_response_bytes", endpoint.most_response_bytes);
  if (endpoint.look_up) add_look_up(table.under("look_up"), *endpoint.look_up);
  if (endpoint.list) add_list(table.under("list"), *endpoint.list);
}

void add_pace(SettingsTable& table, const EndpointDeclaration& endpoint) {
  table.add("connect_timeout", write_duration(endpoint.connect_timeout));
  table.add("timeout", write_duration(endpoint.timeout));
  table.add("concurrency", endpoint.concurrency);
  table.add("rate", endpoint.rate == 0 ? Json(nullptr) : Json(endpoint.rate));
  add_retry(table.under("retry"), endpoint.retry);
  table.add("lease", write_duration(endpoint.lease));
  table.add("poll", write_duration(endpoint.poll));
  table.add("circuit_failures", endpoint.circuit_failures);
  table.add("circuit_pause", write_duration(endpoint.circuit_pause));
  table.add("approval", word_of(endpoint.approval));
  table.add("approval_lifetime", write_duration(endpoint.approval_lifetime));
}

}  // namespace

void add_endpoint(SettingsTable table, const EndpointDeclaration& endpoint) {
  add_request(table, endpoint);
  add_answers(table, endpoint);
  add_pace(table, endpoint);
}

void add_calls(const SettingsTable& consumer, const std::vector<CallDeclaration>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    SettingsTable table = consumer.element("call", i, fmt::format("{}", i));
    table.add("endpoint", calls[i].endpoint);
    table.add("key", calls[i].key);
    table.add("type", text_or_none(calls[i].type));
    table.add("business_key", text_or_none(calls[i].business_key));
    table.add("body", calls[i].body);
    table.add("approval", word_of(calls[i].approval));
    table.add("requested_by", text_or_none(calls[i].requested_by));
  }
}

void add_ingress(SettingsTable table, const IngressDeclaration& ingress) {
  table.add("consumers", ingress.consumers);
  table.add("token", ingress.token.empty() ? Json(nullptr) : Json("***"));
  table.add("expiry", write_duration(ingress.expiry));
  table.add("most_body_bytes", ingress.most_body_bytes);
}

}  // namespace onceward::cli
