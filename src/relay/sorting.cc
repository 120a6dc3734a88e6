#include "src/relay/sorting.h"

#include <utility>

namespace onceward::relay {

Sorting::Sorting(const RelayOptions& options, Departures& departures, StoppedKeys& stopped)
    : options_(options),
      departures_(departures),
      stopped_(stopped),
      routes_(options_.routes, options_.targets.size()) {}

Targets::Parcels Sorting::sort(std::vector<OutboxRow> rows, bool again, const Targets::Names& away) {
  Targets::Parcels parcels(options_.targets.size());
  StoppedKeys held;  // of those that have waited: by a row that is in front of them here
  if (routes_.any_ordered()) order_by_version(rows);
  for (OutboxRow& row : rows) {
    const RelayRoute* const route = routes_.find(row.type);
    if (route == nullptr) {
      departures_.set_back(row, false, {}, Setback::Why::no_route, "no route has its type");
      continue;
    }
    const bool ordered = route->ordered && !row.key.empty();
    const std::string_view target = options_.targets[route->target].name;
    if (ordered && (again ? held : stopped_).contains(row.key)) {
      departures_.set_back(row, true, target, Setback::Why::behind);
    } else if (away.contains(target)) {
      departures_.set_back(row, ordered, target, Setback::Why::away);
      if (ordered) held.add(row.key), stopped_.add(row.key);
    } else {
      const std::uint64_t number = departures_.add(row, ordered, target);
      const std::string_view key = Routes::key_of(*route, row);
      parcels[route->target].push_back({number, std::move(row), route->destination, key, ordered, again});
    }
  }
  return parcels;
}

}  // namespace onceward::relay
