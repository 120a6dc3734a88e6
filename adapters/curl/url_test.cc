#include "adapters/curl/url.h"

#include <gtest/gtest.h>

namespace onceward::curl {
namespace {

std::string filled(const std::string& url, const std::vector<std::string_view>& texts) {
  const auto read = UrlTemplate::read(url, {"key", "reference"});
  return read ? read->filled(texts).value_or("nothing") : "none";
}

TEST(UrlTemplate, TextsAreEncodedAndStayWhereTheyStand) {
  EXPECT_EQ(filled("https://h/a/{key}?r={reference}", {"x", "y"}), "https://h/a/x?r=y");
  EXPECT_EQ(filled("https://h/a/{key}", {"a/b?c#d&e=f g%", ""}), "https://h/a/a%2Fb%3Fc%23d%26e%3Df%20g%25");
  EXPECT_EQ(filled("https://h/a/{key}", {"\r\nHost: x", ""}), "https://h/a/%0D%0AHost%3A%20x");
  EXPECT_EQ(filled("https://h/a/{key}", {"é{reference}", ""}), "https://h/a/%C3%A9%7Breference%7D");
  EXPECT_EQ(filled("https://h?k={key}", {"@evil.example/", ""}), "https://h?k=%40evil.example%2F");
}

TEST(UrlTemplate, TextsThatWouldChangeThePathAreNotFilledIn) {
  EXPECT_EQ(filled("https://h/a/{key}", {"..", ""}), "nothing");
  EXPECT_EQ(filled("https://h/a/{key}", {".", ""}), "nothing");
  EXPECT_EQ(filled("https://h/a/{key}", {"", "y"}), "nothing");
  EXPECT_EQ(filled("https://h/a/{reference}", {"x", ""}), "nothing");
}

TEST(UrlTemplate, NamesStandBehindTheHost) {
  for (const char* const url :
       {"https://{key}/", "https://{key}.h/", "https://u:{key}@h/", "{key}", "https://h/{other}", "https://h/{"}) {
    EXPECT_EQ(filled(url, {"x", "y"}), "none") << url;
  }
}

TEST(CurlUrl, LinksAreFollowedAsABrowserWould) {
  const auto page = Url::read("https://u:p@h/list?from=1");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->followed("/list?from=2")->place(), "https://h:443");
  EXPECT_EQ(page->followed("?from=2")->query(), "from=2");
  EXPECT_EQ(page->followed("//other/list")->place(), "https://other:443");
  EXPECT_EQ(page->followed("http://h/list")->place(), "http://h:80");
  EXPECT_EQ(page->followed("https://h:444/")->place(), "https://h:444");
  EXPECT_EQ(page->without_query(), "https://u:p@h/list");
}

}  // namespace
}  // namespace onceward::curl
