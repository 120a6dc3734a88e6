// External systems that are called over HTTP. docs/reference/endpoints.md describes the declaration and how answers are read.
#pragma once

#include <memory>

#include "onceward/endpoint_declaration.h"
#include "onceward/log.h"
#include "onceward/port/endpoint.h"

namespace onceward {

// Connects to nobody yet. Throws Fault(endpoint_refused) for a declaration that cannot be meant; no message repeats a header's value
// or more of a URL than its host. The log must outlive the endpoint.
std::unique_ptr<Endpoint> open_http(const EndpointDeclaration& declaration, Log& log = silent_log());

}  // namespace onceward
