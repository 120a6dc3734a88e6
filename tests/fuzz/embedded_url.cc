// Any text is a queue's options within their limits, or is refused with a line that says what to do.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "onceward/adapter/embedded.h"
#include "tests/fuzz/require.h"

namespace once = onceward;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const once::EmbeddedOptions options = once::read_embedded_url(text);
    ONCEWARD_REQUIRE(!options.path.empty() && options.path.find('\0') == std::string::npos);
    ONCEWARD_REQUIRE(!options.queue.empty() && options.queue.size() <= 100);
    ONCEWARD_REQUIRE(options.visibility >= once::EmbeddedOptions::least_visibility);
    ONCEWARD_REQUIRE(options.visibility <= once::EmbeddedOptions::most_visibility);
    ONCEWARD_REQUIRE(options.disturbance.duplicates >= 0);
    ONCEWARD_REQUIRE(options.disturbance.duplicates <= once::Disturbance::most_duplicates);
    ONCEWARD_REQUIRE(options.disturbance.reorder <= once::Disturbance::most_reorder);
  } catch (const once::Fault& fault) {
    ONCEWARD_REQUIRE(fault.fault() == once::FaultCode::source_refused);
    ONCEWARD_REQUIRE(!std::string_view(fault.what()).empty());
  }
  return 0;
}
