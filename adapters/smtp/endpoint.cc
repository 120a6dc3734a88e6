#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "adapters/curl/limits.h"
#include "adapters/curl/transfers.h"
#include "adapters/smtp/classify.h"
#include "adapters/smtp/transfer.h"
#include "onceward/adapter/smtp.h"
#include "src/common/owner_thread.h"

namespace onceward {
namespace smtp {
namespace {

class SmtpEndpoint final : public Endpoint {
 public:
  explicit SmtpEndpoint(const EndpointDeclaration& declaration)
      : plan_(read_plan(declaration)), transfers_(declaration.concurrency) {}

  std::size_t room() const override { return plan_.declaration.concurrency - under_way(); }
  std::size_t under_way() const override { return transfers_.under_way() + answers_.size(); }

  void start(std::span<const EndpointRequest> requests) override {
    const OwnerThread::Turn turn(owner_);
    for (const EndpointRequest& request : requests) start(request);
  }

  void collect(std::vector<EndpointAnswer>& into, std::chrono::milliseconds wait) override {
    const OwnerThread::Turn turn(owner_);
    for (const auto& ended : transfers_.collect(wait, !answers_.empty())) {
      answers_.push_back(answer_of(static_cast<const MailTransfer&>(*ended)));
    }
    std::ranges::move(answers_, std::back_inserter(into));
    answers_.clear();
  }

  void wake() noexcept override { transfers_.wake(); }
  std::chrono::milliseconds longest() const override { return plan_.declaration.timeout + curl::timeout_slack; }
  std::string describe() const override { return plan_.place; }

 private:
  void start(const EndpointRequest& request) {
    const auto refuse = [&](EndpointAnswer::Kind kind, std::string why) {
      answers_.push_back({.tag = request.tag, .kind = kind, .why = std::move(why)});
    };
    using Kind = EndpointAnswer::Kind;
    if (request.kind != EndpointRequest::Kind::call) return refuse(Kind::still_unknown, "mail cannot be looked up");
    if (request.body.size() > curl::most_request_bytes) {
      return refuse(Kind::failed, fmt::format("the body has {} bytes; the limit is {}", request.body.size(),
                                              curl::most_request_bytes));
    }
    auto mail = read_mail(request.body);
    if (auto* const why = std::get_if<1>(&mail)) return refuse(Kind::failed, std::move(*why));
    std::string id = message_id(plan_.sender, plan_.declaration.name, request.key);
    auto transfer = std::make_unique<MailTransfer>(plan_, std::get<0>(mail), std::move(id), request.created_at);
    transfer->tag = request.tag;
    transfers_.start(std::move(transfer));
  }

  static EndpointAnswer answer_of(const MailTransfer& ended) {
    EndpointAnswer answer{
        .tag = ended.tag, .kind = classify(ended.ending()), .status = ended.ending().status, .response = ended.reply()};
    if (answer.kind == EndpointAnswer::Kind::succeeded) {
      answer.external_ref = ended.id();
    } else {
      answer.why = why(ended);
    }
    return answer;
  }

  const Plan plan_;
  const OwnerThread owner_;
  curl::Transfers transfers_;
  std::vector<EndpointAnswer> answers_;  // not handed out yet
};

}  // namespace
}  // namespace smtp

std::unique_ptr<Endpoint> open_smtp(const EndpointDeclaration& declaration, Log&) {
  return std::make_unique<smtp::SmtpEndpoint>(declaration);
}

}  // namespace onceward
