#include "adapters/postgres/connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "src/declaration/url.h"

namespace onceward::postgres {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_prepared = 256;
constexpr std::chrono::milliseconds grace{5'000};  // the server's own deadlines fire first

short wanted(PostgresPollingStatusType status) { return status == PGRES_POLLING_WRITING ? POLLOUT : POLLIN; }

bool ok(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

// An ERROR is the server's answer to one statement. FATAL, or no severity at all, is about the connection, and says
// nothing of the statement: a pooler that lost its server answers whatever is first in line with it, though that may
// have been run, and a COMMIT too.
bool refused_by_server(const PGresult* result) {
  const char* const severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  return severity && std::string_view(severity) == "ERROR";
}

bool is_url(std::string_view text) { return text.starts_with("postgres://") || text.starts_with("postgresql://"); }

// No message of these repeats a part of it: it may be the password.
void check_readable(const std::string& url) {
  const auto wrong = is_url(url) ? declaration::wrong_with_postgres_url(url) : std::nullopt;
  if (wrong) {
    throw Fault(FaultCode::store_refused, Poisons::connection,
                fmt::format("the store's URL: {}; {}", *wrong, declaration::password_hint));
  }
  char* unreadable = nullptr;
  PQconninfoOption* const parsed = PQconninfoParse(url.c_str(), &unreadable);
  PQfreemem(unreadable);  // it may quote the URL, and with it a password
  if (!parsed) {
    throw Fault(FaultCode::store_refused, Poisons::connection,
                "the store's URL cannot be read: write postgres://user@host:port/database");
  }
  PQconninfoFree(parsed);
}

}  // namespace

Connection::Connection(const PostgresOptions& options)
    : borrowed_(false), silence_deadline_(options.statement_deadline + options.lock_deadline + grace) {
  connect(options);
  try {
    PQsetNoticeReceiver(connection_, &Connection::on_notice, this);
    PQsetnonblocking(connection_, 1);
    refuse_unfit_server(options);
    canceller_ = Cancel(PQgetCancel(connection_), PQfreeCancel);
    may_prepare_ = options.prepare == PostgresOptions::Prepare::unless_pooled && !pooled_;
  } catch (...) {
    PQfinish(connection_);
    throw;
  }
}

Connection::Connection(PGconn* borrowed) : connection_(borrowed), borrowed_(true) {}

// A caller's connection is given back as it was, also when something was thrown with statements queued: he rolls back.
Connection::~Connection() {
  if (!borrowed_) {
    PQfinish(connection_);
  } else if (usable() && PQpipelineStatus(connection_) != PQ_PIPELINE_OFF) {
    try {
      Answers discarded;
      answer_all(discarded);
    } catch (const Fault&) {
    }
  }
}

void Connection::connect(const PostgresOptions& options) {
  check_readable(options.url);
  const std::array<const char*, 4> names{"dbname", "client_encoding", "fallback_application_name", nullptr};
  const std::array<const char*, 4> values{options.url.c_str(), "UTF8", "onceward", nullptr};
  connection_ = PQconnectStartParams(names.data(), values.data(), 1);
  if (!connection_) throw std::bad_alloc();
  PQsetErrorVerbosity(connection_, PQERRORS_VERBOSE);
  const auto deadline = Clock::now() + options.connect_deadline;
  auto status = PQstatus(connection_) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING;
  while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd socket{PQsocket(connection_), wanted(status), 0};
    if (left.count() <= 0 || ::poll(&socket, 1, static_cast<int>(left.count())) == 0) break;
    status = PQconnectPoll(connection_);
  }
  if (status != PGRES_POLLING_OK) {
    const Fault fault = status == PGRES_POLLING_FAILED ? fault_of(connection_, describe()) : no_answer(describe());
    PQfinish(connection_);
    connection_ = nullptr;
    throw fault;
  }
  PQsetErrorVerbosity(connection_, PQERRORS_DEFAULT);
}

// A pooler answers with a backend pid of its own invention; the real one tells it apart.
void Connection::refuse_unfit_server(const PostgresOptions& options) {
  queue(
      "SELECT pg_backend_pid(), pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean, "
      "current_setting('server_version_num')::integer >= 150000, current_setting('server_encoding') = 'UTF8'",
      {}, Whose::ours, Format::text);
  const auto results = sync();
  const PGresult* const row = results.front().get();
  pooled_ = std::to_string(PQbackendPID(connection_)) != PQgetvalue(row, 0, 0);
  const auto holds = [&](int column) { return PQgetvalue(row, 0, column)[0] == 't'; };
  if (holds(1)) {
    throw Fault(FaultCode::store_read_only, Poisons::connection,
                describe() + " is a standby or read-only: connect to the primary (target_session_attrs=read-write)");
  }
  if (!holds(2) || !holds(3)) {
    throw Fault(
        FaultCode::store_refused, Poisons::connection,
        describe() + " is older than PostgreSQL 15 or its encoding is not UTF8: use another server or database");
  }
  // An administrator's synchronous_commit = off would make "committed" a lie; every other value waits for the disk. A
  // client that is gone without a word must not hold its claims until the network notices.
  settings_ = fmt::format(
      "SELECT set_config('lock_timeout', '{}', true), set_config('statement_timeout', '{}', true), "
      "set_config('idle_in_transaction_session_timeout', '{}', true), "
      "set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true)",
      options.lock_deadline.count(), options.statement_deadline.count(),
      (options.lock_deadline + options.statement_deadline).count());
}

std::string Connection::describe() const {
  const auto text = [](const char* value) { return value && *value ? value : "?"; };
  return fmt::format("PostgreSQL at {}:{}/{} as {}", text(PQhost(connection_)), text(PQport(connection_)),
                     text(PQdb(connection_)), text(PQuser(connection_)));
}

void Connection::on_notice(void* self, const PGresult* notice) {
  const char* const severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity && std::string_view(severity) == "WARNING") static_cast<Connection*>(self)->warned_ = true;
}

