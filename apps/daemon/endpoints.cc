// External systems: from declarations to ports.
#include <fmt/format.h>

#include <stdexcept>

#include "apps/daemon/environment.h"
#include "apps/daemon/ports.h"
#include "onceward/adapter/http.h"
#include "onceward/adapter/smtp.h"

namespace onceward::daemon {
namespace {

// The one place that knows which adapter a scheme has. The declaration has no ${NAME} in it any more.
std::unique_ptr<Endpoint> open_by_scheme(const EndpointDeclaration& declaration, Log& log) {
  const std::string_view url = declaration.url;
  if (url.starts_with("http://") || url.starts_with("https://")) {
    return open_http(declaration, log);
  }
  if (url.starts_with("smtp://") || url.starts_with("smtps://")) {
    return open_smtp(declaration, log);
  }
  throw std::invalid_argument(fmt::format(
      "the endpoint {} has no URL: a callback is given in C++, and only its program has it", declaration.name));
}

}  // namespace

EndpointDeclaration with_environment(const EndpointDeclaration& declaration) {
  EndpointDeclaration resolved = declaration;
  resolved.url = with_environment(resolved.url);
  if (resolved.look_up) resolved.look_up->url = with_environment(resolved.look_up->url);
  if (resolved.list) resolved.list->url = with_environment(resolved.list->url);
  for (auto& [name, value] : resolved.headers) value = text_with_environment(value);
  return resolved;
}

std::unique_ptr<Endpoint> open_endpoint(const EndpointDeclaration& declaration, Log& log) {
  return open_by_scheme(with_environment(declaration), log);
}

}  // namespace onceward::daemon
