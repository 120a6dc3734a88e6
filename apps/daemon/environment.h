// Secrets stand in the environment, not in files: ${NAME} in a URL or a header.
#pragma once

#include <string>
#include <string_view>

namespace onceward::daemon {

// The URL with every ${NAME} replaced by the variable's value, percent-encoded so that it can hold any character. Throws
// std::invalid_argument for a variable that is not set and for a ${ that is not closed. A URL without an authority
// (sqlite:, embedded:) has no secrets and is left as it is.
std::string with_environment(std::string_view url);
// The same for any other text, with the values as they are.
std::string text_with_environment(std::string_view text);

}  // namespace onceward::daemon
