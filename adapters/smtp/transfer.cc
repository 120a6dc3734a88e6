#include "adapters/smtp/transfer.h"

#include <algorithm>

namespace onceward::smtp {
namespace {

constexpr std::size_t most_reply_bytes = 1000;
constexpr long goodbye_seconds = 1;

void require_mime(CURLcode code) { curl::require(code, "a part of a mail"); }

}  // namespace

MailTransfer::MailTransfer(const Plan& plan, const Mail& mail, std::string id, Timestamp created_at)
    : Transfer(plan.declaration, {.response_bytes = plan.declaration.most_response_bytes, .may_repeat = false}),
      id_(std::move(id)),
      reply_seconds_(static_cast<long>(std::chrono::ceil<std::chrono::seconds>(plan.declaration.timeout).count())),
      timeout_(plan.declaration.timeout),
      mime_(curl_mime_init(easy())) {
  if (!mime_) throw std::bad_alloc();
  curl::set(easy(), CURLOPT_URL, plan.url.c_str());
  curl::set(easy(), CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl::set(easy(), CURLOPT_USE_SSL, static_cast<long>(plan.starttls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
  curl::set(easy(), CURLOPT_SERVER_RESPONSE_TIMEOUT, reply_seconds_);
  use_no_other_connection();
  for (const std::string& address : mail.to) recipients_.add(address);
  for (const std::string& line : head_of(mail, plan.sender, id_, created_at)) head_.add(line);
  curl::set(easy(), CURLOPT_MAIL_FROM, plan.sender.address.c_str());
  curl::set(easy(), CURLOPT_MAIL_RCPT, recipients_.get());  // all or none: one that is refused refuses the mail
  curl::set(easy(), CURLOPT_HTTPHEADER, head_.get());
  curl_mimepart* const text = curl_mime_addpart(mime_.get());
  if (text == nullptr) throw std::bad_alloc();
  const std::string lines = with_line_ends(mail.text);
  require_mime(curl_mime_data(text, lines.data(), lines.size()));
  require_mime(curl_mime_type(text, "text/plain; charset=utf-8"));
  require_mime(curl_mime_encoder(text, "quoted-printable"));
  curl::set(easy(), CURLOPT_MIMEPOST, mime_.get());
  curl::set(easy(), CURLOPT_HEADERFUNCTION, &MailTransfer::take_reply);
  curl::set(easy(), CURLOPT_HEADERDATA, this);
  curl::set(easy(), CURLOPT_NOPROGRESS, 0L);
  curl::set(easy(), CURLOPT_XFERINFOFUNCTION, &MailTransfer::is_over);
  curl::set(easy(), CURLOPT_XFERINFODATA, this);
}

void MailTransfer::perform(std::stop_token stop) {
  stop_ = std::move(stop);
  ends_at_ = std::chrono::steady_clock::now() + timeout_;
  ended(curl_easy_perform(easy()));
}

// Also of the goodbye, for which libcurl has no time-out of the whole.
int MailTransfer::is_over(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const MailTransfer& transfer = *static_cast<const MailTransfer*>(self);
  return transfer.stop_.stop_requested() || std::chrono::steady_clock::now() >= transfer.ends_at_ ? 1 : 0;
}

std::size_t MailTransfer::take_reply(char* bytes, std::size_t one, std::size_t count, void* self) {
  MailTransfer& transfer = *static_cast<MailTransfer*>(self);
  const std::string_view line(bytes, one * count);
  if (!line.starts_with("221")) transfer.reply_ = line.substr(0, most_reply_bytes);  // which is the answer to a goodbye
  // After the last reply libcurl takes its leave, and waits for the answer to that before it says how it went: not long.
  const bool last = transfer.begun_ || line.starts_with('4') || line.starts_with('5');
  curl::set(transfer.easy(), CURLOPT_SERVER_RESPONSE_TIMEOUT, last ? goodbye_seconds : transfer.reply_seconds_);
  transfer.begun_ = transfer.begun_ || line.starts_with("354");
  return line.size();
}

}  // namespace onceward::smtp
