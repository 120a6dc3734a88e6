#include "apps/demo/naive_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace onceward::demo {
namespace {

constexpr int tries = 20;
constexpr std::chrono::milliseconds between_tries{100};
constexpr long timeout_ms = 300;

std::size_t ignore(char*, std::size_t, std::size_t bytes, void*) { return bytes; }

}  // namespace

NaiveClient::NaiveClient(std::string url, DispatchTally& tally)
    : url_(std::move(url)), tally_(tally), easy_(curl_easy_init(), curl_easy_cleanup) {
  if (!easy_) throw std::runtime_error("libcurl cannot be used");
}

void NaiveClient::charge(const std::string& body) {
  for (int i = 0; i < tries; ++i) {
    if (i > 0) std::this_thread::sleep_for(between_tries);
    if (try_once(body)) return;
  }
  throw std::runtime_error("the gateway does not answer");
}

bool NaiveClient::try_once(const std::string& body) {
  ++tally_.started;
  const std::string key = fmt::format("Idempotency-Key: {:08x}{:08x}", chance_(), chance_());
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(curl_slist_append(nullptr, key.c_str()),
                                                                   curl_slist_free_all);
  curl_easy_setopt(easy_.get(), CURLOPT_URL, url_.c_str());
  curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy_.get(), CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(easy_.get(), CURLOPT_TIMEOUT_MS, timeout_ms);
  curl_easy_setopt(easy_.get(), CURLOPT_WRITEFUNCTION, ignore);
  curl_easy_setopt(easy_.get(), CURLOPT_NOSIGNAL, 1L);
  long status = 0;
  if (curl_easy_perform(easy_.get()) != CURLE_OK) return false;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  return status >= 200 && status < 300;
}

}  // namespace onceward::demo
