// What libcurl hands out, owned. Options are set by us alone, so one that is refused is a mistake of ours, or there is no memory.
#pragma once

#include <curl/curl.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>

namespace onceward::curl {

struct Freeing {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
  void operator()(curl_mime* mime) const noexcept { curl_mime_free(mime); }
  void operator()(char* text) const noexcept { curl_free(text); }
};
using Easy = std::unique_ptr<CURL, Freeing>;
using Mime = std::unique_ptr<curl_mime, Freeing>;
using Text = std::unique_ptr<char, Freeing>;

inline void require(CURLcode code, const char* what) {
  if (code == CURLE_OK) return;
  if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  std::fprintf(stderr, "onceward: libcurl refuses %s: %s\n", what, curl_easy_strerror(code));
  std::abort();
}

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  require(curl_easy_setopt(easy, option, value), "an option");
}

template <class Value>
Value info(CURL* easy, CURLINFO which) {
  Value value{};
  require(curl_easy_getinfo(easy, which, &value), "to tell");
  return value;
}

// Lines of text, as libcurl wants them.
class Lines {
 public:
  void add(const std::string& line) {
    curl_slist* const longer = curl_slist_append(lines_.get(), line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(lines_.release());
    lines_.reset(longer);
  }
  curl_slist* get() const { return lines_.get(); }

 private:
  std::unique_ptr<curl_slist, Freeing> lines_;
};

}  // namespace onceward::curl
