#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "onceward/adapter/callback.h"
#include "src/common/owner_thread.h"

namespace onceward {
namespace callback {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Kind = EndpointAnswer::Kind;

// A request with its own bytes.
struct Job {
  explicit Job(const EndpointRequest& asked, steady_clock::time_point until)
      : request(asked), ends_at(until), texts{std::string(asked.key),          std::string(asked.type),
                                              std::string(asked.business_key), std::string(asked.body),
                                              std::string(asked.external_ref), std::string(asked.correlation_id),
                                              std::string(asked.trace_parent)} {
    std::string_view* const views[] = {&request.key,         &request.type,         &request.business_key,
                                       &request.body,        &request.external_ref, &request.correlation_id,
                                       &request.trace_parent};
    for (std::size_t i = 0; i < std::size(views); ++i) *views[i] = texts[i];
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool looks_up() const { return request.kind == EndpointRequest::Kind::look_up; }
  EndpointAnswer nothing(Kind kind, const char* why) const {
    if (looks_up() && kind == Kind::unknown) kind = Kind::still_unknown;
    return {.tag = request.tag, .kind = kind, .why = why};
  }

  EndpointRequest request;
  const steady_clock::time_point ends_at;
  const std::string texts[7];
  bool begun = false;
};
using SharedJob = std::shared_ptr<Job>;  // with the endpoint until it is answered, and the thread that runs it

bool answers(Kind kind, bool look_up) {
  if (kind == Kind::not_sent || kind == Kind::later) return true;
  return look_up == (kind == Kind::done || kind == Kind::not_done || kind == Kind::still_unknown);
}

const CallbackOptions& checked(const CallbackOptions& options) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
  };
  require(options.call != nullptr, "a callback endpoint needs a function to call");
  require(options.threads >= 1 && options.threads <= 256, "a callback endpoint has 1 to 256 threads");
  require(options.most_under_way >= options.threads && options.most_under_way <= 10'000,
          "a callback endpoint has no fewer requests under way than threads, and no more than 10 000");
  require(options.deadline > milliseconds(0), "a callback endpoint needs a deadline");
  return options;
}

class CallbackEndpoint final : public Endpoint {
 public:
  explicit CallbackEndpoint(CallbackOptions options) : options_(std::move(options)) {
    checked(options_);
    for (std::size_t i = 0; i < options_.threads; ++i) {
      threads_.emplace_back([this](std::stop_token stop) { work(stop); });
    }
  }
  ~CallbackEndpoint() override {
    for (std::jthread& thread : threads_) thread.request_stop();
    threads_.clear();
  }
  CallbackEndpoint(const CallbackEndpoint&) = delete;
  CallbackEndpoint& operator=(const CallbackEndpoint&) = delete;

  std::size_t room() const override {
    const std::lock_guard lock(mutex_);
    return options_.most_under_way - under_way_.size() - answers_.size();
  }
  std::size_t under_way() const override {
    const std::lock_guard lock(mutex_);
    return under_way_.size() + answers_.size();
  }

  void start(std::span<const EndpointRequest> requests) override {
    const OwnerThread::Turn turn(owner_);
    const auto ends_at = steady_clock::now() + options_.deadline;
    {
      const std::lock_guard lock(mutex_);
      for (const EndpointRequest& request : requests) {
        const auto job = std::make_shared<Job>(request, ends_at);
        under_way_[request.tag] = job;
        waiting_.push_back(job);
      }
    }
    work_.notify_all();
  }

  void collect(std::vector<EndpointAnswer>& into, milliseconds wait) override {
    const OwnerThread::Turn turn(owner_);
    const auto ends_at = steady_clock::now() + wait;
    std::unique_lock lock(mutex_);
    while (answers_.empty() && !woken_ && steady_clock::now() < ends_at) {
      told_.wait_until(lock, std::min(ends_at, first_deadline()));
      end_overdue();
    }
    end_overdue();
    woken_ = false;
    for (EndpointAnswer& answer : answers_) into.push_back(std::move(answer));
    answers_.clear();
  }

  void wake() noexcept override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    told_.notify_all();
  }

  milliseconds longest() const override { return options_.deadline; }
  bool looks_up() const override { return options_.look_up != nullptr; }
  std::optional<std::vector<EndpointRecord>> list(Timestamp since) override {
    if (!options_.list) return std::nullopt;
    return options_.list(since);
  }
  std::string describe() const override { return "callback " + options_.name; }

 private:
  // All start with the same patience: the first that was started is the first to end.
  steady_clock::time_point first_deadline() const {
    steady_clock::time_point first = steady_clock::time_point::max();
    for (const auto& [tag, job] : under_way_) first = std::min(first, job->ends_at);
    return first;
  }

  // What runs is not heard any longer; what no thread has begun never will be.
  void end_overdue() {
    const auto now = steady_clock::now();
    std::erase_if(waiting_, [&](const SharedJob& job) { return job->ends_at <= now; });
    std::erase_if(under_way_, [&](const auto& entry) {
      const Job& job = *entry.second;
      if (job.ends_at > now) return false;
      answers_.push_back(job.begun ? job.nothing(Kind::unknown, "no answer within the deadline")
                                   : job.nothing(Kind::not_sent, "no thread was free within the deadline"));
      return true;
    });
  }

  SharedJob next(std::stop_token stop) {
    std::unique_lock lock(mutex_);
    work_.wait(lock, stop, [&] { return !waiting_.empty(); });
    if (stop.stop_requested()) return nullptr;
    SharedJob job = std::move(waiting_.front());
    waiting_.pop_front();
    // Whoever collects has not come by since its deadline: nothing was sent, and that is what he will say.
    job->begun = steady_clock::now() < job->ends_at;
    return job;
  }

  void work(std::stop_token stop) {
    while (const SharedJob job = next(stop)) {
      if (!job->begun) continue;
      EndpointAnswer answer = ask(*job, stop);
      const std::lock_guard lock(mutex_);
      const auto open = under_way_.find(job->request.tag);
      if (open == under_way_.end() || open->second != job) continue;
      under_way_.erase(open);
      answers_.push_back(std::move(answer));
      told_.notify_all();
    }
  }

  EndpointAnswer ask(const Job& job, std::stop_token stop) const {
    try {
      EndpointAnswer answer = (job.looks_up() ? options_.look_up : options_.call)(job.request, stop);
      if (!answers(answer.kind, job.looks_up())) return job.nothing(Kind::unknown, "no answer to its question");
      answer.tag = job.request.tag;
      return answer;
    } catch (...) {
      return job.nothing(Kind::unknown, "the function threw an exception");  // whose text may hold anything
    }
  }

  const CallbackOptions options_;
  OwnerThread owner_;

  mutable std::mutex mutex_;
  std::condition_variable_any work_;
  std::condition_variable told_;
  std::deque<SharedJob> waiting_;
  std::map<std::uint64_t, SharedJob> under_way_;  // not answered
  std::vector<EndpointAnswer> answers_;
  bool woken_ = false;

  std::vector<std::jthread> threads_;  // end before all they use
};

}  // namespace
}  // namespace callback

std::unique_ptr<Endpoint> open_callback(CallbackOptions options) {
  return std::make_unique<callback::CallbackEndpoint>(std::move(options));
}

}  // namespace onceward
