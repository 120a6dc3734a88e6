// Any bytes as a file: read or refused, every mistake with a place, a message and a hint, and nothing that looks like a
// password in any of them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "onceward/declaration.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view toml(reinterpret_cast<const char*>(data), size);
  const auto result = onceward::read_application(toml, "app.toml");
  if (const auto* application = std::get_if<onceward::Application>(&result)) {
    for (const onceward::Declaration& consumer : application->consumers)
      if (!onceward::check(consumer).empty()) std::abort();  // what was read without mistakes has none
    return 0;
  }
  const auto& mistakes = std::get<std::vector<onceward::Mistake>>(result);
  if (mistakes.empty()) std::abort();
  for (const onceward::Mistake& mistake : mistakes) {
    if (mistake.line == 0 || mistake.column == 0 || mistake.message.empty()) std::abort();
    if (onceward::to_string(mistake).find(":hunter2@") != std::string::npos) std::abort();
  }
  return 0;
}
