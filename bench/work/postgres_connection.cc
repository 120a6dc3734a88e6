#include "bench/work/postgres_connection.h"

#include <libpq-fe.h>

#include <stdexcept>

namespace onceward::bench {

PostgresConnection::PostgresConnection(const std::string& url) : connection_(PQconnectdb(url.c_str()), PQfinish) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(connection_.get()));
  run("SET client_min_messages = warning");
}

std::vector<std::vector<std::string>> PostgresConnection::run(const std::string& sql) {
  const std::unique_ptr<PGresult, void (*)(PGresult*)> result(PQexec(connection_.get(), sql.c_str()), PQclear);
  const auto status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(PQerrorMessage(connection_.get()));
  }
  std::vector<std::vector<std::string>> rows(PQntuples(result.get()));
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      rows[row].emplace_back(PQgetvalue(result.get(), row, column));
    }
  }
  return rows;
}

}  // namespace onceward::bench
