#pragma once

#include <span>
#include <string_view>

namespace onceward::sqlite {

struct Migration {
  int number;
  std::string_view name;
  std::string_view sql;  // several statements; they run with their row in onceward_migration as one transaction
};

std::span<const Migration> migrations();

}  // namespace onceward::sqlite
