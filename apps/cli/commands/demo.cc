#include "apps/demo/demo.h"

#include <stdexcept>

#include "apps/cli/command.h"
#include "apps/demo/broker.h"
#include "apps/demo/plan.h"
#include "apps/demo/roles.h"

namespace onceward::cli {
namespace {

struct DemoChoice {
  demo::Choice demo;
  // Of the processes that the demo starts.
  std::string role, directory;
  int number = 0;
};

void add_options(CLI::App& command, DemoChoice& choice) {
  command
      .add_option("--seed", choice.demo.seed,
                  "Decides what is sent, who is killed when, and how the payment gateway misbehaves")
      ->capture_default_str();
  command.add_option("--messages", choice.demo.messages, "How many different ones are sent")
      ->check(CLI::Range(demo::Plan::least_messages, demo::Plan::most_messages))
      ->capture_default_str();
  command.add_option("--workers", choice.demo.workers, "Worker processes")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--store", choice.demo.store,
                     "postgres://... or sqlite:PATH; else a file of its own. "
                     "Its tables and rows are removed at the end");
  command
      .add_option("--broker", choice.demo.broker,
                  "A real one instead of a file, killed with SIGKILL and started again in the middle. It is started by "
                  "scripts/services of the repository: ./run demo --broker NAME")
      ->check(CLI::IsMember({"rabbitmq", "kafka"}));
  command.add_flag("--naive", choice.demo.naive,
                   "The same messages and kills without Onceward: take, call the gateway, write, "
                   "commit, acknowledge, as client libraries' "
                   "tutorials do. Shows the damage, and exits with 0 since "
                   "that is what it is for");
  command.add_flag("--keep", choice.demo.keep, "Keeps the directory and the tables, for a look");
  command.add_option("--role", choice.role)
      ->group("")
      ->check(CLI::IsMember({"generator", "worker", "dispatcher", "gateway"}));
  command.add_option("--directory", choice.directory)->group("");
  command.add_option("--number", choice.number)->group("");
}

}  // namespace

void add_demo(CLI::App& parent, Session& session) {
  CLI::App* const command = add_command(parent, "demo",
                                        "Captures payments while messages come twice, out of order "
                                        "and broken and workers are killed, and proves that each "
                                        "had its effect once. Needs no server",
                                        "onceward demo --seed 7");
  auto choice = std::make_shared<DemoChoice>();
  add_options(*command, *choice);
  command->add_option("-o,--output", session.output, "json: one object, once it is over")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([&session, choice] {
    choice->demo.json = session.output == "json";
    try {
      demo::require_broker(choice->demo.broker);
    } catch (const std::invalid_argument& mistake) {
      throw CLI::ValidationError("--broker", mistake.what());
    }
    try {
      session.ending =
          choice->role.empty() ? demo::run(choice->demo) : demo::play(choice->role, choice->directory, choice->number);
    } catch (const std::invalid_argument& mistake) {
      throw CLI::ValidationError("--store", mistake.what());
    }
  });
}

}  // namespace onceward::cli
