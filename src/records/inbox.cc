#include "src/records/inbox.h"

#include <algorithm>

#include "src/records/inbox_rows.h"
#include "src/records/where.h"

namespace onceward::records {
namespace {

constexpr std::string_view newest_first = " ORDER BY i.received_at DESC, i.key DESC";

// The page is cut before outcomes are looked up, so that only its own are; with a state, the outcomes decide.
void add_page(Statement& select, const InboxFilter& filter, const std::optional<InboxRow>& after, int limit) {
  select.add("SELECT i.key, i.received_at, i.consumer, i.tenant, i.producer, i.id FROM {inbox} i");
  const bool processed = filter.state == State::processed;
  if (filter.state) select.add(processed ? " LEFT" : "").add(" JOIN {inbox_outcome} f ON f.key = i.key");
  Where where(select);
  if (filter.state) {
    where.add(processed ? "COALESCE(f.state, 3) = " : "f.state = ").bind(static_cast<std::int64_t>(*filter.state));
  }
  where.of_consumer("i.consumer", filter.consumer);
  where.with("i.tenant = ", filter.tenant);
  where.with("i.producer = ", filter.producer);
  where.with("i.id = ", filter.id);
  where.with("i.key = ", filter.key);
  where.with("i.received_at >= ", filter.since);
  where.with("i.received_at < ", filter.until);
  if (after) where.add("(i.received_at, i.key) < (").bind(after->received_at).add(", ").bind(after->key).add(")");
  select.add(newest_first).add(" LIMIT ").bind(std::int64_t{limit});
}

}  // namespace

InboxRow inbox_row(const Row& row) {
  InboxRow read;
  read.key = key_in(row[0]);
  read.consumer = text_in(row[1]);
  read.tenant = text_in(row[2]);
  read.producer = text_in(row[3]);
  read.id = text_in(row[4]);
  read.received_at = time_in(row[5]);
  if (!is_null(row[6])) read.state = static_cast<State>(number_in(row[6]));
  read.code = text_in(row[7]);
  read.next_attempt_at = unless_null(row[8], time_in);
  return read;
}

std::vector<InboxRow> read_page(Look& look, Dialect dialect, const InboxFilter& filter,
                                const std::optional<InboxRow>& after, int limit) {
  Statement select(dialect, "SELECT ");
  select.add(inbox_columns).add(" FROM (");
  add_page(select, filter, after, limit);
  select.add(") i ").add(inbox_joins).add(newest_first);
  std::vector<InboxRow> rows;
  for (const Row& row : select.query(look)) rows.push_back(inbox_row(row));
  return rows;
}

std::optional<InboxPage> list_inbox(Store& store, const InboxFilter& filter, const std::optional<Key>& after,
                                    int limit) {
  limit = std::clamp(limit, 1, most_rows_of_a_page);
  const auto look = store.look();
  std::optional<InboxRow> from;
  if (after) {
    InboxFilter one;
    one.key = after;
    const auto rows = read_page(*look, store.dialect(), one, std::nullopt, 1);
    if (rows.empty()) return std::nullopt;
    from = rows.front();
  }
  InboxPage page;
  page.rows = read_page(*look, store.dialect(), filter, from, limit + 1);
  page.more = page.rows.size() > static_cast<std::size_t>(limit);
  if (page.more) page.rows.pop_back();
  return page;
}

std::vector<std::string> consumer_names(Store& store) {
  const Statement select(store.dialect(), "SELECT name FROM {consumer} ORDER BY name");
  const auto look = store.look();
  std::vector<std::string> names;
  for (const Row& row : select.query(*look)) names.push_back(text_in(row[0]));
  return names;
}

}  // namespace onceward::records
