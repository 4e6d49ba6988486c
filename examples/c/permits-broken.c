// throng check examples/c/permits-broken.c --entry worker : UNSAFE
// A semaphore that looks at the counter and takes a permit in two steps: a third thread comes in.
#include <assert.h>
#include <stdatomic.h>

enum { PERMITS = 2 };

atomic_int permits = PERMITS;
atomic_int inside;

void worker(void) {
  while (atomic_load(&permits) <= 0) {
  }
  atomic_fetch_sub(&permits, 1);
  assert(atomic_fetch_add(&inside, 1) < PERMITS);
  atomic_fetch_sub(&inside, 1);
  atomic_fetch_add(&permits, 1);
}
