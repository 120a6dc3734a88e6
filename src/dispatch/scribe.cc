#include "src/dispatch/scribe.h"

#include <utility>

namespace onceward::dispatch {

Scribe::Scribe(std::function<void()> told) : told_(std::move(told)), thread_([this] { run(); }) {}

Scribe::~Scribe() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Scribe::begin(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
  }
  changed_.notify_all();
}

bool Scribe::busy() const {
  const std::lock_guard lock(mutex_);
  return work_ != nullptr;
}

void Scribe::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_ == nullptr; });
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void Scribe::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return work_ != nullptr || ends_; });
    if (work_ == nullptr) return;
    std::exception_ptr thrown;
    lock.unlock();
    try {
      work_();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    thrown_ = std::move(thrown);
    work_ = nullptr;
    changed_.notify_all();
    lock.unlock();
    told_();
    lock.lock();
  }
}

}  // namespace onceward::dispatch
