// Our slots by how far they have been read. Those that are behind the others go first, until they have caught up.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "src/relay/pages.h"

namespace onceward::relay {

class Cohorts {
 public:
  struct Next {
    std::vector<int> slots;
    Page page;
  };

  void start_anew(const std::map<int, Place>& places);
  // The next page, of those that stand where it begins; nothing if nothing has been committed since the last one.
  std::optional<Next> read(Pages& pages, int most);

 private:
  std::map<Place, std::vector<int>> by_place_;
};

}  // namespace onceward::relay
