// Mail, handed to a server over SMTP. docs/reference/endpoints.md describes the declaration, the body of a call, and how a server's
// replies are read.
#pragma once

#include <memory>

#include "onceward/endpoint_declaration.h"
#include "onceward/log.h"
#include "onceward/port/endpoint.h"

namespace onceward {

// Connects to nobody yet. A call's body is JSON: {"to": text or array of texts, "subject": text, "text": text}. The Message-ID is a
// function of the endpoint's name and the key, and so the same on every attempt. Throws Fault(endpoint_refused) for a declaration
// that cannot be meant; no message repeats more of a URL than its host. The log must outlive the endpoint.
std::unique_ptr<Endpoint> open_smtp(const EndpointDeclaration& declaration, Log& log = silent_log());

}  // namespace onceward
