// The URL of a mail server:
//
//   url = ( "smtp://" / "smtps://" ) [ user ":" password "@" ] host [ ":" port ] [ "/" name-of-ours ] [ "?starttls=" ( "required" / "no" ) ]
#include "adapters/smtp/plan.h"

#include <array>

#include "adapters/curl/limits.h"
#include "adapters/curl/url.h"
#include "src/declaration/url.h"

namespace onceward::smtp {
namespace {

constexpr std::array<std::string_view, 1> option_names{"starttls"};
constexpr std::array<std::string_view, 2> starttls_words{"no", "required"};

Fault refused(std::string_view what) { return curl::refused("smtp", what); }

// TLS unless somebody says that there is none; a password is never sent without.
bool wants_starttls(const curl::Url& url) {
  auto options = declaration::read_url_options(url.query());
  if (const auto* const wrong = std::get_if<1>(&options)) throw refused(*wrong);
  const declaration::UrlOptions named("smtp", FaultCode::endpoint_refused, std::get<0>(std::move(options)),
                                      option_names);
  const auto chosen = named.choice("starttls", starttls_words);
  if (url.scheme() == "smtps") {
    if (chosen) throw refused("smtps:// is TLS from the first byte; starttls is for smtp://");
    return false;
  }
  const bool starttls = chosen.value_or(1) == 1;
  if (!starttls && url.has_user()) throw refused("a password is not sent without TLS; leave out starttls=no");
  return starttls;
}

}  // namespace

Plan read_plan(const EndpointDeclaration& declaration) {
  const auto url = curl::Url::read(declaration.url);
  if (!url || (url->scheme() != "smtp" && url->scheme() != "smtps")) {
    throw refused("a URL is written smtp://user:password@host:port, or smtps:// for TLS from the first byte");
  }
  curl::check_limits("smtp", declaration);
  const auto sender = read_sender(declaration.from);
  if (!sender) throw refused("from is the sender's address: name@domain, or Name <name@domain>");
  if (!declaration.headers.empty()) throw refused("headers are for HTTP");
  if (declaration.look_up || declaration.list) throw refused("a mail server cannot be asked what became of a mail");
  return {.declaration = declaration,
          .url = url->without_query(),
          .place = url->place(),
          .starttls = wants_starttls(*url),
          .sender = *sender};
}

}  // namespace onceward::smtp
