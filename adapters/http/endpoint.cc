#include <algorithm>

#include "adapters/curl/limits.h"
#include "adapters/curl/transfers.h"
#include "adapters/http/classify.h"
#include "adapters/http/listing.h"
#include "adapters/http/request.h"
#include "onceward/adapter/http.h"
#include "src/common/owner_thread.h"

namespace onceward {
namespace http {
namespace {

using Kind = EndpointAnswer::Kind;

bool is_one_of(const std::optional<std::string>& value, const std::vector<std::string>& values) {
  return value && std::ranges::find(values, *value) != values.end();
}

class HttpEndpoint final : public Endpoint {
 public:
  HttpEndpoint(const EndpointDeclaration& declaration, Log& log)
      : plan_(read_plan(declaration)), log_(log), transfers_(declaration.concurrency) {}

  std::size_t room() const override { return plan_.declaration.concurrency - under_way(); }
  std::size_t under_way() const override { return transfers_.under_way() + answers_.size(); }

  void start(std::span<const EndpointRequest> requests) override {
    const OwnerThread::Turn turn(owner_);
    for (const EndpointRequest& request : requests) {
      const bool call = request.kind == EndpointRequest::Kind::call;
      auto made = call ? new_call(plan_, request) : new_look_up(plan_, request);
      if (auto* const why = std::get_if<1>(&made)) {
        answers_.push_back({.tag = request.tag, .kind = call ? Kind::failed : Kind::still_unknown, .why = *why});
        continue;
      }
      auto& transfer = std::get<0>(made);
      transfer->tag = request.tag;
      transfers_.start(std::move(transfer));
    }
  }

  void collect(std::vector<EndpointAnswer>& into, std::chrono::milliseconds wait) override {
    const OwnerThread::Turn turn(owner_);
    for (const auto& ended : transfers_.collect(wait, !answers_.empty())) {
      answers_.push_back(answer_of(static_cast<const HttpTransfer&>(*ended)));
    }
    std::ranges::move(answers_, std::back_inserter(into));
    answers_.clear();
  }

  void wake() noexcept override { transfers_.wake(); }
  std::chrono::milliseconds longest() const override { return plan_.declaration.timeout + curl::timeout_slack; }
  bool looks_up() const override { return plan_.look_up.has_value(); }
  std::string describe() const override { return plan_.place; }

  std::optional<std::vector<EndpointRecord>> list(Timestamp since) override {
    const OwnerThread::Turn turn(owner_);
    if (!plan_.list) return std::nullopt;
    return http::list(plan_, since);
  }

 private:
  EndpointAnswer answer_of(const HttpTransfer& ended) const;
  void read_call(EndpointAnswer& answer) const;
  void read_accepted(EndpointAnswer& answer) const;
  void read_look_up(EndpointAnswer& answer) const;
  void read_values(EndpointAnswer& answer, const Pointer& at, const Pointer& elsewhere) const;

  const Plan plan_;
  Log& log_;
  const OwnerThread owner_;
  curl::Transfers transfers_;
  std::vector<EndpointAnswer> answers_;  // not handed out yet
};

EndpointAnswer HttpEndpoint::answer_of(const HttpTransfer& ended) const {
  const curl::Ending& ending = ended.ending();
  const bool call = ended.kind == EndpointRequest::Kind::call;
  EndpointAnswer answer{
      .tag = ended.tag,
      .kind = call ? classify_call(ending, plan_.statuses) : classify_look_up(ending, plan_.look_up->statuses),
      .status = ending.status,
      .response = ended.response(),
      .after = retry_after(ending)};
  if (answer.kind != Kind::succeeded && answer.kind != Kind::done) answer.why = why(ended);
  if (call && answer.kind == Kind::unknown && ending.code == CURLE_OK) read_accepted(answer);
  if (answer.kind == Kind::succeeded) read_call(answer);
  if (answer.kind == Kind::done) read_look_up(answer);
  if (answer.kind != Kind::later) answer.after.reset();
  if (call && ending.requests > 1) {
    const LogField fields[] = {{"endpoint", plan_.declaration.name}, {"times", std::int64_t{ending.requests}}};
    log_.write(LogLevel::info, "a connection was lost and the request was made again under its key", fields);
  }
  return answer;
}

// Not done yet, but under a name by which it can be looked up. In the answer of an error another thing may stand there.
void HttpEndpoint::read_accepted(EndpointAnswer& answer) const {
  const bool accepted = answer.status >= 200 && answer.status < 300;
  if (accepted && plan_.reference) answer.external_ref = text_at(answer.response, *plan_.reference).value_or("");
}

// A success in which the declared reference is missing is none of this other side's.
void HttpEndpoint::read_call(EndpointAnswer& answer) const {
  if (!plan_.reference) return;
  if (auto reference = text_at(answer.response, *plan_.reference)) {
    answer.external_ref = std::move(*reference);
    return;
  }
  answer.kind = Kind::unknown;
  answer.why = "the answer has nothing where reference points to";
}

void HttpEndpoint::read_look_up(EndpointAnswer& answer) const {
  const LookUpPlan& plan = *plan_.look_up;
  if (plan.done_pointer) read_values(answer, *plan.done_pointer, plan.not_done_pointer);
  if (answer.kind != Kind::not_done && plan.reference) {
    answer.external_ref = text_at(answer.response, *plan.reference).value_or("");
  }
}

// Of an answer whose status says done: what stands in it says so, too, or the contrary, or nothing.
void HttpEndpoint::read_values(EndpointAnswer& answer, const Pointer& at, const Pointer& elsewhere) const {
  const LookUpDeclaration& declared = *plan_.declaration.look_up;
  const auto found = value_at(answer.response, at), beside = value_at(answer.response, elsewhere);
  const bool done = is_one_of(found, declared.done_values);
  const bool not_done = is_one_of(found, declared.not_done_values) || is_one_of(beside, declared.not_done_values);
  if (done && !not_done) return;
  answer.kind = not_done && !done ? Kind::not_done : Kind::still_unknown;
  if (answer.kind == Kind::not_done) {
    answer.why = "a value of look_up.not_done_values";
  } else if (done) {
    answer.why = "values of look_up.done_values and of look_up.not_done_values in one answer";
  } else {
    answer.why = found ? "what stands at look_up.done_pointer is none of look_up.done_values"
                       : "the answer has nothing where look_up.done_pointer points to";
  }
}

}  // namespace
}  // namespace http

std::unique_ptr<Endpoint> open_http(const EndpointDeclaration& declaration, Log& log) {
  return std::make_unique<http::HttpEndpoint>(declaration, log);
}

}  // namespace onceward
