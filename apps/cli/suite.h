// Commands that work on a store, run by the real binary on every kind of store. For tests.
#pragma once

#include <nlohmann/json.hpp>

#include "tests/fixtures/spoken.h"
#include "tests/records/suite.h"

namespace onceward::cli {

class CommandOnStore : public records::OnEveryStore {
 protected:
  using Words = std::vector<std::string>;

  Words words(Words arguments) const {
    arguments.insert(arguments.begin(), ONCEWARD_BINARY);
    arguments.insert(arguments.end(), {"--store", under_->address()});
    return arguments;
  }
  fixtures::Spoken say(Words arguments) const { return fixtures::speak(words(std::move(arguments))); }
  // What it prints as JSON; the test fails where it does not end well.
  nlohmann::json json(Words arguments) const {
    arguments.insert(arguments.end(), {"-o", "json"});
    const fixtures::Spoken spoken = say(std::move(arguments));
    EXPECT_EQ(spoken.exit_code, 0) << spoken.err;
    return nlohmann::json::parse(spoken.out);
  }
};

inline std::vector<fixtures::Backend> without_pooler() {
  std::vector<fixtures::Backend> all = fixtures::backends();
  std::erase_if(all, [](const fixtures::Backend& backend) { return backend.name == "pgbouncer"; });
  return all;
}

inline bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace onceward::cli

#define ONCEWARD_ON_SQLITE_AND_POSTGRES(suite) \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::ValuesIn(cli::without_pooler()), onceward::records::backend_name)
