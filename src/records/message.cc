// One message of the inbox, with all that hangs on it.
#include <cstring>

#include "src/envelope/key.h"
#include "src/inbox/enrolment.h"
#include "src/records/inbox.h"
#include "src/records/inbox_rows.h"
#include "src/records/where.h"

namespace onceward::records {
namespace {

// The tables have no index by their cause, since every staged row would pay for it.
constexpr std::string_view first_hundred = " LIMIT 100";

class Reading {
 public:
  Reading(Look& look, Dialect dialect, const Key& key) : look_(look), dialect_(dialect), key_(key) {}

  // The rows of a statement that ends with the key.
  Rows rows(std::string_view before, std::string_view after = {}) const {
    Statement select(dialect_, before);
    return select.bind(key_).add(after).query(look_);
  }

 private:
  Look& look_;
  const Dialect dialect_;
  const Key key_;
};

void read_attempts(const Reading& reading, InboxMessage& message) {
  for (const Row& row :
       reading.rows("SELECT {micros at}, kind, code, worker FROM {attempt} WHERE key = ", " ORDER BY number")) {
    message.attempts.push_back({time_in(row[0]), text_in(row[1]), text_in(row[2]), text_in(row[3])});
  }
}

void read_staged(const Reading& reading, InboxMessage& message) {
  const std::string in_order = " ORDER BY position" + std::string(first_hundred);
  for (const Row& row : reading.rows("SELECT id, type FROM {outbox} WHERE cause = ", in_order)) {
    message.outgoing.push_back({text_in(row[0]), text_in(row[1])});
  }
  const std::string by_time = " ORDER BY created_at, key" + std::string(first_hundred);
  for (const Row& row : reading.rows("SELECT endpoint, idempotency_key, type FROM {ledger} WHERE cause = ", by_time)) {
    message.calls.push_back({text_in(row[0]), text_in(row[1]), text_in(row[2])});
  }
}

PayloadHash hash_in(const Datum& datum) {
  PayloadHash hash;
  const std::string bytes = bytes_in(datum);
  std::memcpy(hash.bytes.data(), bytes.data(), std::min(bytes.size(), hash.bytes.size()));
  return hash;
}

std::optional<KeyScheme> scheme_named(std::string_view name) {
  for (const KeyScheme scheme : {KeyScheme::hash, KeyScheme::uuidv7, KeyScheme::ulid}) {
    if (stored_name(scheme) == name) return scheme;
  }
  return std::nullopt;
}

// The key that the name stands for, where it says enough.
std::optional<Key> key_of(Look& look, Dialect dialect, const MessageName& name) {
  if (!name.producer) return std::nullopt;
  Statement select(dialect, "SELECT scheme FROM {consumer} WHERE name = ");
  const Rows rows = select.bind(name.consumer).query(look);
  const auto scheme = rows.empty() ? std::nullopt : scheme_named(text_in(rows[0][0]));
  if (!scheme) return std::nullopt;
  const auto key = message_key(*scheme, Tenant(name.tenant ? std::string_view(*name.tenant) : std::string_view()),
                               name.consumer, Producer(*name.producer), name.id);
  const auto* found = std::get_if<Key>(&key);
  return found ? std::optional(*found) : std::nullopt;
}

}  // namespace

std::optional<InboxMessage> read_message(Store& store, const Key& key) {
  const auto look = store.look();
  const Reading reading(*look, store.dialect(), key);
  Statement select(store.dialect(), "SELECT ");
  select.add(inbox_columns)
      .add(", i.payload_hash, length(o.result), o.original, {micros o.recorded_at}, p.key, p.text, length(b.payload)")
      .add(" FROM {inbox} i ")
      .add(inbox_joins)
      .add(" LEFT JOIN {operation} p ON p.message = i.key LEFT JOIN {inbox_body} b ON b.key = i.key WHERE i.key = ")
      .bind(key);
  const Rows rows = select.query(*look);
  if (rows.empty()) return std::nullopt;
  InboxMessage message;
  message.row = inbox_row(rows[0]);
  const Datum* const more = &rows[0][inbox_column_count];
  message.payload_hash = hash_in(more[0]);
  message.result_bytes = number_in(more[1]);
  message.original = unless_null(more[2], key_in);
  message.recorded_at = unless_null(more[3], time_in);
  if (!is_null(more[4])) message.operation = Operation{key_in(more[4]), text_in(more[5])};
  message.kept_bytes = unless_null(more[6], number_in);
  read_attempts(reading, message);
  read_staged(reading, message);
  return message;
}

std::vector<InboxRow> find_messages(Store& store, const MessageName& name) {
  constexpr int most = 10;
  const auto look = store.look();
  InboxFilter filter;
  filter.key = key_of(*look, store.dialect(), name);
  if (filter.key) {
    auto rows = read_page(*look, store.dialect(), filter, std::nullopt, most);
    if (!rows.empty()) return rows;
    filter.key.reset();
  }
  filter.consumer = name.consumer;
  filter.id = name.id;
  filter.producer = name.producer.value_or(std::string());
  filter.tenant = name.tenant;
  return read_page(*look, store.dialect(), filter, std::nullopt, most);
}

std::optional<Body> read_body(Store& store, const Key& key) {
  const auto look = store.look();
  const Rows rows =
      Reading(*look, store.dialect(), key).rows("SELECT envelope, payload FROM {inbox_body} WHERE key = ");
  if (rows.empty()) return std::nullopt;
  return Body{text_in(rows[0][0]), bytes_in(rows[0][1])};
}

}  // namespace onceward::records
