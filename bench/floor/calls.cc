#include "bench/floor/calls.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "onceward/version.h"

namespace onceward::bench {
namespace {

constexpr long timeout_ms = 15'000, connect_timeout_ms = 3'000;
constexpr int poll_ms = 1'000;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "calls by hand: {}\n", why);
  std::abort();
}

// One call at a time, again and again.
class BareCall {
 public:
  explicit BareCall(const CallOptions& options) : easy_(curl_easy_init()), fresh_(!keeps_connections(options.kind)) {
    static const std::string agent = fmt::format("onceward/{}", version());
    if (easy_ == nullptr) give_up("no handle");
    curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
    curl_easy_setopt(easy_, CURLOPT_URL, options.url.c_str());
    curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(easy_, CURLOPT_USERAGENT, agent.c_str());
    curl_easy_setopt(easy_, CURLOPT_PROXY, "");
    curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy_, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(easy_, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
    curl_easy_setopt(easy_, CURLOPT_POST, 1L);
    curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &BareCall::take);
    curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
    curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, fresh_ ? 1L : 0L);
    curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, fresh_ ? 1L : 0L);
  }
  ~BareCall() {
    curl_easy_cleanup(easy_);
    curl_slist_free_all(headers_);
  }
  BareCall(const BareCall&) = delete;
  BareCall& operator=(const BareCall&) = delete;

  CURL* prepare(const Message& message) {
    curl_slist_free_all(headers_);
    headers_ = fresh_ ? curl_slist_append(nullptr, "Connection: close") : nullptr;
    headers_ = curl_slist_append(headers_, "Expect:");
    headers_ = curl_slist_append(headers_, ("Idempotency-Key: " + message.id).c_str());
    headers_ = curl_slist_append(headers_, "Content-Type: application/json");
    curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message.outgoing.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, message.outgoing.data());
    response_.clear();
    return easy_;
  }

  void check(CURLcode code) const {
    long status = 0;
    curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK) give_up(curl_easy_strerror(code));
    if (status != 200 || response_.empty()) give_up(fmt::format("status {}", status));
  }

 private:
  static std::size_t take(char* bytes, std::size_t one, std::size_t count, void* self) {
    static_cast<BareCall*>(self)->response_.append(bytes, one * count);
    return one * count;
  }

  CURL* const easy_;
  const bool fresh_;
  curl_slist* headers_ = nullptr;
  std::string response_;
};

class BareCalls final : public Shape {
 public:
  BareCalls(const CallOptions& options, const Workload& work)
      : options_(options), work_(work), multi_(curl_multi_init()) {
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options.concurrency));
  }
  ~BareCalls() override {
    calls_.clear();
    curl_multi_cleanup(multi_);
  }

  double run(std::span<const Index> deliveries, std::size_t) override {
    const auto start = std::chrono::steady_clock::now();
    std::size_t next = 0, left = deliveries.size();
    for (; next < std::min(options_.concurrency, deliveries.size()); ++next) {
      begin(calls_.emplace_back(options_), deliveries[next]);
    }
    while (left > 0) {
      int running = 0;
      curl_multi_perform(multi_, &running);
      for (int messages = 0; const CURLMsg* const message = curl_multi_info_read(multi_, &messages);) {
        --left;
        BareCall& call = end(*message);
        if (next < deliveries.size()) begin(call, deliveries[next++]);
      }
      if (left > 0) curl_multi_poll(multi_, nullptr, 0, poll_ms, nullptr);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  Effort effort() const override { return {}; }

 private:
  void begin(BareCall& call, Index index) { curl_multi_add_handle(multi_, call.prepare(work_.messages[index])); }
  BareCall& end(const CURLMsg& message) {
    CURL* const easy = message.easy_handle;
    const CURLcode code = message.data.result;
    BareCall* call = nullptr;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &call);
    call->check(code);
    curl_multi_remove_handle(multi_, easy);
    return *call;
  }

  const CallOptions options_;
  const Workload& work_;
  CURLM* const multi_;
  std::deque<BareCall> calls_;
};

}  // namespace

std::unique_ptr<Shape> bare_calls(const CallOptions& options, const Workload& work) {
  return std::make_unique<BareCalls>(options, work);
}

}  // namespace onceward::bench
