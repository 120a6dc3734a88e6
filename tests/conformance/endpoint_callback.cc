// The callback endpoint under test: its other side is a function that does as it is told.
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>

#include "onceward/adapter/callback.h"
#include "tests/conformance/endpoint_backends.h"

namespace onceward::fixtures {
namespace {

class CallbackUnderTest final : public EndpointUnderTest {
  using Kind = EndpointAnswer::Kind;

 public:
  std::unique_ptr<Endpoint> open(const EndpointSettings& settings) override {
    const auto answer = [this](const EndpointRequest& request, std::stop_token stop) { return take(request, stop); };
    CallbackOptions options{
        .call = answer, .look_up = answer, .list = [this](Timestamp) { return all(); }, .threads = 8};
    if (settings.most_under_way > 0) options.most_under_way = settings.most_under_way;
    options.threads = std::min(options.threads, options.most_under_way);
    options.deadline = settings.longest;
    return open_callback(options);
  }
  void reply(const std::string& key, Reply reply) override {
    const std::lock_guard lock(mutex_);
    replies_[key] = reply;
  }
  std::vector<Seen> seen() override {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  void go_away(bool) override { throw std::logic_error("a function is always there"); }

 private:
  EndpointAnswer take(const EndpointRequest& request, std::stop_token stop) {
    const bool look_up = request.kind == EndpointRequest::Kind::look_up;
    std::unique_lock lock(mutex_);
    const std::string key(request.key);
    seen_.push_back({key, std::string(request.body), look_up});
    switch (replies_[key]) {
      case Reply::yes:
        return {.kind = look_up ? Kind::done : Kind::succeeded,
                .status = 200,
                .external_ref = reference_of(key),
                .response = "{}"};
      case Reply::no:
        return {.kind = look_up ? Kind::not_done : Kind::failed, .status = 404, .why = "no"};
      case Reply::not_now:
        return {.kind = Kind::later, .status = 429, .after = std::chrono::seconds(7), .why = "not now"};
      case Reply::silence:
        never_.wait(lock, stop, [] { return false; });
        break;
      case Reply::breaks_off:
        throw std::runtime_error("gone");
      case Reply::garbage:
        return {.kind = look_up ? Kind::succeeded : Kind::done};
    }
    return {};
  }
  std::vector<EndpointRecord> all() {
    const std::lock_guard lock(mutex_);
    std::vector<EndpointRecord> records;
    for (const Seen& seen : seen_) {
      if (!seen.look_up && replies_[seen.key] == Reply::yes) records.push_back({seen.key, reference_of(seen.key)});
    }
    return records;
  }

  std::mutex mutex_;
  std::condition_variable_any never_;
  std::map<std::string, Reply> replies_;
  std::vector<Seen> seen_;
};

}  // namespace

EndpointBackend callback_endpoint() {
  return {"callback", {.remote = false, .says_when = true, .looks_up = true, .lists = true}, [] {
            return std::make_unique<CallbackUnderTest>();
          }};
}

}  // namespace onceward::fixtures
