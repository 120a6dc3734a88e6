// What the gateway has seen and done, in gateway.ndjson of the run's directory: written with O_APPEND before anybody is answered,
// and read back when the gateway is started again. The proof reads it, too.
//
//   {"seen": KEY, "capture": ID, "amount": N}                      a request has come
//   {"captured": KEY, "capture": ID, "amount": N, "reference": R}   and the money was taken
//   {"repeated": KEY, "reference": R}                               or it had been taken before under that key, and nothing was done
//   {"asked": KEY}                                                  a look-up has come
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace onceward::demo {

struct Order {
  std::string capture;  // which capture is asked for, whatever the key
  std::int64_t amount = 0;
  friend bool operator==(const Order&, const Order&) = default;
};

struct Captured {
  Order order;
  std::string reference;
};

// Owned by one thread of one process at a time. Throws std::system_error where the log cannot be written.
class Book {
 public:
  // What a write that was cut off has left at the end is no line, and is removed.
  explicit Book(const std::string& path);
  ~Book();
  Book(const Book&) = delete;
  Book& operator=(const Book&) = delete;

  // How often the key has been seen, with this time.
  int see(const std::string& key, const Order& order);
  // Takes the money, unless that was done before under the key: then it is what was done first.
  const Captured& capture(const std::string& key, const Order& order);
  // Of a look-up; nothing under that key.
  const Captured* ask(const std::string& key);

  // In the order of the work.
  const std::vector<std::string>& keys() const { return keys_; }
  const Captured& at(const std::string& key) const { return captured_.at(key); }
  const Captured* find(const std::string& key) const;

 private:
  std::size_t read_back(const std::string& path);
  void enter(const std::string& line);
  const Captured& remember(const std::string& key, Captured captured);
  void write(const std::string& line) const;

  int file_ = -1;
  std::map<std::string, int> seen_;
  std::map<std::string, Captured> captured_;
  std::vector<std::string> keys_;
};

}  // namespace onceward::demo
