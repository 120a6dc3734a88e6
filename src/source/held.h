// What a source has handed out and not been told about: tags that rise and are never used twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace onceward {

template <class What>
class Held {
 public:
  // The tag of what is handed out. The first one is 1.
  std::uint64_t add(What what) {
    held_.emplace_back(std::move(what));
    ++size_;
    return first_ + held_.size() - 1;
  }

  // Nothing for a tag that was never given, or was released before.
  std::optional<What> release(std::uint64_t tag) {
    if (tag < first_ || tag - first_ >= held_.size()) return std::nullopt;
    std::optional<What> what = std::exchange(held_[tag - first_], std::nullopt);
    if (what) --size_;
    drop_released();
    return what;
  }

  // The one that has been held longest; null if there is none. The next release() may move it.
  What* oldest() { return held_.empty() ? nullptr : &*held_.front(); }
  What release_oldest() { return *release(first_); }

  // Releases everything that has gone.
  template <class Gone>
  void forget(Gone&& gone) {
    for (std::optional<What>& what : held_) {
      if (!what || !gone(*what)) continue;
      what.reset();
      --size_;
    }
    drop_released();
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  void drop_released() {
    while (!held_.empty() && !held_.front()) {
      held_.pop_front();
      ++first_;
    }
  }

  std::deque<std::optional<What>> held_;  // by tag; the first one is not released
  std::uint64_t first_ = 1;
  std::size_t size_ = 0;
};

}  // namespace onceward
