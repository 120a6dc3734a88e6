#include "adapters/smtp/classify.h"

#include <fmt/format.h>

namespace onceward::smtp {

EndpointAnswer::Kind classify(const curl::Ending& ending) {
  using Kind = EndpointAnswer::Kind;
  constexpr int go_on = 354;
  if (ending.code == CURLE_OK) return ending.status / 100 == 2 ? Kind::succeeded : Kind::unknown;
  if (ending.requests == 0) return Kind::not_sent;
  if (ending.status / 100 == 5) return Kind::failed;
  if (ending.status / 100 == 4) return Kind::later;
  const bool begun = ending.status == go_on || ending.uploaded_bytes > 0;
  return begun ? Kind::unknown : Kind::not_sent;
}

std::string why(const curl::Transfer& transfer) {
  const curl::Ending& ending = transfer.ending();
  switch (classify(ending)) {
    case EndpointAnswer::Kind::failed:
    case EndpointAnswer::Kind::later:
      return fmt::format("SMTP {}", ending.status);
    case EndpointAnswer::Kind::not_sent:
      return "nothing was sent: " + transfer.trouble();
    default:
      return "no reply to the message: " + transfer.trouble();
  }
}

}  // namespace onceward::smtp
