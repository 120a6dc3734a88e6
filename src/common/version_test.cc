#include "onceward/version.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace onceward {
namespace {

TEST(Version, HasThreeNumbers) {
  EXPECT_TRUE(std::regex_match(std::string(version()), std::regex(R"(\d+\.\d+\.\d+)"))) << version();
}

}  // namespace
}  // namespace onceward
