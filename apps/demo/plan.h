// What the generator sends: a function of the seed and the number of messages, and of nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onceward::demo {

enum class Kind : std::uint8_t {
  capture,
  resent,              // the producer was not sure, and sent the same bytes again
  conflict,            // an id that was used before, with another amount
  not_json,            // cut off on the way
  no_message_id,       //
  unknown_schema,      // a schemaVersion that the consumer does not accept
  no_correlation,      //
  no_capture_request,  // no captureRequestId
  not_positive,        // an amount that the business rejects
  throws,              // makes the handler throw
  sql_error,           // makes a statement fail
  kills,               // makes the handler abort()
};
inline constexpr int kinds = 12;
std::string_view name(Kind kind);

struct Request {
  std::int64_t number = 0;   // in the order of sending, from 1
  std::int64_t subject = 0;  // which message; those with the same subject have the same id
  std::int64_t amount = 0;   // minor units
  Kind kind = Kind::capture;
};

struct Plan {
  static constexpr std::int64_t least_messages = 100, most_messages = 1'000'000;

  std::uint64_t seed = 0;
  std::vector<Request> requests;  // in the order of sending
};
// `messages` different ones; those that are sent again and the conflicts come on top.
Plan make_plan(std::uint64_t seed, std::int64_t messages);

// The exact bytes to send, their payload as a consumer sees it, and the line of the log that says so.
std::string bytes_of(std::uint64_t seed, const Request& request);
std::string payload_of(std::uint64_t seed, const Request& request);
std::string log_line(std::uint64_t seed, const Request& request);

}  // namespace onceward::demo
