#include "src/ingress/problem.h"

#include <fmt/format.h>

#include <array>

#include "src/common/json.h"

namespace onceward::ingress {
namespace {

struct Words {
  unsigned status;
  std::string_view code, title, detail;
};

// In the order of Problem.
constexpr std::array all_words{
    Words{400, "key_missing", "The idempotency key is missing",
          "Send the header Idempotency-Key with a value of your own, and the same one when you repeat the request."},
    Words{400, "key_malformed", "The idempotency key is malformed", "A key is 1 to 255 printable ASCII characters."},
    Words{400, "request_malformed", "The request is malformed",
          "Who asks, what is asked and the content type are text of at most 255 bytes."},
    Words{413, "body_too_large", "The body is too large", "Send less in one request."},
    Words{409, "request_in_flight", "The same request is being worked on",
          "Repeat it after the time that Retry-After says, with the same key."},
    Words{422, "key_reused", "The idempotency key was used for another request",
          "Send another request under a key of its own."},
    Words{500, "handler_failed", "The request could not be carried out",
          "Nothing was done. The key may be used again."},
    Words{500, "answer_refused", "The answer could not be kept", "Nothing was done. The key may be used again."},
    Words{503, "store_unavailable", "The database is away, or what else is needed",
          "It is not known whether the request was carried out. Repeat it with the same key."},
};

}  // namespace

IngressAnswer problem_answer(unsigned status, std::string_view code, std::string_view title, std::string_view detail) {
  std::string body = fmt::format(R"({{"type":"urn:onceward:problem:{}","title":)", code);
  append_json_string(body, title);
  body += fmt::format(R"(,"status":{},"detail":)", status);
  append_json_string(body, detail);
  body += fmt::format(R"(,"code":"{}"}})", code);
  return {.status = status, .content_type = "application/problem+json", .body = std::move(body)};
}

IngressAnswer answer_of(Problem problem, std::chrono::seconds retry_after) {
  const Words& words = all_words.at(static_cast<std::size_t>(problem));
  IngressAnswer answer = problem_answer(words.status, words.code, words.title, words.detail);
  answer.retry_after = retry_after;
  return answer;
}

}  // namespace onceward::ingress