void Connection::enter_pipeline() {
  if (PQpipelineStatus(connection_) != PQ_PIPELINE_OFF) return;
  if (borrowed_) {
    was_nonblocking_ = PQisnonblocking(connection_);
    PQsetnonblocking(connection_, 1);
  }
  if (!PQenterPipelineMode(connection_)) lost(fault_of(connection_, describe()));
}

void Connection::leave_pipeline() {
  PQexitPipelineMode(connection_);
  if (borrowed_) PQsetnonblocking(connection_, was_nonblocking_ ? 1 : 0);
}

void Connection::lost(Fault fault) {
  broken_ = true;
  pending_.clear();
  queued_ = 0;
  throw fault;
}

// Null: to be sent as it is. The answer to a Parse that was queued and failed leaves no name behind.
const std::pair<const std::string, std::string>* Connection::prepare(std::string_view sql, Whose whose,
                                                                     std::uint32_t message) {
  if (!may_prepare_) return nullptr;
  key_.assign(sql);
  key_.push_back('\0');
  key_.append(reinterpret_cast<const char*>(types_.data()), types_.size() * sizeof(Oid));
  if (const auto found = prepared_.find(key_); found != prepared_.end()) return &*found;
  if (prepared_.size() >= most_prepared) return nullptr;
  std::string name = fmt::format("ow{}", next_name_++);
  if (!PQsendPrepare(connection_, name.c_str(), key_.c_str(), static_cast<int>(types_.size()), types_.data())) {
    lost(fault_of(connection_, describe()));
  }
  const auto& entry = *prepared_.emplace(key_, std::move(name)).first;
  pending_.push_back({true, &entry.first, whose, message});
  return &entry;
}

void Connection::queue(std::string_view sql, std::span<const Parameter> parameters, Whose whose, Format result,
                       std::uint32_t message) {
  const OwnerThread::Turn turn(owner_);
  enter_pipeline();
  types_.clear(), values_.clear(), lengths_.clear(), formats_.clear();
  for (const Parameter& parameter : parameters) {
    types_.push_back(parameter.type);
    values_.push_back(parameter.data);
    lengths_.push_back(parameter.length);
    formats_.push_back(parameter.format);
  }
  const int count = static_cast<int>(parameters.size());
  const auto* const prepared = prepare(sql, whose, message);
  const int sent = prepared
                       ? PQsendQueryPrepared(connection_, prepared->second.c_str(), count, values_.data(),
                                             lengths_.data(), formats_.data(), static_cast<int>(result))
                       : PQsendQueryParams(connection_, std::string(sql).c_str(), count, types_.data(), values_.data(),
                                           lengths_.data(), formats_.data(), static_cast<int>(result));
  if (!sent) lost(fault_of(connection_, describe()));
  pending_.push_back({false, prepared ? &prepared->first : nullptr, whose, message});
  ++queued_;
  ++statements_;
}

void Connection::poll_socket(short events) {
  pollfd socket{PQsocket(connection_), events, 0};
  const int ready = ::poll(&socket, 1, static_cast<int>(silence_deadline_.count()));
  if (ready == 0) lost(no_answer(describe()));
  if (ready < 0 && errno != EINTR) lost(no_answer(describe()));
}

