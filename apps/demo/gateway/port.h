// A port on loopback that is kept for a run, so that a gateway that is killed finds it free when it is started again, and no client on
// this machine is given it meanwhile. Nobody listens on it by this.
#pragma once

#include <cstdint>

namespace onceward::demo {

class KeptPort {
 public:
  KeptPort();  // throws std::system_error
  ~KeptPort();
  KeptPort(const KeptPort&) = delete;
  KeptPort& operator=(const KeptPort&) = delete;

  std::uint16_t number() const { return number_; }

 private:
  int socket_ = -1;
  std::uint16_t number_ = 0;
};

}  // namespace onceward::demo
