#include "src/common/json.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>

#include "src/common/hex.h"
#include "src/common/utf8.h"

namespace onceward {
namespace {

namespace ondemand = simdjson::ondemand;

static_assert(simdjson::SIMDJSON_PADDING <= 64);  // the slack behind Bytes
constexpr std::size_t kSmallestCapacity = 64u << 10;
constexpr std::size_t kKeptCapacity = 1u << 20;  // a thread gives back what one large message made it take

constexpr bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trimmed_right(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at;
}

// RFC 8259's grammar and no more: a number is a token to us, so it may be larger than any type of ours.
bool valid_number(std::string_view text) {
  std::size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  const std::size_t whole = skip_digits(text, at);
  if (whole == at || (text[at] == '0' && whole > at + 1)) return false;
  at = whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = skip_digits(text, at + 1);
    if (end == at + 1) return false;
    at = end;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t end = skip_digits(text, at);
    if (end == at) return false;
    at = end;
  }
  return at == text.size();
}

std::optional<unsigned> four_hex_digits(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  unsigned value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const char lower = text[i] >= 'A' && text[i] <= 'F' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    const auto digit = hex_digit(lower);
    if (!digit) return std::nullopt;
    value = value << 4 | *digit;
  }
  return value;
}

void append_utf8(std::string& out, unsigned code_point) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code_point >> shift & 0x3f)); };
  if (code_point < 0x80) {
    out += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    out += static_cast<char>(0xc0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    out += static_cast<char>(0xe0 | code_point >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | code_point >> 18);
    tail(12), tail(6), tail(0);
  }
}

// The code point of the \u escape at `at` (its backslash), and how many bytes it takes.
struct Escape {
  std::optional<Reason> reason;
  unsigned code_point = 0;
  std::size_t size = 6;
};

Escape unicode_escape(std::string_view inside, std::size_t at) {
  const auto high = four_hex_digits(inside, at + 2);
  if (!high) return {Reason::malformed_json};
  if (*high < 0xd800 || *high > 0xdfff) return {{}, *high, 6};
  if (*high > 0xdbff || inside.substr(at + 6, 2) != "\\u") return {Reason::invalid_utf8};
  const auto low = four_hex_digits(inside, at + 8);
  if (!low) return {Reason::malformed_json};
  if (*low < 0xdc00 || *low > 0xdfff) return {Reason::invalid_utf8};
  return {{}, 0x10000 + ((*high - 0xd800) << 10) + (*low - 0xdc00), 12};
}

constexpr std::string_view kShortEscapes = "\"\\/bfnrt";
constexpr std::string_view kShortEscaped = "\"\\/\b\f\n\r\t";

std::optional<Reason> unescape(std::string_view inside, std::string* out) {
  for (std::size_t at = 0; at < inside.size();) {
    const std::size_t backslash = std::min(inside.find('\\', at), inside.size());
    if (out) out->append(inside, at, backslash - at);
    at = backslash;
    if (at == inside.size()) break;
    if (at + 1 == inside.size()) return Reason::malformed_json;
    if (inside[at + 1] == 'u') {
      const Escape escape = unicode_escape(inside, at);
      if (escape.reason) return escape.reason;
      if (out) append_utf8(*out, escape.code_point);
      at += escape.size;
      continue;
    }
    const std::size_t which = kShortEscapes.find(inside[at + 1]);
    if (which == std::string_view::npos) return Reason::malformed_json;
    if (out) *out += kShortEscaped[which];
    at += 2;
  }
  return std::nullopt;
}

// A vector would look at its capacity and write each node twice; it is refilled for every text.
class Nodes {
 public:
  void clear() { size_ = 0; }
  std::size_t size() const { return size_; }
  JsonNode& operator[](std::size_t at) { return room_[at]; }
  std::span<const JsonNode> all() const { return {room_.data(), size_}; }
  void add(const JsonNode& node) {
    if (size_ == room_.size()) room_.resize(std::max<std::size_t>(64, 2 * size_));
    room_[size_++] = node;
  }

 private:
  std::vector<JsonNode> room_;
  std::size_t size_ = 0;
};

// What a thread keeps between messages.
struct Workspace {
  ondemand::parser parser;
  Nodes nodes;
  std::string padded;

  void make_room(std::size_t size) {
    if (size > kKeptCapacity || parser.capacity() > kKeptCapacity) {
      parser = ondemand::parser();
      nodes = {};
      padded = {};
    }
    nodes.clear();
  }
};

Workspace& workspace() {
  thread_local Workspace mine;
  return mine;
}

class Walk {
 public:
  Walk(std::string_view text, const JsonDepth& depth, Nodes& nodes)
      : text_(text),
        limit_(std::min(depth.limit, kDeepestJson)),
        recorded_(depth.recorded),
        has_escapes_(std::memchr(text.data(), '\\', text.size()) != nullptr),
        nodes_(nodes) {}

