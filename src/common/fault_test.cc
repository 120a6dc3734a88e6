#include "onceward/fault.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace onceward {
namespace {

// The cells of each row of the page's table, by the code in the first.
std::map<std::string, std::vector<std::string>> rows_of_the_page() {
  std::ifstream file(ONCEWARD_SOURCE_DIRECTORY "/docs/reference/faults.md");
  EXPECT_TRUE(file.is_open());
  std::map<std::string, std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 1; at < line.size();) {
      const std::size_t end = line.find('|', at);
      cells.push_back(line.substr(at + 1, end - at - 2));
      at = end + 1;
    }
    rows[cells[0].substr(1, cells[0].size() - 2)] = cells;
  }
  return rows;
}

std::vector<FaultCode> every_fault() {
  std::vector<FaultCode> faults;
  for (int i = 0; i <= static_cast<int>(FaultCode::transaction_failed); ++i)
    faults.push_back(static_cast<FaultCode>(i));
  return faults;
}

TEST(FaultPage, HasARowForEachCode) {
  const auto rows = rows_of_the_page();
  for (const FaultCode fault : every_fault()) {
    const std::string name(code(fault));
    ASSERT_TRUE(rows.contains(name)) << name;
    ASSERT_EQ(rows.at(name).size(), 5u) << name;
    for (const std::string& cell : rows.at(name)) EXPECT_FALSE(cell.empty()) << name;
  }
  EXPECT_EQ(rows.size(), every_fault().size());
  EXPECT_EQ(code(static_cast<FaultCode>(every_fault().size())), "") << "a code after the last that is tested here";
}

TEST(FaultPage, SaysWhatIsTransient) {
  const auto rows = rows_of_the_page();
  for (const FaultCode fault : every_fault()) {
    const bool transient = Fault(fault, Poisons::transaction, "").transient();
    EXPECT_EQ(rows.at(std::string(code(fault))).at(3), transient ? "yes" : "no") << code(fault);
  }
}

TEST(FaultPage, SaysWhatIsPoisoned) {
  for (const auto& [name, cells] : rows_of_the_page()) {
    const std::string& poisons = cells.at(2);
    EXPECT_TRUE(poisons.starts_with("transaction") || poisons.starts_with("connection") ||
                poisons.starts_with("process"))
        << name << ": " << poisons;
  }
}

}  // namespace
}  // namespace onceward
