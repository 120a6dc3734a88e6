#include <fmt/format.h>

#include "onceward/declaration.h"

namespace onceward {
namespace {

std::string place_and_message(const Mistake& mistake) {
  std::string text;
  if (mistake.line != 0) text += fmt::format("{}:{}:{}: ", mistake.file, mistake.line, mistake.column);
  if (!mistake.key.empty()) text += mistake.key + ": ";
  return text + mistake.message;
}

}  // namespace

std::string to_string(const Mistake& mistake) {
  const std::string text = place_and_message(mistake);
  return mistake.hint.empty() ? text : fmt::format("{} ({})", text, mistake.hint);
}

std::string to_string(std::span<const Mistake> mistakes) {
  std::string text;
  for (const Mistake& mistake : mistakes) {
    text += place_and_message(mistake) + "\n";
    if (!mistake.hint.empty()) text += fmt::format("  hint: {}\n", mistake.hint);
  }
  if (!mistakes.empty()) text += fmt::format("{} mistake{}\n", mistakes.size(), mistakes.size() == 1 ? "" : "s");
  return text;
}

}  // namespace onceward
