#include "bench/floor/wire.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace onceward::bench {
namespace {

constexpr std::size_t most_parameters = 32;

// Every parameter and every result is binary.
struct Parameters {
  std::array<const char*, most_parameters> values;
  std::array<int, most_parameters> lengths;
  std::array<int, most_parameters> formats;
  int count = 0;

  explicit Parameters(std::initializer_list<std::string_view> parameters) {
    for (const std::string_view parameter : parameters) {
      values[count] = parameter.data();
      lengths[count] = static_cast<int>(parameter.size());
      formats[count] = 1;
      ++count;
    }
  }
};

}  // namespace

Array::Array(Type element) : bytes_(1 << 16) {
  const std::uint32_t header[] = {1, 0, static_cast<std::uint32_t>(element), 0, 1};
  for (int i = 0; i < 5; ++i) {
    const std::uint32_t swapped = __builtin_bswap32(header[i]);
    std::memcpy(bytes_.data() + 4 * i, &swapped, 4);
  }
}

std::string_view Array::finished() {
  const std::uint32_t count = __builtin_bswap32(count_);
  std::memcpy(bytes_.data() + 12, &count, 4);
  return {bytes_.data(), used_};
}

std::string binary(std::int64_t number) {
  const std::uint64_t swapped = __builtin_bswap64(static_cast<std::uint64_t>(number));
  return {reinterpret_cast<const char*>(&swapped), sizeof swapped};
}

std::string binary(std::int32_t number) {
  const std::uint32_t swapped = __builtin_bswap32(static_cast<std::uint32_t>(number));
  return {reinterpret_cast<const char*>(&swapped), sizeof swapped};
}

Wire::Wire(const std::string& url, Mode mode) : connection_(PQconnectdb(url.c_str())), mode_(mode) {
  if (PQstatus(connection_) != CONNECTION_OK) fail("connecting");
  if (mode == Mode::pipelined && PQenterPipelineMode(connection_) != 1) fail("entering pipeline mode");
}

Wire::~Wire() { PQfinish(connection_); }

void Wire::prepare(const char* name, const char* sql) {
  if (mode_ == Mode::plain) {
    checked(PQprepare(connection_, name, sql, 0, nullptr), "preparing");
    return;
  }
  if (PQsendPrepare(connection_, name, sql, 0, nullptr) != 1) fail("preparing");
  if (PQpipelineSync(connection_) != 1) fail("preparing");
  next();
  finish();
}

void Wire::send(const char* name, std::initializer_list<std::string_view> parameters) {
  const Parameters sent(parameters);
  if (PQsendQueryPrepared(connection_, name, sent.count, sent.values.data(), sent.lengths.data(), sent.formats.data(),
                          1) != 1) {
    fail("sending");
  }
  ++statements;
}

void Wire::flush() {
  if (PQpipelineSync(connection_) != 1) fail("flushing");
  ++trips;
}

Result Wire::next() {
  Result result = checked(PQgetResult(connection_), "executing");
  if (PQgetResult(connection_) != nullptr) fail("expecting the end of a result");
  return result;
}

void Wire::finish() {
  const Result end(PQgetResult(connection_));
  if (PQresultStatus(end.get()) != PGRES_PIPELINE_SYNC) fail("expecting the end of the trip", end.get());
}

Result Wire::execute(const char* name, std::initializer_list<std::string_view> parameters) {
  const Parameters sent(parameters);
  ++statements;
  ++trips;
  return checked(
      PQexecPrepared(connection_, name, sent.count, sent.values.data(), sent.lengths.data(), sent.formats.data(), 1),
      "executing");
}

Result Wire::checked(PGresult* raw, const char* doing) {
  Result result(raw);
  const auto status = PQresultStatus(raw);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(doing, raw);
  return result;
}

void Wire::fail(const char* doing, const PGresult* result) {
  fmt::print(stderr, "floor: {}: {}{}\n", doing, result ? PQresultErrorMessage(result) : "",
             PQerrorMessage(connection_));
  std::abort();
}

}  // namespace onceward::bench
