#include "adapters/http/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "adapters/curl/limits.h"
#include "src/common/json_pointer.h"
#include "src/declaration/text.h"

namespace onceward::http {
namespace {

using Kind = EndpointAnswer::Kind;

constexpr std::array<std::string_view, 4> methods{"POST", "PUT", "PATCH", "DELETE"};
// What frames a request is libcurl's business, and a second key would be another call.
constexpr std::array<std::string_view, 8> not_theirs{
    "host", "content-length", "transfer-encoding", "connection", "expect", "upgrade", "te", "trailer"};
constexpr std::size_t most_headers = 50, most_header_bytes = 8192;

Fault refused(std::string_view what) { return curl::refused("http", what); }

bool same_name(std::string_view left, std::string_view right) {
  return left.size() == right.size() && strncasecmp(left.data(), right.data(), left.size()) == 0;
}

// RFC 9110, a token.
bool is_field_name(std::string_view name) {
  return !name.empty() && name.size() <= declaration::most_text_bytes && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

Pointer pointer_of(std::string_view name, const std::string& text) {
  auto tokens = pointer_tokens(text);
  if (!tokens) throw refused(fmt::format("{} is no JSON pointer; write \"/name\", or \"/data/0/id\"", name));
  return std::move(*tokens);
}
std::optional<Pointer> optional_pointer(std::string_view name, const std::string& text) {
  if (text.empty()) return std::nullopt;
  return pointer_of(name, text);
}

void check_header(const std::string& name, const std::string& value, const std::string& key_header) {
  if (!is_field_name(name)) throw refused("the name of a header has characters that none may have");
  const auto is_name = [&](std::string_view other) { return same_name(name, other); };
  if (same_name(name, "content-type")) throw refused("the type of the content is declared by content_type");
  if (is_name(key_header)) throw refused(fmt::format("{} is sent by itself: it is the key_header", name));
  if (std::ranges::any_of(not_theirs, is_name)) throw refused(fmt::format("{} cannot be declared", name));
  if (!value.empty() && declaration::wrong_with_text(value, most_header_bytes)) {
    throw refused(fmt::format(
        "the value of the header {} has a control character or a space at an end, or is longer than {} bytes", name,
        most_header_bytes));
  }
}

std::vector<std::string> header_lines(const EndpointDeclaration& declaration) {
  if (declaration.headers.size() > most_headers) throw refused(fmt::format("more than {} headers", most_headers));
  if (!is_field_name(declaration.key_header)) throw refused("key_header is no name of a header");
  std::vector<std::string> lines;
  for (const auto& [name, value] : declaration.headers) {
    check_header(name, value, declaration.key_header);
    lines.push_back(value.empty() ? name + ";" : name + ": " + value);
  }
  return lines;
}

curl::UrlTemplate template_of(std::string_view name, const std::string& url,
                              const std::vector<std::string_view>& names) {
  auto read = curl::UrlTemplate::read(url, names);
  if (!read) {
    throw refused(
        fmt::format("{} is no URL of HTTP; behind the host it may hold {{{}}}", name, fmt::join(names, "}, {")));
  }
  return std::move(*read);
}

LookUpPlan look_up_plan(const LookUpDeclaration& declared) {
  const std::vector<std::string_view> names{"key", "reference", "business_key"};
  LookUpPlan plan{.url = template_of("look_up.url", declared.url, names),
                  .statuses = Statuses({{"look_up.done", declared.done, Kind::done},
                                        {"look_up.not_done", declared.not_done, Kind::not_done}},
                                       Kind::still_unknown),
                  .done_pointer = optional_pointer("look_up.done_pointer", declared.done_pointer),
                  .not_done_pointer = pointer_of("look_up.not_done_pointer", declared.not_done_pointer),
                  .reference = optional_pointer("look_up.reference", declared.reference)};
  if (std::ranges::none_of(names, [&](std::string_view name) { return plan.url.has(name); })) {
    throw refused("look_up.url asks for no call in particular; write {key}, {reference} or {business_key} into it");
  }
  if (declared.done_pointer.empty() != declared.done_values.empty()) {
    throw refused(
        "look_up.done_pointer and look_up.done_values belong together: without values anything would be done");
  }
  if (declared.done_values.empty() && !declared.not_done_values.empty()) {
    throw refused("look_up.not_done_values need look_up.done_values: else any other answer would be done");
  }
  if (std::ranges::find_first_of(declared.done_values, declared.not_done_values) != declared.done_values.end()) {
    throw refused("look_up.done_values and look_up.not_done_values have a value in common");
  }
  return plan;
}

ListPlan list_plan(const ListDeclaration& declared) {
  return {.url = template_of("list.url", declared.url, {"since"}),
          .items = pointer_of("list.items", declared.items),
          .key = pointer_of("list.key", declared.key),
          .reference = optional_pointer("list.reference", declared.reference),
          .next = optional_pointer("list.next", declared.next)};
}

}  // namespace

Plan read_plan(const EndpointDeclaration& declaration) {
  const auto url = curl::Url::read(declaration.url);
  if (!url || (url->scheme() != "http" && url->scheme() != "https")) {
    throw refused("a URL is written https://host:port/path, or http:// without TLS");
  }
  curl::check_limits("http", declaration);
  if (std::ranges::find(methods, declaration.method) == methods.end()) {
    throw refused(fmt::format("the method is one of {}", fmt::join(methods, ", ")));
  }
  if (declaration::wrong_with_text(declaration.content_type, declaration::most_text_bytes)) {
    throw refused("content_type is no type of content");
  }
  Plan plan{.declaration = declaration,
            .place = url->place(),
            .statuses = Statuses({{"succeeded", declaration.succeeded, Kind::succeeded},
                                  {"failed", declaration.failed, Kind::failed},
                                  {"later", declaration.later, Kind::later}},
                                 Kind::unknown),
            .headers = header_lines(declaration),
            .reference = optional_pointer("reference", declaration.reference),
            .look_up = std::nullopt,
            .list = std::nullopt};
  if (declaration.look_up) plan.look_up = look_up_plan(*declaration.look_up);
  if (declaration.list) plan.list = list_plan(*declaration.list);
  return plan;
}

}  // namespace onceward::http
