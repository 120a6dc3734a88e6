#include "onceward/stream_keeper.h"

namespace onceward {
namespace {

class StoreKeeper final : public StreamKeeper {
 public:
  StoreKeeper(std::function<std::unique_ptr<Store>()> open, const Declaration& declaration)
      : open_(std::move(open)), declaration_(declaration) {}

  std::vector<TakenOver> take_over(std::span<const std::string> names) override {
    std::vector<TakenOver> taken;
    in_a_unit([&](UnitOfWork& unit) { taken = unit.take_over(names); });
    return taken;
  }

  Stream begin(const Stream& stream, std::int64_t next) override {
    Stream begun;
    in_a_unit([&](UnitOfWork& unit) { begun = unit.begin_stream(stream, next); });
    return begun;
  }

 private:
  // Not tried again here: the source is to be tended meanwhile, and asks again.
  template <class Work>
  void in_a_unit(Work&& work) {
    if (!store_) {
      auto store = open_();
      consumer_ = store->enroll(declaration_);
      store_ = std::move(store);
    }
    transact(*store_, consumer_, {.attempts = 1}, work);
  }

  const std::function<std::unique_ptr<Store>()> open_;
  const Declaration declaration_;
  std::unique_ptr<Store> store_;
  Enrolled consumer_;
};

}  // namespace

std::unique_ptr<StreamKeeper> keep_streams(std::function<std::unique_ptr<Store>()> open,
                                           const Declaration& declaration) {
  return std::make_unique<StoreKeeper>(std::move(open), declaration);
}

}  // namespace onceward
