// What the stores declare, as docs/reference/stores.md shows it.
#include <fstream>
#include <sstream>

#include "tests/conformance/suite.h"

namespace onceward {
namespace {

std::string table_of_capabilities() {
  std::string text = "| |";
  for (const Backend& backend : backends()) text += " " + backend.name + " |";
  text += "\n|---|";
  for (std::size_t at = 0; at < backends().size(); ++at) text += "---|";
  for (const CapabilityRow& row : capability_rows()) {
    text += "\n| " + std::string(row.text) + " |";
    for (const Backend& backend : backends()) text += backend.capabilities.*row.member ? " yes |" : " no |";
  }
  return text + "\n";
}

TEST(Capabilities, StandInTheReferenceAsTheyAreDeclared) {
  std::ostringstream page;
  page << std::ifstream(ONCEWARD_SOURCE_DIRECTORY "/docs/reference/stores.md").rdbuf();
  EXPECT_NE(page.str().find(table_of_capabilities()), std::string::npos)
      << "docs/reference/stores.md must hold this table:\n"
      << table_of_capabilities();
}

class DeclaredCapabilities : public OnEveryStore {};
ONCEWARD_ON_EVERY_STORE(DeclaredCapabilities);

TEST_P(DeclaredCapabilities, UnitsWaitForOneAnotherOnlyWhereDeclared) {
  auto unit = begin();
  const Inbound mine(declaration_, {{.id = "mine"}});
  run_handlers(*unit, mine);
  unit->flush();
  auto other = under_->open({.lock = std::chrono::milliseconds(100)});
  bool concurrent = true;
  try {
    fixtures::apply(*other, enrolled_, Inbound(declaration_, {{.id = "theirs"}}), insert_effect, {.attempts = 1});
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::busy);
    concurrent = false;
  }
  EXPECT_EQ(concurrent, GetParam().capabilities.concurrent_units);
}

class Deadlines : public OnEveryStore {};
ONCEWARD_ON_EVERY_STORE(Deadlines);

TEST_P(Deadlines, StatementPastItsOwnIsEnded) {
  auto hasty = under_->open({.statement = std::chrono::milliseconds(100)});
  auto unit = hasty->begin(enrolled_);
  try {
    unit->whole().query("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
    FAIL() << "it was not ended";
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.fault(), FaultCode::timed_out);
    EXPECT_EQ(fault.poisons(), Poisons::transaction);
  }
  EXPECT_EQ(unit->commit(), Commit::failed);
  unit.reset();
  EXPECT_EQ(verdicts(fixtures::apply(*hasty, enrolled_, Inbound(declaration_, {Message{}}))), Verdicts{Verdict::first});
}

}  // namespace
}  // namespace onceward
