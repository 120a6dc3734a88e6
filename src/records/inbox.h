// The inbox, as people and tools see it: who was received, what became of it, and what it caused. Reading only; payloads
// come by a call of their own. Everything here throws Fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "onceward/port/store.h"

namespace onceward::records {

inline constexpr int most_rows_of_a_page = 1000;

// What is empty says nothing.
struct InboxFilter {
  std::string consumer{};
  std::optional<State> state{};
  std::optional<std::string> tenant{};
  std::string producer{};
  std::string id{};
  std::optional<Key> key{};
  std::optional<Timestamp> since{};  // received then or later
  std::optional<Timestamp> until{};  // received before
};

struct InboxRow {
  Key key;
  std::string consumer;
  std::string tenant;
  std::string producer;
  std::string id;
  Timestamp received_at;
  State state = State::processed;
  std::string code;
  std::optional<Timestamp> next_attempt_at;
};

struct InboxPage {
  std::vector<InboxRow> rows;
  bool more = false;  // after the last of them
};

// Newest first, 1 to 1000 of them, from behind the message `after`; nothing if that one is not there. Without an index on
// (received_at, key), which Onceward does not make since every claim would pay for it, the inbox is read as a whole.
std::optional<InboxPage> list_inbox(Store& store, const InboxFilter& filter, const std::optional<Key>& after,
                                    int limit);

struct InboxAttempt {
  Timestamp at;
  std::string kind;  // start, failure, void or reset
  std::string code;
  std::string worker;
};
struct StagedMessage {
  std::string id;
  std::string type;
};
struct StagedRequest {
  std::string endpoint;
  std::string key;
  std::string type;
};
struct Operation {
  Key key;
  std::string text;
};

struct InboxMessage {
  InboxRow row;
  PayloadHash payload_hash;
  std::int64_t result_bytes = 0;
  std::optional<Key> original;  // of a business duplicate: the message that was applied
  std::optional<Timestamp> recorded_at;
  std::optional<Operation> operation;
  std::vector<InboxAttempt> attempts;      // oldest first
  std::vector<StagedMessage> outgoing;     // the first hundred
  std::vector<StagedRequest> calls;        // the first hundred
  std::optional<std::int64_t> kept_bytes;  // of its payload, while that is kept
};

std::optional<InboxMessage> read_message(Store& store, const Key& key);

// A message by the names that people know. Those with that id, at most ten: with a producer it is looked up by its key
// (of no tenant, if none is said), and only where that finds none, or without a producer, the inbox is searched.
struct MessageName {
  std::string consumer{};
  std::string id{};
  std::optional<std::string> producer{};
  std::optional<std::string> tenant{};
};
std::vector<InboxRow> find_messages(Store& store, const MessageName& name);

// The bytes of a message, and its envelope as JSON without them.
struct Body {
  std::string envelope;
  std::string payload;
};
std::optional<Body> read_body(Store& store, const Key& key);

// The consumers that are enrolled, by name.
std::vector<std::string> consumer_names(Store& store);

}  // namespace onceward::records
