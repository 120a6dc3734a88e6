// Takes the place of the library's operator new in every bench, and does the same; its operator delete is the library's,
// which frees.
#include "bench/worker/allocations.h"

#include <cstdlib>
#include <new>

void* operator new(std::size_t size) {
  using namespace onceward::bench;
  if (counting_allocations.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const made = std::malloc(size == 0 ? 1 : size)) return made;
  throw std::bad_alloc();
}
