// Holds a fuzz target to its corpus without libFuzzer: every input once found, or written down as a seed, must be taken
// or refused without a crash. A target without a corpus fails, since it would prove nothing.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<char> bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(FuzzReplay, EveryInputOfTheCorpusIsSurvived) {
  const fs::path corpus = fs::path(ONCEWARD_SOURCE_DIRECTORY) / "tests/fuzz/corpus" / ONCEWARD_FUZZ_TARGET;
  ASSERT_TRUE(fs::is_directory(corpus)) << corpus << " is missing";
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(corpus)) {
    SCOPED_TRACE(entry.path().string());
    const std::vector<char> bytes = bytes_of(entry.path());
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
    ++count;
  }
  EXPECT_GT(count, 0u) << corpus << " is empty";
}

}  // namespace
