#include "adapters/http/classify.h"

#include <fmt/format.h>

#include <algorithm>

namespace onceward::http {

EndpointAnswer::Kind classify_call(const curl::Ending& ending, const Statuses& statuses) {
  using Kind = EndpointAnswer::Kind;
  if (!ending.may_have_been_seen()) return Kind::not_sent;
  if (ending.code != CURLE_OK) return Kind::unknown;
  const Kind kind = statuses.of(ending.status);
  if (ending.requests > 1 && kind != Kind::succeeded) return Kind::unknown;
  const bool of_a_server = ending.status >= 500;
  if (kind == Kind::later && of_a_server && !retry_after(ending)) return Kind::unknown;
  return kind;
}

EndpointAnswer::Kind classify_look_up(const curl::Ending& ending, const Statuses& statuses) {
  using Kind = EndpointAnswer::Kind;
  if (!ending.may_have_been_seen()) return Kind::not_sent;
  if (ending.code != CURLE_OK) return Kind::still_unknown;
  const Kind kind = statuses.of(ending.status);
  const bool put_off = ending.status == 429 || ending.status == 503;
  return kind == Kind::still_unknown && put_off ? Kind::later : kind;
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
