// Ctrl-C and SIGTERM, noted instead of obeyed: whoever runs processes and has a directory to remove ends in order.
#pragma once

#include <signal.h>

#include <array>

namespace onceward::demo {

// One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();  // as before
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // The signal that came; 0: none so far.
  int signal() const;

 private:
  std::array<struct sigaction, 2> before_{};
};

}  // namespace onceward::demo
