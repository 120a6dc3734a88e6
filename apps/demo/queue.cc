#include "apps/demo/queue.h"

#include "onceward/adapter/embedded.h"

namespace onceward::demo {
namespace {

EmbeddedOptions options_of(const Run& run) {
  EmbeddedOptions options;
  options.path = run.queue();
  return options;
}

// Nothing is done to the file: its receivers disturb one another.
class EmbeddedQueue final : public Queue {
 public:
  explicit EmbeddedQueue(const Run& run) : sender_(options_of(run)) {}
  std::optional<std::uint64_t> left(bool) override {
    const QueueDepth depth = sender_.depth();
    return depth.ready + depth.in_flight;
  }
  void tend(std::uint64_t, Progress&) override {}
  bool at_rest() const override { return true; }
  std::string trouble() const override { return {}; }
  int restarts() const override { return 0; }

 private:
  EmbeddedSender sender_;
};

}  // namespace

std::unique_ptr<Queue> embedded_queue(const Run& run) { return std::make_unique<EmbeddedQueue>(run); }

}  // namespace onceward::demo
