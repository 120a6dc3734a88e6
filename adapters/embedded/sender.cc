#include "adapters/embedded/options.h"
#include "adapters/embedded/queue.h"

namespace onceward {

class EmbeddedSender::File {
 public:
  explicit File(const EmbeddedOptions& options) : options_(options) {
    embedded::check(options);
    queue();
  }

  // Opened again where it was lost.
  embedded::Queue& queue() {
    if (queue_ && !queue_->usable()) queue_.reset();
    if (!queue_) queue_ = std::make_unique<embedded::Queue>(options_);
    return *queue_;
  }

 private:
  const EmbeddedOptions options_;
  std::unique_ptr<embedded::Queue> queue_;
};

EmbeddedSender::EmbeddedSender(const EmbeddedOptions& options) : file_(std::make_unique<File>(options)) {}
EmbeddedSender::~EmbeddedSender() = default;

void EmbeddedSender::send(std::span<const std::string_view> messages) { file_->queue().send(messages); }

QueueDepth EmbeddedSender::depth() { return file_->queue().depth(); }

}  // namespace onceward
