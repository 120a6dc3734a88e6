// A mail: what a call asks for, and the lines of its head. What would end a line of the head is refused, never escaped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "onceward/identity.h"

namespace onceward::smtp {

inline constexpr std::size_t most_recipients = 100;
inline constexpr std::size_t most_subject_bytes = 1000;

struct Mail {
  std::vector<std::string> to;
  std::string subject;
  std::string text;
};

// Else why it is none, without a word of it.
std::variant<Mail, std::string> read_mail(std::string_view json);

// Who sends: "address", or "Name <address>".
struct Sender {
  std::string name, address;
};
std::optional<Sender> read_sender(std::string_view text);

// id@domain-of-the-sender, a function of the endpoint's name and the key.
std::string message_id(const Sender& sender, std::string_view endpoint, std::string_view key);

// The lines of the head, but for those that say how the text is written.
std::vector<std::string> head_of(const Mail& mail, const Sender& sender, std::string_view id, Timestamp created_at);

// As it may stand in a line of the head: plain if it can, else encoded words (RFC 2047).
std::string in_head(std::string_view text);
// Every line ended by CR LF.
std::string with_line_ends(std::string_view text);

}  // namespace onceward::smtp
