// throng check examples/c/ttas-broken.c --entry worker : UNSAFE
// Test and test-and-set with the result of the exchange dropped: two threads that saw the lock free both go in.
#include <assert.h>
#include <stdatomic.h>

atomic_int lock;
int inside;

void worker(void) {
  while (atomic_load(&lock)) {
  }
  atomic_exchange(&lock, 1);
  assert(inside == 0);
  inside = 1;
  inside = 0;
  atomic_store(&lock, 0);
}
