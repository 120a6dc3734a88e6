// Any text offered as an id is refused or makes a key of its scheme's kind; base 64 and pointers are read or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/common/base64.h"
#include "src/common/json_pointer.h"
#include "src/envelope/identity_text.h"
#include "src/envelope/key.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool usable = !once::id_fault(text, 255, once::Reason::malformed_message_id);
  for (const auto scheme : {once::KeyScheme::hash, once::KeyScheme::uuidv7, once::KeyScheme::ulid}) {
    const auto made = once::message_key(scheme, once::Tenant(), "fuzzed", once::Producer("p"), text);
    const auto* key = std::get_if<once::Key>(&made);
    ONCEWARD_REQUIRE(key || scheme != once::KeyScheme::hash);
    if (!key) continue;
    ONCEWARD_REQUIRE(once::time_of(*key).has_value() == (scheme != once::KeyScheme::hash));
    ONCEWARD_REQUIRE(scheme == once::KeyScheme::hash || usable);
  }
  if (const auto bytes = once::from_base64(text)) ONCEWARD_REQUIRE(once::to_base64(*bytes) == text);
  if (const auto tokens = once::pointer_tokens(text)) ONCEWARD_REQUIRE(tokens->empty() == text.empty());
  return 0;
}
