#include "adapters/curl/transfers.h"

#include <algorithm>

#include "src/common/limits.h"

namespace onceward::curl {
namespace {

void require_multi(CURLMcode code) {
  if (code == CURLM_OK) return;
  if (code == CURLM_OUT_OF_MEMORY) throw std::bad_alloc();
  std::fprintf(stderr, "onceward: libcurl's multi interface: %s\n", curl_multi_strerror(code));
  std::abort();
}

CURLM* new_multi() {
  CURLM* const multi = curl_multi_init();
  if (multi == nullptr) throw std::bad_alloc();
  return multi;
}

}  // namespace

Transfers::Transfers(std::size_t connections) : multi_(new_multi()) {
  require_multi(curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(connections)));
  require_multi(curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING)));
}

Transfers::~Transfers() {
  for (const auto& transfer : under_way_) curl_multi_remove_handle(multi_, transfer->easy());
  under_way_.clear();
  curl_multi_cleanup(multi_);
}

void Transfers::start(std::unique_ptr<Transfer> transfer) {
  under_way_.push_back(std::move(transfer));
  const CURLMcode added = curl_multi_add_handle(multi_, under_way_.back()->easy());
  if (added != CURLM_OK) under_way_.pop_back();
  require_multi(added);
}

void Transfers::take_ended(std::vector<std::unique_ptr<Transfer>>& into) {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const easy = message->easy_handle;
    const CURLcode code = message->data.result;  // the message ends with the handle's removal
    const auto found = std::ranges::find(under_way_, easy, &Transfer::easy);
    (*found)->ended(code);
    require_multi(curl_multi_remove_handle(multi_, easy));
    into.push_back(std::move(*found));
    if (found != under_way_.end() - 1) *found = std::move(under_way_.back());
    under_way_.pop_back();
  }
}

std::vector<std::unique_ptr<Transfer>> Transfers::collect(std::chrono::milliseconds wait, bool at_once) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::clamp(wait, std::chrono::milliseconds(0), longest_wait);
  std::vector<std::unique_ptr<Transfer>> ended;
  while (true) {
    int running = 0;
    require_multi(curl_multi_perform(multi_, &running));
    take_ended(ended);
    if (!ended.empty() || at_once || woken_.exchange(false)) return ended;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return ended;
    require_multi(curl_multi_poll(multi_, nullptr, 0, static_cast<int>(left.count()), nullptr));
  }
}

void Transfers::wake() noexcept {
  woken_ = true;
  curl_multi_wakeup(multi_);
}

}  // namespace onceward::curl
