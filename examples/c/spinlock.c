// throng check examples/c/spinlock.c --entry worker --race --assertions : SAFE
// A spin lock with an atomic exchange: looking and taking are one step.
#include <assert.h>
#include <stdatomic.h>

atomic_int lock;
int inside;

void worker(void) {
  while (atomic_exchange(&lock, 1)) {
  }
  inside = 1;
  assert(inside == 1);
  inside = 0;
  atomic_store(&lock, 0);
}
