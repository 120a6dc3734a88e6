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
#include <vector>

#include "src/declaration/duration.h"
#include "src/declaration/suggestion.h"
#include "src/declaration/text.h"
#include "src/source/disturber.h"

namespace onceward {
namespace embedded {
namespace {

constexpr std::string_view scheme = "embedded:";

Fault refused(std::string message) { return {FaultCode::source_refused, Poisons::connection, std::move(message)}; }

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    const auto high = at + 1 < text.size() ? digit(text[at + 1]) : std::nullopt;
    const auto low = at + 2 < text.size() ? digit(text[at + 2]) : std::nullopt;
    if (!high || !low) {
      throw refused("embedded: a % in the URL is followed by two hexadecimal digits; a plain % is written %25");
    }
    plain += static_cast<char>(*high << 4 | *low);
    at += 2;
  }
  if (plain.find('\0') != std::string::npos) throw refused("embedded: the URL holds a NUL; leave it out");
  return plain;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void set_queue(EmbeddedOptions& options, const std::string& value) { options.queue = value; }

void set_visibility(EmbeddedOptions& options, const std::string& value) {
  const auto duration = declaration::read_duration(value);
  if (!duration) {
    throw refused(fmt::format("embedded: visibility={} is no duration; write {}", declaration::excerpt(value),
                              declaration::duration_hint));
  }
  options.visibility = *duration;
}

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

constexpr std::array<std::string_view, 5> names{"queue", "visibility", "duplicates", "reorder", "seed"};
constexpr std::array<void (*)(EmbeddedOptions&, const std::string&), 5> setters{set_queue, set_visibility,
                                                                                set_duplicates, set_reorder, set_seed};

void read_option(EmbeddedOptions& options, std::string_view text, std::array<bool, names.size()>& seen) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != name) continue;
    if (equals == text.npos) throw refused(fmt::format("embedded: write {}=value", name));
    if (std::exchange(seen[i], true)) throw refused(fmt::format("embedded: {} is there twice; keep one", name));
    return setters[i](options, decoded(text.substr(equals + 1)));
  }
  throw refused(fmt::format("embedded: the option {} is unknown; {}", declaration::in_quotes(name),
                            declaration::suggest(name, names)));
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
  std::array<bool, names.size()> seen{};
  for (std::string_view rest = mark == url.npos ? std::string_view() : url.substr(mark + 1); !rest.empty();) {
    const std::size_t end = rest.find('&');
    read_option(options, rest.substr(0, end), seen);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  check(options);
  return options;
}

}  // namespace onceward
