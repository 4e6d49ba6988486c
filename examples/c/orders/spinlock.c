// A test-and-set lock for any number of threads (--entry worker). SAFE; with
// -DORDER=memory_order_relaxed: UNSAFE.
#include <assert.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_acquire
#endif

atomic_int lock;
int inside;

void worker(void) {
  while (atomic_exchange_explicit(&lock, 1, ORDER)) {
  }
  assert(inside == 0);
  inside = 1;
  inside = 0;
  atomic_store_explicit(&lock, 0, memory_order_release);
}
