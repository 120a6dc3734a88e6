#include "adapters/http/classify.h"

#include <fmt/format.h>

#include <algorithm>

namespace onceward::http {

EndpointAnswer::Kind classify_call(const curl::Ending& ending, const Statuses& statuses) {
  if (!ending.may_have_been_seen()) return EndpointAnswer::Kind::not_sent;
  if (ending.code != CURLE_OK) return EndpointAnswer::Kind::unknown;
  return statuses.of(ending.status);
}

EndpointAnswer::Kind classify_look_up(const curl::Ending& ending, const Statuses& statuses) {
  if (ending.code != CURLE_OK) return EndpointAnswer::Kind::still_unknown;
  return statuses.of(ending.status);
}

std::optional<std::chrono::milliseconds> retry_after(const curl::Ending& ending) {
  if (ending.retry_after.count() <= 0) return std::nullopt;
  return std::min<std::chrono::milliseconds>(ending.retry_after, longest_retry_after);
}

std::string why(const curl::Transfer& transfer) {
  const curl::Ending& ending = transfer.ending();
  if (!ending.may_have_been_seen()) return "nothing was sent: " + transfer.trouble();
  if (ending.code == CURLE_OK) return fmt::format("HTTP {}", ending.status);
  const std::string after = ending.status > 0 ? fmt::format(" after HTTP {}", ending.status) : "";
  if (ending.cut) return fmt::format("the answer is longer than most_response_bytes{}", after);
  return fmt::format("no complete answer{}: {}", after, transfer.trouble());
}

}  // namespace onceward::http
