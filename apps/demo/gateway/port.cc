#include "apps/demo/gateway/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace onceward::demo {

// Whoever listens asks for the same option, which the kernel grants to processes of one user only.
KeptPort::KeptPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const bool bound = socket_ >= 0 && ::setsockopt(socket_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) == 0 &&
                     ::bind(socket_, any, size) == 0 && ::getsockname(socket_, any, &size) == 0;
  if (!bound) {
    const int error = errno;
    if (socket_ >= 0) ::close(socket_);
    throw std::system_error(error, std::generic_category(), "a port for the gateway");
  }
  number_ = ntohs(address.sin_port);
}

KeptPort::~KeptPort() { ::close(socket_); }

}  // namespace onceward::demo
