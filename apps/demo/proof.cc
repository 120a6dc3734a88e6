#include "apps/demo/proof.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "apps/demo/child.h"

namespace onceward::demo {
namespace {

constexpr std::chrono::minutes time_to_check{5};

void require_answer(const Ending& ending) {
  if (ending.exit_code == 127) {
    throw std::runtime_error("onceward-checker is neither beside this program nor in PATH; it is built with it");
  }
  if (ending.signal != 0) throw std::runtime_error(fmt::format("onceward-checker ended by signal {}", ending.signal));
}

}  // namespace

// Beside this one; else wherever the shell would find it.
std::string checker() {
  const std::filesystem::path beside = std::filesystem::path(this_program()).parent_path() / "onceward-checker";
  return std::filesystem::exists(beside) ? beside.string() : "onceward-checker";
}

bool print_proof(const Run& run) {
  std::fflush(stdout);
  const Ending ending = Child({checker(), run.directory}, "").wait(time_to_check);
  require_answer(ending);
  return ending.exit_code == 0;
}

nlohmann::json read_proof(const Run& run) {
  const std::string answer = run.file("proof.json");
  require_answer(Child({checker(), run.directory, "-o", "json"}, answer).wait(time_to_check));
  std::ostringstream text;
  text << std::ifstream(answer).rdbuf();
  auto json = nlohmann::json::parse(text.str(), nullptr, false);
  if (!json.is_object()) throw std::runtime_error("the proof was not made: " + text.str());
  return json;
}

}  // namespace onceward::demo
