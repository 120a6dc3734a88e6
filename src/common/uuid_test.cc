#include "src/common/uuid.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cctype>

#include "src/common/hex.h"

namespace onceward {
namespace {

RC_GTEST_PROP(ReadUuid, ReadsWhatIsWrittenInEitherCase, (const std::array<unsigned char, 16>& bytes)) {
  std::string text = to_uuid(bytes);
  RC_ASSERT(read_uuid(text) == bytes);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  RC_ASSERT(read_uuid(text) == bytes);
}

TEST(ReadUuid, RefusesEveryOtherSpelling) {
  const std::string good = "6e9bca2c-6a31-4d0f-9e29-0f8c0c5ad3a1";
  ASSERT_TRUE(read_uuid(good));
  for (const std::string& text : {std::string(), good + "0", good.substr(1), "{" + good + "}", "urn:uuid:" + good,
                                  std::string("6e9bca2c6a314d0f9e290f8c0c5ad3a1")})
    EXPECT_FALSE(read_uuid(text)) << text;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char c : {'g', 'G', ' ', '-', '_', '/', ':', '@', '`', '\x10', '\xc3'}) {
      std::string text = good;
      if (text[at] == c) continue;
      text[at] = c;
      EXPECT_FALSE(read_uuid(text)) << text;
    }
  }
}

}  // namespace
}  // namespace onceward
