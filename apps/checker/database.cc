#include "apps/checker/database.h"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <sqlite3.h>

#include <array>
#include <stdexcept>

namespace checker {
namespace {

class Sqlite final : public Database {
 public:
  explicit Sqlite(const std::string& path) {
    const int result = sqlite3_open_v2(path.c_str(), &handle_, SQLITE_OPEN_READWRITE, nullptr);
    if (result != SQLITE_OK) throw std::runtime_error(fmt::format("{}: {}", path, sqlite3_errstr(result)));
    sqlite3_busy_timeout(handle_, 10'000);
    read("PRAGMA query_only = 1");
  }
  ~Sqlite() override { sqlite3_close(handle_); }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  std::vector<Row> read(const std::string& sql) override {
    sqlite3_stmt* statement = nullptr;
    int result = sqlite3_prepare_v2(handle_, sql.c_str(), -1, &statement, nullptr);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> finalize(statement, &sqlite3_finalize);
    std::vector<Row> rows;
    while (result == SQLITE_OK || result == SQLITE_ROW) {
      result = sqlite3_step(statement);
      if (result == SQLITE_ROW) rows.push_back(row_of(statement));
    }
    if (result != SQLITE_DONE) throw std::runtime_error(fmt::format("{} ({})", sqlite3_errmsg(handle_), sql));
    return rows;
  }
  std::string table(const std::string& name) const override { return "onceward_" + name; }
  std::string hex(const std::string& column) const override { return fmt::format("hex({})", column); }

 private:
  static Row row_of(sqlite3_stmt* statement) {
    Row row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const void* const text = sqlite3_column_blob(statement, i);
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, i));
      row.emplace_back(text ? std::string(static_cast<const char*>(text), size) : std::string());
    }
    return row;
  }

  sqlite3* handle_ = nullptr;
};

class Postgres final : public Database {
 public:
  explicit Postgres(const std::string& url) : connection_(connect(url), &PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(connection_.get()));
    read("SET default_transaction_read_only = on");
    read("SET statement_timeout = '60s'");
  }

  std::vector<Row> read(const std::string& sql) override {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection_.get(), sql.c_str()), &PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
      throw std::runtime_error(fmt::format("{} ({})", PQerrorMessage(connection_.get()), sql));
    }
    std::vector<Row> rows(static_cast<std::size_t>(PQntuples(result.get())));
    for (int row = 0; row < PQntuples(result.get()); ++row) {
      for (int i = 0; i < PQnfields(result.get()); ++i) {
        rows[static_cast<std::size_t>(row)].emplace_back(PQgetvalue(result.get(), row, i));
      }
    }
    return rows;
  }
  std::string table(const std::string& name) const override { return "onceward." + name; }
  std::string hex(const std::string& column) const override { return fmt::format("encode({}, 'hex')", column); }

 private:
  static PGconn* connect(const std::string& url) {
    const std::array<const char*, 3> names{"dbname", "connect_timeout", nullptr};
    const std::array<const char*, 3> values{url.c_str(), "10", nullptr};
    return PQconnectdbParams(names.data(), values.data(), 1);
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  throw std::runtime_error("not a hexadecimal digit");
}

}  // namespace

std::int64_t Database::number(const std::string& sql) {
  const std::vector<Row> rows = read(sql);
  if (rows.empty() || rows.front().empty()) throw std::runtime_error(fmt::format("no answer ({})", sql));
  return std::stoll(rows.front().front());
}

std::unique_ptr<Database> open_database(const std::string& url) {
  if (url.starts_with("sqlite:")) return std::make_unique<Sqlite>(url.substr(7));
  return std::make_unique<Postgres>(url);
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(digits[i]) * 16 + digit(digits[i + 1])));
  }
  return bytes;
}

}  // namespace checker
