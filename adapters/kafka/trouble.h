// What librdkafka says is wrong, in one line and as one of the two faults of a port.
#pragma once

#include <librdkafka/rdkafka.h>

#include <string>
#include <string_view>
#include <vector>

#include "onceward/fault.h"

namespace onceward::kafka {

// The two faults of the port that a client serves.
struct PortFaults {
  FaultCode unavailable;
  FaultCode refused;
};
inline constexpr PortFaults source_faults{FaultCode::source_unavailable, FaultCode::source_refused};
inline constexpr PortFaults publisher_faults{FaultCode::publisher_unavailable, FaultCode::publisher_refused};

struct Trouble {
  enum class Kind : std::uint8_t {
    unreachable,  // it may come back by itself
    busy,         // the same, and the brokers are there: a coordinator that moves, a rebalance
    login,        // these need somebody
    tls,
    permission,
    protocol,
    no_topic,
    other,
  };
  Kind kind = Kind::other;
  std::string text;
  bool guessed = false;  // a connection that ends so may also be that of a broker that is shutting down

  bool needs_somebody() const {
    return kind == Kind::login || kind == Kind::tls || kind == Kind::permission || kind == Kind::protocol ||
           kind == Kind::no_topic;
  }
};

// `reason` is librdkafka's own text, which is shown without the secrets; empty: that of the error.
Trouble trouble_of(rd_kafka_resp_err_t error, std::string_view reason, const std::vector<std::string>& secrets = {});

// librdkafka's text with *** for these. A short one would show by what is missing: then none of the text is left.
std::string without_secrets(std::string text, const std::vector<std::string>& secrets);

}  // namespace onceward::kafka
