// `onceward run` as an operator meets it: the real binary with an application file, its log lines, its pages, its signals.
#include <gmock/gmock.h>
#include <sys/un.h>

#include <algorithm>
#include <regex>
#include <set>

#include "apps/daemon/suite.h"
#include "onceward/adapter/postgres.h"
#include "onceward/adapter/sqlite.h"
#include "tests/faults/proxy.h"
#include "tests/fixtures/postgres_database.h"

namespace onceward::daemon {
namespace {

using fixtures::Process;
using fixtures::Ran;
using testing::HasSubstr;
using testing::Not;

class RunningDaemon : public Running {
 protected:
  static fixtures::PostgresDatabase& emptied() {
    auto& database = fixtures::shared_database();
    database.empty();
    open_postgres({.url = database.url()})->migrate();
    fixtures::read_postgres(database.url())->run("CREATE TABLE effect (message text NOT NULL, note text)");
    return database;
  }
  std::int64_t effects() { return reader_->number("SELECT count(*) FROM effect"); }
  std::int64_t sleeping() {
    return reader_->number(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'");
  }
  void end_sleeping() {
    reader_->run(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND "
        "wait_event = 'PgSleep'");
  }
  static std::string after_a_sleep(const std::string& seconds) {
    return "INSERT INTO effect (message) SELECT message_id FROM messages, (SELECT pg_sleep(" + seconds + ")) AS s";
  }
  double metric(const Process& process, const std::string& name) {
    return samples_in(get(port_of(process), "/metrics").body).at(name + "{consumer=\"captures\"}");
  }

  fixtures::PostgresDatabase& database_ = emptied();
  std::unique_ptr<fixtures::Reader> reader_ = fixtures::read_postgres(database_.url());
};

TEST_F(RunningDaemon, DrainsOnSigtermAndNothingComesBack) {
  write(database_.url(), after_a_sleep("0.5"), "[shutdown]\ndrain = \"20s\"");
  send(5);
  {
    const auto process = start();
    fixtures::await("its handler runs", [&] { return sleeping() == 1; });
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(), 0) << process->output();
    EXPECT_TRUE(logged(*process, "ended"));
  }
  EXPECT_EQ(effects(), 5);
  EXPECT_EQ(depth(), (QueueDepth{0, 0}));
  send(1);
  const auto next = start();
  fixtures::await("the next goes on", [&] { return effects() == 6; });
  EXPECT_EQ(metric(*next, "onceward_consumer_redelivered_total"), 0);
}

// The other end of systemd's Type=notify.
class Supervisor {
 public:
  explicit Supervisor(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error(path);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~Supervisor() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(socket_);
  }
  std::string next() {
    char text[256];
    const auto size = ::recv(socket_, text, sizeof text, 0);
    return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : "nothing";
  }

