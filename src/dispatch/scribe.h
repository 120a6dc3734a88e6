// A thread that does one piece of work at a time for another, which goes on with something else meanwhile.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace onceward::dispatch {

class Scribe {
 public:
  // `told` is called on the scribe's thread whenever a piece of work has ended.
  explicit Scribe(std::function<void()> told);
  ~Scribe();  // when the work has ended
  Scribe(const Scribe&) = delete;
  Scribe& operator=(const Scribe&) = delete;

  // What `work` refers to is the scribe's until finish() returns. Nothing may be under way.
  void begin(std::function<void()> work);
  bool busy() const;
  // Waits for the end of what was begun, and throws what that threw.
  void finish();

 private:
  void run();

  const std::function<void()> told_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;  // guarded; empty while nothing is under way
  std::exception_ptr thrown_;   // guarded
  bool ends_ = false;           // guarded
  std::thread thread_;
};

}  // namespace onceward::dispatch
