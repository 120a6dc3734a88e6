// What docs/reference/declaration.md says is what is read.
#include "onceward/declaration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "src/declaration/choices.h"
#include "src/declaration/no_identity.h"
#include "src/declaration/sql_names.h"

namespace onceward {
namespace {

using testing::HasSubstr;

std::string document(const std::string& path) {
  std::ifstream file(std::string(ONCEWARD_SOURCE_DIRECTORY) + "/docs/" + path);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string page() { return document("reference/declaration.md"); }

std::vector<std::string> toml_blocks() {
  const std::string text = page();
  const std::string fence = "```toml\n";
  std::vector<std::string> blocks;
  for (auto at = text.find(fence); at != std::string::npos; at = text.find(fence, at + 1))
    blocks.push_back(text.substr(at + fence.size(), text.find("```\n", at + 1) - at - fence.size()));
  return blocks;
}

TEST(DeclarationPage, HasExamplesThatAreRead) {
  const auto blocks = toml_blocks();
  ASSERT_EQ(blocks.size(), 2u);
  for (const std::string& block : blocks) {
    const auto result = read_application(block, "docs/reference/declaration.md");
    if (const auto* mistakes = std::get_if<std::vector<Mistake>>(&result)) ADD_FAILURE() << to_string(*mistakes);
  }
}

// The keys of each table, as the hint for an unknown one lists them; the example uses every one of them.
TEST(DeclarationPage, NamesEveryKeyAndItsExampleUsesIt) {
  const std::string least = "[[consumer]]\nname = \"a\"\nowner = \"b\"\n";
  const std::string tables[] = {"zzzzzzzz = 1",
                                "[store]\nzzzzzzzz = 1",
                                "[admin]\nzzzzzzzz = 1",
                                "[log]\nzzzzzzzz = 1",
                                "[shutdown]\nzzzzzzzz = 1",
                                "[relay]\nzzzzzzzz = 1",
                                "[relay]\nretry.zzzzzzzz = 1",
                                "[[route]]\nzzzzzzzz = 1",
                                least + "zzzzzzzz = 1",
                                least + "identity.zzzzzzzz = 1",
                                least + "identity.hash.zzzzzzzz = 1",
                                least + "identity.operation.zzzzzzzz = 1",
                                least + "identity.tenant.zzzzzzzz = 1",
                                least + "identity.message_id.zzzzzzzz = 1",
                                least + "versions.zzzzzzzz = 1",
                                least + "versions.event.zzzzzzzz = 1",
                                least + "fields.a.zzzzzzzz = 1",
                                least + "effect = [{ zzzzzzzz = 1 }]",
                                least + "retry.zzzzzzzz = 1",
                                least + "retention.zzzzzzzz = 1",
                                least + "limits.zzzzzzzz = 1"};
  const std::string text = page();
  const std::string example = toml_blocks().at(0);
  std::size_t keys = 0;
  for (const std::string& toml : tables) {
    const auto mistakes = std::get<1>(read_application(toml, "app.toml"));
    const auto unknown = std::ranges::find(mistakes, "unknown key", &Mistake::message);
    ASSERT_NE(unknown, mistakes.end()) << toml;
    std::istringstream words(unknown->hint.substr(std::string("one of: ").size()));
    for (std::string key; std::getline(words >> std::ws, key, ',');) {
      EXPECT_THAT(example, HasSubstr(key)) << toml;
      EXPECT_TRUE(text.find('`' + key) != std::string::npos || text.find("{ " + key) != std::string::npos ||
                  text.find('.' + key + "]") != std::string::npos || text.find("[" + key + "]") != std::string::npos)
          << key << " in " << toml;
      ++keys;
    }
  }
  EXPECT_GT(keys, 50u);
}

template <class Enum>
void expect_words_on_the_page() {
  for (const auto& choice : declaration::Choices<Enum>::all)
    EXPECT_THAT(page(), HasSubstr("`\"" + std::string(choice.word) + "\"`"));
}

TEST(DeclarationPage, NamesEveryChoice) {
  expect_words_on_the_page<Order>();
  expect_words_on_the_page<GapPolicy>();
  expect_words_on_the_page<KeyScheme>();
  expect_words_on_the_page<EffectDeclaration::Kind>();
  expect_words_on_the_page<RetentionCategory>();
  expect_words_on_the_page<Mode>();
  expect_words_on_the_page<FromEnvelope::Member>();
  expect_words_on_the_page<TransactionScope>();
  expect_words_on_the_page<LogDeclaration::Format>();
  expect_words_on_the_page<LogLevel>();
  for (const auto& choice : declaration::Choices<FieldType>::all) {
    EXPECT_THAT(page(), HasSubstr("`\"" + std::string(choice.word) + "\"`"));
    EXPECT_THAT(page(), HasSubstr("\n| `" + std::string(choice.word) + "` |")) << "the table of what each type takes";
  }
  for (const std::string_view column : declaration::message_columns())
    EXPECT_THAT(page(), HasSubstr('`' + std::string(column) + '`'));
}

TEST(DeclarationPage, SaysTheDefaults) {
  const Declaration declaration;
  const std::map<std::string, std::string> rows = {
      {"attempts", "`" + std::to_string(declaration.retry.attempts) + "`"},
      {"first_delay", "`\"1s\"`"},
      {"longest_delay", "`\"5m\"`"},
      {"time_bound", "`\"30s\"`"},
      {"transaction", "`\"batch\"`"},
      {"workers", "`" + std::to_string(declaration.workers) + "`"},
      {"batch", "`" + std::to_string(declaration.batch) + "`"},
      {"format", "`\"auto\"`"},
      {"level", "`\"info\"`"},
      {"drain", "`\"30s\"`"},
      {"message_bytes", std::to_string(declaration.limits.message_bytes)},
      {"id_bytes", std::to_string(declaration.limits.id_bytes)},
      {"header_count", std::to_string(declaration.limits.header_count)},
      {"header_bytes", std::to_string(declaration.limits.header_bytes)},
      {"depth", std::to_string(declaration.limits.depth)},
  };
  EXPECT_EQ(declaration.retry, (RetryBudget{5, std::chrono::seconds(1), std::chrono::minutes(5)}));
  EXPECT_EQ(declaration.time_bound, std::chrono::seconds(30));
  EXPECT_EQ(declaration.transaction, TransactionScope::batch);
  const Application application;
  EXPECT_EQ(application.log, (LogDeclaration{LogDeclaration::Format::automatic, LogLevel::info}));
  EXPECT_EQ(application.drain, std::chrono::seconds(30));
  const std::string text = page();
  for (const auto& [key, value] : rows) {
    const auto row = text.find("| `" + key + "` |");
    ASSERT_NE(row, std::string::npos) << key;
    EXPECT_THAT(text.substr(row, text.find('\n', row) - row), HasSubstr("| " + value)) << key;
  }
}

// A hint must not send anybody to a heading that is not there: "### K13: row id" is #k13-row-id.
TEST(IdentityPage, HasAParagraphForEachKindThatIsNoIdentity) {
  std::istringstream lines(document("concepts/identity.md"));
  std::set<std::string> anchors;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("### ")) continue;
    std::string anchor;
    for (const char c : line.substr(4))
      if (c != ':') anchor += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    anchors.insert(anchor);
  }
  for (const auto& kind : declaration::no_identities()) {
    const std::string anchor(kind.anchor);
    EXPECT_TRUE(anchor.empty() || anchors.contains(anchor)) << anchor;
  }
}

}  // namespace
}  // namespace onceward