 private:
  int socket_;
};

TEST_F(RunningDaemon, TellsItsSupervisorWhenItWorksAndWhenItStops) {
  write(database_.url(), "INSERT INTO effect (message) SELECT message_id FROM messages");
  Supervisor supervisor(folder_.path() + "/notify");
  const auto process = start();
  EXPECT_THAT(supervisor.next(), HasSubstr("READY=1"));
  process->signal(SIGTERM);
  EXPECT_THAT(supervisor.next(), HasSubstr("STOPPING=1"));
  EXPECT_EQ(process->wait(), 0) << process->output();
}

TEST_F(RunningDaemon, EndsAtOnceOnASecondSigtermAndLosesNothing) {
  write(database_.url(), after_a_sleep("20"));
  send(5);
  {
    const auto process = start();
    fixtures::await("its handler runs", [&] { return sleeping() == 1; });
    process->signal(SIGTERM);
    fixtures::await("it drains", [&] { return get(port_of(*process), "/readyz").status == 503; });
    EXPECT_EQ(nlohmann::json::parse(get(port_of(*process), "/readyz").body).at("trouble"),
              nlohmann::json({{"daemon", "stopping"}}));
    process->signal(SIGTERM);
    EXPECT_EQ(process->wait(std::chrono::seconds(5)), 128 + SIGTERM);
  }
  end_sleeping();
  EXPECT_EQ(effects(), 0);
  let_visibility_pass();
  write(database_.url());
  const auto next = start();
  fixtures::await("the next has done it", [&] { return depth() == QueueDepth{0, 0}; });
  EXPECT_EQ(reader_->number("SELECT count(DISTINCT message) FROM effect"), 5);
  EXPECT_EQ(effects(), 5);
}

TEST_F(RunningDaemon, EndsAtTheDrainDeadlineWithAHandlerThatStillRuns) {
  write(database_.url(), after_a_sleep("20"), "[shutdown]\ndrain = \"200ms\"");
  send(2);
  const auto process = start();
  fixtures::await("its handler runs", [&] { return sleeping() == 1; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(std::chrono::seconds(10)), 1) << process->output();
  EXPECT_THAT(process->output(), HasSubstr("drain deadline"));
  end_sleeping();
  EXPECT_EQ(effects(), 0);
  EXPECT_EQ(depth().in_flight, 2u);
}

// The workers are through, and the query that counts what waits hangs at a lock that nobody gives back.
TEST_F(RunningDaemon, EndsAtTheDrainDeadlineWithAQueryThatStillRuns) {
  write(database_.url(), insert, "[shutdown]\ndrain = \"200ms\"");
  const auto process = start_and_await_work();
  const auto holder = fixtures::read_postgres(database_.url());
  holder->run("BEGIN");
  holder->run("LOCK TABLE onceward.consumer IN ACCESS EXCLUSIVE MODE");
  fixtures::await("the query waits", [&] { return fixtures::waiting_for_locks(*reader_) == 1; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 1) << process->output();
  EXPECT_THAT(process->output(), HasSubstr("drain deadline"));
}

TEST_F(RunningDaemon, IsNotReadyWhileTheDatabaseIsAwayAndSaysWhy) {
  faults::Proxy proxy(faults::port_of(database_.url()));
  write(proxy.instead_of(database_.url()));
  const auto process = start_and_await_work();
  const int port = port_of(*process);
  EXPECT_EQ(get(port, "/livez").status, 200);
  EXPECT_EQ(get(port, "/readyz").status, 200);
  proxy.refuse(true);
  proxy.cut_all();
  send(3);
  fixtures::await("it is not ready", [&] { return get(port, "/readyz").status == 503; });
  const auto away = nlohmann::json::parse(get(port, "/readyz").body);
  EXPECT_EQ(away.at("ready"), false);
  EXPECT_THAT(away.at("trouble").at("captures").get<std::string>(), HasSubstr("server"));
  EXPECT_EQ(get(port, "/livez").status, 200);
  proxy.refuse(false);
  fixtures::await("it is ready", [&] { return get(port, "/readyz").status == 200; });
  fixtures::await("it goes on", [&] { return effects() == 3; });
  EXPECT_TRUE(logged(*process, "the store is away; holding"));
  EXPECT_TRUE(logged(*process, "the store works again"));
  EXPECT_EQ(get(port, "/nonsense").status, 404);
}

// docs/reference/metrics.md: the names of its table, and of the rules that follow it.
struct MetricsPage {
  std::set<std::string> metrics{};
  std::map<std::string, std::set<std::string>> alerts{};  // a rule's name, and the metrics in its expression
};

void add_names(const std::string& text, std::set<std::string>& names) {
  static const std::regex name("onceward_[a-z_]+");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) names.insert(at->str());
}

MetricsPage documented_metrics() {
  std::ifstream file(ONCEWARD_SOURCE_DIRECTORY "/docs/reference/metrics.md");
  static const std::regex alert("- alert: ([A-Za-z]+)( .*)?"), expression("  expr: (.+)");
  MetricsPage page;
  std::string rule;
  for (std::string line; std::getline(file, line);) {
    std::smatch parts;
    if (line.starts_with("| `onceward_")) add_names(line.substr(0, line.find('|', 1)), page.metrics);
    if (std::regex_match(line, parts, alert)) page.alerts[rule = parts[1]];
    if (std::regex_match(line, parts, expression)) add_names(parts[1], page.alerts.at(rule));
  }
  return page;
}

TEST_F(RunningDaemon, ServesEveryMetricOfItsPageAndCounts) {
  write(
      database_.url(), insert,
      "[relay]\nproducer = \"shop\"\n[[route]]\nname = \"out\"\ntypes = [\"paid\"]\nto = \"embedded:" + folder_.path() +
          "/out.queue\"\n[ingress]\nconsumers = [\"captures\"]\n"
          "[[endpoint]]\nname = \"gateway\"\nurl = \"http://127.0.0.1:1/captures\"\n");
  const auto process = start_and_await_work();
  send(4);
  fixtures::await("they are done", [&] { return metric(*process, "onceward_consumer_processed_total") == 4; });
  const HttpAnswer answer = get(port_of(*process), "/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.headers, HasSubstr("text/plain; version=0.0.4"));
  // The gauges are read from the store now and then.
  std::set<std::string> served;
  fixtures::await("the gauges are there", [&] {
    for (const auto& [name, value] : samples_in(get(port_of(*process), "/metrics").body)) {
      const std::string base = name.substr(0, name.find('{'));
      served.insert(std::regex_replace(base, std::regex("_seconds_(bucket|sum|count)$"), "_seconds"));
    }
    return served.contains("onceward_quarantine_parked");
  });
  const MetricsPage page = documented_metrics();
  EXPECT_EQ(served, page.metrics);
  EXPECT_THAT(page.alerts, testing::SizeIs(testing::Ge(4)));
  for (const auto& [alert, metrics] : page.alerts) {
    EXPECT_THAT(metrics, testing::Not(testing::IsEmpty())) << alert;
    EXPECT_TRUE(std::ranges::includes(served, metrics)) << alert << " watches what is not served";
  }
  send(2);
  fixtures::await("they are done", [&] { return metric(*process, "onceward_consumer_processed_total") == 6; });
  EXPECT_EQ(metric(*process, "onceward_source_records_received_total"), 6);
}

TEST_F(RunningDaemon, LogsLinesOfJsonWithoutPayloadsOrSecrets) {
  write(database_.url(), insert, "[log]\nformat = \"json\"\nlevel = \"debug\"");
  const auto process = start_and_await_work();
  send(3);
  fixtures::await("they are done", [&] { return effects() == 3; });
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0);
  const auto lines = log_of(*process);
  ASSERT_GE(lines.size(), 3u);
  for (const auto& line : lines) {
    EXPECT_THAT(line.at("time").get<std::string>(), testing::MatchesRegex("....-..-..T..:..:..\\....Z"));
    EXPECT_TRUE(line.at("level").is_string());
    EXPECT_TRUE(line.at("message").is_string());
  }
  EXPECT_THAT(process->output(), Not(HasSubstr("amount")));
}

// --- what stands in the way of a start

using FailingStart = Running;

TEST_F(FailingStart, BadFileSaysWhereAndIsExitCode2) {
  std::ofstream(file_) << "[[consumer]]\nname = \"captures\"\nownr = \"me\"\n";
  const Ran ran = run_to_the_end(file_);
  EXPECT_EQ(ran.exit_code, 2) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr(file_ + ":3:1: "));
  EXPECT_EQ(run_to_the_end(folder_.path() + "/nowhere.toml").exit_code, 2);
}

TEST_F(FailingStart, MissingStoreIsExitCode2) {
  std::ofstream(file_) << "[[consumer]]\nname = \"captures\"\nowner = \"me\"\nsource = \"embedded:" << queue_path_
                       << "\"\nsql = [\"" << insert << "\"]\n";
  const Ran ran = fixtures::run({"env", "-u", "ONCEWARD_STORE", "-u", "DATABASE_URL", ONCEWARD_BINARY, "run", file_});
  EXPECT_EQ(ran.exit_code, 2) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("[store]"));
}

TEST_F(FailingStart, RefusedPasswordIsExitCode5AndNotShown) {
  std::string url = fixtures::shared_database().url();
  url.replace(url.find("postgres@"), 9, "nobody_known:hunter2@");
  write(url);
  const Ran ran = run_to_the_end(file_);
  EXPECT_EQ(ran.exit_code, 5) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("check the user, the password"));
  EXPECT_THAT(ran.output, Not(HasSubstr("hunter2")));
}

