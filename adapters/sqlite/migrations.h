#pragma once

#include <span>

#include "src/unit/migration.h"

namespace onceward::sqlite {

std::span<const Migration> migrations();

}  // namespace onceward::sqlite
