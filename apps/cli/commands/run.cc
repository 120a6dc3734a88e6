#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "apps/cli/command.h"
#include "apps/cli/stores.h"
#include "apps/cli/urls.h"
#include "apps/daemon/daemon.h"
#include "apps/daemon/line_log.h"
#include "apps/daemon/ports.h"

namespace onceward::cli {
namespace {

// The first SIGTERM or SIGINT drains. The second ends the process where it stands, which is safe: every crash is a tested
// path. Made before any other thread, so that all of them leave the signals to this one.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&set_, signal);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    thread_ = std::thread([this] { wait(); });
  }
  ~Signals() {
    ended_ = true;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  std::stop_token stop() const { return stop_.get_token(); }

 private:
  void wait() {
    for (int signal = 0; sigwait(&set_, &signal) == 0;) {
      if (ended_) return;
      if (signal == SIGUSR1) continue;
      if (stop_.stop_requested()) ::_exit(128 + signal);
      stop_.request_stop();
    }
  }

  sigset_t set_{};
  std::atomic<bool> ended_ = false;
  std::stop_source stop_;
  std::thread thread_;
};

enum class Part { all, relay, dispatchers };

struct RunChoice {
  std::string file;
  std::string store;
  bool migrate = false;
  Part part = Part::all;
};

daemon::LineLog::Format format_of(LogDeclaration::Format declared) {
  switch (declared) {
    case LogDeclaration::Format::json:
      return daemon::LineLog::Format::json;
    case LogDeclaration::Format::text:
      return daemon::LineLog::Format::text;
    case LogDeclaration::Format::automatic:
      break;
  }
  return daemon::format_of_stderr();
}

void keep_only(Part part, Application& application, const std::string& file) {
  if (part == Part::all) return;
  application.consumers.clear();
  application.ingress = {};
  if (part == Part::relay) application.endpoints.clear();
  if (part == Part::dispatchers) application.routes.clear();
  if (!application.routes.empty() || !application.endpoints.empty()) return;
  throw CLI::ValidationError(file, part == Part::relay ? "declares no [[route]], so there is nothing to relay"
                                                       : "declares no [[endpoint]], so there is nothing to call");
}

Application application_of(const RunChoice& choice) {
  Application application = read_application_file(choice.file);
  if (const auto mistakes = mistakes_in_urls(application, read_file(choice.file), choice.file); !mistakes.empty()) {
    throw CLI::ValidationError(choice.file, "has mistakes:\n" + to_string(mistakes));
  }
  if (const std::string url = store_in_environment(); !url.empty()) application.store = url;
  if (!choice.store.empty()) application.store = choice.store;
  keep_only(choice.part, application, choice.file);
  return application;
}

void run(Session& session, const RunChoice& choice) {
  const Application application = application_of(choice);
  const Signals signals;
  daemon::LineLog log(format_of(application.log.format), application.log.level);
  try {
    if (choice.migrate) daemon::open_store(application.store)->migrate();
    session.ending = daemon::Daemon(application, *session.handlers, *session.endpoints, log).run(signals.stop());
  } catch (const std::invalid_argument& mistake) {
    throw CLI::ValidationError(choice.file, mistake.what());
  }
}

}  // namespace

static void add_running(CLI::App& parent, Session& session, Part part, const char* name, const char* what,
                        const char* example) {
  CLI::App* const command = add_command(parent, name, what, example);
  auto choice = std::make_shared<RunChoice>();
  choice->part = part;
  command->add_option("file", choice->file, "The application file")->required();
  command->add_option("--store", choice->store, "Instead of the file's [store]; else ONCEWARD_STORE, DATABASE_URL");
  command->add_flag("--migrate", choice->migrate, "Brings the tables up to this program's version first");
  command->callback([&session, choice] { run(session, *choice); });
}

void add_run(CLI::App& parent, Session& session) {
  add_running(
      parent, session, Part::all, "run",
      "Runs the consumers of an application file, its relay and its dispatchers, until SIGTERM, which drains; a second one "
      "ends at once",
      "onceward run app.toml --migrate");
  add_running(
      parent, session, Part::relay, "relay",
      "Publishes what was staged by the [[route]]s of an application file, without its consumers, until SIGTERM",
      "onceward relay app.toml");
  add_running(
      parent, session, Part::dispatchers, "dispatch",
      "Makes the calls that were staged to the [[endpoint]]s of an application file, without its consumers, until "
      "SIGTERM",
      "onceward dispatch app.toml");
}

}  // namespace onceward::cli
