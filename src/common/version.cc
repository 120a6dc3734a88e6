#include "onceward/version.h"

namespace onceward {

std::string_view version() { return ONCEWARD_VERSION; }

}  // namespace onceward
