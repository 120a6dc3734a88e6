// The front door on every store: a handler that inserts one effect for each request, and what an outsider then finds.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "onceward/ingress.h"
#include "tests/fixtures/store_under_test.h"

namespace onceward {

struct Asked {
  std::string key = "k1";
  std::string body = R"({"amount":1})";
  std::string principal = "shop";
  std::string operation = "POST /captures";
  std::string content_type = "application/json";

  IngressRequest request() const {
    return {.principal = principal, .operation = operation, .key = key, .body = body, .content_type = content_type};
  }
};

inline IngressAnswer insert_effect_of(const IngressRequest& request, Transaction& transaction) {
  transaction.execute("INSERT INTO effect (message) VALUES ($1)", request.key);
  return {.status = 201, .body = fmt::format(R"({{"done":"{}"}})", request.key)};
}

inline std::string code_in(const IngressAnswer& answer) {
  EXPECT_EQ(answer.content_type, "application/problem+json");
  const auto problem = nlohmann::json::parse(answer.body);
  EXPECT_EQ(problem.at("status"), answer.status);
  EXPECT_EQ(problem.at("type"), "urn:onceward:problem:" + problem.at("code").get<std::string>());
  EXPECT_FALSE(problem.at("title").get<std::string>().empty());
  EXPECT_FALSE(problem.at("detail").get<std::string>().empty());
  return problem.at("code");
}

class FrontDoor : public testing::TestWithParam<fixtures::Backend> {
 protected:
  IngressAnswer ask(const Asked& asked = {}, const IngressHandler& handler = insert_effect_of) {
    return ask_at(*store_, asked, handler);
  }
  IngressAnswer ask_at(Store& store, const Asked& asked = {}, const IngressHandler& handler = insert_effect_of) {
    return Ingress(store, tally_, options_).serve(asked.request(), handler);
  }

  fixtures::Reader& reader() { return under_->reader(); }
  std::int64_t effects() { return under_->effects(); }
  std::int64_t rows() { return under_->rows_in("ingress"); }
  // The time that a column names has passed.
  void let_pass(const std::string& column) {
    const std::string past = GetParam().capabilities.typed_columns ? "now() - interval '1 s'" : "1";
    reader().run("UPDATE " + under_->table("ingress") + " SET " + column + " = " + past + " WHERE " + column +
                 " IS NOT NULL");
  }

  std::unique_ptr<fixtures::StoreUnderTest> under_ = GetParam().make();
  std::unique_ptr<Store> store_ = under_->open();
  IngressOptions options_;
  IngressTally tally_;
};

inline std::string backend_name(const testing::TestParamInfo<fixtures::Backend>& info) { return info.param.name; }

}  // namespace onceward

#define ONCEWARD_ON_EVERY_STORE(suite) \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::ValuesIn(fixtures::backends()), backend_name)
