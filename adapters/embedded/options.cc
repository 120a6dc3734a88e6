// The URL of an embedded queue:
//
//   url     = "embedded:" path [ "?" option *( "&" option ) ]
//   option  = name "=" value
//   name    = "queue" / "visibility" / "duplicates" / "reorder" / "seed", each at most once
//
// In path and value, "%" and two hexadecimal digits stand for a byte: %3F for "?", %26 for "&", %25 for "%".
#include "adapters/embedded/options.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>

#include "src/declaration/duration.h"
#include "src/declaration/text.h"
#include "src/declaration/url.h"
#include "src/source/disturber.h"

namespace onceward {
namespace embedded {
namespace {

constexpr std::string_view scheme = "embedded:";

std::string decoded(std::string_view text) {
  auto plain = declaration::percent_decoded(text);
  if (plain.index() == 1) throw refused(fmt::format("embedded: {}", std::get<1>(plain)));
  return std::get<0>(std::move(plain));
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

constexpr std::array<std::string_view, 5> names{"queue", "visibility", "duplicates", "reorder", "seed"};

void set_duplicates(EmbeddedOptions& options, const std::string& value) {
  const auto share = number<double>(value);
  if (!share) {
    throw refused(fmt::format("embedded: duplicates={} is no share; write e.g. 0.3", declaration::excerpt(value)));
  }
  options.disturbance.duplicates = *share;
}

void set_reorder(EmbeddedOptions& options, const std::string& value) {
  const auto count = number<std::uint32_t>(value);
  if (!count) {
    throw refused(
        fmt::format("embedded: reorder={} is no number of messages; write e.g. 100", declaration::excerpt(value)));
  }
  options.disturbance.reorder = *count;
}

void set_seed(EmbeddedOptions& options, const std::string& value) {
  const auto seed = number<std::uint64_t>(value);
  if (!seed) throw refused(fmt::format("embedded: seed={} is no whole number", declaration::excerpt(value)));
  options.disturbance.seed = *seed;
}

void set_all(EmbeddedOptions& options, std::string_view query) {
  auto read = declaration::read_url_options(query);
  if (const auto* const wrong = std::get_if<1>(&read)) throw refused(fmt::format("embedded: {}", *wrong));
  const declaration::UrlOptions given("embedded", FaultCode::source_refused, std::get<0>(std::move(read)), names);
  if (auto queue = given.text("queue")) options.queue = std::move(*queue);
  const auto visibility =
      given.duration("visibility", EmbeddedOptions::least_visibility, EmbeddedOptions::most_visibility);
  if (visibility) options.visibility = *visibility;
  if (const auto duplicates = given.text("duplicates")) set_duplicates(options, *duplicates);
  if (const auto reorder = given.text("reorder")) set_reorder(options, *reorder);
  if (const auto seed = given.text("seed")) set_seed(options, *seed);
}

}  // namespace

void check(const EmbeddedOptions& options) {
  if (options.path.empty() || options.path.starts_with("//") || options.path.front() == ':') {
    throw refused(
        "embedded: takes the path of a file: embedded:orders.queue is relative, embedded:/var/lib/orders.queue is "
        "absolute");
  }
  if (const auto wrong = declaration::wrong_with_name(options.queue)) {
    throw refused(fmt::format("embedded: the queue's name {}", *wrong));
  }
  if (options.visibility < EmbeddedOptions::least_visibility || options.visibility > EmbeddedOptions::most_visibility) {
    throw refused(fmt::format("embedded: visibility is {}; it goes from {} to {}",
                              declaration::write_duration(options.visibility),
                              declaration::write_duration(EmbeddedOptions::least_visibility),
                              declaration::write_duration(EmbeddedOptions::most_visibility)));
  }
  const Disturber checked(options.disturbance);
}

}  // namespace embedded

EmbeddedOptions read_embedded_url(std::string_view url) {
  using namespace embedded;
  if (!url.starts_with(scheme) || url.size() > declaration::most_url_bytes) {
    throw refused(fmt::format("an embedded queue is written embedded:path?queue=name, in at most {} bytes",
                              declaration::most_url_bytes));
  }
  url.remove_prefix(scheme.size());
  const std::size_t mark = url.find('?');
  EmbeddedOptions options;
  options.path = decoded(url.substr(0, mark));
  if (mark != url.npos) set_all(options, url.substr(mark + 1));
  check(options);
  return options;
}

}  // namespace onceward
