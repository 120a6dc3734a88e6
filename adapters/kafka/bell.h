// One thing to wait for: rung by queues of librdkafka that were empty, and by other threads. Waiting is for one thread.
#pragma once

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <chrono>

namespace onceward::kafka {

class Bell {
 public:
  Bell();
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // Rings whenever something comes into the queue while it is empty. The queue must end before the bell does.
  void listen(rd_kafka_queue_t* queue) const;
  // Before the end of the queue: what librdkafka still puts there rings nowhere.
  static void ignore(rd_kafka_queue_t* queue);
  void wake() noexcept;

  // Returns when it rings, at the latest at `end`; whether somebody woke it. Look at the queues before and after: a ring may
  // be an old one.
  bool wait(std::chrono::steady_clock::time_point end);

 private:
  const int file_;
  std::atomic<bool> woken_{false};
};

}  // namespace onceward::kafka
