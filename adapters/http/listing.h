// The other side's own list of what it has done, page by page.
#pragma once

#include <vector>

#include "adapters/http/plan.h"
#include "onceward/port/endpoint.h"

namespace onceward::http {

inline constexpr std::size_t most_pages = 1'000;
inline constexpr std::size_t most_items = 500'000;

// All since then. Pages come from one host only: a link to another one would get our credentials. Throws as Endpoint::list().
std::vector<EndpointRecord> list(const Plan& plan, Timestamp since);

}  // namespace onceward::http
