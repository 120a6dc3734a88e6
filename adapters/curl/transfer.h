// One exchange that libcurl makes for us, and what is known of it when it has ended. What can be known decides whether a call may
// have been seen: so libcurl is asked how far it came, and no error code is read for it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/curl/handle.h"
#include "onceward/endpoint_declaration.h"

namespace onceward::curl {

// How an exchange ended.
struct Ending {
  CURLcode code = CURLE_OK;
  int status = 0;                      // the last that the other side said; 0: nothing
  int requests = 0;                    // how often a request was handed to an open connection
  std::int64_t request_bytes = 0;      // of HTTP: written to the connection, all requests together
  std::int64_t uploaded_bytes = 0;     // of the body
  std::chrono::seconds retry_after{};  // 0: the other side did not say
  bool cut = false;                    // the answer was longer than our limit

  // Whether the other side may have seen something of a request.
  bool may_have_been_seen() const {
    return requests > 1 || (requests == 1 && (code != CURLE_SEND_ERROR || request_bytes > 0));
  }
};

class Transfer {
 public:
  struct Limits {
    std::size_t response_bytes = 0;
    // libcurl makes a request again by itself when a connection that was used before is found to be lost. Where that would be
    // a second call, it is held back, whatever the options of the connection say.
    bool may_repeat = false;
  };
  // With all that holds for every exchange: deadlines, trust, no proxy and no password that is not declared.
  Transfer(const EndpointDeclaration& declaration, const Limits& limits);
  virtual ~Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* easy() const { return easy_.get(); }
  std::uint64_t tag = 0;  // the caller's

  // A connection of its own, closed afterwards.
  void use_no_other_connection();

  void ended(CURLcode code);
  const Ending& ending() const { return ending_; }
  const std::string& response() const { return response_; }
  // For people: what libcurl says. More than the kind of error only while nothing has been asked: that holds names of hosts and
  // what is wrong with a certificate, and later it might hold what the other side has written.
  std::string trouble() const;

 private:
  static std::size_t take(char* bytes, std::size_t one, std::size_t count, void* self);
  static int before_request(void* self, char*, char*, int, int);

  const Limits limits_;
  Ending ending_;
  std::string response_;
  std::array<char, CURL_ERROR_SIZE> detail_{};
  Easy easy_;  // after what it writes to
};

}  // namespace onceward::curl
