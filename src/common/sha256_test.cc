#include "src/common/sha256.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "src/common/hex.h"

namespace onceward {
namespace {

TEST(Sha256, GivesTheKnownAnswersOfTheStandard) {
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

// Made with another implementation (Python's hashlib over struct.pack(">I", length) + bytes).
TEST(Sha256OfFields, GivesKnownAnswersAroundTheSizeOfItsBuffer) {
  EXPECT_EQ(to_hex(sha256_of_fields({"", ""})), "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc");
  EXPECT_EQ(to_hex(sha256_of_fields({std::string(508, 'x'), std::string(4, 'y')})),
            "700f948ad6ae525cd8929378342e77825f7030127f6ce4b934a8866966b7e017");
  EXPECT_EQ(to_hex(sha256_of_fields({std::string(600, 'a'), "b", ""})),
            "d3c4f8f72d385a94babfd63679656eac8128609f5e622843c6b1c31b3518527c");
}

TEST(Sha256OfFields, TellsWhereOneFieldEndsAndTheNextBegins) {
  EXPECT_NE(sha256_of_fields({"ab", "c"}), sha256_of_fields({"a", "bc"}));
  EXPECT_NE(sha256_of_fields({"a", ""}), sha256_of_fields({"", "a"}));
  EXPECT_NE(sha256_of_fields({"a"}), sha256_of_fields({"a", ""}));
}

std::string prefixed(const std::string& field) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(field.size() >> shift);
  return bytes + field;
}

RC_GTEST_PROP(Sha256OfFields, IsTheDigestOfThePrefixedFieldsInARow,
              (const std::string& a, std::uint16_t middle, const std::string& c)) {
  const std::string b(middle % 1200, 'b');
  RC_ASSERT(sha256_of_fields({a, b, c}) == sha256(prefixed(a) + prefixed(b) + prefixed(c)));
}

}  // namespace
}  // namespace onceward
