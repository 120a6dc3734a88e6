#include "src/common/utf8.h"

#include <simdjson.h>

namespace onceward {

bool valid_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

}  // namespace onceward
