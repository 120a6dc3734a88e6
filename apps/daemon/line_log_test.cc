// What messages and passwords hold is seen nowhere outside of the store, whatever fails: not in the log, not on stderr, not
// on the pages.
#include <gmock/gmock.h>

#include <mutex>

#include "apps/daemon/daemon.h"
#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "tests/faults/proxy.h"
#include "tests/faults/server.h"
#include "tests/fixtures/postgres_database.h"

namespace onceward::daemon {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* payload_mark = "payload_f00d";
constexpr const char* header_mark = "header_f00d";
constexpr const char* password_mark = "password_f00d";

void expect_no_mark(const std::string& text, const std::string& where) {
  for (const char* const mark : {payload_mark, header_mark, password_mark}) {
    EXPECT_THAT(text, Not(HasSubstr(mark))) << "in " << where;
  }
}

std::string with_password(std::string url, const std::string& user) {
  return url.replace(url.find("postgres@"), 9, user + ":" + password_mark + "@");
}

class Lines final : public Log {
 public:
  bool wants(LogLevel) const noexcept override { return true; }
  void write(LogLevel, std::string_view message, std::span<const LogField> fields) noexcept override {
    const std::lock_guard lock(mutex_);
    text_ += message;
    for (const LogField& field : fields) {
      if (const auto* const text = std::get_if<std::string_view>(&field.value)) text_ += " " + std::string(*text);
      if (field.name == "port") port_ = static_cast<int>(std::get<std::int64_t>(field.value));
    }
    text_ += '\n';
  }

  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  int port() const {
    const std::lock_guard lock(mutex_);
    return port_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
  int port_ = 0;
};

// All that a message of ours holds and nobody is to see.
std::string secrets_of(const Envelope& message) {
  return std::string(message.payload()) + " " + std::string(message.header("secret").value_or(""));
}

// Fails in the way that the message's id names.
Outcome fail(const Envelope& message, Transaction& transaction) {
  const std::string_view id = message.message_id().text();
  const std::string secrets = secrets_of(message);
  if (id == "throws") throw std::runtime_error(secrets);
  if (id == "fails") return Failed{"never", secrets};
  if (id == "puts_off") return Retry{"not_yet", 1ms, secrets};
  if (id == "does_not_know") return Unknown{"silent", secrets};
  if (id == "breaks_a_type") transaction.query("SELECT 1 / (SELECT count(*) FROM secret WHERE number = $1)", secrets);
  if (id == "breaks_a_key") transaction.execute("INSERT INTO secret (text) VALUES ($1), ($1)", secrets);
  if (id == "breaks_a_check") transaction.execute("INSERT INTO secret (text) VALUES ('no ' || $1)", secrets);
  if (id == "breaks_the_syntax") transaction.query("SELECT " + secrets);
  if (id == "is_told_by_a_trigger") transaction.execute("INSERT INTO told (text) VALUES ($1)", secrets);
  if (id == "is_told_to_be_locked") transaction.query("SELECT tell_of_a_lock($1)", secrets);
  return Done{};
}

void fail_together(Messages& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].message_id().text() == "throws") throw std::runtime_error(secrets_of(messages[i]));
  }
}

// A daemon in this process, on either store, with consumers that fail in every way.
class Secrecy : public testing::TestWithParam<const char*> {
 protected:
  Secrecy() {
    postgres() ? make_in_postgres() : make_in_sqlite();
    application_.admin.host = "127.0.0.1";
    for (const char* const name : {"alone", "together", "declared"}) {
      Declaration& consumer = application_.consumers.emplace_back();
      consumer.name = name;
      consumer.owner = "payments";
      consumer.source = "embedded:" + folder_.path() + "/messages.queue?queue=" + name;
      consumer.retry = {.attempts = 2, .first_delay = 1ms, .longest_delay = 2ms};
    }
    Declaration& declared = application_.consumers.back();
    declared.fields = {{.name = "amount", .pointer = "/amount", .type = FieldType::decimal, .scale = 2},
                       {.name = "text", .pointer = "/text", .type = FieldType::text}};
    declared.sql = {"INSERT INTO secret (text) SELECT text FROM messages"};
  }