void Connection::await_input() {
  while (PQisBusy(connection_)) {
    const int unsent = PQflush(connection_);
    if (unsent < 0) {
      // The server may have said why before it closed: read that first.
      if (!PQconsumeInput(connection_)) lost(no_answer(describe()));
      if (PQisBusy(connection_)) lost(no_answer(describe()));
      return;
    }
    poll_socket(static_cast<short>(unsent ? POLLIN | POLLOUT : POLLIN));
    if (!PQconsumeInput(connection_)) lost(no_answer(describe()));
  }
}

Result Connection::take_result() {
  await_input();
  return Result(PQgetResult(connection_));
}

// A prepared statement whose table has changed its columns fails for as long as its name is used; unprepared it works.
Fault Connection::refusal(const Pending& statement, const PGresult* result) {
  const Fault fault = fault_of(result, statement.whose);
  const bool stale = fault.store_code() == "0A000" || fault.store_code() == "26000";
  if (!statement.key || statement.preparing || !stale) return fault;
  prepared_.erase(*statement.key);
  return {FaultCode::lost_race, Poisons::transaction, "a table was changed under a prepared statement; it is run again",
          fault.store_code()};
}

void Connection::answer_all(Answers& answers) {
  const OwnerThread::Turn turn(owner_);
  if (!PQpipelineSync(connection_)) lost(fault_of(connection_, describe()));
  ++round_trips_;
  std::optional<Fault> first_fault;
  const std::vector<Pending> pending = std::move(pending_);
  pending_.clear();
  queued_ = 0;
  for (const Pending& statement : pending) {
    if (&statement == &pending.back()) warned_ = false;
    Result result = take_result();
    if (!result) lost(no_answer(describe()));
    while (take_result()) {
    }
    if (!ok(result.get())) {
      if (!first_fault && PQresultStatus(result.get()) != PGRES_PIPELINE_ABORTED) {
        first_fault = refusal(statement, result.get());
        answers.failed = refused_by_server(result.get());
        if (answers.failed) refused_ = {statement.message, staged_row_of(result.get())};
      }
      if (statement.preparing) prepared_.erase(*statement.key);
      if (!answers.failed) lost(*first_fault);
    } else if (!statement.preparing) {
      answers.results.push_back(std::move(result));
    }
  }
  const Result end = take_result();
  if (PQresultStatus(end.get()) != PGRES_PIPELINE_SYNC) lost(no_answer(describe()));
  if (borrowed_) leave_pipeline();
  if (first_fault) {
    if (first_fault->poisons() != Poisons::transaction) broken_ = true;
    throw *first_fault;
  }
}

std::vector<Result> Connection::sync() {
  Answers answers;
  if (!pending_.empty()) answer_all(answers);
  return std::move(answers.results);
}

Commit Connection::sync_commit(std::vector<Result>& results) {
  Answers answers;
  try {
    answer_all(answers);
  } catch (const Fault&) {
    if (answers.failed) throw;  // and took the COMMIT behind it down with it
    return Commit::in_doubt;
  }
  results = std::move(answers.results);
  const Result last = std::move(results.back());
  results.pop_back();
  const std::string_view tag = PQcmdStatus(last.get());
  if (tag != "COMMIT") return Commit::failed;
  return warned_ ? Commit::in_doubt : Commit::committed;
}

bool Connection::await_notification(int other, std::chrono::milliseconds most) {
  const OwnerThread::Turn turn(owner_);
  using std::chrono::milliseconds;
  const Clock::time_point end = Clock::now() + most;
  for (;;) {
    std::array<pollfd, 2> ready{{{PQsocket(connection_), POLLIN, 0}, {other, POLLIN, 0}}};
    const auto left = std::max(std::chrono::ceil<milliseconds>(end - Clock::now()), milliseconds(0));
    const int count = ::poll(ready.data(), ready.size(), static_cast<int>(left.count()));
    if (count < 0 && errno != EINTR) lost(no_answer(describe()));
    if (ready[1].revents != 0 || (count == 0 && left == milliseconds(0))) return false;
    if (!PQconsumeInput(connection_)) lost(no_answer(describe()));
    bool notified = false;
    while (PGnotify* const notification = PQnotifies(connection_)) {
      PQfreemem(notification);
      notified = true;
    }
    if (notified) return true;
  }
}

void Connection::run_script(const std::string& sql) {
  const OwnerThread::Turn turn(owner_);
  if (PQpipelineStatus(connection_) != PQ_PIPELINE_OFF) leave_pipeline();
  if (!PQsendQuery(connection_, sql.c_str())) lost(fault_of(connection_, describe()));
  std::optional<Fault> first_fault;
  while (Result result = take_result()) {
    if (!ok(result.get()) && !first_fault) first_fault = fault_of(result.get(), Whose::ours);
  }
  if (first_fault) throw *first_fault;
}

}  // namespace onceward::postgres
