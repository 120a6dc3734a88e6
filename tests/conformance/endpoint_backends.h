// An endpoint as the conformance suite sees it: how to open it, what it declares, and what its other side does and has seen. An
// adapter joins with a file that has its EndpointUnderTest, and a line in endpoint_backends.cc.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "onceward/port/endpoint.h"

namespace onceward::fixtures {

struct EndpointCapabilities {
  bool remote;     // there is a connection that can be refused: the other side can be away
  bool says_when;  // "not now" comes with a time
  bool looks_up;
  bool lists;
};

// What the other side does with a key. Where nothing was said it is `yes`.
enum class Reply : std::uint8_t {
  yes,         // does it, and answers with its reference
  no,          // does nothing, and says so for good
  not_now,     // does nothing, and says: in 7 seconds, where it can say when
  silence,     // does it, and never answers
  breaks_off,  // does it, and is gone before it has answered
  garbage,     // of a look-up: answers nothing that the declaration describes
};

struct EndpointSettings {
  std::size_t most_under_way = 0;  // 0: its own
  std::chrono::milliseconds longest{10'000};
};

struct Seen {
  std::string key, body;
  bool look_up = false;
};

class EndpointUnderTest {
 public:
  virtual ~EndpointUnderTest() = default;
  virtual std::unique_ptr<Endpoint> open(const EndpointSettings& settings) = 0;
  // Of calls and look-ups of that key that are made from then on; a look-up's `yes` is "done", its `no` "not done".
  virtual void reply(const std::string& key, Reply reply) = 0;
  // The body of a call under that key whose bytes arrive as `text`.
  virtual std::string body(const std::string& key, const std::string& text) {
    static_cast<void>(key);
    return text;
  }
  virtual std::vector<Seen> seen() = 0;
  // The other side's own name for what was done under that key.
  virtual std::string reference_of(const std::string& key) { return "ref-" + key; }
  virtual void go_away(bool away) = 0;  // only where it is remote
};

struct EndpointBackend {
  std::string name;
  EndpointCapabilities capabilities;
  std::function<std::unique_ptr<EndpointUnderTest>()> make;
};
void PrintTo(const EndpointBackend& backend, std::ostream* out);

const std::vector<EndpointBackend>& endpoint_backends();
std::vector<EndpointBackend> endpoint_backends_that(bool EndpointCapabilities::* can);

// One of each adapter.
EndpointBackend callback_endpoint();
EndpointBackend http_endpoint();
EndpointBackend smtp_endpoint();

}  // namespace onceward::fixtures
