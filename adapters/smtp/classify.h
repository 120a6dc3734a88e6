// What an exchange over SMTP says about a mail.
#pragma once

#include <string>

#include "adapters/curl/transfer.h"
#include "onceward/port/endpoint.h"

namespace onceward::smtp {

// A server has nothing until it has the end of the message, which is sent only after its 354; and what it refuses, before or after
// that, it does not keep. So only a message that was begun and has no reply is unknown.
EndpointAnswer::Kind classify(const curl::Ending& ending);

// For people: the code of the reply, never its text, which repeats addresses.
std::string why(const curl::Transfer& transfer);

}  // namespace onceward::smtp
