#include <algorithm>
#include <thread>

#include "onceward/port/publisher.h"

namespace onceward {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int most_idle_passes = 3;  // that settle nothing
constexpr milliseconds first_pause{100};

bool is_open(const Receipt& receipt) {
  return receipt.kind == Receipt::Kind::put_off || receipt.kind == Receipt::Kind::in_doubt;
}

// Each of them once. False if the broker was lost on the way.
bool pass(Publisher& publisher, std::span<const Publication> open, steady_clock::time_point end,
          std::vector<Receipt>& receipts) {
  std::size_t taken = 0, answered = 0;
  std::vector<Receipt> came;
  bool lost = false;
  while (answered < (lost ? taken : open.size())) {
    const std::size_t count = std::min(publisher.room(), open.size() - taken);
    if (count > 0 && !lost) try {
        publisher.publish(open.subspan(taken, count));
        for (const Publication& sent : open.subspan(taken, count)) {
          receipts[sent.tag] = {.tag = sent.tag, .kind = Receipt::Kind::in_doubt, .why = "no answer came in time"};
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
  return !lost;
}

}  // namespace

std::vector<Receipt> publish_all(Publisher& publisher, std::span<Publication> publications, milliseconds deadline) {
  std::vector<Receipt> receipts(publications.size());
  for (std::size_t i = 0; i < publications.size(); ++i) {
    publications[i].tag = i;
    receipts[i] = {.tag = i, .kind = Receipt::Kind::put_off, .why = "the broker was lost before it was sent"};
  }
  const auto end = steady_clock::now() + deadline;
  std::vector<Publication> open(publications.begin(), publications.end());
  if (!pass(publisher, open, end, receipts)) return receipts;
  for (int idle = 0; idle < most_idle_passes;) {
    const std::size_t before = open.size();
    std::erase_if(open, [&](const Publication& one) { return !is_open(receipts[one.tag]); });
    if (open.empty()) break;
    idle = open.size() < before ? 0 : idle + 1;
    const auto pause = first_pause * (1 << idle);
    if (steady_clock::now() + pause >= end) break;
    std::this_thread::sleep_for(pause);
    try {
      if (!pass(publisher, open, end, receipts)) break;
    } catch (const Fault&) {
      break;  // what it said of them holds
    }
  }
  return receipts;
}

}  // namespace onceward
