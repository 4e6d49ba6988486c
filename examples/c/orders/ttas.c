// A lock that looks before it tries (--entry worker). SAFE; with -DORDER=memory_order_relaxed:
// UNSAFE.
#include <assert.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_release
#endif

atomic_int lock;
int inside;

void worker(void) {
  do {
    while (atomic_load_explicit(&lock, memory_order_relaxed)) {
    }
  } while (atomic_exchange_explicit(&lock, 1, memory_order_acquire));
  assert(inside == 0);
  inside = 1;
  inside = 0;
  atomic_store_explicit(&lock, 0, ORDER);
}
