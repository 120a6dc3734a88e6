// What a declaration may ask of an endpoint that is reached by libcurl, whatever its protocol.
#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>

#include "onceward/endpoint_declaration.h"
#include "onceward/fault.h"

namespace onceward::curl {

inline constexpr std::size_t most_concurrency = 1'000;
inline constexpr std::size_t most_response_bytes = 64u << 20;
inline constexpr std::size_t most_request_bytes = 16u << 20;
inline constexpr std::chrono::milliseconds longest_timeout = std::chrono::minutes(10);
// Between the end of a time-out and the turn of the loop that sees it.
inline constexpr std::chrono::milliseconds timeout_slack = std::chrono::seconds(1);

// `kind` begins the message: "http".
Fault refused(std::string_view kind, std::string_view what);

// Throws Fault(endpoint_refused) for what passes a limit, and for a ca_file that cannot be read.
void check_limits(std::string_view kind, const EndpointDeclaration& declaration);

}  // namespace onceward::curl
