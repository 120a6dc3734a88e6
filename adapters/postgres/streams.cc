#include "adapters/postgres/streams.h"

#include <algorithm>
#include <array>

namespace onceward::postgres {
namespace {

std::string stream_at(const PGresult* result, int row) {
  return {PQgetvalue(result, row, 0), static_cast<std::size_t>(PQgetlength(result, row, 0))};
}

std::int64_t int8_at(const PGresult* result, int row, int column) {
  std::uint64_t number = 0;
  const char* const bytes = PQgetvalue(result, row, column);
  for (int at = 0; at < 8; ++at) number = number << 8 | static_cast<unsigned char>(bytes[at]);
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> maybe_int8_at(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column)) return std::nullopt;
  return int8_at(result, row, column);
}

Column whose(std::int32_t consumer) {
  Column number("consumer", int4_type);
  number.add(std::int64_t{consumer});
  return number;
}

}  // namespace

// In the order of their names, so that two who want several never wait for each other.
void queue_hold(Connection& connection, std::int32_t consumer, std::span<const std::string_view> streams) {
  Column number = whose(consumer), stream("stream", text_type, Column::Shape::always_array);
  for (const std::string_view name : streams) stream.add(name);
  connection.queue(
      "SELECT stream, epoch, next FROM onceward.position WHERE consumer = $1 AND stream = ANY ($2) "
      "ORDER BY stream FOR NO KEY UPDATE",
      std::array{number.parameter(), stream.parameter()});
}

Streams read_held(const PGresult* result) {
  Streams streams;
  for (int row = 0; row < PQntuples(result); ++row) {
    streams[stream_at(result, row)] = {int8_at(result, row, 1), maybe_int8_at(result, row, 2)};
  }
  return streams;
}

// What is believed is divided by whether it holds: a transaction in which it does not ends there.
void queue_advances(Connection& connection, std::int32_t consumer, std::span<const Advance> advances, bool believed) {
  if (advances.empty()) return;
  Column number = whose(consumer), stream("stream", text_type, Column::Shape::always_array),
         next("next", int8_type, Column::Shape::always_array), epoch("epoch", int8_type, Column::Shape::always_array),
         before("before", int8_type, Column::Shape::always_array);
  for (const Advance& advance : advances) {
    stream.add(advance.stream);
    next.add(advance.next);
    epoch.add(advance.before.epoch);
    before.add(advance.before.next.value_or(0));
  }
  if (believed) {
    return connection.queue(
        "WITH moved AS (UPDATE onceward.position p SET next = m.next FROM (SELECT unnest($2::text[]) AS stream, "
        "unnest($3::bigint[]) AS next, unnest($4::bigint[]) AS epoch, unnest($5::bigint[]) AS before) m "
        "WHERE p.consumer = $1 AND p.stream = m.stream AND p.epoch = m.epoch AND p.next = m.before RETURNING 1) "
        "SELECT 1 / (count(*) = cardinality($2))::integer FROM moved",
        std::array{number.parameter(), stream.parameter(), next.parameter(), epoch.parameter(), before.parameter()});
  }
  connection.queue(
      "UPDATE onceward.position p SET next = moved.next FROM (SELECT unnest($2::text[]) AS stream, "
      "unnest($3::bigint[]) AS next) moved WHERE p.consumer = $1 AND p.stream = moved.stream",
      std::array{number.parameter(), stream.parameter(), next.parameter()});
}

void queue_take_over(Connection& connection, std::int32_t consumer, std::span<const std::string> streams) {
  std::vector<std::string> sorted(streams.begin(), streams.end());
  std::ranges::sort(sorted);
  Column number = whose(consumer), stream("stream", text_type, Column::Shape::always_array);
  for (const std::string& name : sorted) stream.add(name);
  connection.queue(
      "INSERT INTO onceward.position (consumer, stream, epoch, begun) SELECT $1, unnest($2::text[]), 1, 1 "
      "ON CONFLICT (consumer, stream) DO UPDATE SET epoch = position.epoch + 1 RETURNING stream, epoch, begun, next",
      std::array{number.parameter(), stream.parameter()});
}

std::vector<TakenOver> read_taken_over(const PGresult* result, std::span<const std::string> streams) {
  std::vector<TakenOver> taken(streams.size());
  for (int row = 0; row < PQntuples(result); ++row) {
    const auto place = std::ranges::find(streams, stream_at(result, row)) - streams.begin();
    taken[static_cast<std::size_t>(place)] = {
        {streams[static_cast<std::size_t>(place)], int8_at(result, row, 1), int8_at(result, row, 2)},
        maybe_int8_at(result, row, 3)};
  }
  return taken;
}

void queue_begin_stream(Connection& connection, std::int32_t consumer, const Stream& stream, std::int64_t next) {
  Column number = whose(consumer), name("stream", text_type), epoch("epoch", int8_type), offset("next", int8_type);
  name.add(stream.name);
  epoch.add(stream.epoch);
  offset.add(next);
  connection.queue(
      "UPDATE onceward.position SET epoch = epoch + 1, begun = epoch + 1, next = $4 "
      "WHERE consumer = $1 AND stream = $2 AND epoch = $3 RETURNING stream, epoch, begun",
      std::array{number.parameter(), name.parameter(), epoch.parameter(), offset.parameter()});
}

std::optional<Stream> read_begun(const PGresult* result) {
  if (PQntuples(result) == 0) return std::nullopt;
  return Stream{stream_at(result, 0), int8_at(result, 0, 1), int8_at(result, 0, 2)};
}

}  // namespace onceward::postgres
