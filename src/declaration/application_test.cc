// Files: what is read, and every mistake at its line and column.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "onceward/declaration.h"
#include "src/declaration/suite.h"

namespace onceward {
namespace {

using namespace files;  // NOLINT: the suite is the tests' vocabulary

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;

// Three lines; what a case adds begins on the fourth.
constexpr std::string_view consumer = "[[consumer]]\nname = \"payments\"\nowner = \"team\"\n";

TEST(Application, IsReadWhole) {
  const Application application = read(R"toml(
[store]
url = "postgres://app@db/orders"
[[consumer]]
name = "payments"
owner = "payments-team@example.com"
source = "rabbitmq://broker/payments"
order = "partition"
time_bound = "10s"
modes = ["live", "replay"]
retry = { attempts = 7, first_delay = "250ms", longest_delay = "2m" }
[consumer.identity]
message_id = { header = "ce_id" }
producer = "billing"
tenant = { header = "tenant" }
scheme = "hash"
hash = { canonical_json = true, volatile = ["/sentAt"] }
operation = { name = "capture", key = { pointer = "/captureRequestId" } }
missing_id = "operation_key"
[consumer.versions]
schema = [1, 3]
event = { lowest = 2, required = false }
[consumer.fields]
amount = { pointer = "/amount", type = "decimal(2)" }
account = { pointer = "/account", optional = true }
[[consumer.effect]]
name = "book"
[[consumer.effect]]
name = "charge"
kind = "call"
[consumer.retention]
category = "money"
broker_retention = "7d"
legal = "10y"
[consumer.limits]
message_bytes = 1_048_576
depth = 8
)toml");
  Declaration expected;
  expected.name = "payments";
  expected.owner = "payments-team@example.com";
  expected.source = "rabbitmq://broker/payments";
  expected.order = Order::partition;
  expected.time_bound = milliseconds(10'000);
  expected.modes = {Mode::live, Mode::replay};
  expected.retry = {7, milliseconds(250), milliseconds(120'000)};
  expected.identity.message_id = FromHeader{"ce_id"};
  expected.identity.producer = "billing";
  expected.identity.tenant_header = "tenant";
  expected.identity.hash = {true, {"/sentAt"}};
  expected.identity.operation = OperationPolicy{"capture", FromPayload{"/captureRequestId"}};
  expected.identity.missing_id_uses_operation = true;
  expected.schema_versions = {1, 3, true};
  expected.event_versions = {2, std::numeric_limits<std::int64_t>::max(), false};
  expected.fields = {{"amount", "/amount", FieldType::decimal, 2, false},
                     {"account", "/account", FieldType::text, 0, true}};
  expected.effects = {{"book", EffectDeclaration::Kind::database, false},
                      {"charge", EffectDeclaration::Kind::call, true}};
  expected.category = RetentionCategory::money;
  expected.horizon.broker_retention = hours(7 * 24);
  expected.horizon.legal = hours(10 * 365 * 24);
  expected.limits.message_bytes = 1 << 20;
  expected.limits.depth = 8;
  EXPECT_EQ(application.store, "postgres://app@db/orders");
  EXPECT_EQ(application.consumers, std::vector<Declaration>{expected});
}

TEST(Application, IsReadWithOffsetsInTheStore) {
  const Application application = read(std::string(consumer) +
                                       "source = \"kafka://b/t?group=g\"\norder = \"partition\"\noffsets = \"store\"\n"
                                       "trust_producer = true\n");
  EXPECT_EQ(application.consumers.at(0).offsets, Offsets::store);
  EXPECT_TRUE(application.consumers.at(0).trust_producer);
}

TEST(Application, NeedsOnlyANameAndAnOwner) {
  Declaration expected;
  expected.name = "payments";
  expected.owner = "team";
  EXPECT_EQ(read(consumer).consumers, std::vector<Declaration>{expected});
  EXPECT_EQ(read("").consumers.size(), 0u);
  EXPECT_EQ(read("").admin, AdminDeclaration{}) << "nothing listens unless it is declared";
}

TEST(Application, IsReadWithWhatTheProcessNeeds) {
  const Application application = read(R"toml(
[admin]
listen = "[::1]:9464"
[log]
format = "json"
level = "debug"
[shutdown]
drain = "5s"
[[consumer]]
name = "payments"
owner = "team"
source = "embedded:q"
sql = ["INSERT INTO payment SELECT message_id FROM messages", "DELETE FROM invoice;"]
transaction = "each"
workers = 64
batch = 10_000
)toml");
  EXPECT_EQ(application.admin, (AdminDeclaration{"::1", 9464}));
  EXPECT_EQ(application.log, (LogDeclaration{LogDeclaration::Format::json, LogLevel::debug}));
  EXPECT_EQ(application.drain, milliseconds(5000));
  Declaration expected;
  expected.name = "payments";
  expected.owner = "team";
  expected.source = "embedded:q";
  expected.sql = {"INSERT INTO payment SELECT message_id FROM messages", "DELETE FROM invoice;"};
  expected.transaction = TransactionScope::each;
  expected.workers = 64;
  expected.batch = 10'000;
  EXPECT_EQ(application.consumers, std::vector<Declaration>{expected});
}

TEST(Application, TakesOneStatementWithoutAnArray) {
  const auto application = read(std::string(consumer) + "source = \"embedded:q\"\nsql = \"DELETE FROM a\"\n");
  EXPECT_EQ(application.consumers.at(0).sql, std::vector<std::string>{"DELETE FROM a"});
}

TEST(Application, KnowsEveryWayToNameAnIdentity) {
  using Member = FromEnvelope::Member;
  const std::pair<std::string_view, IdentitySource> ways[] = {
      {"\"message_id\"", FromEnvelope{Member::message_id}},
      {"\"event_id\"", FromEnvelope{Member::event_id}},
      {"\"command_id\"", FromEnvelope{Member::command_id}},
      {"\"idempotency_key\"", FromEnvelope{Member::idempotency_key}},
      {"\"aggregate_version\"", FromAggregate{}},
      {"{ header = \"id\" }", FromHeader{"id"}},
      {"{ pointer = \"/id\" }", FromPayload{"/id"}},
  };
  for (const auto& [text, source] : ways) {
    SCOPED_TRACE(text);
    const auto application = read(std::string(consumer) + "identity.message_id = " + std::string(text));
    ASSERT_EQ(application.consumers.size(), 1u);
    EXPECT_EQ(application.consumers[0].identity.message_id, source);
  }
}

TEST(Application, KnowsEveryType) {
  const std::pair<std::string_view, FieldType> types[] = {
      {"text", FieldType::text},           {"int64", FieldType::int64},        {"bool", FieldType::boolean},
      {"timestamp", FieldType::timestamp}, {"uuid", FieldType::uuid},          {"bytes", FieldType::bytes},
      {"decimal(0)", FieldType::decimal},  {"decimal(18)", FieldType::decimal}};
  for (const auto& [text, type] : types) {
    SCOPED_TRACE(text);
    const auto application =
        read(std::string(consumer) + "fields.a = { pointer = \"/a\", type = \"" + std::string(text) + "\" }");
    ASSERT_EQ(application.consumers.size(), 1u);
    EXPECT_EQ(application.consumers[0].fields.at(0).type, type);
  }
}

TEST(ApplicationMistake, OfTheWholeFile) {
  const Case cases[] = {
      {"[store\n", 1, 7, "", "not TOML", "toml.io"},
      {"[store]\nurl = \"x\nurl\"", 2, 9, "", "not TOML", "toml.io"},
      {"colour = 1\n", 1, 1, "colour", "unknown key", "one of: store, consumer"},
      {"[[consumers]]\n", 1, 3, "consumers", "unknown key", "did you mean \"consumer\"?"},
      {"[consumer]\nname = \"a\"\n", 1, 1, "consumer", "a table where an array should be", "[[consumer]]"},
      {"consumer = [1]\n", 1, 13, "", "an integer where a table should be", "a table has keys"},
      {"store = \"sqlite:a.db\"\n", 1, 9, "store", "a string where a table should be", "[header]"},
      {"[store]\n", 1, 1, "store.url", "is missing", "postgres://"},
      {"[store]\nurl = 5\n", 2, 7, "store.url", "an integer where a string should be", "in quotes"},
      {"[store]\nurl = \"mysql://u:secret@h\"\n", 2, 7, "store.url", "the scheme \"mysql\" is unknown", "postgres://"},
      {"[store]\nurl = \"sqlite:a\"\ntimeout = 5\n", 3, 1, "store.timeout", "unknown key", "one of: url"},
      {"[[consumer]]\nowner = \"x\"\n", 1, 1, "name", "is missing", "part of every key"},
      {"[[consumer]]\nname = \"x\"\n", 1, 1, "owner", "is missing", "is told"},
      {"[[consumer]]\nname = \"x\"\nownr = \"y\"\n", 3, 1, "ownr", "unknown key", "did you mean \"owner\"?"},
  };
  for (const Case& wrong : cases) expect_one_mistake(wrong, "");
}

TEST(ApplicationMistake, OfTheProcess) {
  const Case cases[] = {
      {"[admin]\n", 1, 1, "admin.listen", "is missing", "127.0.0.1:9464"},
      {"[admin]\nlisten = 9464\n", 2, 10, "admin.listen", "an integer where a string should be", "127.0.0.1:9464"},
      {"[admin]\nlisten = \"9464\"\n", 2, 10, "admin.listen", "is no address", "a host and a port"},
      {"[admin]\nlisten = \"localhost:65536\"\n", 2, 10, "admin.listen", "is no address", "a host and a port"},
      {"[admin]\nlisten = \"0.0.0.0:9464\"\n", 2, 10, "admin.listen", "authentication does not exist yet", "proxy"},
      {"[admin]\nlisten = \"db.example.com:1\"\n", 2, 10, "admin.listen", "is not on loopback", "[::1]"},
      {"[admin]\nlsten = \"127.0.0.1:1\"\n", 2, 1, "admin.lsten", "unknown key", "did you mean \"listen\"?"},
      {"[log]\nformat = \"jsn\"\n", 2, 10, "log.format", "\"jsn\" is no format", "did you mean \"json\"?"},
      {"[log]\nlevel = \"trace\"\n", 2, 9, "log.level", "is no level", "one of: error, warn, info, debug"},
      {"[log]\nfile = \"a\"\n", 2, 1, "log.file", "unknown key", "one of: format, level"},
      {"[shutdown]\ndrain = \"2h\"\n", 2, 9, "shutdown.drain", "2h is outside 0ms to 1h", "does not wait"},
      {"[shutdown]\ndrain = 30\n", 2, 9, "shutdown.drain", "an integer where a string should be", "\"30s\""},
      {"[shutdown]\nwait = \"1s\"\n", 2, 1, "shutdown.wait", "unknown key", "one of: drain"},
      {"log = \"json\"\n", 1, 7, "log", "a string where a table should be", "[header]"},
  };
  for (const Case& wrong : cases) expect_one_mistake(wrong, "");
}

TEST(ApplicationMistake, OfSql) {
  const Case cases[] = {
      {"sql = \"COMMIT\"\n", 5, 7, "sql", "begins with \"commit\"", "the transaction is Onceward's"},
      {"sql = [\"DELETE FROM a\", \"ROLLBACK\"]\n", 5, 25, "sql[1]", "begins with \"rollback\"", "INSERT"},
      {"sql = \"\"\n", 5, 7, "sql", "is empty", "leave the key out"},
      {"sql = [\"\"]\n", 5, 8, "sql[0]", "is empty", "leave the key out"},
      {"sql = []\n", 5, 7, "sql", "holds no statement", "leave the key out"},
      {"sql = 1\n", 5, 7, "sql", "an integer where a statement or an array of them", "INSERT INTO"},
      {"sql = [\"DELETE FROM a\", 1]\n", 5, 25, "sql[1]", "an integer where a string should be", "in quotes"},
      {"transaction = \"none\"\n", 5, 15, "transaction", "\"none\" is no transaction", "one of: batch, each"},
      {"workers = 0\n", 5, 11, "workers", "0 is outside 1 to 64", "connection of its own"},
      {"workers = 65\n", 5, 11, "workers", "65 is outside 1 to 64", "connection of its own"},
      {"batch = 0\n", 5, 9, "batch", "0 is outside 1 to 10000", "no more speed"},
      {"batch = 10_001\n", 5, 9, "batch", "10001 is outside 1 to 10000", "no more speed"},
      {"batch = -1\n", 5, 9, "batch", "is out of range", "limits"},
      {"worker = 1\n", 5, 1, "worker", "unknown key", "did you mean \"workers\"?"},
  };
  for (const Case& wrong : cases) expect_one_mistake(wrong, std::string(consumer) + "source = \"embedded:q\"\n");
  expect_one_mistake({"sql = \"DELETE FROM a\"\n", 4, 1, "sql", "there is no source", "source = \"embedded:"},
                     consumer);
  // While the source cannot be read, nothing is said about what follows from it.
  expect_one_mistake({"source = 5\nsql = \"DELETE FROM a\"\n", 4, 10, "source", "an integer where", ""}, consumer);
}

TEST(ApplicationMistake, OfAConsumer) {
  const Case cases[] = {
      {"[[consumer]]\nname = \"payments\"\nowner = \"x\"\n", 5, 8, "name", "declared twice", "one memory"},
      {"source = \"amqp://u:secret@h/q\"\n", 4, 10, "source", "two protocols", "rabbitmq://"},
      {"source = \"nats://h\"\n", 4, 10, "source", "unknown",
       "embedded:, rabbitmq://, rabbitmqs://, kafka://, amqp1://"},
      {"source = \"\"\n", 4, 10, "source", "is empty", "leave the key out"},
      {"order = \"keys\"\n", 4, 9, "order", "\"keys\" is no order", "did you mean \"key\"?"},
      {"gap = \"ignore\"\n", 4, 7, "gap", "is no gap policy", "one of: accept_latest, wait, repair, fail"},
      {"gap = 1\n", 4, 7, "gap", "an integer where a string should be", ""},
      {"order = \"key\"\n", 4, 9, "order", "not there yet", "partition"},
      {"gap = \"wait\"\n", 4, 7, "gap", "not there yet", "leave it out"},
      {"time_bound = 30\n", 4, 14, "time_bound", "an integer where a string should be", "\"30s\""},
      {"time_bound = \"30 s\"\n", 4, 14, "time_bound", "no duration", "a whole number and one of"},
      {"time_bound = \"2h\"\n", 4, 14, "time_bound", "2h is outside 1ms to 1h", "one transaction"},
      {"modes = \"live\"\n", 4, 9, "modes", "a string where an array should be", "[\"live\"]"},
      {"modes = [\"live\", \"LIVE\"]\n", 4, 18, "modes[1]", "\"LIVE\" is no mode", "did you mean \"live\"?"},
      {"modes = [\"live\", \"live\"]\n", 4, 18, "modes[1]", "named twice", "once"},
      {"modes = []\n", 4, 9, "modes", "accepts no mode", "live"},
      {"modes = [\"live\", \"rebuild\"]\n", 4, 9, "modes", "rebuild stands beside", "its own"},
      {"retry = { attempts = 0 }\n", 4, 22, "retry.attempts", "0 is outside 1 to 100", "the first try"},
      {"retry = { attempts = 5000000000 }\n", 4, 22, "retry.attempts", "is out of range", "limits"},
      {"retry = { attempts = 2.5 }\n", 4, 22, "retry.attempts", "a number where an integer", "without a point"},
      {"retry = { attemps = 2 }\n", 4, 11, "retry.attemps", "unknown key", "did you mean \"attempts\"?"},
      {"retry = 5\n", 4, 9, "retry", "an integer where a table should be", "{ key = value }"},
      {"[consumer.retry]\nfirst_delay = \"5m\"\nlongest_delay = \"1m\"\n", 6, 17, "retry.longest_delay",
       "1m is shorter than first_delay = 5m", "grow"},
      {"color = 1979-05-27\n", 4, 1, "color", "unknown key", "one of: name, owner"},
      {"owner.x = 1\n", 4, 1, "", "not TOML", ""},
      {"limits.depth = -1\n", 4, 16, "limits.depth", "is out of range", ""},
      {"limits.depth = 500\n", 4, 16, "limits.depth", "500 is outside 1 to 256", "stack"},
  };
  for (const Case& wrong : cases) expect_one_mistake(wrong, consumer);
}

TEST(ApplicationMistake, OfIdentity) {
  const Case cases[] = {
      {"identity.message_id = \"mesage_id\"\n", 4, 23, "identity.message_id", "is no identity that", "\"message_id\"?"},
      {"identity.message_id = \"colour\"\n", 4, 23, "identity.message_id", "is no identity that", "{ header = "},
      {"identity.message_id = [\"partition\", \"offset\"]\n", 4, 23, "identity.message_id",
       "an array where one identity should be", "aggregate_version"},
      {"identity.message_id = {}\n", 4, 23, "identity.message_id", "exactly one of header and pointer", "message_id"},
      {"identity.message_id = { header = \"a\", pointer = \"/b\" }\n", 4, 23, "identity.message_id",
       "exactly one of header and pointer", "message_id"},
      {"identity.message_id = { path = \"/b\" }\n", 4, 25, "identity.message_id.path", "unknown key",
       "header, pointer"},
      {"identity.message_id = { pointer = \"b\" }\n", 4, 35, "identity.message_id.pointer", "does not begin",
       "RFC 6901"},
      {"identity.scheme = \"uidv7\"\n", 4, 19, "identity.scheme", "is no key scheme", "did you mean \"uuidv7\"?"},
      {"identity.hash = \"sha1\"\n", 4, 17, "identity.hash", "is no hash", "canonical_json"},
      {"identity.hash = { volatile = [\"/sentAt\"] }\n", 4, 30, "identity.hash.volatile", "only of a canonical",
       "true"},
      {"identity.hash = { canonical_json = true, volatile = [\"/a\", \"b\"] }\n", 4, 60, "identity.hash.volatile[1]",
       "does not begin with '/'", "RFC 6901"},
      {"identity.hash = { canonical_json = \"yes\" }\n", 4, 36, "identity.hash.canonical_json",
       "a string where true or false should be", "without quotes"},
      {"identity.tenant = {}\n", 4, 19, "identity.tenant", "names no header", "{ header = "},
      {"identity.tenant = { headr = \"t\" }\n", 4, 21, "identity.tenant.headr", "unknown key", "\"header\"?"},
      {"identity.operation = { key = \"idempotency_key\" }\n", 4, 22, "identity.operation.name", "is missing", "scope"},
      {"identity.operation = { name = \"capture\", key = \"message_id\" }\n", 4, 48, "identity.operation.key",
       "names the message", "idempotency_key"},
      {"identity.operation = { name = \"capture\", key = \"timestamp\" }\n", 4, 48, "identity.operation.key",
       "is no identity", "#k13-timestamp"},
      {"identity.missing_id = \"accept\"\n", 4, 23, "identity.missing_id", "no answer to a missing id", "refuse"},
      {"identity.missing_id = \"operation_key\"\n", 4, 23, "identity.missing_id", "no operation is declared", "add"},
      {"[consumer.identity]\nscheme = \"uuidv7\"\nmissing_id = \"operation_key\"\noperation = { name = \"capture\" }\n",
       6, 14, "identity.missing_id", "carries no time", "hash"},
      {"[consumer.identity]\nscheme = \"ulid\"\nmessage_id = \"aggregate_version\"\n", 5, 10, "identity.scheme",
       "carries no time", "hash"},
  };
  for (const Case& wrong : cases) expect_one_mistake(wrong, consumer);
}

TEST(ApplicationMistake, OfWhatIsNoIdentity) {
  const std::pair<std::string_view, std::string_view> refused[] = {
      {"\"delivery_tag\"", "#k13-delivery-tag"},
      {"\"redelivered\"", "#k13-delivery-tag"},
      {"\"offset\"", "#k13-offset"},
      {"\"partition/offset\"", "#k13-offset"},
      {"\"correlation_id\"", "#k13-correlation-id"},
      {"\"random\"", "#k13-random-uuid-per-retry"},
      {"\"generated\"", "#k13-random-uuid-per-retry"},
      {"\"uuid\"", "#k13-random-uuid-per-retry"},
      {"\"timestamp\"", "#k13-timestamp"},
      {"\"occurred_at\"", "#k13-timestamp"},
      {"\"recipient\"", "#k13-recipient-only"},
      {"\"row_id\"", "#k13-row-id"},
      {"\"id\"", "#k13-row-id"},
      {"\"payload_hash\"", "#k13-payload-hash"},
      {"\"business_key\"", "idempotency_key for the operation"},
      {"{ header = \"x-death\" }", "#k13-delivery-tag"},
      {"{ header = \"x-stream-offset\" }", "#k13-offset"},
      {"{ pointer = \"/correlationId\" }", "#k13-correlation-id"},
  };
  for (const auto& [text, hint] : refused) {
    const bool word = text.starts_with('"');
    const std::string key = word ? "" : text.starts_with("{ header") ? ".header" : ".pointer";
    const std::uint32_t inside = word ? 0 : text.starts_with("{ header") ? 11 : 12;
    const std::string message = "identity.message_id = " + std::string(text) + "\n";
    expect_one_mistake({message, 4, 23 + inside, "identity.message_id" + key, "is no identity: ", hint}, consumer);
    const std::string operation = "identity.operation = { name = \"a\", key = " + std::string(text) + " }\n";
    expect_one_mistake({operation, 4, 42 + inside, "identity.operation.key" + key, "is no identity: ", hint}, consumer);
  }
}

TEST(ApplicationMistake, OfVersionsFieldsAndEffects) {
  const Case cases[] = {
      {"versions.schema = [3, 1]\n", 4, 19, "versions.schema", "lowest version 3 is above the highest 1", "[lowest"},
      {"versions.schema = [1]\n", 4, 19, "versions.schema", "not two versions", "[1, 3]"},
      {"versions.schema = [\"1\", 0]\n", 4, 20, "versions.schema[0]", "a string where an integer", "without quotes"},
      {"versions.schema = \"1\"\n", 4, 19, "versions.schema", "a string where a range of versions", "[1, 3]"},
      {"versions.events = 1\n", 4, 10, "versions.events", "unknown key", "did you mean \"event\"?"},
      {"versions.event = { lowest = 1, hihgest = 2 }\n", 4, 32, "versions.event.hihgest", "unknown key",
       "\"highest\"?"},
      {"fields.orderId = { pointer = \"/a\" }\n", 4, 8, "fields.orderId", "not the name of a column", "order_id"},
      {"fields.payload = { pointer = \"/a\" }\n", 4, 8, "fields.payload", "every message has", "payload_value"},
      {"fields.order = { pointer = \"/a\" }\n", 4, 8, "fields.order", "reserved word", "order_value"},
      {"fields.\"a.b\" = { pointer = \"/a\" }\n", 4, 8, "fields.a.b", "not the name of a column", "a_b"},
      {"fields.a = {}\n", 4, 12, "fields.a.pointer", "is missing", "pointer = "},
      {"fields.a = \"/a\"\n", 4, 12, "fields.a", "a string where a table should be", "{ key = value }"},
      {"fields.a = { pointer = \"/a\", type = \"int\" }\n", 4, 37, "fields.a.type", "\"int\" is no type",
       "one of: text"},
      {"fields.a = { pointer = \"/a\", type = \"int46\" }\n", 4, 37, "fields.a.type", "is no type", "\"int64\"?"},
      {"fields.a = { pointer = \"/a\", type = \"decimal\" }\n", 4, 37, "fields.a.type", "is no type", "decimal(2)"},
      {"fields.a = { pointer = \"/a\", type = \"decimal(19)\" }\n", 4, 37, "fields.a.type", "scale 19 is outside",
       "64"},
      {"fields.a = { pointer = \"/a\", type = \"decimal(-1)\" }\n", 4, 37, "fields.a.type", "is no type", "decimal(2)"},
      {"fields.a = { pointer = \"/a\", optional = 1 }\n", 4, 41, "fields.a.optional", "an integer where true",
       "quotes"},
      {"[[consumer.effect]]\nkind = \"call\"\n", 4, 1, "effect[0].name", "is missing", "name = "},
      {"[[consumer.effect]]\nname = \"a\"\nkind = \"calls\"\n", 6, 8, "effect[0].kind", "no kind of effect",
       "\"call\"?"},
      {"[[consumer.effect]]\nname = \"a\"\nirreversible = true\n", 6, 16, "effect[0].irreversible", "rolls back",
       "leaves"},
      {"[[consumer.effect]]\nname = \"a\"\n[[consumer.effect]]\nname = \"a\"\n", 7, 8, "effect[1].name", "twice",
       "own"},
      {"[consumer.effect]\nname = \"a\"\n", 4, 1, "effect", "a table where an array", "[[consumer.effect]]"},
      {"retention.category = \"cash\"\n", 4, 22, "retention.category", "no retention category", "one of: money"},
      {"retention.broker_retention = \"0s\"\n", 4, 30, "retention.broker_retention", "outside 1s to 100y", "leave"},
      {"retention.legal = \"101y\"\n", 4, 19, "retention.legal", "outside 1s to 100y", "leave"},
      {"retention.longest_retry = \"14s\"\n", 4, 27, "retention.longest_retry", "shorter than the consumer's own",
       "count"},
  };
  for (const Case& wrong : cases) expect_one_mistake(wrong, consumer);
}

TEST(ApplicationMistakes, AreAllReportedInTheOrderOfTheFile) {
  const auto mistakes = mistakes_in(
      "[[consumer]]\nname = \"a b\"\nmodes = [\"liv\", \"replai\"]\ntime_bound = \"0s\"\n"
      "[[consumer]]\nname = \"b\"\ncolour = 1\nowner = \"x\"\n[store]\nurl = \"x\"\n");
  std::vector<std::string> keys;
  for (const Mistake& mistake : mistakes) keys.push_back(std::to_string(mistake.line) + " " + mistake.key);
  EXPECT_THAT(keys, testing::ElementsAre("1 owner", "2 name", "3 modes[0]", "3 modes[1]", "4 time_bound", "7 colour",
                                         "10 store.url"));
}

// A rule that would compare a default that the file does not mean says nothing.
TEST(ApplicationMistakes, DoNotFollowFromWhatCannotBeRead) {
  const Case cases[] = {
      {"retry = { first_delay = \"10 m\", longest_delay = \"500ms\" }\n", 4, 25, "retry.first_delay", "no duration",
       ""},
      {"retention.longest_retry = \"1s\"\nretry.attempts = \"one\"\n", 5, 18, "retry.attempts", "a string where", ""},
      {"[[consumer]]\nname = \"b\"\nowner = 5\n", 6, 9, "owner", "an integer where a string", ""},
      {"identity.missing_id = \"operation_key\"\nidentity.operaton = { name = \"a\" }\n", 5, 10, "identity.operaton",
       "unknown key", "\"operation\"?"},
  };
  for (const Case& wrong : cases) expect_one_mistake(wrong, consumer);
}

TEST(ApplicationMistakes, NeverShowASecret) {
  for (const char* toml : {"[store]\nurl = \"mysql://app:hunter2@db/x\"\n", "[store]\nurl = \"app:hunter2@db\"\n",
                           "[store]\nurl = [\"postgres://app:hunter2@db\"]\n",
                           "[[consumer]]\nsource = \"amqp://app:hunter2@h\"\norder = \"app:hunter2@h\"\n",
                           "[[consumer]]\nidentity.message_id = \"app:hunter2@h\"\nidentity.hash = \"a:hunter2\"\n",
                           "[[consumer]]\nname = \"app:hunter2@h\"\ntime_bound = \"app:hunter2@h\"\n"}) {
    const auto mistakes = mistakes_in(toml);
    EXPECT_FALSE(mistakes.empty()) << toml;
    EXPECT_THAT(to_string(mistakes), testing::Not(HasSubstr("hunter2"))) << toml;
  }
}

TEST(ApplicationMistakes, HaveALimitOfConsumers) {
  std::string toml;
  for (int i = 0; i < 256; ++i) toml += "[[consumer]]\nname = \"c" + std::to_string(i) + "\"\nowner = \"x\"\n";
  EXPECT_EQ(read(toml).consumers.size(), 256u);
  toml += "[[consumer]]\nname = \"one-more\"\nowner = \"x\"\n";
  const auto mistakes = mistakes_in(toml);
  ASSERT_EQ(mistakes.size(), 1u);
  EXPECT_EQ(mistakes[0].message, "257 consumers, more than 256");
}

TEST(ApplicationMistakes, AreWrittenForPeople) {
  const std::vector<Mistake> mistakes = {{"app.toml", 3, 7, "store.url", "is missing", "write one"},
                                         {"", 0, 0, "owner", "is missing", "name one"}};
  EXPECT_EQ(to_string(mistakes[0]), "app.toml:3:7: store.url: is missing (write one)");
  EXPECT_EQ(to_string(mistakes[1]), "owner: is missing (name one)");
  EXPECT_EQ(
      to_string(mistakes),
      "app.toml:3:7: store.url: is missing\n  hint: write one\nowner: is missing\n  hint: name one\n2 mistakes\n");
  EXPECT_EQ(to_string(std::vector<Mistake>()), "");
  const Mistake without_hint{"", 0, 0, "source", "is away", ""};
  EXPECT_EQ(to_string(without_hint), "source: is away");
  EXPECT_EQ(to_string(std::span(&without_hint, 1)), "source: is away\n1 mistake\n");
}

RC_GTEST_PROP(Application, SurvivesAnyBytes, (const std::string& bytes)) {
  for (const Mistake& mistake : mistakes_in(bytes)) RC_ASSERT(mistake.line > 0u);
}

}  // namespace
}  // namespace onceward
