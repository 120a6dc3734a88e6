#include "apps/cli/commands/ledger/comparing.h"

#include <fmt/format.h>

#include <stdexcept>

#include "apps/cli/terminal.h"
#include "apps/daemon/ports.h"
#include "src/records/ledger_comparison.h"

namespace onceward::cli {
namespace {

using Json = nlohmann::ordered_json;

// Those to be asked. Throws CLI::ValidationError where there is none.
std::vector<EndpointDeclaration> endpoints_with_lists(const StoreChoice& choice, const std::string& name) {
  if (choice.file.empty()) throw CLI::ValidationError("--config", "names the file that declares the endpoint");
  std::vector<EndpointDeclaration> endpoints = read_application_file(choice.file).endpoints;
  if (!name.empty()) std::erase_if(endpoints, [&](const EndpointDeclaration& one) { return one.name != name; });
  if (endpoints.empty()) throw CLI::ValidationError("--endpoint", "the file declares no such endpoint");
  std::erase_if(endpoints, [](const EndpointDeclaration& one) { return !one.list; });
  if (endpoints.empty()) {
    throw CLI::ValidationError("--since", "no endpoint has a list to compare with: declare [endpoint.list]");
  }
  return endpoints;
}

// Nothing, which is told and ends the command as such, where there is no list that can be read: the others are compared all the same.
std::optional<std::vector<EndpointRecord>> their_records(Session& session, const EndpointDeclaration& declaration,
                                                         Timestamp since) {
  try {
    return daemon::open_endpoint(declaration)->list(since);
  } catch (const std::invalid_argument& mistake) {
    throw CLI::ValidationError(declaration.name, mistake.what());
  } catch (const Fault& fault) {
    fmt::print(stderr, "onceward: {}: {}: {}; it is not compared\n", code(fault.fault()), declaration.name,
               fault.what());
    session.ending = exit_of(fault.fault());
    return std::nullopt;
  }
}

records::Comparison compare_one(Store& store, const EndpointDeclaration& declaration, Timestamp since,
                                Timestamp asked_at, const std::vector<EndpointRecord>& theirs) {
  ProgressBar bar("calls", 0);
  const auto ours = records::read_calls_to_compare(store, declaration.name, since, theirs, [&](std::int64_t looked_at) {
    bar.show(looked_at);
    return true;
  });
  return records::compare(ours, theirs, since, asked_at);
}

Json difference_json(const std::string& endpoint, const records::Difference& difference) {
  return {{"endpoint", endpoint},
          {"difference", name(difference.kind)},
          {"key", difference.key},
          {"number", difference.number == 0 ? Json(nullptr) : Json(difference.number)},
          {"our_state", difference.our_state},
          {"our_reference", difference.our_reference},
          {"their_reference", difference.their_reference},
          {"what", difference.what}};
}

}  // namespace

void compare_with_lists(Session& session, const StoreChoice& choice, Timestamp since, const std::string& endpoint) {
  using Kind = records::Difference::Kind;
  const auto endpoints = endpoints_with_lists(choice, endpoint);
  const auto store = open_store(choice, daemon::StoreUse::reading);
  std::vector<Json> rows;
  for (const EndpointDeclaration& declaration : endpoints) {
    const Timestamp asked_at = records::time_of(*store);
    const auto theirs = their_records(session, declaration, since);
    if (!theirs) continue;
    const records::Comparison found = compare_one(*store, declaration, since, asked_at, *theirs);
    for (const records::Difference& difference : found.differences) {
      rows.push_back(difference_json(declaration.name, difference));
    }
    fmt::print(stderr, "{}: {} equal, {} missing there, {} extra there, {} differing\n", declaration.name, found.equal,
               found.count(Kind::missing), found.count(Kind::extra), found.count(Kind::differing));
  }
  print_rows(session,
             {"endpoint", "difference", "key", "number", "our_state", "our_reference", "their_reference", "what"},
             rows);
  if (!rows.empty() && session.ending == Exit::ok) session.ending = Exit::conflict;
}

}  // namespace onceward::cli
