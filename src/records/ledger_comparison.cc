#include "src/records/ledger_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "src/outbox/staging.h"
#include "src/records/inbox.h"
#include "src/records/ledger_rows.h"

namespace onceward::records {
namespace {

using Kind = Difference::Kind;

// By the key that the other side was told.
using ByKey = std::multimap<std::string, const LedgerRow*>;

bool says_the_same(const LedgerRow& row, const EndpointRecord& record) {
  return row.state == CallState::succeeded && row.external_ref == record.external_ref;
}

Difference difference_of(Kind kind, const LedgerRow& row, const std::string& their_reference, std::string what) {
  return {kind, row.key, row.number, std::string(name(row.state)), row.external_ref, their_reference, std::move(what)};
}

// Nothing if the two say the same.
std::optional<Difference> compare_one(const LedgerRow& row, const EndpointRecord& record) {
  if (row.state != CallState::succeeded) {
    return difference_of(Kind::differing, row, record.external_ref,
                         fmt::format("they have it, and we say {}", name(row.state)));
  }
  const bool both = !row.external_ref.empty() && !record.external_ref.empty();
  if (both && row.external_ref != record.external_ref) {
    return difference_of(Kind::differing, row, record.external_ref, "the references differ");
  }
  return std::nullopt;
}

Difference extra(const EndpointRecord& record, bool known) {
  return {Kind::extra,
          record.key,
          0,
          {},
          {},
          record.external_ref,
          known ? "they have it more often than we asked for it" : "we have no call under this key"};
}

}  // namespace

std::string_view name(Difference::Kind kind) {
  switch (kind) {
    case Kind::missing:
      return "missing";
    case Kind::extra:
      return "extra";
    case Kind::differing:
      return "differing";
  }
  return "";
}

std::int64_t Comparison::count(Difference::Kind kind) const {
  return std::ranges::count(differences, kind, &Difference::kind);
}

Timestamp time_of(Store& store) {
  return time_in(Statement(store.dialect(), "SELECT {now_micros}").query(*store.look()).at(0).at(0));
}

Comparison compare(std::span<const LedgerRow> ours, std::span<const EndpointRecord> theirs, Timestamp since,
                   Timestamp asked_at) {
  ByKey left;
  std::set<std::string> known;
  for (const LedgerRow& row : ours) {
    const std::string key = sent_key(row.tenant, row.key);
    left.emplace(key, &row);
    known.insert(key);
  }
  Comparison comparison;
  // Those that say the same find each other first: what is left over is what differs.
  std::vector<const EndpointRecord*> rest;
  for (const EndpointRecord& record : theirs) {
    const auto [begin, end] = left.equal_range(record.key);
    const auto same = std::find_if(begin, end, [&](const auto& entry) { return says_the_same(*entry.second, record); });
    if (same == end) {
      rest.push_back(&record);
    } else {
      ++comparison.equal;
      left.erase(same);
    }
  }
  for (const EndpointRecord* record : rest) {
    const auto found = left.find(record->key);
    if (found == left.end()) {
      comparison.differences.push_back(extra(*record, known.contains(record->key)));
      continue;
    }
    auto difference = compare_one(*found->second, *record);
    comparison.equal += difference ? 0 : 1;
    if (difference) comparison.differences.push_back(std::move(*difference));
    left.erase(found);
  }
  for (const auto& [key, row] : left) {
    const bool asked_for =
        row->first_attempt_at && *row->first_attempt_at >= since && row->ended_at.value_or(since) <= asked_at;
    if (row->state == CallState::succeeded && asked_for) {
      comparison.differences.push_back(
          difference_of(Kind::missing, *row, {}, "we say succeeded, and they do not have it"));
    }
  }
  std::ranges::sort(comparison.differences, {},
                    [](const Difference& one) { return std::tie(one.kind, one.key, one.number, one.their_reference); });
  return comparison;
}

std::vector<LedgerRow> read_calls_to_compare(Store& store, const std::string& endpoint, Timestamp since,
                                             std::span<const EndpointRecord> theirs,
                                             const std::function<bool(std::int64_t)>& go_on) {
  std::set<std::string> keys;
  for (const EndpointRecord& record : theirs) keys.insert(record.key);
  LedgerFilter filter;
  filter.endpoint = endpoint;
  std::vector<LedgerRow> wanted;
  std::int64_t looked_at = 0;
  for (std::optional<std::int64_t> below;;) {
    LedgerPage page = list_ledger(store, filter, below, most_rows_of_a_page);
    for (LedgerRow& row : page.rows) {
      const bool since_then = row.first_attempt_at && *row.first_attempt_at >= since;
      below = row.number;
      if (since_then || keys.contains(sent_key(row.tenant, row.key))) wanted.push_back(std::move(row));
    }
    looked_at += static_cast<std::int64_t>(page.rows.size());
    if (!page.more || (go_on && !go_on(looked_at))) return wanted;
  }
}

}  // namespace onceward::records
