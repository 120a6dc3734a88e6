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
  EXPECT_EQ(redacted("rabbitmqs://app:s3cret@broker/shop?queue=orders&keyfile=/k.pem"),
            "rabbitmqs://app:***@broker/shop?queue=orders&keyfile=***");
  EXPECT_EQ(redacted("kafka://a:s3cret@b,c:1/t?group=g&sasl.password=s3cret&sasl.oauthbearer.config=s3cret&"
                     "ssl.key.pem=s3cret&sasl.jaas.config=s3cret&client.id=me"),
            "kafka://a:***@b,c:1/t?group=g&sasl.password=***&sasl.oauthbearer.config=***&ssl.key.pem=***&"
            "sasl.jaas.config=***&client.id=me");
  for (const char* url : {"rabbitmq://a:s3cret@b/s?queue=q&management=http://m:s3cret@b:15672",
                          "rabbitmq://b/s?queue=q&management=http://m:s3cret@b:15672",
                          "rabbitmq://b/s?queue=q&management=http%3A%2F%2Fm%3As3cret%40b"}) {
    EXPECT_EQ(redacted(url).find("s3cret"), std::string::npos) << redacted(url);
  }
  EXPECT_EQ(redacted("rabbitmq://u:${SHOP_PASSWORD}@h/v?queue=q&management=http://m:${ADMIN}@h:1&prefetch=7"),
            "rabbitmq://u:***@h/v?queue=q&management=***&prefetch=7");
  EXPECT_EQ(redacted("rabbitmq://h:${PORT}/v?management=http://m:s3cret@h:1"), "rabbitmq://h:${PORT}/v?management=***");
  EXPECT_EQ(redacted("kafka://b/t?group=g&sasl.password=s3@cret"), "kafka://b/t?group=g&sasl.password=***");
  EXPECT_EQ(redacted("embedded:queue.db?queue=orders"), "embedded:queue.db?queue=orders");
  EXPECT_EQ(redacted("sqlite:/var/lib/a@b:c.db"), "sqlite:/var/lib/a@b:c.db");
  EXPECT_EQ(redacted(""), "");
}

TEST(Redact, APasswordThatBreaksTheUrlIsNotShownEither) {
  for (const char* url :
       {"postgres://app:s3/cret@db/shop", "postgres://app:s3@cret@db/shop", "postgres://app:s3?cret@db/shop",
        "postgres://app:s3?key=cret@db/shop", "postgres://app:s3:cret@db/shop"}) {
    EXPECT_EQ(redacted(url), "postgres://app:***@db/shop");
  }
}

TEST(Redact, AHeaderThatMayHoldASecretIsNotShown) {
  for (const auto& [name, value] : {std::pair{"Authorization", "Basic x"},
                                    {"X-Api-Key", "x"},
                                    {"Cookie", "x"},
                                    {"X-Auth-Token", "x"},
                                    {"X-Shop", "shop ${SHOP}"}}) {
    EXPECT_TRUE(is_secret(name, value)) << name;
  }
  EXPECT_FALSE(is_secret("Accept", "application/json"));
}

}  // namespace
}  // namespace onceward::cli
