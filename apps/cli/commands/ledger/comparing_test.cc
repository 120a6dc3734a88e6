// Our ledger beside the list of a real server, by the real binary.
#include "apps/cli/commands/ledger/comparing.h"

#include <fstream>

#include "apps/cli/suite.h"
#include "tests/fixtures/http_server.h"

namespace onceward::cli {
namespace {

class LedgerComparisons : public CommandOnStore {
 protected:
  // An endpoint for each of these paths: the first is "gateway".
  std::string file_with(const std::vector<std::string>& paths) const {
    std::string toml;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      toml += fmt::format(
          "[[endpoint]]\nname = \"{}\"\nurl = \"{}\"\nlist = {{ url = \"{}\", items = \"/data\", key = \"/key\", reference "
          "= \"/made/id\", next = \"/next\" }}\n",
          i == 0 ? "gateway" : fmt::format("other{}", i), server_.url("/ok"), server_.url(paths[i]));
    }
    std::ofstream(folder_.path() + "/app.toml") << toml;
    return folder_.path() + "/app.toml";
  }
  void give_them(const std::vector<std::string>& keys) {
    const auto endpoint = open_http(fixtures::http_declaration(server_, "/ok"));
    for (const std::string& key : keys) fixtures::ask(*endpoint, fixtures::a_call(key));
  }
  fixtures::Spoken compare(const std::string& file, Words more = {}) const {
    Words arguments{"ledger", "reconcile", "--since", since, "--config", file, "-o", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return say(std::move(arguments));
  }

  static constexpr const char* since = "2023-11-14T22:13:20Z";
  static constexpr std::int64_t then = 1'700'000'000;
  fixtures::HttpServer server_;
  const fixtures::TemporaryDirectory folder_;
};

TEST_P(LedgerComparisons, SayWhatIsMissingExtraAndDifferentOnBothSides) {
  give_them({"equal", "extra", "unknown", "reference", "failed long ago"});
  const auto call = [&](const std::string& key, const std::string& state, const std::string& reference,
                        std::int64_t first = then) {
    return ask({.key = key, .state = state, .external_ref = reference, .first_attempt_seconds = first});
  };
  call("equal", "succeeded", "ref-equal");
  const auto missing = call("missing", "succeeded", "ref-missing");
  const auto unknown = call("unknown", "unknown", "");
  const auto reference = call("reference", "succeeded", "ref-else");
  const auto old = call("failed long ago", "failed", "", then - 1'000'000);
  call("not asked for", "succeeded", "ref-old", then - 1);
  call("never made", "planned", "", 0);
  const auto spoken = compare(file_with({"/list?since={since}"}));
  EXPECT_EQ(spoken.exit_code, 4) << spoken.err;
  EXPECT_TRUE(has(spoken.err, "gateway: 1 equal, 1 missing there, 1 extra there, 3 differing")) << spoken.err;
  const auto rows = nlohmann::json::parse(spoken.out);
  ASSERT_EQ(rows.size(), 5u);
  const auto expect = [&](std::size_t at, const std::string& difference, const std::string& key,
                          const nlohmann::json& number, const std::string& ours, const std::string& theirs) {
    EXPECT_EQ(rows[at].at("difference"), difference);
    EXPECT_EQ(rows[at].at("key"), key);
    EXPECT_EQ(rows[at].at("number"), number);
    EXPECT_EQ(rows[at].at("our_reference"), ours);
    EXPECT_EQ(rows[at].at("their_reference"), theirs);
  };
  expect(0, "missing", "missing", missing, "ref-missing", "");
  expect(1, "extra", "extra", nullptr, "", "ref-extra");
  expect(2, "differing", "failed long ago", old, "", "ref-failed long ago");
  expect(3, "differing", "reference", reference, "ref-else", "ref-reference");
  expect(4, "differing", "unknown", unknown, "", "ref-unknown");
  EXPECT_EQ(rows[4].at("our_state"), "unknown");
  EXPECT_EQ(server_.requests().back().method, "GET");
  EXPECT_EQ(calls_in("unknown"), 1) << "nothing is changed";
  EXPECT_EQ(under_->rows_in("audit"), 0);
}

TEST_P(LedgerComparisons, WithoutADifferenceEndWell) {
  std::vector<std::string> keys;
  for (int i = 0; i < 8; ++i) keys.push_back(fmt::format("k{}", i));  // three pages
  give_them(keys);
  for (const std::string& key : keys) {
    ask({.key = key, .state = "succeeded", .external_ref = "ref-" + key, .first_attempt_seconds = then});
  }
  const auto spoken = compare(file_with({"/list"}));
  EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
  EXPECT_EQ(nlohmann::json::parse(spoken.out).size(), 0u);
  EXPECT_TRUE(has(spoken.err, "gateway: 8 equal, 0 missing there")) << spoken.err;
}

TEST_P(LedgerComparisons, AListThatCannotBeHadOrReadIsSaidWithItsEndpoint) {
  const std::pair<const char*, const char*> cases[] = {
      {"/status/503", "endpoint_unavailable: gateway: http: the list cannot be read: HTTP 503"},
      {"/reset", "endpoint_unavailable: gateway: http: the list cannot be read: no complete answer"},
      {"/status/401", "endpoint_refused: gateway: http: the list: HTTP 401"},
      {"/garbage", "endpoint_refused: gateway: http: the list: the answer has no array where list.items points to"},
      {"/list-wrong", "no array where list.items points to"},
      {"/huge", "the answer is longer than most_response_bytes"},
      {"/list-loop", "more than 1000 pages; ask for those since a later time"},
      {"/list-away", "the next page is said to be on another host"}};
  for (const auto& [path, told] : cases) {
    const auto spoken = compare(file_with({path}));
    EXPECT_EQ(spoken.exit_code, 5) << path;
    EXPECT_TRUE(has(spoken.err, told)) << path << ": " << spoken.err;
    EXPECT_EQ(nlohmann::json::parse(spoken.out).size(), 0u);
  }
  const std::string file = file_with({"/list"});
  server_.kill();
  const auto away = compare(file);
  EXPECT_EQ(away.exit_code, 5);
  EXPECT_TRUE(has(away.err, "gateway: http: the list cannot be read: nothing was sent")) << away.err;
}

TEST_P(LedgerComparisons, OneListThatCannotBeReadLeavesTheOthersToBeCompared) {
  give_them({"extra"});
  const std::string file = file_with({"/status/503", "/list"});
  const auto spoken = compare(file);
  EXPECT_EQ(spoken.exit_code, 5);
  EXPECT_TRUE(has(spoken.err, "gateway: http: the list cannot be read")) << spoken.err;
  const auto rows = nlohmann::json::parse(spoken.out);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].at("endpoint"), "other1");
  EXPECT_EQ(compare(file, {"--endpoint", "other1"}).exit_code, 4);
}

ONCEWARD_ON_SQLITE_AND_POSTGRES(LedgerComparisons);

}  // namespace
}  // namespace onceward::cli
