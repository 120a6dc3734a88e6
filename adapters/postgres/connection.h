// One libpq connection in pipeline mode, never blocking: a large batch is written while answers are read, so neither
// side can wait for the other. Statements are queued, and one sync() is one round trip. Belongs to one thread.
#pragma once

#include <libpq-fe.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "adapters/postgres/column.h"
#include "adapters/postgres/faults.h"
#include "onceward/adapter/postgres.h"
#include "src/common/owner_thread.h"
#include "src/unit/session.h"

namespace onceward::postgres {

struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ResultDeleter>;

inline std::string_view bytes_at(const PGresult* result, int row, int column) {
  return {PQgetvalue(result, row, column), static_cast<std::size_t>(PQgetlength(result, row, column))};
}

class Connection {
 public:
  // Connects within the deadline and refuses what cannot be written to. Throws Fault.
  explicit Connection(const PostgresOptions& options);
  // The caller's own connection: left in the mode it was found in after every sync.
  explicit Connection(PGconn* borrowed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Queues one statement; parameters are copied into libpq's buffer. Throws only if the connection is lost.
  enum class Format { text = 0, binary = 1 };
  void queue(std::string_view sql, std::span<const Parameter> parameters, Whose whose = Whose::ours,
             Format result = Format::binary, std::uint32_t message = Statements::no_message);
  // How many statements wait for the next sync: the place of the next one's result in it.
  std::size_t queued() const { return queued_; }

  // Waits for the answers of all that was queued, in order. Throws the Fault of the first that failed, once all are
  // in; the statements behind it were not run.
  std::vector<Result> sync();
  // As sync(), for a queue that ends in COMMIT. In doubt if the connection is lost, or if COMMIT came with a WARNING
  // (a wait for a standby was cancelled).
  Commit sync_commit(std::vector<Result>& results);

  // What the server has refused since the last forget_refused(), by an ERROR that says so.
  const RefusedWork& refused() const { return refused_; }
  void forget_refused() { refused_ = {}; }

  // What another thread needs to end the statement that runs; shared with whoever is about to.
  using Cancel = std::shared_ptr<PGcancel>;
  const Cancel& canceller() const { return canceller_; }

  // Several statements, outside the pipeline.
  void run_script(const std::string& sql);

  // Where streams of a consumer stand after the last commit that moved them.
  std::map<std::int32_t, Streams>& streams() { return streams_; }
  // Waits until the server notifies of a channel that it was told to LISTEN to, `other` can be read, or `most` has passed.
  // Whether it has notified. Throws Fault when the connection is lost.
  bool await_notification(int other, std::chrono::milliseconds most);

  // Whether a session has it for itself, begun or not.
  bool occupied() const { return occupied_; }
  void occupy(bool occupied) { occupied_ = occupied; }
  // Nothing more is expected of it; usable() is false from now on.
  void abandon() { broken_ = true; }
  bool usable() const { return !broken_ && PQstatus(connection_) == CONNECTION_OK; }
  bool in_transaction() const { return PQtransactionStatus(connection_) != PQTRANS_IDLE; }
  bool pooled() const { return pooled_; }
  // The statement that gives a transaction its deadlines, and durability where the server's default gives none.
  const std::string& settings() const { return settings_; }
  std::string describe() const;
  std::uint64_t round_trips() const { return round_trips_; }
  std::uint64_t statements() const { return statements_; }

 private:
  struct Pending {
    bool preparing;
    const std::string* key;  // in prepared_; null for a statement sent as it is
    Whose whose;
    std::uint32_t message;
  };
  struct Answers {
    std::vector<Result> results;
    bool failed = false;  // the server refused a statement, and with it all behind it
  };

  void connect(const PostgresOptions& options);
  void refuse_unfit_server(const PostgresOptions& options);
  void enter_pipeline();
  void leave_pipeline();
  const std::pair<const std::string, std::string>* prepare(std::string_view sql, Whose whose, std::uint32_t message);
  void answer_all(Answers& answers);
  Fault refusal(const Pending& statement, const PGresult* result);
  Result take_result();
  void await_input();
  void poll_socket(short events);
  [[noreturn]] void lost(Fault fault);
  static void on_notice(void* self, const PGresult* notice);

  const OwnerThread owner_;
  PGconn* connection_ = nullptr;
  const bool borrowed_;
  bool was_nonblocking_ = false;                         // how the caller's connection was found
  std::chrono::milliseconds silence_deadline_{600'000};  // without a byte either way
  bool may_prepare_ = false;
  bool pooled_ = false;
  std::string settings_;
  bool occupied_ = false;
  bool broken_ = false;
  bool warned_ = false;
  std::vector<Pending> pending_;
  RefusedWork refused_;
  Cancel canceller_;
  std::size_t queued_ = 0;                                 // of pending_, those that are not preparations
  std::unordered_map<std::string, std::string> prepared_;  // statement and types -> name
  std::uint32_t next_name_ = 0;
  std::map<std::int32_t, Streams> streams_;
  // Scratch of queue(), kept for its capacity.
  std::string key_;
  std::vector<Oid> types_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::uint64_t round_trips_ = 0;
  std::uint64_t statements_ = 0;
};

}  // namespace onceward::postgres
