#include "adapters/curl/url.h"

#include <algorithm>

#include "src/declaration/text.h"

namespace onceward::curl {

std::string Url::part(CURLUPart which, unsigned flags) const {
  char* text = nullptr;
  const CURLUcode code = curl_url_get(url_.get(), which, &text, flags);
  const Text owned(text);
  if (code == CURLUE_OUT_OF_MEMORY) throw std::bad_alloc();
  return code == CURLUE_OK ? std::string(text) : std::string();
}

std::optional<Url> Url::read(const std::string& text) {
  if (text.size() > declaration::most_url_bytes || text.find('\0') != text.npos) return std::nullopt;
  Handle url(curl_url());
  if (!url) throw std::bad_alloc();
  if (curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return std::nullopt;
  Url read(std::move(url));
  if (read.host().empty()) return std::nullopt;
  return read;
}

std::string Url::place() const { return scheme() + "://" + host() + ":" + part(CURLUPART_PORT, CURLU_DEFAULT_PORT); }

std::string Url::without_query() const {
  const Handle copy(curl_url_dup(url_.get()));
  if (!copy || curl_url_set(copy.get(), CURLUPART_QUERY, nullptr, 0) != CURLUE_OK) throw std::bad_alloc();
  return Url(Handle(curl_url_dup(copy.get()))).text();
}

std::optional<Url> Url::followed(const std::string& link) const {
  Handle copy(curl_url_dup(url_.get()));
  if (!copy) throw std::bad_alloc();
  const bool led = link.size() <= declaration::most_url_bytes && link.find('\0') == link.npos &&
                   curl_url_set(copy.get(), CURLUPART_URL, link.c_str(), 0) == CURLUE_OK;
  if (!led) return std::nullopt;
  return Url(std::move(copy));
}

std::optional<UrlTemplate> UrlTemplate::read(const std::string& text, const std::vector<std::string_view>& names) {
  UrlTemplate made;
  made.names_.assign(names.begin(), names.end());
  const std::size_t host = text.find("://");
  if (host == text.npos) return std::nullopt;
  const std::size_t host_end = text.find_first_of("/?#", host + 3);
  std::size_t at = 0;
  for (std::size_t open = text.find('{'); open != text.npos; open = text.find('{', at)) {
    const std::size_t close = text.find('}', open);
    if (close == text.npos || open < host_end) return std::nullopt;
    const auto name = std::ranges::find(made.names_, std::string_view(text).substr(open + 1, close - open - 1));
    if (name == made.names_.end()) return std::nullopt;
    made.pieces_.push_back({text.substr(at, open - at), static_cast<std::size_t>(name - made.names_.begin())});
    at = close + 1;
  }
  made.pieces_.push_back({text.substr(at), std::nullopt});
  const auto sample = made.filled(std::vector<std::string_view>(names.size(), "x"));
  const auto url = Url::read(*sample);
  if (!url || (url->scheme() != "http" && url->scheme() != "https")) return std::nullopt;
  return made;
}

bool UrlTemplate::has(std::string_view name) const {
  return std::ranges::any_of(pieces_, [&](const Piece& piece) { return piece.index && names_[*piece.index] == name; });
}

std::optional<std::string> UrlTemplate::filled(const std::vector<std::string_view>& texts) const {
  std::string url;
  for (const Piece& piece : pieces_) {
    url += piece.text;
    if (!piece.index) continue;
    const std::string_view text = texts[*piece.index];
    if (text.empty() || text == "." || text == "..") return std::nullopt;
    const Text escaped(curl_easy_escape(nullptr, text.data(), static_cast<int>(text.size())));
    if (!escaped) throw std::bad_alloc();
    url += escaped.get();
  }
  return url;
}

}  // namespace onceward::curl
