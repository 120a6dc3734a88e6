#include "adapters/embedded/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "adapters/embedded/options.h"
#include "adapters/sqlite/schema.h"

namespace onceward::embedded {
namespace {

constexpr std::string_view find_queue = "SELECT number FROM queue WHERE name = ?1";
constexpr std::string_view insert_queue = "INSERT INTO queue (name, published, handed) VALUES (?1, 0, 0)";
constexpr std::string_view begin_queue = "UPDATE queue SET published = ?2, handed = ?2 WHERE number = ?1";
constexpr std::string_view count_queues = "SELECT count(*) FROM queue";
constexpr std::string_view read_reach = "SELECT published, handed FROM queue WHERE number = ?1";
constexpr std::string_view write_published = "UPDATE queue SET published = ?2 WHERE number = ?1";
constexpr std::string_view write_handed = "UPDATE queue SET handed = ?2 WHERE number = ?1";

constexpr std::string_view look =
    "SELECT published > handed OR EXISTS (SELECT 1 FROM delivery WHERE queue = ?1 AND due_at <= ?2) FROM queue "
    "WHERE number = ?1";
constexpr std::string_view find_due =
    "SELECT due_at, position, deliveries FROM delivery WHERE queue = ?1 AND due_at <= ?2 ORDER BY due_at, position "
    "LIMIT ?3";
constexpr std::string_view delete_due = "DELETE FROM delivery WHERE queue = ?1 AND (due_at, position) <= (?2, ?3)";
constexpr std::string_view insert_delivery =
    "INSERT INTO delivery (queue, due_at, position, deliveries) VALUES (?1, ?2, ?3, ?4)";
constexpr std::string_view insert_deliveries =
    "INSERT INTO delivery (queue, due_at, position, deliveries) SELECT ?1, ?2, position, ?5 FROM message WHERE "
    "position BETWEEN ?3 AND ?4";
constexpr std::string_view find_bodies =
    "SELECT position, body FROM message WHERE position BETWEEN ?1 AND ?2 ORDER BY position";
constexpr std::string_view insert_message = "INSERT INTO message (position, body) VALUES (?1, ?2)";

constexpr std::string_view count_deliveries =
    "SELECT count(*) FROM delivery WHERE queue = ?1 AND due_at = ?2 AND position BETWEEN ?3 AND ?4";
constexpr std::string_view delete_messages = "DELETE FROM message WHERE position BETWEEN ?3 AND ?4";
constexpr std::string_view delete_messages_held =
    "DELETE FROM message WHERE position IN (SELECT position FROM delivery WHERE queue = ?1 AND due_at = ?2 AND "
    "position BETWEEN ?3 AND ?4)";
constexpr std::string_view delete_deliveries =
    "DELETE FROM delivery WHERE queue = ?1 AND due_at = ?2 AND position BETWEEN ?3 AND ?4";
constexpr std::string_view return_deliveries =
    "UPDATE delivery SET due_at = 0 WHERE queue = ?1 AND due_at = ?2 AND position BETWEEN ?3 AND ?4";

constexpr std::string_view read_depth =
    "SELECT published - handed + (SELECT count(*) FROM delivery WHERE queue = ?1 AND due_at <= ?2), "
    "(SELECT count(*) FROM delivery WHERE queue = ?1 AND due_at > ?2) FROM queue WHERE number = ?1";

constexpr std::size_t most_at_once = 100'000;  // nobody shall hold the write lock for longer

void bind_all(sqlite::Statement& statement, std::initializer_list<std::int64_t> values) {
  int at = 0;
  for (const std::int64_t value : values) statement.bind(++at, value);
}

}  // namespace

Queue::Queue(const EmbeddedOptions& options)
    : visibility_(options.visibility), file_(options), number_(number_of(options.queue)) {}

std::int64_t Queue::number_of(std::string_view name) {
  std::int64_t number = 0;
  const auto find = [&] {
    sqlite::Statement& statement = file_.statement(find_queue);
    statement.bind(1, name);
    statement.each([&](sqlite3_stmt* row) { number = sqlite3_column_int64(row, 0); });
    return number != 0;
  };
  bool known = false;
  file_.read([&] { known = find(); });
  if (known) return number;
  file_.write([&] {
    if (find()) return;
    std::int64_t count = 0;
    file_.statement(count_queues).each([&](sqlite3_stmt* row) { count = sqlite3_column_int64(row, 0); });
    if (count >= static_cast<std::int64_t>(EmbeddedOptions::most_queues)) {
      throw refused(fmt::format("embedded:{} holds {} queues already; use another file", file_.path(), count));
    }
    sqlite::Statement& insert = file_.statement(insert_queue);
    insert.bind(1, name);
    insert.run();
    find();
    sqlite::Statement& begin = file_.statement(begin_queue);
    bind_all(begin, {number, number << position_bits});
    begin.run();
  });
  return number;
}

Queue::Reach Queue::reach(std::int64_t number) {
  Reach reach;
  sqlite::Statement& statement = file_.statement(read_reach);
  statement.bind(1, number);
  statement.each([&](sqlite3_stmt* row) { reach = {sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1)}; });
  if (reach.published == 0) {
    throw refused(fmt::format("embedded:{}: the queue was removed from the file; open it again", file_.path()));
  }
  return reach;
}

