#include "adapters/postgres/values.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "src/common/timestamp.h"
#include "src/common/utf8.h"

namespace onceward::postgres {
namespace {

constexpr std::size_t widest = 8;

Fault not_text(std::string_view why) {
  return {FaultCode::statement_failed, Poisons::transaction,
          fmt::format("a text parameter {}: pass bytes as Blob", why)};
}

// "2026-01-02 03:04:05.6+00", as the server writes it in the style ISO, is RFC 3339 but for the space and the short
// offset. In any other style it stays text.
Datum time_of(std::string_view text) {
  std::string rfc3339(text);
  if (const auto space = rfc3339.find(' '); space != std::string::npos) rfc3339[space] = 'T';
  if (rfc3339.size() > 3 && (rfc3339[rfc3339.size() - 3] == '+' || rfc3339[rfc3339.size() - 3] == '-'))
    rfc3339 += ":00";
  if (const auto time = read_timestamp(rfc3339)) return *time;
  return std::string(text);
}

// Whatever the process's locale: "Infinity" and "NaN" are read too.
double real_of(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Datum datum_of(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column)) return std::monostate{};
  const std::string_view text(PQgetvalue(result, row, column),
                              static_cast<std::size_t>(PQgetlength(result, row, column)));
  switch (PQftype(result, column)) {
    case int2_type.element:
    case int4_type.element:
    case int8_type.element: {
      std::int64_t number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      return number;
    }
    case 700:
    case float8_type.element:
      return real_of(text);
    case bool_type.element:
      return text == "t";
    case timestamptz_type.element:
      return time_of(text);
    case bytea_type.element: {
      std::size_t length = 0;
      unsigned char* const bytes = PQunescapeBytea(reinterpret_cast<const unsigned char*>(text.data()), &length);
      OwnedBlob blob{std::string(reinterpret_cast<const char*>(bytes), length)};
      PQfreemem(bytes);
      return blob;
    }
    default:
      return std::string(text);
  }
}

}  // namespace

std::span<const Parameter> ValueParameters::encode(std::span<const Value> values) {
  parameters_.clear();
  scratch_.clear();
  scratch_.reserve(values.size() * widest);  // so that what is inside never moves
  const auto number = [&](Type type, auto bits) {
    const std::size_t at = scratch_.size();
    scratch_.resize(at + sizeof bits);
    store_big_endian(scratch_.data() + at, bits);
    parameters_.push_back({type.element, scratch_.data() + at, sizeof bits, 1});
  };
  for (const Value& value : values) {
    const auto& variant = value.get();
    if (const auto* text = std::get_if<std::string_view>(&variant)) {
      if (text->find('\0') != std::string_view::npos) throw not_text("holds a NUL");
      if (!valid_utf8(*text)) throw not_text("is not UTF-8");
      parameters_.push_back({0, text->data(), static_cast<int>(text->size()), 0});
    } else if (const auto* blob = std::get_if<Blob>(&variant)) {
      parameters_.push_back({bytea_type.element, blob->bytes.data(), static_cast<int>(blob->bytes.size()), 1});
    } else if (const auto* integer = std::get_if<std::int64_t>(&variant)) {
      number(int8_type, static_cast<std::uint64_t>(*integer));
    } else if (const auto* real = std::get_if<double>(&variant)) {
      number(float8_type, std::bit_cast<std::uint64_t>(*real));
    } else if (const auto* truth = std::get_if<bool>(&variant)) {
      number(bool_type, static_cast<std::uint8_t>(*truth));
    } else if (const auto* time = std::get_if<Timestamp>(&variant)) {
      number(timestamptz_type, static_cast<std::uint64_t>(postgres_micros(*time)));
    } else {
      parameters_.push_back({});
    }
  }
  return parameters_;
}

Rows rows_of(const PGresult* result) {
  Rows rows(static_cast<std::size_t>(PQntuples(result)));
  const int columns = PQnfields(result);
  for (int row = 0; row < PQntuples(result); ++row) {
    Row& cells = rows[static_cast<std::size_t>(row)];
    cells.reserve(static_cast<std::size_t>(columns));
    for (int column = 0; column < columns; ++column) cells.push_back(datum_of(result, row, column));
  }
  return rows;
}

std::int64_t rows_changed(const PGresult* result) {
  const std::string_view text = PQcmdTuples(const_cast<PGresult*>(result));
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

}  // namespace onceward::postgres
