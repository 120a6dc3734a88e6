// A declaration of a mail server, checked once and read into what every mail needs.
#pragma once

#include <string>

#include "adapters/smtp/mail.h"
#include "onceward/endpoint_declaration.h"

namespace onceward::smtp {

struct Plan {
  EndpointDeclaration declaration;
  std::string url;  // as libcurl takes it
  std::string place;
  bool starttls = true;
  Sender sender;
};

// Throws Fault(endpoint_refused).
Plan read_plan(const EndpointDeclaration& declaration);

}  // namespace onceward::smtp
