// What SQLite tells us, as Faults: by extended result code, never by the text of a message.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "onceward/fault.h"

namespace onceward::sqlite {

// At prepare SQLite's own message names tables, columns and keywords; later it may hold a value, and is left out.
enum class During { prepare, run };

// For the error that `handle` has just answered.
Fault fault_of(sqlite3* handle, During during);
Fault fault_of(int extended_code, std::string_view detail = {});

}  // namespace onceward::sqlite
