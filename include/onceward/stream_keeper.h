// A store as the keeper of a source's streams, for a consumer with offsets = "store".
#pragma once

#include <functional>
#include <memory>

#include "onceward/port/store.h"

namespace onceward {

// Opens a store of its own when it is first asked: it belongs to the source's thread, the worker's to the worker's. The
// declaration is copied.
std::unique_ptr<StreamKeeper> keep_streams(std::function<std::unique_ptr<Store>()> open,
                                           const Declaration& declaration);

}  // namespace onceward
