#include "src/declaration/document.h"

#include <gtest/gtest.h>

namespace onceward::declaration {
namespace {

Node read(std::string_view toml) {
  auto document = read_document(toml);
  if (const auto* error = std::get_if<SyntaxError>(&document)) ADD_FAILURE() << error->message;
  return std::get<Node>(std::move(document));
}

SyntaxError refuse(std::string_view toml) {
  auto document = read_document(toml);
  if (std::holds_alternative<Node>(document)) return {{}, "taken", ""};
  return std::get<SyntaxError>(std::move(document));
}

TEST(Document, RemembersWhereEverythingStood) {
  const Node root = read("[store]\nurl = \"x\"\n[[consumer]]\n[[consumer]]\n  [consumer.retry]\n  attempts = 5\n");
  const auto at = [&](const Path& path) { return places_of(root, path); };
  EXPECT_EQ(at(Path("store") / "url").key, (Place{2, 1}));
  EXPECT_EQ(at(Path("store") / "url").value, (Place{2, 7}));
  EXPECT_EQ(at(Path("consumer")[1]).value, (Place{4, 1}));
  EXPECT_EQ(at(Path("consumer")[1] / "retry" / "attempts").value, (Place{6, 14}));
}

TEST(Document, AnswersTheLastPlaceOnAWayThatLeadsNowhere) {
  const Node root = read("[store]\nurl = \"x\"\n");
  EXPECT_EQ(places_of(root, Path("store") / "colour").value, (Place{1, 1}));
  EXPECT_EQ(places_of(root, Path("store") / "url" / "scheme").value, (Place{2, 7}));
  EXPECT_EQ(places_of(root, Path("store")[3]).value, (Place{1, 1}));
}

TEST(Document, KeepsTheOrderOfTheFile) {
  const Node root = read("z = 1\na = 2\nm = 3\n");
  const auto& entries = std::get<Table>(root.value).entries;
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[0].key + entries[1].key + entries[2].key, "zam");
}

TEST(Document, SaysWhatIsNotToml) {
  const SyntaxError error = refuse("a = 1\nb = = 2\n");
  EXPECT_EQ(error.place.line, 2u);
  EXPECT_EQ(error.place.column, 5u);
  EXPECT_TRUE(error.message.starts_with("not TOML: ")) << error.message;
  EXPECT_EQ(refuse("a = 1\na = 2\n").place.line, 2u) << "the same key twice";
  EXPECT_NE(refuse("a = \"\xff\"").message, "taken");
  EXPECT_NE(refuse(std::string_view("a = \"\0\"", 7)).message, "taken");
}

// The library alone would run into an assertion or undefined behaviour.
TEST(Document, RefusesWhatTheParserTakesForImpossible) {
  for (const char* toml : {"\xc3\xa4 = 1", "a = \xc3\xa4", "a = 1 \xc3\xa4", "a.\xc3\xa4 = 1", "[\xc3\xa4]",
                           "\xe3\x81\x82", "[[[", "[=", "[.a]"})
    EXPECT_EQ(refuse(toml).place.line, 1u) << toml;
  EXPECT_NE(refuse("\xc3\xa4 = 1").message, "taken");
  read("a = \"\"\"\\\n  \xc3\xa4\"\"\"\n'\xc3\xa4' = 1 # \xc3\xa4\n");
}

TEST(Document, HasAtMostAMebibyte) {
  const std::string line = "# a comment\n";
  std::string toml;
  while (toml.size() + line.size() <= most_file_bytes) toml += line;
  EXPECT_TRUE(std::holds_alternative<Node>(read_document(toml)));
  toml.resize(most_file_bytes + 1, '\n');
  EXPECT_EQ(refuse(toml).message, "the file has 1048577 bytes, more than 1048576");
}

// Each of these would end the process by its depth.
TEST(Document, RefusesWhatIsTooDeep) {
  std::string dotted;
  for (int i = 0; i < 200'000; ++i) dotted += "a.";
  const SyntaxError error = refuse("x = 1\n" + dotted + "a = 1\n");
  EXPECT_EQ(error.message, "more than 128 dots in one line");
  EXPECT_EQ(error.place, (Place{2, 1}));
  EXPECT_NE(refuse("[" + dotted + "a]").message, "taken");
  EXPECT_NE(refuse("a = " + std::string(200'000, '[')).message, "taken");
}

TEST(Document, SurvivesTheDeepestThatItTakes) {
  std::string dots;
  for (std::size_t i = 0; i < most_dots_in_a_line; ++i) dots += "a.";
  std::string toml = "[" + dots + "a]\n";
  std::string end;
  for (std::size_t i = 0; i + 1 < most_nested_values / 2; ++i) {
    toml += dots + "a = [\n{";
    end += "}]";
  }
  EXPECT_TRUE(std::holds_alternative<Node>(read_document(toml + end))) << refuse(toml + end).message;
}

}  // namespace
}  // namespace onceward::declaration
