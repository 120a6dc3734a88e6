// What a text must be to serve as an identity.
#pragma once

#include <optional>
#include <string_view>

#include "onceward/refusal.h"

namespace onceward {

// Nothing where the text may be an id: not empty, at most `most_bytes`, valid UTF-8, no NUL, no control character, no
// space at either end. `malformed` is the reason for what has no reason of its own. Two texts that a person takes for
// one id would be two ids, so what cannot be seen is not let in.
std::optional<Reason> id_fault(std::string_view text, std::size_t most_bytes, Reason malformed);

}  // namespace onceward
