#include "bench/dispatch/dispatching.h"

#include <fmt/format.h>

#include <thread>

#include "bench/work/resident.h"
#include "onceward/adapter/http.h"
#include "onceward/adapter/postgres.h"

namespace onceward::bench {
namespace {

std::vector<std::string> arguments_of(const DispatchJob& job, int tally_file) {
  return {"--as-dispatcher", std::to_string(tally_file),
          "--store-url",     job.store,
          "--url",           job.calls.url,
          "--concurrency",   std::to_string(job.calls.concurrency),
          "--rate",          fmt::format("{}", job.rate)};
}

}  // namespace

EndpointDeclaration declared(const DispatchJob& job) {
  EndpointDeclaration declaration = declared(job.calls);
  declaration.rate = job.rate;
  declaration.circuit_pause = job.circuit_pause;
  return declaration;
}

DispatchProcess::DispatchProcess(const DispatchJob& job) : child_(arguments_of(job, tally_.file())) {}

std::uint64_t DispatchProcess::resident_bytes() const { return bench::resident_bytes(child_.process()); }

int run_as_dispatcher(const DispatchJob& job, int tally_file) {
  const Termination termination;
  const Shared<DispatchTally> tally(tally_file);
  const auto store = open_postgres({.url = job.store});
  const EndpointDeclaration declaration = declared(job);
  const auto endpoint = open_http(declaration);
  Dispatcher dispatcher(declaration, "bench", *store, *endpoint, *tally);
  const std::jthread working([&](std::stop_token stop) { dispatcher.run(std::move(stop)); });
  termination.await();
  return 0;
}

}  // namespace onceward::bench
