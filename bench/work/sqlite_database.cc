#include "bench/work/sqlite_database.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "bench/floor/handle.h"
#include "bench/work/counting_vfs.h"
#include "onceward/adapter/sqlite.h"

namespace onceward::bench {
namespace {

constexpr const char* tables_sql = R"sql(
CREATE TABLE payment (
  number   INTEGER PRIMARY KEY,
  account  INTEGER NOT NULL,
  amount   INTEGER NOT NULL,
  currency TEXT NOT NULL,
  message  TEXT NOT NULL
);
CREATE TABLE balance (account INTEGER PRIMARY KEY, amount INTEGER NOT NULL, version INTEGER NOT NULL);
)sql";

std::uint64_t fnv1a(std::uint64_t hash, std::string_view bytes) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

// The sum over the rows of a hash over the row's columns.
Contents contents_of(const Handle& handle, const char* sql) {
  Statement rows(handle, sql);
  Contents contents;
  std::uint64_t sum = 0;
  for (; rows.step(); ++contents.rows) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (int column = 0; column < rows.columns(); ++column) hash = fnv1a(fnv1a(hash, rows.bytes(column)), "|");
    sum += hash;
  }
  contents.sum = fmt::format("{:016x}", sum);
  return contents;
}

class OwnFile final : public SqliteDatabase {
 public:
  explicit OwnFile(const std::string& parent) {
    install_counting_vfs();
    const auto under = parent.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(parent);
    std::string made = (under / "onceward-bench-XXXXXX").string();
    if (mkdtemp(made.data()) == nullptr) throw std::runtime_error("cannot make a directory under " + under.string());
    directory_ = made;
    path_ = (directory_ / "bench.sqlite").string();
    reset();
  }
  ~OwnFile() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::string name() const override { return "sqlite"; }
  const std::string& path() const override { return path_; }

  std::vector<std::string> settings() override {
    return {fmt::format("SQLite {}, journal_mode WAL, synchronous FULL, wal_autocheckpoint {} pages of 4096 bytes,"
                        " one writer",
                        sqlite3_libversion(), wal_autocheckpoint_pages)};
  }

  std::unique_ptr<Store> open() override {
    return open_sqlite({.path = path_, .wal_autocheckpoint_pages = wal_autocheckpoint_pages});
  }

  void reset() override {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
    open()->migrate();
    Handle(path_).run(tables_sql);
    checkpoint();
  }

  void checkpoint() override { Handle(path_).run("PRAGMA wal_checkpoint(TRUNCATE)"); }

  Meter meter() override {
    const VfsCounts counts = vfs_counts();
    return {counts.wal_bytes, counts.wal_syncs + counts.other_syncs};
  }

  ContentsOf contents() override {
    const Handle handle(path_);
    ContentsOf found;
    found["inbox"] =
        contents_of(handle, "SELECT key, consumer, payload_hash, tenant, producer, id FROM onceward_inbox");
    found["payment"] = contents_of(handle, "SELECT account, amount, currency, message FROM payment");
    found["balance"] = contents_of(handle, "SELECT account, amount, version FROM balance");
    found["outbox"] = contents_of(
        handle,
        "SELECT consumer, cause, aggregate_version, event_version, length(id), type, key, tenant, aggregate_type,"
        " aggregate_id, correlation_id, causation_id, trace_parent, content_type, headers, payload FROM onceward_outbox");
    return found;
  }

  std::uint64_t dead_rows() override { return 0; }

 private:
  std::filesystem::path directory_;
  std::string path_;
};

}  // namespace

std::unique_ptr<SqliteDatabase> sqlite_database(const std::string& parent) {
  return std::make_unique<OwnFile>(parent);
}

}  // namespace onceward::bench