bool Queue::ready() {
  bool found = false;
  file_.read([&] {
    sqlite::Statement& statement = file_.statement(look);
    bind_all(statement, {number_, sqlite::now_microseconds()});
    statement.each([&](sqlite3_stmt* row) { found = sqlite3_column_int(row, 0) != 0; });
  });
  return found;
}

void Queue::take(std::size_t most, Disturber& disturber, std::vector<Taken>& into) {
  const std::size_t before = into.size();
  most = std::min(most, most_at_once);
  try {
    file_.write([&] {
      const std::int64_t now = sqlite::now_microseconds();
      collect(disturber.looked_at(most), now, candidates_);
      disturber.shuffle(candidates_);
      std::span<const Candidate> rest = candidates_;
      std::size_t bytes = 0;
      while (!rest.empty() && into.size() - before < most && bytes < EmbeddedOptions::most_bytes_at_once) {
        const std::size_t room = most - (into.size() - before);
        rest = rest.subspan(hand_out(run_of(rest.first(std::min(room, rest.size()))), now, bytes, into));
      }
      for (const Candidate& left : rest) put_back(left);
    });
  } catch (...) {
    into.resize(before);  // nothing was handed out
    throw;
  }
}

// Takes out what can be handed out now, and leaves it to the caller to put it back.
void Queue::collect(std::size_t most, std::int64_t now, std::vector<Candidate>& into) {
  into.clear();
  sqlite::Statement& find = file_.statement(find_due);
  bind_all(find, {number_, now, static_cast<std::int64_t>(most)});
  std::int64_t last_due_at = 0;
  find.each([&](sqlite3_stmt* row) {
    last_due_at = sqlite3_column_int64(row, 0);
    into.push_back({sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2)});
  });
  if (!into.empty()) {
    sqlite::Statement& remove = file_.statement(delete_due);
    bind_all(remove, {number_, last_due_at, into.back().position});
    remove.run();
  }
  const Reach reach = this->reach();
  const auto left = static_cast<std::int64_t>(most - into.size());
  const std::int64_t last = std::min(reach.published, reach.handed + left);
  if (last == reach.handed) return;
  for (std::int64_t position = reach.handed + 1; position <= last; ++position) into.push_back({position, 0});
  sqlite::Statement& advance = file_.statement(write_handed);
  bind_all(advance, {number_, last});
  advance.run();
}

// The first of them that lie beside one another and have come equally often: mostly all.
std::span<const Queue::Candidate> Queue::run_of(std::span<const Candidate> candidates) {
  std::size_t size = 1;
  while (size < candidates.size() && candidates[size].position == candidates[size - 1].position + 1 &&
         candidates[size].deliveries == candidates[0].deliveries) {
    ++size;
  }
  return candidates.first(size);
}

// Answers how many of the run it has handed out before there were too many bytes.
std::size_t Queue::hand_out(std::span<const Candidate> run, std::int64_t now, std::size_t& bytes,
                            std::vector<Taken>& into) {
  const std::int64_t due_at = now + visibility_.count();
  const auto deliveries = static_cast<std::uint32_t>(run.front().deliveries + 1);
  std::size_t count = 0;
  sqlite::Statement& find = file_.statement(find_bodies);
  bind_all(find, {run.front().position, run.back().position});
  find.each_while([&](sqlite3_stmt* row) {
    if (sqlite3_column_int64(row, 0) != run[count].position) return false;
    const std::string_view body = sqlite::bytes_at(row, 1);
    into.push_back({{run[count].position, due_at}, deliveries, Bytes::copy_of(body)});
    ++count;
    bytes += body.size();
    return count < run.size() && bytes < EmbeddedOptions::most_bytes_at_once;
  });
  if (count < run.size() && bytes < EmbeddedOptions::most_bytes_at_once) {
    throw refused(fmt::format("embedded:{} is damaged: a message is not there; restore the file, or begin a new one",
                              file_.path()));
  }
  sqlite::Statement& insert = file_.statement(insert_deliveries);
  bind_all(insert, {number_, due_at, run.front().position, run[count - 1].position, deliveries});
  insert.run();
  return count;
}

