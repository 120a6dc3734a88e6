#include "apps/demo/gateway/book.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fixtures/process.h"

namespace onceward::demo {
namespace {

class GatewayBook : public testing::Test {
 protected:
  std::size_t lines() const {
    std::ifstream file(path_);
    std::size_t count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }

  const fixtures::TemporaryDirectory folder_;
  const std::string path_ = folder_.path() + "/gateway.ndjson";
};

TEST_F(GatewayBook, TakesTheMoneyOnceUnderAKeyAndSaysEachTime) {
  Book book(path_);
  EXPECT_EQ(book.see("k", {"c", 100}), 1);
  EXPECT_EQ(book.capture("k", {"c", 100}).reference, "ch-000001");
  EXPECT_EQ(book.see("k", {"c", 100}), 2);
  EXPECT_EQ(book.capture("k", {"c", 100}).reference, "ch-000001");
  EXPECT_EQ(book.capture("another", {"c", 100}).reference, "ch-000002") << "a key is a key";
  EXPECT_EQ(book.keys().size(), 2u);
  EXPECT_EQ(lines(), 5u);
}

TEST_F(GatewayBook, IsReadBack) {
  {
    Book book(path_);
    book.see("k", {"c", 100});
    book.capture("k", {"c", 100});
    book.see("not done", {"d", 200});
  }
  Book again(path_);
  ASSERT_NE(again.ask("k"), nullptr);
  EXPECT_EQ(again.ask("k")->order, (Order{"c", 100}));
  EXPECT_EQ(again.ask("not done"), nullptr);
  EXPECT_EQ(again.see("not done", {"d", 200}), 2);
  EXPECT_EQ(again.capture("not done", {"d", 200}).reference, "ch-000002");
}

TEST_F(GatewayBook, WhatAWriteThatWasCutOffHasLeftIsNoLine) {
  {
    Book(path_).capture("k", {"c", 100});
  }
  const auto whole = std::filesystem::file_size(path_);
  std::ofstream(path_, std::ios::app) << R"({"captured":"half","capt)";
  Book again(path_);
  EXPECT_EQ(std::filesystem::file_size(path_), whole);
  EXPECT_EQ(again.find("half"), nullptr);
  EXPECT_EQ(again.capture("next", {"n", 1}).reference, "ch-000002");
  EXPECT_EQ(lines(), 2u);
}

}  // namespace
}  // namespace onceward::demo
