#include "adapters/http/statuses.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/declaration/text.h"

namespace onceward::http {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Statuses::Statuses(std::initializer_list<Group> groups, Kind otherwise) : otherwise_(otherwise) {
  const auto refuse = [](const Group& group, std::string_view status, std::string_view what) {
    throw Fault(FaultCode::endpoint_refused, Poisons::connection,
                fmt::format("http: {} in {} {}", declaration::excerpt(status), group.name, what));
  };
  for (const Group& group : groups) {
    for (const std::string& status : group.statuses) {
      const bool fits = status.size() == 3 && status[0] >= '1' && status[0] <= '5';
      const bool is_class = fits && status.ends_with("xx");
      if (!is_class && !(fits && is_digit(status[1]) && is_digit(status[2]))) {
        refuse(group, status, "is no status; write \"404\", or \"2xx\" for all of a class");
      }
      const int hundreds = status[0] - '0';
      std::optional<Kind>& place =
          is_class ? classes_[static_cast<std::size_t>(hundreds)]
                   : single_[static_cast<std::size_t>(hundreds * 100 + (status[1] - '0') * 10 + (status[2] - '0'))];
      if (place && *place != group.kind) refuse(group, status, "already means something else");
      place = group.kind;
    }
  }
}

Statuses::Kind Statuses::of(int status) const {
  if (status < first || status >= end) return otherwise_;
  const auto& single = single_[static_cast<std::size_t>(status)];
  return single ? *single : classes_[static_cast<std::size_t>(status / 100)].value_or(otherwise_);
}

}  // namespace onceward::http
