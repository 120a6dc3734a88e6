// How a kept message's envelope is stored beside its payload.
#pragma once

#include <string>

#include "onceward/envelope.h"

namespace onceward {

// Our JSON envelope without its payload, whose exact bytes have a column of their own.
std::string kept_envelope(const Envelope& envelope);

}  // namespace onceward
