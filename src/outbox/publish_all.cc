#include <algorithm>

#include "onceward/port/publisher.h"

namespace onceward {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

}  // namespace

std::vector<Receipt> publish_all(Publisher& publisher, std::span<Publication> publications, milliseconds deadline) {
  std::vector<Receipt> receipts(publications.size()), came;
  for (std::size_t i = 0; i < publications.size(); ++i) {
    publications[i].tag = i;
    receipts[i] = {.tag = i, .kind = Receipt::Kind::put_off, .why = "the broker was lost before it was sent"};
  }
  const auto end = steady_clock::now() + deadline;
  std::size_t taken = 0, answered = 0;
  bool lost = false;
  while (answered < (lost ? taken : publications.size())) {
    const std::size_t count = std::min(publisher.room(), publications.size() - taken);
    if (count > 0 && !lost) try {
        publisher.publish(publications.subspan(taken, count));
        for (std::size_t i = taken; i < taken + count; ++i) {
          receipts[i] = {.tag = i, .kind = Receipt::Kind::in_doubt, .why = "no answer came in time"};
        }
        taken += count;
      } catch (const Fault&) {
        if (taken == 0) throw;
        lost = true;
        continue;
      }
    const auto now = steady_clock::now();
    if (now >= end) break;
    came.clear();
    publisher.collect(came, std::chrono::ceil<milliseconds>(end - now));
    for (Receipt& receipt : came) receipts[receipt.tag] = std::move(receipt);
    answered += came.size();
  }
  return receipts;
}

}  // namespace onceward
