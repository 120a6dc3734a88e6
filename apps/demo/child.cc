#include "apps/demo/child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace onceward::demo {
namespace {

constexpr int not_started = 127;

// In the new process: only calls that a signal handler may make.
[[noreturn]] void become(char* const* arguments, const char* output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(not_started);  // it was gone before we asked
  if (*output != '\0') {
    const int file = ::open(output, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0 || ::dup2(file, STDOUT_FILENO) < 0 || ::dup2(file, STDERR_FILENO) < 0) ::_exit(not_started);
  }
  ::execvp(arguments[0], arguments);
  ::_exit(not_started);
}

}  // namespace

Child::Child(const std::vector<std::string>& command, const std::string& output) {
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) become(arguments.data(), output.c_str(), parent);
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
}

Child::~Child() {
  if (runs()) wait(std::chrono::milliseconds(0));
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  if (runs()) wait(std::chrono::milliseconds(0));
  pid_ = std::exchange(other.pid_, -1);
  return *this;
}

void Child::signal(int number) const {
  if (runs()) ::kill(pid_, number);
}

std::optional<Ending> Child::ended() {
  int status = 0;
  if (!runs() || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  if (WIFSIGNALED(status)) return Ending{WTERMSIG(status), 0};
  return Ending{0, WEXITSTATUS(status)};
}

Ending Child::wait(std::chrono::milliseconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (runs()) {
    if (const auto ending = ended()) return *ending;
    if (std::chrono::steady_clock::now() >= end) ::kill(pid_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return {};
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace onceward::demo
