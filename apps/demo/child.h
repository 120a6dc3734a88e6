// A process that the supervisor started: killed with it, whatever happens, and never waited for without a deadline.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace onceward::demo {

struct Ending {
  int signal = 0;     // that ended it; 0: none
  int exit_code = 0;  // where no signal did
};

class Child {
 public:
  Child() = default;
  // Starts a program, with stdout and stderr appended to a file, or as they are where `output` is empty. Throws
  // std::system_error where no process can be made; a program that is not there ends with exit code 127.
  Child(const std::vector<std::string>& command, const std::string& output);
  ~Child();  // killed if it still runs
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;

  pid_t pid() const { return pid_; }
  bool runs() const { return pid_ > 0; }  // as far as ended() has told
  void signal(int number) const;
  // How it ended, once; nothing while it runs.
  std::optional<Ending> ended();
  // The same, awaited. Killed when the deadline passes.
  Ending wait(std::chrono::milliseconds deadline);

 private:
  pid_t pid_ = -1;
};

// The program that this process runs.
std::string this_program();

}  // namespace onceward::demo
