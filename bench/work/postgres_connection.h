// A connection for what is not measured: statements as text, rows as text. Throws std::runtime_error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct pg_conn;  // libpq's PGconn

namespace onceward::bench {

class PostgresConnection {
 public:
  explicit PostgresConnection(const std::string& url);

  std::vector<std::vector<std::string>> run(const std::string& sql);
  // Of one row and one column.
  std::string value(const std::string& sql) { return run(sql).at(0).at(0); }
  std::uint64_t number(const std::string& sql) { return std::stoull(value(sql)); }

 private:
  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

}  // namespace onceward::bench