  std::optional<Reason> document(ondemand::document& document) {
    ondemand::json_type type;
    if (const auto error = document.type().get(type)) return reason_of(error);
    std::optional<Reason> failed;
    if (type == ondemand::json_type::object) {
      failed = object(document.get_object(), document, 1);
    } else {
      failed = array(document.get_array(), document, 1);
    }
    if (failed) return failed;
    const char* after;
    if (document.current_location().get(after) != simdjson::OUT_OF_BOUNDS) return Reason::malformed_json;
    return std::nullopt;
  }

  // A text that is neither object nor array; simdjson is of no use for one token.
  std::optional<Reason> lone_scalar(std::string_view token) {
    if (token.empty()) return Reason::malformed_json;
    if (!valid_utf8(token)) return Reason::invalid_utf8;
    if (token.size() >= 2 && token[0] == '"') {
      const std::string_view inside = token.substr(1, token.size() - 2);
      for (std::size_t at = 0; at < inside.size(); ++at) {
        if (inside[at] == '"' || static_cast<unsigned char>(inside[at]) < 0x20) return Reason::malformed_json;
        if (inside[at] == '\\') ++at;
      }
    }
    return scalar(token, 0);
  }

  static Reason reason_of(simdjson::error_code error) {
    switch (error) {
      case simdjson::UTF8_ERROR:
        return Reason::invalid_utf8;
      case simdjson::CAPACITY:
        return Reason::too_large;
      case simdjson::DEPTH_ERROR:
        return Reason::too_deep;
      default:
        return Reason::malformed_json;
    }
  }

 private:
  std::optional<Reason> object(simdjson::simdjson_result<ondemand::object> opened, ondemand::document& document,
                               std::size_t depth) {
    ondemand::object members;
    if (const auto error = std::move(opened).get(members)) return reason_of(error);
    if (depth > limit_) return Reason::too_deep;
    for (auto member : members) {
      ondemand::field field;
      if (const auto error = std::move(member).get(field)) return reason_of(error);
      const std::string_view token = field.value().raw_json_token();
      if (const auto failed = string(key_before(field.key().raw() - 1, token.data()), depth)) return failed;
      if (const auto failed = value(field.value(), token, document, depth)) return failed;
    }
    return std::nullopt;
  }

  std::optional<Reason> array(simdjson::simdjson_result<ondemand::array> opened, ondemand::document& document,
                              std::size_t depth) {
    ondemand::array elements;
    if (const auto error = std::move(opened).get(elements)) return reason_of(error);
    if (depth > limit_) return Reason::too_deep;
    for (auto element : elements) {
      ondemand::value held;
      if (const auto error = std::move(element).get(held)) return reason_of(error);
      if (const auto failed = value(held, held.raw_json_token(), document, depth)) return failed;
    }
    return std::nullopt;
  }

  // `depth` is that of the container that holds the value.
  std::optional<Reason> value(ondemand::value held, std::string_view token, ondemand::document& document,
                              std::size_t depth) {
    if (token.empty()) return Reason::malformed_json;
    if (token[0] == '{' || token[0] == '[') return container(held, token, document, depth);
    if (token[0] == '"') {
      // Taken explicitly: a string that is skipped may be followed by a colon.
      ondemand::raw_json_string taken;
      if (const auto error = held.get_raw_json_string().get(taken)) return reason_of(error);
    }
    return scalar(trimmed_right(token), depth);
  }

  std::optional<Reason> container(ondemand::value held, std::string_view token, ondemand::document& document,
                                  std::size_t depth) {
    const bool is_object = token[0] == '{';
    const std::size_t index = nodes_.size();
    record(token.substr(0, 1), is_object ? JsonKind::object : JsonKind::array, depth);
    const auto failed =
        is_object ? object(held.get_object(), document, depth + 1) : array(held.get_array(), document, depth + 1);
    if (failed) return failed;
    if (depth > recorded_) return std::nullopt;
    const char* after;
    if (const auto error = document.current_location().get(after)) return reason_of(error);
    const std::string_view all(token.data(), static_cast<std::size_t>(after - token.data()));
    nodes_[index].size = static_cast<std::uint32_t>(trimmed_right(all).size());
    nodes_[index].next = static_cast<std::uint32_t>(nodes_.size());
    return std::nullopt;
  }

  // From its quote to its quote. simdjson has seen that only a colon and white space follow before the value.
  static std::string_view key_before(const char* key, const char* value) {
    const std::string_view with_colon = trimmed_right({key, value});
    return trimmed_right(with_colon.substr(0, with_colon.size() - 1));
  }

  std::optional<Reason> string(std::string_view token, std::size_t depth) {
    if (token.size() < 2 || token.back() != '"') return Reason::malformed_json;
    const bool escaped = has_escapes_ && token.find('\\') != std::string_view::npos;
    if (escaped) {
      if (const auto failed = unescape(token.substr(1, token.size() - 2), nullptr)) return failed;
    }
    record(token, JsonKind::string, depth, escaped);
    return std::nullopt;
  }

