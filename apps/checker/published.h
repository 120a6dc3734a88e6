// What the generator says it has sent: one line of JSON for each message, written before the message is sent, and after
// each send that the queue confirmed one line {"confirmed": number of the last message}.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace checker {

struct Message {
  std::int64_t number = 0;
  std::string kind;  // capture, resent, conflict, or a kind of poison (proof.cc lists them)
  std::string id;    // empty: it was sent without one
  std::string capture;
  std::string invoice;
  std::int64_t amount = 0;
  std::string currency;
  std::string payload;  // what a parked row must hold, where the id cannot tell
};

struct Published {
  std::vector<Message> messages;
  std::int64_t confirmed = 0;
};

// Throws std::runtime_error where the log cannot be read.
Published read_published(const std::string& path);

}  // namespace checker
