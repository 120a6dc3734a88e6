// A declaration of an HTTP endpoint, checked once and read into what every exchange needs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/curl/url.h"
#include "adapters/http/answer.h"
#include "adapters/http/statuses.h"
#include "onceward/endpoint_declaration.h"

namespace onceward::http {

struct LookUpPlan {
  curl::UrlTemplate url;  // of key, reference, business_key
  Statuses statuses;
  std::optional<Pointer> done_pointer;
  Pointer not_done_pointer;  // none: the whole answer
  std::optional<Pointer> reference;
};

struct ListPlan {
  curl::UrlTemplate url;  // of since
  Pointer items, key;
  std::optional<Pointer> reference, next;
};

struct Plan {
  EndpointDeclaration declaration;
  std::string place;  // scheme://host:port
  Statuses statuses;
  std::vector<std::string> headers;  // of every request
  std::optional<Pointer> reference;
  std::optional<LookUpPlan> look_up;
  std::optional<ListPlan> list;
};

// Throws Fault(endpoint_refused), which repeats no value of a header and no URL.
Plan read_plan(const EndpointDeclaration& declaration);

}  // namespace onceward::http
