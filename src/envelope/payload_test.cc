#include "src/envelope/payload.h"

#include <gtest/gtest.h>

#include <string>

namespace onceward {
namespace {

TEST(Payload, CanStandInAJsonTextWhereItComesBackAsTheSameBytes) {
  EXPECT_TRUE(is_embeddable_json("{\"a\": 1}"));
  EXPECT_TRUE(is_embeddable_json("null"));
  EXPECT_TRUE(is_embeddable_json(std::string(31, '[') + std::string(31, ']')));
  for (const std::string& payload : {std::string(), std::string(" {}"), std::string("{}\n"), std::string("{"),
                                     std::string("\xff"), std::string(32, '[') + std::string(32, ']')}) {
    EXPECT_FALSE(is_embeddable_json(payload)) << payload;
  }
}

TEST(Payload, IsJsonByItsMediaType) {
  for (const std::string_view type : {"", "application/json", "text/json", "application/vnd.x+json",
                                      "Application/JSON ; charset=utf-8", "a/b+JSON;x=y"}) {
    EXPECT_TRUE(declares_json(type)) << type;
  }
  for (const std::string_view type : {"json", "application/xml", "application/jsonp", "application/json+xml",
                                      "text/plain; x=application/json", ";"}) {
    EXPECT_FALSE(declares_json(type)) << type;
  }
}

}  // namespace
}  // namespace onceward
