// What an exchange over HTTP says about a call, and about the question what became of one.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "adapters/curl/transfer.h"
#include "adapters/http/statuses.h"
#include "onceward/port/endpoint.h"

namespace onceward::http {

// Surely not sent only where libcurl says that nothing was written; definite only where the answer came to its end, and its status
// is declared; else unknown. An answer that was cut off says nothing, whatever its status: it may be the work of somebody between.
// So may a 503 that does not say when to come again, after the request was passed on. And where libcurl has made the request again,
// all but a yes is about the second: the first may have been done.
EndpointAnswer::Kind classify_call(const curl::Ending& ending, const Statuses& statuses);
EndpointAnswer::Kind classify_look_up(const curl::Ending& ending, const Statuses& statuses);

inline constexpr std::chrono::hours longest_retry_after{24};
// When to come again, of an answer that said so; no later than that.
std::optional<std::chrono::milliseconds> retry_after(const curl::Ending& ending);

// For people: the status or the kind of trouble, never what was answered.
std::string why(const curl::Transfer& transfer);

}  // namespace onceward::http
