// A mail on its way.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "adapters/curl/transfer.h"
#include "adapters/smtp/mail.h"
#include "adapters/smtp/plan.h"

namespace onceward::smtp {

class MailTransfer final : public curl::Transfer {
 public:
  MailTransfer(const Plan& plan, const Mail& mail, std::string id, Timestamp created_at);

  // Returns when it has ended: within the time-out, and soon after `stop`.
  void perform(std::stop_token stop);

  const std::string& id() const { return id_; }
  const std::string& reply() const { return reply_; }  // the last

 private:
  static std::size_t take_reply(char* bytes, std::size_t one, std::size_t count, void* self);
  static int is_over(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

  const std::string id_;
  const long reply_seconds_;
  const std::chrono::milliseconds timeout_;
  std::chrono::steady_clock::time_point ends_at_;
  std::stop_token stop_;
  std::string reply_;
  bool begun_ = false;  // the server wants the message
  curl::Lines recipients_;
  curl::Lines head_;
  curl::Mime mime_;
};

}  // namespace onceward::smtp
