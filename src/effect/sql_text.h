// The little that has to be known about a user's statement before it is sent.
#pragma once

#include <string>
#include <string_view>

namespace onceward {

// The first word, in lower case; comments, white space and empty statements before it are passed over.
std::string first_keyword(std::string_view sql);

// Whether the statement would begin, end or divide the transaction that belongs to us.
bool controls_transaction(std::string_view sql);

// `sql` with the common table expression `name AS (...)` put before its own. Throws Fault for WITH RECURSIVE.
std::string with_table(std::string_view table_expression, std::string_view sql);

// An identifier in double quotes.
std::string quoted(std::string_view identifier);

}  // namespace onceward
