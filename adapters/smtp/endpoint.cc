// Mails are handed over on threads of their own, as a callback's: libcurl waits for a server's reply to a mail with everything
// else on the same handle standing still.
#include <fmt/format.h>

#include <algorithm>

#include "adapters/curl/limits.h"
#include "adapters/smtp/classify.h"
#include "adapters/smtp/transfer.h"
#include "onceward/adapter/callback.h"
#include "onceward/adapter/smtp.h"

namespace onceward {
namespace smtp {
namespace {

using Kind = EndpointAnswer::Kind;

constexpr std::size_t most_threads = 256;

EndpointAnswer answer_of(const MailTransfer& ended) {
  EndpointAnswer answer{.kind = classify(ended.ending()), .status = ended.ending().status, .response = ended.reply()};
  if (answer.kind == Kind::succeeded) {
    answer.external_ref = ended.id();
  } else {
    answer.why = why(ended);
  }
  return answer;
}

EndpointAnswer hand_over(const Plan& plan, const EndpointRequest& request, std::stop_token stop) {
  const auto refuse = [](std::string why) { return EndpointAnswer{.kind = Kind::failed, .why = std::move(why)}; };
  if (request.body.size() > curl::most_request_bytes) {
    return refuse(fmt::format("the body has {} bytes; the limit is {}", request.body.size(), curl::most_request_bytes));
  }
  auto mail = read_mail(request.body);
  if (auto* const why = std::get_if<1>(&mail)) return refuse(std::move(*why));
  std::string id = message_id(plan.sender, plan.declaration.name, request.key);
  MailTransfer transfer(plan, std::get<0>(mail), std::move(id), request.created_at);
  transfer.perform(std::move(stop));
  return answer_of(transfer);
}

class SmtpEndpoint final : public Endpoint {
 public:
  explicit SmtpEndpoint(const EndpointDeclaration& declaration)
      : plan_(read_plan(declaration)),
        handing_over_(
            open_callback({.call = [this](const EndpointRequest& request,
                                          std::stop_token stop) { return hand_over(plan_, request, std::move(stop)); },
                           .threads = std::min(declaration.concurrency, most_threads),
                           .most_under_way = declaration.concurrency,
                           .deadline = declaration.timeout + curl::timeout_slack})) {}

  std::size_t room() const override { return handing_over_->room(); }
  std::size_t under_way() const override { return handing_over_->under_way(); }
  void start(std::span<const EndpointRequest> requests) override { handing_over_->start(requests); }
  void collect(std::vector<EndpointAnswer>& into, std::chrono::milliseconds wait) override {
    handing_over_->collect(into, wait);
  }
  void wake() noexcept override { handing_over_->wake(); }
  std::chrono::milliseconds longest() const override { return handing_over_->longest(); }
  std::string describe() const override { return plan_.place; }

 private:
  const Plan plan_;
  const std::unique_ptr<Endpoint> handing_over_;
};

}  // namespace
}  // namespace smtp

std::unique_ptr<Endpoint> open_smtp(const EndpointDeclaration& declaration, Log&) {
  return std::make_unique<smtp::SmtpEndpoint>(declaration);
}

}  // namespace onceward
