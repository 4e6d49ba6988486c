// A lock by atomic_flag, tried once (--entry worker). SAFE; with -DORDER=memory_order_relaxed:
// UNSAFE.
#include <assert.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_release
#endif

atomic_flag busy = ATOMIC_FLAG_INIT;
int inside;

void worker(void) {
  if (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
    return;
  assert(inside == 0);
  inside = 1;
  inside = 0;
  atomic_flag_clear_explicit(&busy, ORDER);
}
