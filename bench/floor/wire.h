// libpq by hand: prepared statements, binary parameters, pipelined. Any error prints itself and aborts.
#pragma once

#include <libpq-fe.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::bench {

enum class Type : Oid { bytea = 17, int8 = 20, int4 = 23, text = 25, uuid = 2950 };

inline std::string_view view(std::span<const unsigned char> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A one-dimensional array in PostgreSQL's binary format, filled anew for each batch.
class Array {
 public:
  explicit Array(Type element);
  void clear() { used_ = header_bytes, count_ = 0; }
  void add(const void* bytes, std::size_t size) {
    if (used_ + 4 + size > bytes_.size()) bytes_.resize(2 * (used_ + 4 + size));
    const std::uint32_t length = __builtin_bswap32(static_cast<std::uint32_t>(size));
    std::memcpy(bytes_.data() + used_, &length, 4);
    std::memcpy(bytes_.data() + used_ + 4, bytes, size);
    used_ += 4 + size;
    ++count_;
  }
  void add(std::string_view text) { add(text.data(), text.size()); }
  void add(std::int64_t number) {
    const std::uint64_t swapped = __builtin_bswap64(static_cast<std::uint64_t>(number));
    add(&swapped, sizeof swapped);
  }
  template <std::size_t N>
  void add(const std::array<unsigned char, N>& bytes) {
    add(bytes.data(), N);
  }
  std::string_view finished();
  std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t header_bytes = 20;
  std::vector<char> bytes_;
  std::size_t used_ = header_bytes;
  std::uint32_t count_ = 0;
};

std::string binary(std::int64_t number);
std::string binary(std::int32_t number);

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Result = std::unique_ptr<PGresult, ClearResult>;

class Wire {
 public:
  enum class Mode { pipelined, plain };

  explicit Wire(const std::string& url, Mode mode = Mode::pipelined);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void prepare(const char* name, const char* sql);
  // Pipelined: sends; the results come in the same order after flush().
  void send(const char* name, std::initializer_list<std::string_view> parameters = {});
  void flush();   // ends the trip's requests
  Result next();  // the next statement's result
  void finish();  // the end of the trip's results
  // Plain: one statement, one trip.
  Result execute(const char* name, std::initializer_list<std::string_view> parameters = {});

  std::uint64_t trips = 0;
  std::uint64_t statements = 0;

 private:
  [[noreturn]] void fail(const char* doing, const PGresult* result = nullptr);
  Result checked(PGresult* result, const char* doing);

  PGconn* connection_;
  Mode mode_;
};

}  // namespace onceward::bench
