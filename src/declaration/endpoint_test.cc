// [[endpoint]] in a file.
#include "src/declaration/endpoint.h"

#include "src/declaration/suite.h"

namespace onceward {
namespace {

using namespace files;  // NOLINT: the suite is the tests' vocabulary

using std::chrono::milliseconds;
using std::chrono::seconds;

// Three lines; what a case adds begins on the fourth.
constexpr std::string_view gateway = "[[endpoint]]\nname = \"gateway\"\nurl = \"https://pay.example.com/captures\"\n";

// Every key there is.
constexpr std::string_view whole = R"toml(
[[endpoint]]
name = "gateway"
url = "https://pay.example.com/captures"
method = "PUT"
headers = { Authorization = "Bearer ${PAY_TOKEN}", X-Shop = "7" }
content_type = "text/plain"
key_header = "X-Request-Id"
idempotent = true
key_lifetime = "24h"
succeeded = ["200", "201"]
failed = ["4xx"]
later = ["409", "429"]
reference = "/id"
connect_timeout = "1s"
timeout = "5s"
most_response_bytes = 4096
ca_file = "/etc/ca.pem"
notification = "campaign"
concurrency = 3
rate = 2.5
retry = { attempts = 4, first_delay = "10ms", longest_delay = "1s" }
lease = "20s"
poll = "20ms"
circuit_failures = 5
circuit_pause = "2s"
approval = "required"
approval_lifetime = "1h"
[endpoint.look_up]
url = "https://pay.example.com/captures?key={key}&shop=${SHOP}"
done_pointer = "/state"
done_values = ["captured", "settled"]
not_done_pointer = "/data"
not_done_values = ["[]"]
done = ["200"]
not_done = ["404", "410"]
reference = "/id"
settle = "1m"
every = "5s"
attempts = 7
[endpoint.list]
url = "https://pay.example.com/captures?since={since}"
items = "/data"
key = "/key"
reference = "/id"
next = "/next"
[[endpoint]]
name = "in-house"
)toml";

EndpointDeclaration whole_gateway() {
  EndpointDeclaration expected;
  expected.name = "gateway";
  expected.url = "https://pay.example.com/captures";
  expected.method = "PUT";
  expected.headers = {{"Authorization", "Bearer ${PAY_TOKEN}"}, {"X-Shop", "7"}};
  expected.content_type = "text/plain";
  expected.key_header = "X-Request-Id";
  expected.idempotent = true;
  expected.key_lifetime = seconds(86'400);
  expected.succeeded = {"200", "201"};
  expected.failed = {"4xx"};
  expected.later = {"409", "429"};
  expected.reference = "/id";
  expected.connect_timeout = milliseconds(1'000);
  expected.timeout = milliseconds(5'000);
  expected.most_response_bytes = 4096;
  expected.ca_file = "/etc/ca.pem";
  expected.notification = NotificationClass::campaign;
  expected.concurrency = 3;
  expected.rate = 2.5;
  expected.retry = {4, milliseconds(10), milliseconds(1'000)};
  expected.lease = milliseconds(20'000);
  expected.poll = milliseconds(20);
  expected.circuit_failures = 5;
  expected.circuit_pause = milliseconds(2'000);
  expected.approval = Approval::required;
  expected.approval_lifetime = seconds(3'600);
  expected.look_up = LookUpDeclaration{.url = "https://pay.example.com/captures?key={key}&shop=${SHOP}",
                                       .done_pointer = "/state",
                                       .done_values = {"captured", "settled"},
                                       .not_done_pointer = "/data",
                                       .not_done_values = {"[]"},
                                       .done = {"200"},
                                       .not_done = {"404", "410"},
                                       .reference = "/id",
                                       .settle = milliseconds(60'000),
                                       .every = milliseconds(5'000),
                                       .attempts = 7};
  expected.list = ListDeclaration{"https://pay.example.com/captures?since={since}", "/data", "/key", "/id", "/next"};
  return expected;
}

TEST(Endpoints, AreRead) {
  const Application application = read(whole);
  ASSERT_EQ(application.endpoints.size(), 2u);
  EXPECT_EQ(application.endpoints[0], whole_gateway());
  EndpointDeclaration callback;
  callback.name = "in-house";
  EXPECT_EQ(application.endpoints[1], callback);
}

TEST(Endpoints, AMailServerIsOne) {
  const Application application = read(
      "[[endpoint]]\nname = \"mail\"\nurl = \"smtps://shop:${MAIL}@mail.example.com:465\"\nfrom = \"shop@example.com\"\n");
  EXPECT_EQ(application.endpoints.at(0).from, "shop@example.com");
}

TEST(Endpoints, MistakesInWhatIsSentAreFoundWhereTheyAre) {
  const auto expect = [](const Case& wrong) { expect_one_mistake(wrong, gateway); };
  expect({"method = \"GET\"", 4, 10, "method", "no method of a call", "POST"});
  expect({"headers = { \"a b\" = \"x\" }", 4, 13, "headers.\"...\"", "no header's name", "letters"});
  expect({"headers = { Host = \"x\" }", 4, 13, "headers.Host", "has already", "key_header"});
  expect({"headers = { A = \"x\", a = \"y\" }", 4, 22, "headers.a", "twice", "case"});
  expect({"headers = { A = \"x\\ny\" }", 4, 17, "headers.A", "control character", "${NAME}"});
  expect({"headers = { A = 7 }", 4, 17, "headers.A", "a string", "quotes"});
  expect({"key_header = \"a:b\"", 4, 14, "key_header", "no header's name", "Idempotency-Key"});
  expect({"from = \"me@example.com\"", 4, 8, "from", "only mail", "leave it out"});
  expect({"headres = {}", 4, 1, "headres", "unknown key", "headers"});
  expect({"approval = \"requird\"", 4, 12, "approval", "no word about approval", "required"});
  expect({"notification = \"spam\"", 4, 16, "notification", "no notification class", "campaign"});
  expect({"idempotent = true", 1, 1, "key_lifetime", "is missing", "24h"});
  expect({"key_lifetime = \"1d\"", 4, 16, "key_lifetime", "nothing rests on it", "idempotent = true"});
  expect(
      {"idempotent = true\nkey_lifetime = \"1500ms\"", 5, 16, "key_lifetime", "no whole number of seconds", "round"});
  expect({"[[endpoint]]\nname = \"gateway\"", 5, 8, "name", "declared twice", "could mean both"});
  expect({"[[endpoint]]\nurl = \"http://a\"", 4, 1, "name", "is missing", "gateway"});
  expect({"[[endpoint]]\nname = \"a\"\nurl = \"ftp://a\"", 6, 7, "url", "\"ftp\" is unknown", "smtps://"});
  expect({"[[endpoint]]\nname = \"a\"\nurl = \"http:a\"", 6, 7, "url", "not followed by //", "http://"});
  expect({"[[endpoint]]\nname = \"a\"\nurl = \"http://a,b/\"", 6, 7, "url", "several hosts", "one host"});
  expect({"[[endpoint]]\nname = \"a\"\nurl = \"http:///x\"", 6, 7, "url", "names no host", ""});
  expect({"[[endpoint]]\nname = \"a\"\nurl = \"smtp://a\"", 4, 1, "from", "is missing", "shop@example.com"});
  expect({"[[endpoint]]\nname = \"a\"\nurl = \"http://a\"\nca_file = \"x\"", 7, 11, "ca_file", "without TLS", "https"});
}

TEST(Endpoints, MistakesInAnswersAndTimesAreFoundWhereTheyAre) {
  const auto expect = [](const Case& wrong) { expect_one_mistake(wrong, gateway); };
  expect({"succeeded = [\"20\"]", 4, 14, "succeeded[0]", "no status", "2xx"});
  expect({"failed = [\"4xx\", \"2xx\"]", 4, 18, "failed[1]", "named twice", "goes before"});
  expect({"succeeded = []", 4, 13, "succeeded", "ever be a yes", "2xx"});
  expect({"reference = \"id\"", 4, 13, "reference", "begin with '/'", "RFC 6901"});
  expect({"most_response_bytes = 0", 4, 23, "most_response_bytes", "0 is outside", "memory"});
  expect({"timeout = \"59500ms\"", 1, 1, "lease", "not 2s longer than timeout", "must end"});
  expect({"lease = \"15500ms\"", 4, 9, "lease", "not 2s longer than timeout", "must end"});
  expect({"rate = -1", 4, 8, "rate", "outside", "calls a second"});
  expect({"rate = \"fast\"", 4, 8, "rate", "a number", "without quotes"});
  expect({"concurrency = 0", 4, 15, "concurrency", "0 is outside", "connection"});
  expect({"poll = \"1h\"", 4, 8, "poll", "outside 10ms to 1m", "nobody told"});
  expect({"circuit_failures = 0", 4, 20, "circuit_failures", "outside", "in a row"});
  expect({"retry = { attempts = 0 }", 4, 22, "retry.attempts", "0", "hundred times"});
  expect({"approval_lifetime = \"2y\"", 4, 21, "approval_lifetime", "outside 1s to 1y", "does not fire"});
}

TEST(Endpoints, MistakesInWhatIsAskedAreFoundWhereTheyAre) {
  const auto expect = [](const Case& wrong) { expect_one_mistake(wrong, gateway); };
  expect({"look_up = { attempts = 3 }", 4, 11, "look_up.url", "is missing", "https://"});
  expect({"look_up.url = \"https://a/x\"", 4, 15, "look_up.url", "no call in particular", "{key}, {reference}"});
  expect({"look_up.url = \"https://a/{id}\"", 4, 15, "look_up.url", "{id} stands for nothing", "{business_key}"});
  expect({"look_up.url = \"https://a/{key\"", 4, 15, "look_up.url", "", ""});
  expect({"look_up.url = \"http://a/{key}\"", 4, 15, "look_up.url", "is http, and the endpoint https", "headers"});
  expect({"look_up.url = \"smtp://a/{key}\"", 4, 15, "look_up.url", "unknown", "http://, https://"});
  expect({"look_up = { url = \"https://a/{key}\", done = [\"2xx\", \"404\"] }", 4, 11, "look_up.not_done[0]",
          "named twice", "goes before"});
  expect({"look_up = { url = \"https://a/{key}\", done_pointer = \"/a\" }", 4, 11, "look_up.done_values", "is missing",
          "done_pointer"});
  expect({"look_up.url = \"https://a/x?key={key}\"", 4, 1, "look_up.done_pointer", "a search is answered with 200",
          "not_done_values"});
  const std::string asked = "look_up = { url = \"https://a/{key}\", done_pointer = \"/a\", done_values = [\"x\"], ";
  expect({asked + "not_done_values = [\"y\", \"x\"] }", 4, 104, "look_up.not_done_values[1]", "one of done_values, too",
          "one meaning"});
  expect(
      {asked + "not_done_values = [\"a\\n\"] }", 4, 99, "look_up.not_done_values[0]", "control character", "captured"});
  expect({asked + "not_done_pointer = \"a\", not_done_values = [\"y\"] }", 4, 99, "look_up.not_done_pointer",
          "begin with '/'", "RFC 6901"});
  expect({asked + "not_done_pointer = \"/a\" }", 4, 11, "look_up.not_done_values", "is missing", "[]"});
  expect({"look_up = { url = \"https://a/{key}\", not_done_values = [\"x\"] }", 4, 56, "look_up.not_done_values",
          "any other answer would be done", "done_pointer"});
  expect({"look_up = { url = \"https://a/{key}\", attempts = 0 }", 4, 49, "look_up.attempts", "outside", "a person"});
  expect({"list = { url = \"https://a/x\" }", 4, 8, "list.key", "is missing", "/idempotency_key"});
  expect(
      {"list = { url = \"https://a/{key}\", key = \"/k\" }", 4, 16, "list.url", "{key} stands for nothing", "{since}"});
  expect({"list = { url = \"https://a\", key = \"k\" }", 4, 35, "list.key", "begin with '/'", "RFC 6901"});
  expect(
      {"[[endpoint]]\nname = \"a\"\nlook_up.url = \"http://a/{key}\"", 6, 15, "look_up.url", "is a callback", "leave"});
  expect({"[[endpoint]]\nname = \"a\"\nurl = \"smtp://a\"\nfrom = \"b@c\"\nlook_up.url = \"http://a/{key}\"", 8, 15,
          "look_up.url", "nobody to ask", "leave"});
}

TEST(Endpoints, AreNotTooMany) {
  std::string many;
  for (int i = 0; i < 65; ++i) many += "[[endpoint]]\nname = \"e" + std::to_string(i) + "\"\n";
  const auto mistakes = mistakes_in(many);
  ASSERT_EQ(mistakes.size(), 1u);
  EXPECT_THAT(mistakes[0].message, testing::HasSubstr("65 endpoints, more than 64"));
}

TEST(Endpoints, NoMistakeRepeatsASecret) {
  const auto mistakes = mistakes_in(
      "[[endpoint]]\nname = \"a\"\nurl = \"https://me:hunter2@x@a/\"\nheaders = { A = \" hunter2\" }\n"
      "[ingress]\ntoken = \" hunter2\"\n");
  EXPECT_GE(mistakes.size(), 3u);
  EXPECT_THAT(to_string(mistakes), testing::Not(testing::HasSubstr("hunter2")));
}

}  // namespace
}  // namespace onceward