// libpq would take a part of each password for a host, a port or a database, wait for it, and show it.
TEST_F(FailingStart, StoreUrlThatWouldBeReadOtherwiseIsExitCode2AndNotShown) {
  for (const char* const url : {"postgres://u:hun/ter2@127.0.0.1/x", "postgres://u:12/ter2@127.0.0.1/x",
                                "postgres://u:hun@ter2@127.0.0.1/x", "postgres://127.0.0.1:ter2/x"}) {
    write(url);
    for (const char* const verb : {"run", "check"}) {
      const bool check = std::string(verb) == "check";
      const Ran ran = check ? fixtures::run({ONCEWARD_BINARY, "config", "check", file_}) : run_to_the_end(file_);
      EXPECT_EQ(ran.exit_code, check ? 1 : 2) << ran.output;
      EXPECT_THAT(ran.output, HasSubstr("%2F"));
      EXPECT_THAT(ran.output, Not(HasSubstr("ter2")));
    }
    write(sqlite_);
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{ONCEWARD_BINARY, "run", file_, "--store", url},
          {"env", std::string("ONCEWARD_STORE=") + url, ONCEWARD_BINARY, "run", file_}}) {
      const Ran ran = fixtures::run(how);
      EXPECT_EQ(ran.exit_code, 2) << ran.output;
      EXPECT_THAT(ran.output, Not(HasSubstr("ter2")));
    }
  }
}

