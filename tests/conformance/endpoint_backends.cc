#include "tests/conformance/endpoint_backends.h"

#include <algorithm>

namespace onceward::fixtures {

void PrintTo(const EndpointBackend& backend, std::ostream* out) { *out << backend.name; }

const std::vector<EndpointBackend>& endpoint_backends() {
  static const std::vector<EndpointBackend> all{callback_endpoint(), http_endpoint(), smtp_endpoint()};
  return all;
}

std::vector<EndpointBackend> endpoint_backends_that(bool EndpointCapabilities::* can) {
  std::vector<EndpointBackend> some;
  std::ranges::copy_if(endpoint_backends(), std::back_inserter(some),
                       [&](const EndpointBackend& backend) { return backend.capabilities.*can; });
  return some;
}

}  // namespace onceward::fixtures
