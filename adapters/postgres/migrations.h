#pragma once

#include <span>

#include "src/unit/migration.h"

namespace onceward::postgres {

std::span<const Migration> migrations();

}  // namespace onceward::postgres
