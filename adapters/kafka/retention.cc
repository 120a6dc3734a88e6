#include "adapters/kafka/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace onceward::kafka {
namespace {

std::optional<std::int64_t> number_in(const TopicSettings& settings, std::string_view name) {
  const auto found = settings.find(name);
  if (found == settings.end()) return std::nullopt;
  const std::string& text = found->second;
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

constexpr std::chrono::hours longest_kept{24 * 365 * 1000};  // more is for good

}  // namespace

void take_retention(const TopicSettings& settings, KafkaFacts& facts) {
  const auto unknown = [&](std::string_view name) {
    facts.retention_unknown = fmt::format("the brokers do not tell {}", name);
  };
  const auto policy = settings.find("cleanup.policy");
  if (policy == settings.end()) return unknown("cleanup.policy");
  // With compaction beside it, what is old is deleted although it is the last of its key.
  if (policy->second.find("delete") == std::string::npos) return;
  const auto kept = number_in(settings, "retention.ms"), closed = number_in(settings, "segment.ms");
  if (!kept) return unknown("retention.ms");
  if (*kept < 0 || std::chrono::milliseconds(*kept) > longest_kept) return;
  if (!closed) return unknown("segment.ms");
  facts.retention = std::chrono::milliseconds(*kept);
  facts.segment = std::min<std::chrono::milliseconds>(std::chrono::milliseconds(*closed), longest_kept);
}

}  // namespace onceward::kafka
