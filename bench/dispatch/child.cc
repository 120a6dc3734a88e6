#include "bench/dispatch/child.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace onceward::bench {
namespace {

std::runtime_error failed(const std::string& what) { return std::runtime_error(fmt::format("processes: {}", what)); }

sigset_t termination() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

SharedPages::SharedPages(std::size_t bytes) : SharedPages(memfd_create("onceward-bench", 0), bytes) {}

SharedPages::SharedPages(int file, std::size_t bytes) : file_(file), bytes_(bytes) {
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0) throw failed("no memory to share");
  begin_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  if (begin_ == MAP_FAILED) throw failed("no memory to share");
}

SharedPages::~SharedPages() {
  munmap(begin_, bytes_);
  close(file_);
}

Child::Child(std::vector<std::string> arguments) : role_(arguments.at(0)) {
  arguments.insert(arguments.begin(), "bench_dispatch");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw failed("fork");
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) execv("/proc/self/exe", pointers.data());
    _exit(127);
  }
}

Child::~Child() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void Child::check_alive() const {
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT);
  if (ended.si_pid != 0) throw failed(role_ + " has ended by itself");
}

void Child::stop() {
  kill(process_, SIGTERM);
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw failed(role_ + " has ended badly");
}

Termination::Termination() {
  const sigset_t signals = termination();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

void Termination::await() const {
  const sigset_t signals = termination();
  int signal = 0;
  sigwait(&signals, &signal);
}

}  // namespace onceward::bench
