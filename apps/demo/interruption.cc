#include "apps/demo/interruption.h"

#include <csignal>

namespace onceward::demo {
namespace {

volatile std::sig_atomic_t came = 0;

}  // namespace

Interruption::Interruption() {
  came = 0;
  struct sigaction noting{};
  noting.sa_handler = [](int signal) { came = signal; };
  sigaction(SIGINT, &noting, &before_[0]);
  sigaction(SIGTERM, &noting, &before_[1]);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &before_[0], nullptr);
  sigaction(SIGTERM, &before_[1], nullptr);
}

int Interruption::signal() const { return came; }

}  // namespace onceward::demo
