#include "adapters/http/request.h"

#include <fmt/format.h>

#include "adapters/curl/limits.h"
#include "onceward/version.h"
#include "src/declaration/text.h"

namespace onceward::http {
namespace {

using Asked = EndpointRequest::Kind;

constexpr std::size_t most_key_bytes = 1024;

// A call is made again only by the dispatcher, unless the other side knows its key. Questions change nothing.
bool may_repeat(const Plan& plan, Asked kind) { return kind == Asked::look_up || plan.declaration.idempotent; }

void add_context(HttpTransfer& transfer, std::string_view name, std::string_view value) {
  if (declaration::wrong_with_text(value, declaration::most_text_bytes)) return;  // nobody needs it as much as the call
  transfer.add_header(fmt::format("{}: {}", name, value));
}

void add_contexts(HttpTransfer& transfer, const EndpointRequest& request) {
  add_context(transfer, "X-Correlation-ID", request.correlation_id);
  add_context(transfer, "traceparent", request.trace_parent);
}

}  // namespace

HttpTransfer::HttpTransfer(const Plan& plan, Asked of)
    : Transfer(plan.declaration,
               {.response_bytes = plan.declaration.most_response_bytes, .may_repeat = may_repeat(plan, of)}),
      kind(of) {
  static const std::string agent = fmt::format("onceward/{}", version());
  curl::set(easy(), CURLOPT_PROTOCOLS_STR, "http,https");
  // One request a connection at a time, so that what happens to one has one meaning; and no library in between that asks again.
  curl::set(easy(), CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl::set(easy(), CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));  // any other asks first and sends again
  curl::set(easy(), CURLOPT_USERAGENT, agent.c_str());
  if (!may_repeat(plan, of)) {
    use_no_other_connection();
    add_header("Connection: close");
  }
  for (const std::string& line : plan.headers) add_header(line);
}

void HttpTransfer::ask_for(const std::string& url) {
  curl::set(easy(), CURLOPT_URL, url.c_str());
  curl::set(easy(), CURLOPT_PATH_AS_IS, 1L);
  curl::set(easy(), CURLOPT_HTTPGET, 1L);
  use_headers();
}

void HttpTransfer::send(std::string_view body, const std::string& method) {
  body_ = body;
  curl::set(easy(), CURLOPT_POST, 1L);
  curl::set(easy(), CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body_.size()));
  curl::set(easy(), CURLOPT_POSTFIELDS, body_.data());
  if (method != "POST") curl::set(easy(), CURLOPT_CUSTOMREQUEST, method.c_str());
  use_headers();
}

std::variant<std::unique_ptr<HttpTransfer>, std::string> new_call(const Plan& plan, const EndpointRequest& request) {
  const EndpointDeclaration& declared = plan.declaration;
  if (declaration::wrong_with_text(request.key, most_key_bytes)) {
    return fmt::format(
        "the key cannot be a header: it is empty, longer than {} bytes, or has a control character or a space at an end",
        most_key_bytes);
  }
  if (request.body.size() > curl::most_request_bytes) {
    return fmt::format("the body has {} bytes; the limit is {}", request.body.size(), curl::most_request_bytes);
  }
  auto call = std::make_unique<HttpTransfer>(plan, Asked::call);
  curl::set(call->easy(), CURLOPT_URL, declared.url.c_str());
  call->add_header("Expect:");  // else a large body waits for a leave to be sent that many servers never give
  call->add_header(fmt::format("{}: {}", declared.key_header, request.key));
  call->add_header("Content-Type: " + declared.content_type);
  add_contexts(*call, request);
  call->send(request.body, declared.method);
  return call;
}

std::variant<std::unique_ptr<HttpTransfer>, std::string> new_look_up(const Plan& plan, const EndpointRequest& request) {
  const auto url = plan.look_up->url.filled({request.key, request.external_ref, request.business_key});
  if (!url) return "the look-up's URL needs what is not known of this call, or cannot stand in a URL";
  auto look_up = std::make_unique<HttpTransfer>(plan, Asked::look_up);
  add_contexts(*look_up, request);
  look_up->ask_for(*url);
  return look_up;
}

std::unique_ptr<HttpTransfer> new_page(const Plan& plan, const std::string& url) {
  auto page = std::make_unique<HttpTransfer>(plan, Asked::look_up);
  page->ask_for(url);
  return page;
}

}  // namespace onceward::http
