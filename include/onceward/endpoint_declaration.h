// What is declared of external systems: which are called, how their answers are read, and what is asked when there was none.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "onceward/retry_budget.h"

namespace onceward {

// How the outcome of a call is asked for. "{key}", "{reference}" and "{business_key}" stand for those of the call.
struct LookUpDeclaration {
  std::string url;
  std::string done_pointer{};              // into the answer's JSON (RFC 6901); empty: its status alone says it
  std::vector<std::string> done_values{};  // of which what stands there must be one
  // What says "not done" though the status is one of `done`: it stands where done_pointer points to, or here; empty: it is the
  // whole answer. "[]", "{}" and "null" are what is empty.
  std::string not_done_pointer{};
  std::vector<std::string> not_done_values{};
  std::vector<std::string> done{"2xx"};
  std::vector<std::string> not_done{"404"};
  std::string reference{};  // pointer to the other side's own name for it
  // "Not done" is believed once this has passed since the attempt ended: until then it may still be on its way.
  std::chrono::milliseconds settle{30'000};
  std::chrono::milliseconds every{10'000};
  int attempts = 20;  // then it waits for a person
  friend bool operator==(const LookUpDeclaration&, const LookUpDeclaration&) = default;
};
// How the other side's own records are listed, to be compared with ours.
struct ListDeclaration {
  std::string url;      // "{since}" stands for a time
  std::string items{};  // pointer to an array
  std::string key{};    // pointers, into an item
  std::string reference{};
  std::string next{};  // pointer to the URL of the next page, on the same host; empty: one page
  friend bool operator==(const ListDeclaration&, const ListDeclaration&) = default;
};

enum class Approval : std::uint8_t { none, required };
// What a message to people is worth (NC1 to NC3): once; again and again is expected; lost is no matter.
enum class NotificationClass : std::uint8_t { transactional, campaign, best_effort };

// An external system that is called.
struct EndpointDeclaration {
  std::string name;
  std::string url;  // http://, https:// or smtp://; empty for a callback that is given in C++
  std::string method{"POST"};
  std::vector<std::pair<std::string, std::string>> headers;
  std::string content_type{"application/json"};
  std::string key_header{"Idempotency-Key"};
  // The other side answers a repeated key with the first outcome, for as long as it remembers it. Only then is an unknown
  // outcome sent again by itself, and only within that time of the first attempt.
  bool idempotent = false;
  std::chrono::seconds key_lifetime{0};
  std::vector<std::string> succeeded{"2xx"}, failed{"4xx"},
      later{"429", "503"};  // by status; what fits none is unknown
  std::string reference;    // pointer into the answer's JSON
  std::optional<LookUpDeclaration> look_up;
  std::optional<ListDeclaration> list;
  std::chrono::milliseconds connect_timeout{3'000};
  std::chrono::milliseconds timeout{15'000};  // of the whole call
  std::size_t most_response_bytes = 1u << 20;
  std::string ca_file;
  std::string from;  // of mail: the sender
  NotificationClass notification = NotificationClass::transactional;
  std::size_t concurrency = 16;  // calls under way in each process
  double rate = 0;               // calls a second in each process; 0: no limit
  RetryBudget retry{.attempts = 8, .first_delay = std::chrono::seconds(1), .longest_delay = std::chrono::minutes(5)};
  std::chrono::milliseconds lease{60'000};  // after which an attempt of a dispatcher that has fallen silent is unknown
  std::chrono::milliseconds poll{500};
  int circuit_failures = 10;  // in a row; then nothing is sent for a while
  std::chrono::milliseconds circuit_pause{10'000};
  Approval approval = Approval::none;
  std::chrono::seconds approval_lifetime{24 * 3600};
  friend bool operator==(const EndpointDeclaration&, const EndpointDeclaration&) = default;
};

// A call that every message of a consumer with an SQL handler asks for. In texts "{name}" stands for a declared field, and for
// message_id, business_key, aggregate_id, type, tenant.
struct CallDeclaration {
  std::string endpoint;
  std::string key;
  std::string type;
  std::string business_key;
  std::string body;  // JSON whose texts may hold names, or "{payload}": the exact bytes
  Approval approval = Approval::none;
  std::string requested_by{};  // who must not approve it; empty: the consumer
  friend bool operator==(const CallDeclaration&, const CallDeclaration&) = default;
};

// POST /ingress/<consumer>, for consumers whose source is an embedded queue.
struct IngressDeclaration {
  std::vector<std::string> consumers;  // none: no front door
  std::string token;                   // "${NAME}"; demanded of everybody; empty: only this machine is served
  std::chrono::hours expiry{24 * 7};
  std::size_t most_body_bytes = 1u << 20;
  friend bool operator==(const IngressDeclaration&, const IngressDeclaration&) = default;
};

}  // namespace onceward
