// Work W: what every shape is given. Messages of 500 bytes of JSON with an id of 36 characters, one in ten a repeat of
// an earlier one; each pays into one of 1000 accounts and says so in an outgoing message of 200 bytes.
// The same seed gives the same bytes on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace onceward::bench {

inline constexpr std::string_view consumer_name = "payments";
inline constexpr std::string_view producer_name = "gateway";
inline constexpr std::string_view outgoing_type = "payment.captured";
inline constexpr std::string_view currency = "EUR";
inline constexpr std::size_t account_count = 1000;

// Random ids are UUIDs of version 4 under the scheme `hash`; ids with a time are of version 7 under `uuidv7`.
enum class Ids : std::uint8_t { random, time };

struct Message {
  std::string id;
  std::string payload;
  std::string outgoing;
  std::string account_key;  // the account as text, by which the outgoing message is routed
  std::int64_t account;
  std::int64_t amount;
  std::int64_t version;  // of the account; rises by one with each message
};

using Index = std::uint32_t;  // of a message

struct Workload {
  Ids ids;
  std::vector<Message> messages;  // each once
  std::vector<Index> deliveries;  // in the order of their arrival, repeats included
};

struct WorkloadOptions {
  Ids ids = Ids::random;
  std::size_t deliveries = 100'000;
  unsigned repeats_percent = 10;
  std::uint64_t seed = 1;
  bool payloads = true;  // without: only what goes out, for those who take nothing in
};
Workload make_workload(const WorkloadOptions& options);

// Which message has the id.
class Numbers {
 public:
  explicit Numbers(const Workload& work) {
    number_of_.reserve(work.messages.size());
    for (Index index = 0; index < work.messages.size(); ++index) number_of_.emplace(work.messages[index].id, index);
  }
  Index of(std::string_view id) const { return number_of_.at(id); }
  std::optional<Index> find(std::string_view id) const {
    const auto found = number_of_.find(id);
    return found == number_of_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::string_view, Index> number_of_;
};

// Reads every byte of the messages, as their receiver would just have done.
void touch(const Workload& work, std::span<const Index> deliveries);

// Ids alone, for the bench of growth. Those with a time are a millisecond apart; `first` counts from where they begin.
std::vector<std::string> make_ids(Ids ids, std::size_t count, std::uint64_t seed, std::uint64_t first = 0);
// The first four bytes of the key of time-carrying id `number`: seconds since 2010.
std::uint32_t key_seconds(std::uint64_t number);

// The balances of a batch, folded: one row for each account that occurs, in the order of the accounts.
class Folded {
 public:
  Folded();
  void clear();
  void add(const Message& message);
  void finish();
  std::span<const std::int64_t> accounts() const { return accounts_; }
  std::span<const std::int64_t> amounts() const { return amounts_; }
  std::span<const std::int64_t> versions() const { return versions_; }

 private:
  std::vector<std::int64_t> amount_of_, version_of_;
  std::vector<std::int64_t> accounts_, amounts_, versions_;
};

}  // namespace onceward::bench