TEST_F(FailingStart, OptionThatLibpqRefusesIsExitCode5AndSaysWhich) {
  write(fixtures::shared_database().url() + "?sslmode=hunter2");
  const Ran ran = run_to_the_end(file_);
  EXPECT_EQ(ran.exit_code, 5) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("invalid sslmode value"));
  EXPECT_THAT(ran.output, Not(HasSubstr("hunter2")));
}

TEST_F(FailingStart, MissingTablesAreExitCode6AndSayHowToMakeThem) {
  write(sqlite_);
  const Ran ran = run_to_the_end(file_);
  EXPECT_EQ(ran.exit_code, 6) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("onceward store migrate"));
}

TEST_F(FailingStart, ServerThatIsNotUpYetIsWaitedFor) {
  write("postgres://postgres@127.0.0.1:" + std::to_string(fixtures::free_port()) + "/postgres");
  const auto process = start();
  fixtures::await("it says so", [&] { return logged(*process, "cannot begin yet"); });
  EXPECT_EQ(get(port_of(*process), "/livez").status, 200);
  EXPECT_EQ(get(port_of(*process), "/readyz").status, 503);
  process->signal(SIGTERM);
  EXPECT_EQ(process->wait(), 0);
}

TEST_F(FailingStart, PortThatIsTakenIsSaid) {
  write(sqlite_);
  open_sqlite({.path = sqlite_.substr(7)})->migrate();
  fixtures::read_sqlite(sqlite_.substr(7))->run("CREATE TABLE effect (message text NOT NULL)");
  const auto first = start_and_await_work();
  std::ostringstream text;
  text << std::ifstream(file_).rdbuf();
  std::string changed = text.str();
  changed.replace(changed.find("127.0.0.1:0"), 11, "127.0.0.1:" + std::to_string(port_of(*first)));
  std::ofstream(file_) << changed;
  const Ran ran = run_to_the_end(file_);
  EXPECT_EQ(ran.exit_code, 1) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("cannot listen"));
}

}  // namespace
}  // namespace onceward::daemon