  std::optional<Reason> scalar(std::string_view token, std::size_t depth) {
    JsonKind kind = JsonKind::number;
    switch (token[0]) {
      case '"':
        return string(token, depth);
      case 't':
      case 'f':
        if (token != "true" && token != "false") return Reason::malformed_json;
        kind = JsonKind::boolean;
        break;
      case 'n':
        if (token != "null") return Reason::malformed_json;
        kind = JsonKind::null;
        break;
      default:
        if (!valid_number(token)) return Reason::malformed_json;
    }
    record(token, kind, depth);
    return std::nullopt;
  }

  void record(std::string_view token, JsonKind kind, std::size_t depth, bool escaped = false) {
    if (depth > recorded_) return;
    nodes_.add({static_cast<std::uint32_t>(token.data() - text_.data()), static_cast<std::uint32_t>(token.size()),
                static_cast<std::uint32_t>(nodes_.size() + 1), kind, escaped});
  }

  const std::string_view text_;
  const std::size_t limit_;
  const std::size_t recorded_;
  const bool has_escapes_;  // most texts have none, and no string of theirs is searched
  Nodes& nodes_;
};

// `padded` is followed by bytes that simdjson may read.
std::optional<Reason> walk(std::string_view padded, const JsonDepth& depth, Workspace& mine) {
  std::string_view text = trimmed_right(padded);
  while (!text.empty() && is_space(text[0])) text.remove_prefix(1);
  Walk walk(padded, depth, mine.nodes);
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return walk.lone_scalar(text);
  if (mine.parser.capacity() < padded.size()) {
    if (const auto error = mine.parser.allocate(std::max(padded.size(), kSmallestCapacity))) {
      return Walk::reason_of(error);
    }
  }
  // The root stands for the whole text; its members follow.
  mine.nodes.add({static_cast<std::uint32_t>(text.data() - padded.data()), static_cast<std::uint32_t>(text.size()), 0,
                  text[0] == '{' ? JsonKind::object : JsonKind::array, false});
  ondemand::document document;
  const simdjson::padded_string_view view(padded.data(), padded.size(), padded.size() + simdjson::SIMDJSON_PADDING);
  if (const auto error = mine.parser.iterate(view).get(document)) return Walk::reason_of(error);
  const auto failed = walk.document(document);
  mine.nodes[0].next = static_cast<std::uint32_t>(mine.nodes.size());
  return failed;
}

std::variant<JsonDocument, Reason> parse(std::string_view padded, std::string_view text, const JsonDepth& depth,
                                         Workspace& mine) {
  if (const auto failed = walk(padded, depth, mine)) {
    if (std::memchr(padded.data(), 0, padded.size()) != nullptr) return Reason::nul_in_text;
    return *failed;
  }
  return JsonDocument{text, mine.nodes.all()};
}

}  // namespace

std::variant<JsonDocument, Reason> parse_json(const Bytes& bytes, const JsonDepth& depth) {
  const std::string_view text = bytes.view();
  if (text.empty()) return Reason::malformed_json;
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) return Reason::too_large;
  Workspace& mine = workspace();
  mine.make_room(text.size());
  return parse(text, text, depth, mine);
}

std::variant<JsonDocument, Reason> parse_json(std::string_view text, const JsonDepth& depth) {
  if (text.empty()) return Reason::malformed_json;
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) return Reason::too_large;
  Workspace& mine = workspace();
  mine.make_room(text.size());
  const std::size_t needed = text.size() + simdjson::SIMDJSON_PADDING;
  if (mine.padded.size() < needed) mine.padded.resize(needed);
  std::memcpy(mine.padded.data(), text.data(), text.size());
  // simdjson reads on behind a text that ends too soon, and must not find the end of another there.
  std::memset(mine.padded.data() + text.size(), 0, simdjson::SIMDJSON_PADDING);
  return parse({mine.padded.data(), text.size()}, text, depth, mine);
}

void append_unescaped(std::string& out, std::string_view inside) { unescape(inside, &out); }

void append_json_string(std::string& out, std::string_view text) {
  const auto is_plain = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; };
  out += '"';
  for (auto at = text.begin(); at != text.end();) {
    const auto run_end = std::find_if_not(at, text.end(), is_plain);
    out.append(at, run_end);
    at = run_end;
    if (at == text.end()) break;
    const char c = *at++;
    const std::size_t which = kShortEscaped.find(c);
    if (which != std::string_view::npos) {
      out += '\\';
      out += kShortEscapes[which];
    } else {
      const unsigned char byte = static_cast<unsigned char>(c);
      out += "\\u00";
      out += to_hex({&byte, 1});
    }
  }
  out += '"';
}

}  // namespace onceward
