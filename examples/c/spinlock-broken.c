// throng check examples/c/spinlock-broken.c --entry worker : UNSAFE
// A spin lock that looks first and takes the lock later: two threads may both have looked.
#include <assert.h>
#include <stdatomic.h>

atomic_int lock;
int inside;

void worker(void) {
  while (atomic_load(&lock)) {
  }
  atomic_store(&lock, 1);
  assert(inside == 0);
  inside = 1;
  inside = 0;
  atomic_store(&lock, 0);
}
