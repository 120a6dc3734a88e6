#include "adapters/curl/transfer.h"

#include <fmt/format.h>

#include "src/common/one_line.h"

namespace onceward::curl {
namespace {

CURL* new_easy() {
  // Once for the process, by the first that comes.
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  require(ready, "to begin");
  CURL* const easy = curl_easy_init();
  if (easy == nullptr) throw std::bad_alloc();
  return easy;
}

long in_ms(std::chrono::milliseconds time) { return static_cast<long>(time.count()); }

}  // namespace

Transfer::Transfer(const EndpointDeclaration& declaration, const Limits& limits) : limits_(limits), easy_(new_easy()) {
  CURL* const easy = easy_.get();
  set(easy, CURLOPT_PRIVATE, this);
  set(easy, CURLOPT_ERRORBUFFER, detail_.data());
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_NOPROGRESS, 1L);
  set(easy, CURLOPT_CONNECTTIMEOUT_MS, in_ms(declaration.connect_timeout));
  set(easy, CURLOPT_TIMEOUT_MS, in_ms(declaration.timeout));
  set(easy, CURLOPT_QUICK_EXIT, 1L);  // else the end of a time-out waits for a name server that does not answer
  set(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  set(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  set(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (!declaration.ca_file.empty()) set(easy, CURLOPT_CAINFO, declaration.ca_file.c_str());
  set(easy, CURLOPT_PROXY, "");  // the environment's is not declared
  set(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy, CURLOPT_WRITEFUNCTION, &Transfer::take);
  set(easy, CURLOPT_WRITEDATA, this);
  set(easy, CURLOPT_PREREQFUNCTION, &Transfer::before_request);
  set(easy, CURLOPT_PREREQDATA, this);
}

void Transfer::use_no_other_connection() {
  set(easy(), CURLOPT_FRESH_CONNECT, 1L);
  set(easy(), CURLOPT_FORBID_REUSE, 1L);
}

std::size_t Transfer::take(char* bytes, std::size_t one, std::size_t count, void* self) {
  Transfer& transfer = *static_cast<Transfer*>(self);
  const std::size_t size = one * count;
  const std::size_t room = transfer.limits_.response_bytes - transfer.response_.size();
  transfer.response_.append(bytes, std::min(size, room));
  if (size <= room) return size;
  transfer.ending_.cut = true;
  return CURL_WRITEFUNC_ERROR;
}

int Transfer::before_request(void* self, char*, char*, int, int) {
  Transfer& transfer = *static_cast<Transfer*>(self);
  if (transfer.ending_.requests > 0 && !transfer.limits_.may_repeat) return CURL_PREREQFUNC_ABORT;
  ++transfer.ending_.requests;
  return CURL_PREREQFUNC_OK;
}

void Transfer::ended(CURLcode code) {
  ending_.code = code;
  ending_.status = static_cast<int>(info<long>(easy(), CURLINFO_RESPONSE_CODE));
  ending_.request_bytes = info<long>(easy(), CURLINFO_REQUEST_SIZE);
  ending_.uploaded_bytes = info<curl_off_t>(easy(), CURLINFO_SIZE_UPLOAD_T);
  ending_.retry_after = std::chrono::seconds(info<curl_off_t>(easy(), CURLINFO_RETRY_AFTER));
}

std::string Transfer::trouble() const {
  const std::string_view kind = curl_easy_strerror(ending_.code);
  const std::string_view detail = detail_.data();
  if (ending_.requests > 0 || detail.empty()) return std::string(kind);
  return fmt::format("{}: {}", kind, one_line(detail));
}

}  // namespace onceward::curl
