// A time that is read can be written, and is then read as the same time.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/common/timestamp.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto time = once::read_timestamp(text)) {
    ONCEWARD_REQUIRE(once::writable(*time));
    ONCEWARD_REQUIRE(once::read_timestamp(once::write_timestamp(*time)) == time);
  }
  return 0;
}
