#include "adapters/sqlite/streams.h"

namespace onceward::sqlite {
namespace {

constexpr std::string_view find_stream =
    "SELECT epoch, next FROM onceward_position WHERE consumer = ?1 AND stream = ?2";
constexpr std::string_view move_stream = "UPDATE onceward_position SET next = ?3 WHERE consumer = ?1 AND stream = ?2";
constexpr std::string_view take_stream =
    "INSERT INTO onceward_position (consumer, stream, epoch, begun) VALUES (?1, ?2, 1, 1) "
    "ON CONFLICT (consumer, stream) DO UPDATE SET epoch = epoch + 1 RETURNING epoch, begun, next";
constexpr std::string_view begin_stream_anew =
    "UPDATE onceward_position SET epoch = epoch + 1, begun = epoch + 1, next = ?4 "
    "WHERE consumer = ?1 AND stream = ?2 AND epoch = ?3 RETURNING epoch, begun";

std::optional<std::int64_t> maybe_int64_at(sqlite3_stmt* row, int column) {
  if (sqlite3_column_type(row, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_int64(row, column);
}

Statement& of_stream(Connection& connection, std::string_view sql, std::int32_t consumer, std::string_view stream) {
  Statement& statement = connection.own(sql);
  statement.bind(1, std::int64_t{consumer});
  statement.bind(2, stream);
  return statement;
}

}  // namespace

Streams streams_at(Connection& connection, std::int32_t consumer, std::span<const std::string_view> streams) {
  Streams found;
  for (const std::string_view stream : streams) {
    of_stream(connection, find_stream, consumer, stream).each([&](sqlite3_stmt* row) {
      found[std::string(stream)] = {sqlite3_column_int64(row, 0), maybe_int64_at(row, 1)};
    });
  }
  return found;
}

void write_advances(Connection& connection, std::int32_t consumer, std::span<const Advance> advances) {
  for (const Advance& advance : advances) {
    Statement& move = of_stream(connection, move_stream, consumer, advance.stream);
    move.bind(3, advance.next);
    move.run();
  }
}

std::vector<TakenOver> take_over(Connection& connection, std::int32_t consumer, std::span<const std::string> streams) {
  std::vector<TakenOver> taken;
  for (const std::string& stream : streams) {
    of_stream(connection, take_stream, consumer, stream).each([&](sqlite3_stmt* row) {
      taken.push_back({{stream, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)}, maybe_int64_at(row, 2)});
    });
  }
  return taken;
}

std::optional<Stream> begin_stream(Connection& connection, std::int32_t consumer, const Stream& stream,
                                   std::int64_t next) {
  std::optional<Stream> begun;
  Statement& begin = of_stream(connection, begin_stream_anew, consumer, stream.name);
  begin.bind(3, stream.epoch);
  begin.bind(4, next);
  begin.each([&](sqlite3_stmt* row) {
    begun = Stream{stream.name, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)};
  });
  return begun;
}

}  // namespace onceward::sqlite