  bool postgres() const { return std::string_view(GetParam()) == "postgres"; }
  void make_in_postgres() {
    auto& database = fixtures::shared_database();
    database.empty();
    application_.store = with_password(database.url(), "postgres");
    open_postgres({.url = database.url()})->migrate();
    reader_ = fixtures::read_postgres(database.url());
    make_tables();
    reader_->run(
        "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS "
        "$$BEGIN RAISE EXCEPTION 'this is %', NEW.text; END$$");
    reader_->run("CREATE TRIGGER tell BEFORE INSERT ON told FOR EACH ROW EXECUTE FUNCTION tell()");
    reader_->run(
        "CREATE FUNCTION tell_of_a_lock(text text) RETURNS integer LANGUAGE plpgsql AS "
        "$$BEGIN RAISE EXCEPTION 'locked: %', text USING ERRCODE = '55P03'; END$$");
  }
  void make_in_sqlite() {
    const std::string path = folder_.path() + "/app.db";
    application_.store = "sqlite:" + path;
    open_sqlite({.path = path})->migrate();
    reader_ = fixtures::read_sqlite(path);
    make_tables();
    reader_->run("CREATE TRIGGER tell BEFORE INSERT ON told BEGIN SELECT RAISE(ABORT, 'this is it'); END");
  }
  void make_tables() {
    reader_->run("CREATE TABLE secret (text text UNIQUE CHECK (text NOT LIKE 'no %'), number integer)");
    reader_->run("CREATE TABLE told (text text)");
  }

  static std::string message(const std::string& id, const std::string& payload) {
    return R"({"messageId":")" + id + R"(","producer":"shop","headers":{"secret":")" + header_mark +
           R"("},"payload":)" + payload + "}";
  }
  static std::string secret(const std::string& id) {
    return message(id, R"({"amount":"1.50","text":")" + std::string(payload_mark) + "\"}");
  }
  void send(const std::string& queue, const std::vector<std::string>& messages) const {
    const std::vector<std::string_view> views(messages.begin(), messages.end());
    EmbeddedSender({.path = folder_.path() + "/messages.queue", .queue = queue}).send(views);
  }
  std::int64_t parked() {
    return reader_->number(std::string("SELECT count(*) FROM ") + (postgres() ? "onceward." : "onceward_") +
                           "quarantine");
  }

  // Runs until `done`; what is seen of it from outside then, and by its end.
  template <class Done>
  void run_until(const std::string& what, Done&& done) {
    testing::internal::CaptureStderr();
    {
      Daemon daemon(application_, {{"alone", MessageHandler(fail)}, {"together", BatchHandler(fail_together)}}, {},
                    lines_);
      std::jthread thread([&](std::stop_token stop) { daemon.run(stop); });
      fixtures::await("it listens", [&] { return lines_.port() != 0; });
      fixtures::await(what, done);
      for (const char* const page : {"/livez", "/readyz", "/metrics"}) {
        expect_no_mark(get(lines_.port(), page).body, page);
      }
      before_the_end();
    }
    expect_no_mark(testing::internal::GetCapturedStderr(), "stderr");
    expect_no_mark(lines_.text(), "the log");
  }
  virtual void before_the_end() {}

  fixtures::TemporaryDirectory folder_;
  Application application_;
  std::unique_ptr<fixtures::Reader> reader_;
  Lines lines_;
};
INSTANTIATE_TEST_SUITE_P(Store, Secrecy, testing::Values("sqlite", "postgres"),
                         [](const auto& of) { return of.param; });

TEST_P(Secrecy, OfMessagesIsKeptHoweverTheyFail) {
  const std::string mark = payload_mark;
  send("alone", {secret("throws"), secret("fails"), secret("puts_off"), secret("does_not_know"), secret("breaks_a_key"),
                 secret("breaks_a_check"), secret("breaks_the_syntax"), secret("is_told_by_a_trigger"),
                 secret("is_sent_twice"), message("is_sent_twice", "\"" + mark + "\""), "{\"no\":\"json " + mark,
                 R"({"producer":"shop","payload":")" + mark + "\"}"});
  if (postgres()) send("alone", {secret("breaks_a_type")});  // SQLite has none
  send("together", {secret("a"), secret("throws"), secret("b")});
  send("declared", {message("ill_typed", R"({"amount":")" + mark + R"(","text":"a"})"), message("missing", "{}"),
                    message("no_object", "\"" + mark + "\""), secret("a"), secret("breaks_a_key")});
  const std::int64_t all = 11 + (postgres() ? 1 : 0) + 1 + 4;
  run_until("all have failed", [&] { return parked() == all; });
  EXPECT_EQ(parked(), all);
  EXPECT_THAT(lines_.text(), HasSubstr("an id with other content than before")) << "the log was seen";
}

