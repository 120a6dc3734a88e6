#include "bench/work/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace onceward::bench {
namespace {

constexpr std::size_t payload_bytes = 500;
constexpr std::size_t outgoing_bytes = 200;
constexpr std::uint64_t first_millisecond = 1'760'000'000'000;  // October 2025
constexpr std::uint64_t key_epoch_seconds = 1'262'304'000;      // 2010

using Random = std::mt19937_64;

std::string uuid(std::uint64_t high, std::uint64_t low, unsigned version) {
  high = (high & ~0xf000ull) | std::uint64_t{version} << 12;
  low = (low & ~(3ull << 62)) | 2ull << 62;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffff'ffff'ffff);
}

std::string make_id(Ids ids, std::uint64_t number, Random& random) {
  const std::uint64_t high = random();
  const std::uint64_t low = random();
  if (ids == Ids::random) return uuid(high, low, 4);
  return uuid((first_millisecond + number) << 16 | (high & 0xffff), low, 7);
}

// Text that looks like text: letters, so that JSON needs no escapes.
std::string filler(std::size_t size, Random& random) {
  std::string text(size, ' ');
  for (char& letter : text) letter = static_cast<char>('a' + random() % 26);
  return text;
}

std::string padded(std::string json, std::size_t size, Random& random) {
  json += R"(,"note":")";
  json += filler(size - json.size() - 2, random);
  json += R"("})";
  return json;
}

Message make_message(std::string id, bool payload, std::vector<std::int64_t>& version_of, Random& random) {
  Message message;
  message.id = std::move(id);
  message.account = static_cast<std::int64_t>(random() % account_count) + 1;
  message.amount = static_cast<std::int64_t>(random() % 100'000) + 1;
  message.version = ++version_of[message.account];
  message.account_key = fmt::format("{}", message.account);
  const std::string facts = fmt::format(R"({{"account":{},"amount":{},"currency":"{}","version":{})", message.account,
                                        message.amount, currency, message.version);
  if (payload) message.payload = padded(facts, payload_bytes, random);
  message.outgoing = padded(facts, outgoing_bytes, random);
  return message;
}

}  // namespace

Workload make_workload(const WorkloadOptions& options) {
  Random random(options.seed);
  Workload work{options.ids, {}, {}};
  work.deliveries.reserve(options.deliveries);
  std::vector<std::int64_t> version_of(account_count + 1);
  while (work.deliveries.size() < options.deliveries) {
    const bool repeat = !work.messages.empty() && random() % 100 < options.repeats_percent;
    if (repeat) {
      work.deliveries.push_back(static_cast<Index>(random() % work.messages.size()));
    } else {
      work.deliveries.push_back(static_cast<Index>(work.messages.size()));
      std::string id = make_id(options.ids, work.messages.size(), random);
      work.messages.push_back(make_message(std::move(id), options.payloads, version_of, random));
    }
  }
  return work;
}

void touch(const Workload& work, std::span<const Index> deliveries) {
  std::size_t sum = 0;
  for (const Index index : deliveries) {
    const Message& message = work.messages[index];
    for (const std::string* text : {&message.id, &message.payload, &message.outgoing, &message.account_key}) {
      for (const char byte : *text) sum += static_cast<unsigned char>(byte);
    }
  }
  [[maybe_unused]] volatile std::size_t read = sum;
}

std::vector<std::string> make_ids(Ids ids, std::size_t count, std::uint64_t seed, std::uint64_t first) {
  Random random(seed);
  std::vector<std::string> made;
  made.reserve(count);
  for (std::size_t i = 0; i < count; ++i) made.push_back(make_id(ids, first + i, random));
  return made;
}

std::uint32_t key_seconds(std::uint64_t number) {
  return static_cast<std::uint32_t>((first_millisecond + number) / 1000 - key_epoch_seconds);
}

Folded::Folded() : amount_of_(account_count + 1), version_of_(account_count + 1) {}

void Folded::clear() {
  std::fill(amount_of_.begin(), amount_of_.end(), 0);
  std::fill(version_of_.begin(), version_of_.end(), 0);
}

void Folded::add(const Message& message) {
  amount_of_[message.account] += message.amount;
  version_of_[message.account] = std::max(version_of_[message.account], message.version);
}

void Folded::finish() {
  accounts_.clear();
  amounts_.clear();
  versions_.clear();
  for (std::size_t account = 1; account <= account_count; ++account) {
    if (version_of_[account] == 0) continue;
    accounts_.push_back(static_cast<std::int64_t>(account));
    amounts_.push_back(amount_of_[account]);
    versions_.push_back(version_of_[account]);
  }
}

}  // namespace onceward::bench
