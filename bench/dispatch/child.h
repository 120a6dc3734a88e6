// This program, executed again as a process of its own, and memory that both share: what the other has done stands there.
#pragma once

#include <sys/types.h>

#include <new>
#include <string>
#include <vector>

namespace onceward::bench {

// Pages that processes share, by a file descriptor that children inherit. Zeroed when made. Throws std::runtime_error.
class SharedPages {
 public:
  explicit SharedPages(std::size_t bytes);
  SharedPages(int file, std::size_t bytes);  // the child's side
  ~SharedPages();
  SharedPages(const SharedPages&) = delete;
  SharedPages& operator=(const SharedPages&) = delete;

  int file() const { return file_; }
  void* begin() const { return begin_; }

 private:
  const int file_;
  const std::size_t bytes_;
  void* begin_ = nullptr;
};

// One object in them, of atomics only.
template <class Object>
class Shared {
 public:
  Shared() : pages_(sizeof(Object)), object_(new(pages_.begin()) Object()) {}
  explicit Shared(int file) : pages_(file, sizeof(Object)), object_(static_cast<Object*>(pages_.begin())) {}

  int file() const { return pages_.file(); }
  Object* operator->() const { return object_; }
  Object& operator*() const { return *object_; }

 private:
  const SharedPages pages_;
  Object* const object_;
};

class Child {
 public:
  // Dies with us.
  explicit Child(std::vector<std::string> arguments);
  ~Child();  // kills it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t process() const { return process_; }
  // Throws if it has ended by itself.
  void check_alive() const;
  // SIGTERM, and waits for its end. Throws unless that was well.
  void stop();

 private:
  const std::string role_;
  pid_t process_ = -1;
};

// The child's side: called before it has another thread.
class Termination {
 public:
  Termination();
  void await() const;  // until SIGTERM
};

}  // namespace onceward::bench
