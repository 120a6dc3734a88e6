#include "bench/work/sqlite_database.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
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

constexpr const char* fill_sql =
    "INSERT INTO onceward_inbox (key, received_at, consumer, payload_hash, tenant, producer, id)"
    " VALUES (?1, 0, 1, zeroblob(32), '', 'gateway', '00000000-0000-4000-8000-000000000000')";

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
    return {
        fmt::format("SQLite {}, journal_mode WAL, synchronous FULL, wal_autocheckpoint {} pages of 4096 bytes,"
                    " cache_size 24 MB",
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

  std::uint64_t wal_bytes() override { return vfs_counts().wal_bytes; }

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

  // Without a journal and with everything in memory: a crash would only cost the bench.
  void fill(Ids ids, std::uint64_t from, std::uint64_t to) override {
    const Handle handle(path_);
    handle.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000000; BEGIN");
    Statement insert(handle, fill_sql);
    std::mt19937_64 random(from);
    for (std::uint64_t number = from; number < to; ++number) {
      const std::array<std::uint64_t, 2> words{random() | 0x80, random()};  // the first byte in memory is the lowest
      std::array<unsigned char, 16> key;
      std::memcpy(key.data(), words.data(), key.size());
      const std::uint32_t seconds = __builtin_bswap32(key_seconds(number));
      if (ids == Ids::time) std::memcpy(key.data(), &seconds, sizeof seconds);
      insert.bind(1, key).step();
    }
    handle.run("COMMIT; PRAGMA journal_mode = WAL");
  }

  std::uint64_t inbox_bytes() override { return std::filesystem::file_size(path_); }

  std::uint64_t dead_rows() override { return 0; }
  void vacuum() override {}

 private:
  std::filesystem::path directory_;
  std::string path_;
};

}  // namespace

std::unique_ptr<SqliteDatabase> sqlite_database(const std::string& parent) { return std::make_unique<OwnFile>(parent); }

}  // namespace onceward::bench
