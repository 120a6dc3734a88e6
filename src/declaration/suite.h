// What tests of a file say of it: what is read, and its one mistake.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onceward/declaration.h"

namespace onceward::files {

inline Application read(std::string_view toml) {
  auto result = read_application(toml, "app.toml");
  if (const auto* mistakes = std::get_if<std::vector<Mistake>>(&result)) ADD_FAILURE() << to_string(*mistakes);
  return std::get<Application>(std::move(result));
}

inline std::vector<Mistake> mistakes_in(std::string_view toml) {
  auto result = read_application(toml, "app.toml");
  return result.index() == 0 ? std::vector<Mistake>() : std::get<1>(std::move(result));
}

struct Case {
  std::string_view toml;
  std::uint32_t line;
  std::uint32_t column;
  std::string_view key;
  std::string_view message;
  std::string_view hint;
};

inline void expect_one_mistake(const Case& wrong, std::string_view before) {
  SCOPED_TRACE(wrong.toml);
  const auto mistakes = mistakes_in(std::string(before) + std::string(wrong.toml));
  ASSERT_EQ(mistakes.size(), 1u) << to_string(mistakes);
  EXPECT_EQ(mistakes[0].file, "app.toml");
  EXPECT_EQ(mistakes[0].line, wrong.line);
  EXPECT_EQ(mistakes[0].column, wrong.column);
  EXPECT_EQ(mistakes[0].key, wrong.key);
  EXPECT_THAT(mistakes[0].message, testing::HasSubstr(std::string(wrong.message)));
  EXPECT_THAT(mistakes[0].hint, testing::HasSubstr(std::string(wrong.hint)));
}

}  // namespace onceward::files
