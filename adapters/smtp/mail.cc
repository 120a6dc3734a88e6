#include "adapters/smtp/mail.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/common/base64.h"
#include "src/common/hex.h"
#include "src/common/json_pointer.h"
#include "src/common/sha256.h"

namespace onceward::smtp {
namespace {

constexpr JsonDepth mail_depth{.limit = 8};
constexpr std::size_t most_address_bytes = 254;  // RFC 5321
constexpr std::size_t most_line_bytes = 900;     // of 998 with the name before it
constexpr std::size_t word_bytes = 45;           // 60 as base64; an encoded word has at most 75

bool is_plain(char c) { return c >= 0x20 && c < 0x7f; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// One that needs no quotes: what people have, and nothing that could be read as two.
bool is_address(std::string_view text) {
  const std::size_t at = text.find('@');
  return text.size() <= most_address_bytes && at != text.npos && at > 0 && at + 1 < text.size() &&
         at == text.rfind('@') && text.front() != '-' && std::ranges::all_of(text, [](char c) {
           return is_plain(c) && std::string_view(" <>()[],;:\\\"").find(c) == std::string_view::npos;
         });
}

std::optional<std::string> string_at(const JsonDocument& document, const JsonNode& node) {
  if (node.kind != JsonKind::string) return std::nullopt;
  std::string scratch;
  return std::string(text_of(document, node, scratch));
}

std::optional<std::string> member_text(const JsonDocument& document, const std::string& name) {
  const auto found = find(document, std::vector{name});
  const auto* const node = std::get_if<const JsonNode*>(&found);
  return node ? string_at(document, **node) : std::nullopt;
}

// A text, or an array of texts.
std::optional<std::vector<std::string>> recipients_of(const JsonDocument& document) {
  const auto found = find(document, std::vector<std::string>{"to"});
  const auto* const to = std::get_if<const JsonNode*>(&found);
  if (to == nullptr) return std::nullopt;
  std::vector<std::string> recipients;
  if (auto one = string_at(document, **to)) return std::vector{std::move(*one)};
  if ((*to)->kind != JsonKind::array) return std::nullopt;
  const auto array = static_cast<std::uint32_t>(*to - document.nodes.data());
  for (std::uint32_t at = array + 1; at < (*to)->next; at = document.nodes[at].next) {
    auto one = string_at(document, document.nodes[at]);
    if (!one) return std::nullopt;
    recipients.push_back(std::move(*one));
  }
  return recipients;
}

// What somebody asks for and would not get is not left out in silence.
bool has_other_members(const JsonDocument& document) {
  std::size_t members = 0;
  for (std::uint32_t at = 1; at < document.nodes[0].next; at = document.nodes[at + 1].next) ++members;
  return members != 3;
}

}  // namespace

std::variant<Mail, std::string> read_mail(std::string_view json) {
  const auto read = parse_json(json, mail_depth);
  const auto* const document = std::get_if<JsonDocument>(&read);
  if (document == nullptr || document->nodes[0].kind != JsonKind::object) return "the body is no JSON object";
  auto to = recipients_of(*document);
  auto subject = member_text(*document, "subject"), text = member_text(*document, "text");
  if (!to || !subject || !text || has_other_members(*document)) {
    return R"(the body is {"to": text or array of texts, "subject": text, "text": text} and nothing else)";
  }
  if (to->empty() || to->size() > most_recipients)
    return fmt::format("a mail goes to 1 to {} addresses", most_recipients);
  if (!std::ranges::all_of(*to, is_address)) {
    return "an address is not written name@domain in plain characters, or has a line break in it";
  }
  if (std::ranges::any_of(*subject, is_control)) return "the subject has a line break or a control character in it";
  if (subject->size() > most_subject_bytes)
    return fmt::format("the subject is longer than {} bytes", most_subject_bytes);
  return Mail{std::move(*to), std::move(*subject), std::move(*text)};
}

std::optional<Sender> read_sender(std::string_view text) {
  if (is_address(text)) return Sender{"", std::string(text)};
  const std::size_t open = text.rfind(" <");
  if (open == text.npos || !text.ends_with('>')) return std::nullopt;
  const std::string_view name = text.substr(0, open), address = text.substr(open + 2, text.size() - open - 3);
  const bool quotable = std::ranges::none_of(name, [](char c) { return is_control(c) || c == '"' || c == '\\'; });
  if (name.empty() || name.size() > most_address_bytes || !quotable || !is_address(address)) return std::nullopt;
  return Sender{std::string(name), std::string(address)};
}

std::string message_id(const Sender& sender, std::string_view endpoint, std::string_view key) {
  const std::string digest = to_hex(sha256_of_fields({"onceward mail", endpoint, key}));
  return fmt::format("{}{}", digest.substr(0, 32), sender.address.substr(sender.address.find('@')));
}

std::vector<std::string> head_of(const Mail& mail, const Sender& sender, std::string_view id, Timestamp created_at) {
  const bool plain = std::ranges::all_of(sender.name, is_plain);
  const std::string name = plain ? fmt::format("\"{}\"", sender.name) : in_head(sender.name);
  return {sender.name.empty() ? "From: " + sender.address : fmt::format("From: {} <{}>", name, sender.address),
          fmt::format("To: {}", fmt::join(mail.to, ",\r\n ")),
          "Subject: " + in_head(mail.subject),
          fmt::format("Date: {:%a, %d %b %Y %H:%M:%S} +0000", std::chrono::floor<std::chrono::seconds>(created_at)),
          fmt::format("Message-ID: <{}>", id),
          "Auto-Submitted: auto-generated"};
}

std::string in_head(std::string_view text) {
  const bool plain =
      std::ranges::all_of(text, is_plain) && text.find("=?") == text.npos && text.size() <= most_line_bytes;
  if (plain) return std::string(text);
  std::string words;
  while (!text.empty()) {
    std::size_t size = std::min(word_bytes, text.size());
    const auto inside_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
    while (size < text.size() && inside_character(size)) --size;
    words += fmt::format("{}=?UTF-8?B?{}?=", words.empty() ? "" : "\r\n ", to_base64(text.substr(0, size)));
    text.remove_prefix(size);
  }
  return words;
}

std::string with_line_ends(std::string_view text) {
  std::string ended;
  ended.reserve(text.size() + text.size() / 32);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool pair = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
    if (text[at] == '\r' || text[at] == '\n') {
      ended += "\r\n";
      at += pair ? 1 : 0;
    } else {
      ended += text[at];
    }
  }
  return ended;
}

}  // namespace onceward::smtp
