#include "apps/daemon/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <stdexcept>

#include "apps/daemon/ports.h"

namespace onceward::daemon {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class InTheEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("ONCEWARD_T_USER", "app", 1);
    ::setenv("ONCEWARD_T_WORD", "p@ss/w:rd %?", 1);
    ::unsetenv("ONCEWARD_T_NONE");
  }
};

TEST_F(InTheEnvironment, VariablesStandForTheirValuesWhateverTheyHold) {
  EXPECT_EQ(with_environment("rabbitmq://${ONCEWARD_T_USER}:${ONCEWARD_T_WORD}@host/v?queue=q"),
            "rabbitmq://app:p%40ss%2Fw%3Ard%20%25%3F@host/v?queue=q");
}

TEST_F(InTheEnvironment, OtherUrlsAreLeftAsTheyAre) {
  for (const char* const url : {"kafka://h/t?group=g", "kafka://h/$t", "sqlite:a${b}.db", ""}) {
    EXPECT_EQ(with_environment(url), url);
  }
}

TEST_F(InTheEnvironment, OtherTextsHaveTheValuesAsTheyAre) {
  EXPECT_EQ(text_with_environment("Bearer ${ONCEWARD_T_WORD}."), "Bearer p@ss/w:rd %?.");
}

TEST_F(InTheEnvironment, AnEndpointHasThemInItsUrlsAndHeaders) {
  EndpointDeclaration endpoint;
  endpoint.url = "https://${ONCEWARD_T_USER}:${ONCEWARD_T_WORD}@host/";
  endpoint.headers = {{"Authorization", "Bearer ${ONCEWARD_T_WORD}"}};
  endpoint.look_up.emplace().url = "https://host/${ONCEWARD_T_USER}/{key}";
  endpoint.list.emplace().url = "https://host/${ONCEWARD_T_USER}?since={since}";
  const EndpointDeclaration resolved = with_environment(endpoint);
  EXPECT_EQ(resolved.url, "https://app:p%40ss%2Fw%3Ard%20%25%3F@host/");
  EXPECT_EQ(resolved.headers[0].second, "Bearer p@ss/w:rd %?");
  EXPECT_EQ(resolved.look_up->url, "https://host/app/{key}");
  EXPECT_EQ(resolved.list->url, "https://host/app?since={since}");
}

TEST_F(InTheEnvironment, WhatIsMissingIsNamed) {
  EXPECT_THAT([] { with_environment("kafka://${ONCEWARD_T_NONE}@h"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("ONCEWARD_T_NONE is not set")));
  for (const char* const url : {"kafka://${", "kafka://${}@h", "kafka://${A B}@h", "kafka://${1}@h"}) {
    EXPECT_THAT([&] { with_environment(url); }, ThrowsMessage<std::invalid_argument>(HasSubstr("followed by")));
  }
}

}  // namespace
}  // namespace onceward::daemon
