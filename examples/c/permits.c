// throng check examples/c/permits.c --entry worker : SAFE
// A semaphore from an atomic counter: at most two threads are inside.
#include <assert.h>
#include <stdatomic.h>

enum { PERMITS = 2 };

atomic_int permits = PERMITS;
atomic_int inside;

void worker(void) {
  int left = atomic_load(&permits);
  while (left == 0 || !atomic_compare_exchange_strong(&permits, &left, left - 1))
    left = atomic_load(&permits);
  assert(atomic_fetch_add(&inside, 1) < PERMITS);
  atomic_fetch_sub(&inside, 1);
  atomic_fetch_add(&permits, 1);
}
