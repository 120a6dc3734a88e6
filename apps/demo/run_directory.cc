#include "apps/demo/run_directory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace onceward::demo {

void write_run(const Run& run) {
  nlohmann::ordered_json json{{"seed", run.seed},
                              {"messages", run.messages},
                              {"workers", run.workers},
                              {"naive", run.naive},
                              {"store", run.store},
                              {"consumer", run.consumer},
                              {"captureTable", run.capture_table},
                              {"balanceTable", run.balance_table},
                              {"endpoint", run.endpoint},
                              {"gatewayPort", run.gateway_port}};
  if (!run.broker.empty()) {
    json["broker"] = run.broker;
    json["brokerScript"] = run.broker_script;
    json["brokerDirectory"] = run.file("broker");
    json["queue"] = broker_queue;
    json["brokerUrl"] = run.broker_url;
  }
  std::ofstream file(run.file("run.json"));
  if (!(file << json.dump(2) << "\n" << std::flush)) throw std::runtime_error("cannot write " + run.file("run.json"));
}

Run begin_run(const Choice& choice, std::uint16_t gateway_port) {
  std::string directory = (std::filesystem::temp_directory_path() / "onceward-demo-XXXXXX").string();
  if (!mkdtemp(directory.data())) throw std::runtime_error("no temporary directory can be made as " + directory);
  const std::string mark = directory.substr(directory.size() - 6);  // no other run on this machine has it
  Run run;
  run.directory = directory;
  run.seed = choice.seed;
  run.messages = choice.messages;
  run.workers = choice.workers;
  run.naive = choice.naive;
  run.broker = choice.broker;
  run.store = choice.store.empty() ? "sqlite:" + run.file("store.db") : choice.store;
  run.consumer = fmt::format("demo-{}-{}", choice.seed, mark);
  run.gateway_port = gateway_port;
  run.endpoint = fmt::format("gateway-{}", mark);
  run.capture_table = fmt::format(R"("demo_capture_{}")", mark);
  run.balance_table = fmt::format(R"("demo_balance_{}")", mark);
  if (choice.store.empty()) {
    run.endpoint = "gateway";
    run.capture_table = "demo_capture";
    run.balance_table = "demo_balance";
  }
  write_run(run);
  return run;
}

Run read_run(const std::string& directory) {
  std::ifstream file(directory + "/run.json");
  if (!file) throw std::runtime_error(directory + " is not the directory of a run");
  const auto json = nlohmann::json::parse(file);
  Run run;
  run.directory = directory;
  run.seed = json.at("seed").get<std::uint64_t>();
  run.messages = json.at("messages").get<std::int64_t>();
  run.workers = json.at("workers").get<int>();
  run.naive = json.at("naive").get<bool>();
  run.store = json.at("store").get<std::string>();
  run.consumer = json.at("consumer").get<std::string>();
  run.capture_table = json.at("captureTable").get<std::string>();
  run.balance_table = json.at("balanceTable").get<std::string>();
  run.endpoint = json.at("endpoint").get<std::string>();
  run.gateway_port = json.at("gatewayPort").get<std::uint16_t>();
  run.broker = json.value("broker", "");
  run.broker_script = json.value("brokerScript", "");
  run.broker_url = json.value("brokerUrl", "");
  return run;
}

}  // namespace onceward::demo
