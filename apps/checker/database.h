// The checker's own clients: plain calls of libpq and SQLite, read-only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace checker {

using Row = std::vector<std::string>;  // NULL is empty

class Database {
 public:
  virtual ~Database() = default;
  // Throws std::runtime_error with the database's own words.
  virtual std::vector<Row> read(const std::string& sql) = 0;
  // How one of Onceward's tables is called here, and how bytes are asked for as hexadecimal digits.
  virtual std::string table(const std::string& name) const = 0;
  virtual std::string hex(const std::string& column) const = 0;

  std::int64_t number(const std::string& sql);
};

// postgres://... or sqlite:PATH
std::unique_ptr<Database> open_database(const std::string& url);

std::string from_hex(const std::string& digits);

}  // namespace checker
