// Whatever our JSON reader accepts, it reads again from what was written of it; and it can be identified or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "onceward/claim.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = once::read_json_envelope(once::Bytes::copy_of(text));
  if (const auto* refusal = std::get_if<once::Refusal>(&read)) {
    ONCEWARD_REQUIRE(!once::code(refusal->reason).empty());
    return 0;
  }
  const auto& envelope = std::get<once::Envelope>(read);
  const auto again = once::read_json_envelope(once::Bytes::copy_of(once::write_json_envelope(envelope)));
  ONCEWARD_REQUIRE(std::holds_alternative<once::Envelope>(again));
  ONCEWARD_REQUIRE(std::get<once::Envelope>(again) == envelope);
  ONCEWARD_REQUIRE(once::Envelope::copy_of(envelope.fields()) == envelope);

  once::Declaration declaration;
  declaration.name = "fuzzed";
  declaration.identity.hash.canonical_json = true;
  declaration.identity.hash.volatile_fields = {"/a", "/b/0", "/c~1d/e"};
  declaration.identity.operation = once::OperationPolicy{"operation", once::FromPayload{"/a/b"}};
  declaration.identity.missing_id_uses_operation = true;
  const auto claimant = once::identify(envelope, declaration);
  if (const auto* claimed = std::get_if<once::Claimant>(&claimant)) {
    const std::string_view id = claimed->id;
    ONCEWARD_REQUIRE(!id.empty() && id.size() <= declaration.limits.id_bytes);
    ONCEWARD_REQUIRE(id.find('\0') == std::string_view::npos);
  }
  return 0;
}
