// URLs as libcurl reads them: what is shown, compared and filled in is what will be asked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/curl/handle.h"

namespace onceward::curl {

class Url {
 public:
  // Nothing for what is none with a host, and for one that is too long.
  static std::optional<Url> read(const std::string& text);

  std::string scheme() const { return part(CURLUPART_SCHEME); }
  std::string host() const { return part(CURLUPART_HOST); }
  std::string query() const { return part(CURLUPART_QUERY); }
  bool has_user() const { return !part(CURLUPART_USER).empty(); }
  // scheme://host:port, without who logs in and without the path: both may hold secrets.
  std::string place() const;
  std::string without_query() const;
  // Where a link in what was read there leads; nothing for what is no URL.
  std::optional<Url> followed(const std::string& link) const;
  std::string text() const { return part(CURLUPART_URL); }

 private:
  struct Cleaning {
    void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
  };
  using Handle = std::unique_ptr<CURLU, Cleaning>;

  explicit Url(Handle url) : url_(std::move(url)) {}
  std::string part(CURLUPart which, unsigned flags = 0) const;

  Handle url_;
};

// A URL in which "{name}" stands for a text, which is percent-encoded. Names stand behind the host, so that no text can change who
// is asked.
class UrlTemplate {
 public:
  // Nothing where it is no URL of HTTP, or has other names or in other places.
  static std::optional<UrlTemplate> read(const std::string& text, const std::vector<std::string_view>& names);

  bool has(std::string_view name) const;
  // `texts` in the order of the names. Nothing where a text that is needed is empty, or a dot or two, which a path would swallow.
  std::optional<std::string> filled(const std::vector<std::string_view>& texts) const;

 private:
  struct Piece {
    std::string text;                  // before the name
    std::optional<std::size_t> index;  // of the name
  };
  std::vector<Piece> pieces_;
  std::vector<std::string> names_;
};

}  // namespace onceward::curl
