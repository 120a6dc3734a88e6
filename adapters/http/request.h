// Requests over HTTP, ready to go.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "adapters/curl/transfer.h"
#include "adapters/http/plan.h"
#include "onceward/port/endpoint.h"

namespace onceward::http {

class HttpTransfer final : public curl::Transfer {
 public:
  HttpTransfer(const Plan& plan, EndpointRequest::Kind kind);

  void ask_for(const std::string& url);
  void send(std::string_view body, const std::string& method);
  void add_header(const std::string& line) { headers_.add(line); }
  void use_headers() { curl::set(easy(), CURLOPT_HTTPHEADER, headers_.get()); }

  const EndpointRequest::Kind kind;

 private:
  curl::Lines headers_;
  std::string body_;
};

// A call, or why it can never be made.
std::variant<std::unique_ptr<HttpTransfer>, std::string> new_call(const Plan& plan, const EndpointRequest& request);
// The question what became of a call, or why it cannot be asked. Only of a plan with a look-up.
std::variant<std::unique_ptr<HttpTransfer>, std::string> new_look_up(const Plan& plan, const EndpointRequest& request);
// A page of a list.
std::unique_ptr<HttpTransfer> new_page(const Plan& plan, const std::string& url);

}  // namespace onceward::http