class SecrecyInPostgres : public Secrecy {
 protected:
  void before_the_end() override {
    reader_->run("CREATE OR REPLACE FUNCTION tell_of_a_lock(text text) RETURNS integer LANGUAGE sql AS $$SELECT 1$$");
  }
};
INSTANTIATE_TEST_SUITE_P(Store, SecrecyInPostgres, testing::Values("postgres"),
                         [](const auto& of) { return of.param; });

// An outage is told with the server's words, and these may be a function's.
TEST_P(SecrecyInPostgres, IsKeptWhereAFunctionTellsOfAnOutage) {
  send("alone", {secret("is_told_to_be_locked")});
  run_until("it is held", [&] {
    return lines_.port() != 0 && get(lines_.port(), "/readyz").body.find("55P03") != std::string::npos;
  });
  EXPECT_THAT(lines_.text(), HasSubstr("somebody else holds a lock"));
}

// --- the real binary, which knows a password

class SecretPassword : public Running {
 protected:
  static void expect_kept(const fixtures::Ran& ran, int exit_code) {
    EXPECT_EQ(ran.exit_code, exit_code) << ran.output;
    expect_no_mark(ran.output, "what it printed");
  }
};

TEST_F(SecretPassword, IsKeptWhereItIsWrongOrTheUrlIs) {
  const faults::Server server;
  server.read()->run("CREATE ROLE with_password LOGIN PASSWORD 'correct'");
  write(with_password(server.url(), "with_password"));
  expect_kept(run_to_the_end(file_), 5);
  write(server.url("postgres", "with_password") + "?password=" + password_mark);
  expect_kept(run_to_the_end(file_), 5);
  write(with_password(server.url("nowhere"), "postgres"));
  expect_kept(run_to_the_end(file_), 5);
  for (const std::string wrong : {"@[127.0.0.1/app", "@127.0.0.1:port/app", "@127.0.0.1/app?nonsense=1"}) {
    write(std::string("postgres://me:") + password_mark + wrong);
    const auto process = start();
    fixtures::await("it says so", [&] {
      return !process->running() || process->output().find("cannot begin yet") != std::string::npos;
    });
    expect_no_mark(process->output(), wrong);
  }
  write(std::string("postgrse://me:") + password_mark + "@127.0.0.1/app");
  expect_kept(run_to_the_end(file_), 2);
}

TEST_F(SecretPassword, IsKeptWhileTheServerIsMissing) {
  write("postgres://me:" + std::string(password_mark) + "@127.0.0.1:" + std::to_string(fixtures::free_port()) + "/app");
  const auto process = start();
  fixtures::await("it says so", [&] { return logged(*process, "cannot begin yet"); });
  expect_no_mark(get(port_of(*process), "/readyz").body, "/readyz");
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0);
  expect_no_mark(process->output(), "what it printed");
}

TEST_F(SecretPassword, IsKeptWhileTheServerIsAway) {
  auto& database = fixtures::shared_database();
  database.empty();
  open_postgres({.url = database.url()})->migrate();
  fixtures::read_postgres(database.url())->run("CREATE TABLE effect (message text NOT NULL)");
  faults::Proxy proxy(faults::port_of(database.url()));
  write(with_password(proxy.instead_of(database.url()), "postgres"), insert, "[log]\nlevel = \"debug\"");
  const auto process = start_and_await_work();
  proxy.refuse(true);
  proxy.cut_all();
  send(1);
  fixtures::await("it is not ready", [&] { return get(port_of(*process), "/readyz").status == 503; });
  for (const char* const page : {"/readyz", "/metrics"}) expect_no_mark(get(port_of(*process), page).body, page);
  proxy.refuse(false);
  fixtures::await("it goes on", [&] { return depth() == QueueDepth{0, 0}; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0);
  expect_no_mark(process->output(), "what it printed");
}

}  // namespace
}  // namespace onceward::daemon
