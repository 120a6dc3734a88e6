#include "apps/cli/redact.h"

#include <gtest/gtest.h>

namespace onceward::cli {
namespace {

TEST(Redact, ShowsAUrlWithoutItsSecrets) {
  EXPECT_EQ(redacted("postgres://app:s3cret@db/shop"), "postgres://app:***@db/shop");
  EXPECT_EQ(redacted("postgres://app@db:5432/shop"), "postgres://app@db:5432/shop");
  EXPECT_EQ(redacted("postgres://db/shop?user=app&password=s3cret&sslmode=require"),
            "postgres://db/shop?user=app&password=***&sslmode=require");
  EXPECT_EQ(redacted("kafka://broker/topic?sasl.Password=s3cret"), "kafka://broker/topic?sasl.Password=***");
  EXPECT_EQ(redacted("embedded:queue.db?queue=orders"), "embedded:queue.db?queue=orders");
  EXPECT_EQ(redacted("sqlite:/var/lib/a@b:c.db"), "sqlite:/var/lib/a@b:c.db");
  EXPECT_EQ(redacted(""), "");
}

TEST(Redact, APasswordThatBreaksTheUrlIsNotShownEither) {
  for (const char* url : {"postgres://app:s3/cret@db/shop", "postgres://app:s3@cret@db/shop",
                          "postgres://app:s3?cret@db/shop", "postgres://app:s3:cret@db/shop"}) {
    EXPECT_EQ(redacted(url), "postgres://app:***@db/shop");
  }
}

}  // namespace
}  // namespace onceward::cli