// What was looked at and is not handed out is as ready as before.
void Queue::put_back(const Candidate& candidate) {
  sqlite::Statement& insert = file_.statement(insert_delivery);
  bind_all(insert, {number_, 0, candidate.position, candidate.deliveries});
  insert.run();
}

// In runs of neighbours that were handed out together: mostly all of them are one run.
std::uint64_t Queue::end(std::span<Ended> ended) {
  std::ranges::sort(ended, {}, [](const Ended& one) { return std::pair(one.handed.due_at, one.handed.position); });
  std::uint64_t found = 0;
  file_.write([&] {
    found = 0;
    for (std::size_t first = 0; first < ended.size();) {
      std::size_t next = first + 1;
      while (next < ended.size() && ended[next].again == ended[first].again &&
             ended[next].handed.due_at == ended[first].handed.due_at &&
             ended[next].handed.position == ended[next - 1].handed.position + 1) {
        ++next;
      }
      found += end_run(ended.subspan(first, next - first));
      first = next;
    }
  });
  return found;
}

std::uint64_t Queue::end_run(std::span<const Ended> run) {
  const auto on_run = [&](std::string_view sql) -> sqlite::Statement& {
    sqlite::Statement& statement = file_.statement(sql);
    bind_all(statement, {number_, run.front().handed.due_at, run.front().handed.position, run.back().handed.position});
    return statement;
  };
  if (run.front().again) return static_cast<std::uint64_t>(on_run(return_deliveries).run());
  std::int64_t still_ours = 0;
  on_run(count_deliveries).each([&](sqlite3_stmt* row) { still_ours = sqlite3_column_int64(row, 0); });
  // Messages go before the rows that say which of them are still ours. Mostly all are, which is cheaper to say.
  on_run(still_ours == std::ssize(run) ? delete_messages : delete_messages_held).run();
  on_run(delete_deliveries).run();
  return static_cast<std::uint64_t>(still_ours);
}

void Queue::send(std::span<const std::string_view> messages) {
  for (const std::string_view message : messages) {
    if (message.size() > EmbeddedOptions::most_message_bytes) {
      throw refused(
          fmt::format("a message of {} bytes is too large for an embedded queue, which takes up to {}; send a "
                      "reference to where its content is",
                      message.size(), EmbeddedOptions::most_message_bytes));
    }
  }
  if (messages.empty()) return;
  file_.write([&] {
    std::int64_t position = reach().published;
    sqlite::Statement& insert = file_.statement(insert_message);
    for (const std::string_view message : messages) {
      insert.bind(1, ++position);
      insert.bind(2, Blob{message});
      insert.run();
    }
    sqlite::Statement& advance = file_.statement(write_published);
    bind_all(advance, {number_, position});
    advance.run();
  });
}

void Queue::send_to(std::span<const Addressed> messages) {
  std::map<std::string_view, std::int64_t> numbers;
  for (const Addressed& message : messages) {
    if (!numbers.contains(message.queue)) numbers.emplace(message.queue, number_of(message.queue));
  }
  file_.write([&] {
    std::map<std::int64_t, std::int64_t> positions;
    for (const auto& [name, number] : numbers) positions.emplace(number, reach(number).published);
    sqlite::Statement& insert = file_.statement(insert_message);
    for (const Addressed& message : messages) {
      insert.bind(1, ++positions[numbers[message.queue]]);
      insert.bind(2, Blob{message.body});
      insert.run();
    }
    sqlite::Statement& advance = file_.statement(write_published);
    for (const auto& [number, position] : positions) {
      bind_all(advance, {number, position});
      advance.run();
    }
  });
}

QueueDepth Queue::depth() {
  QueueDepth depth;
  file_.read([&] {
    sqlite::Statement& statement = file_.statement(read_depth);
    bind_all(statement, {number_, sqlite::now_microseconds()});
    statement.each([&](sqlite3_stmt* row) {
      depth.ready = static_cast<std::uint64_t>(sqlite3_column_int64(row, 0));
      depth.in_flight = static_cast<std::uint64_t>(sqlite3_column_int64(row, 1));
    });
  });
  return depth;
}

}  // namespace onceward::embedded
