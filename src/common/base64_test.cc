#include "src/common/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace onceward {
namespace {

TEST(Base64, GivesTheVectorsOfTheRfc) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, RefusesAnythingButTheOneSpelling) {
  for (const std::string_view text :
       {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm-_", "=", "====", "Z===", "Zg==Zg==", "Zm9vY"}) {
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(Base64, IsReadBackAsItWasWritten, (const std::string& bytes)) {
  RC_ASSERT(from_base64(to_base64(bytes)) == bytes);
}

}  // namespace
}  // namespace onceward
