// A lock by compare-exchange (--entry worker): the order of a failure does not matter. SAFE; with
// -DORDER=memory_order_relaxed: UNSAFE.
#include <assert.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_acquire
#endif

atomic_int lock;
int inside;

void worker(void) {
  int expected = 0;
  while (!atomic_compare_exchange_strong_explicit(&lock, &expected, 1, ORDER, memory_order_relaxed))
    expected = 0;
  assert(inside == 0);
  inside = 1;
  inside = 0;
  atomic_store_explicit(&lock, 0, memory_order_release);
}
