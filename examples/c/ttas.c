// throng check examples/c/ttas.c --entry worker --race --assertions : SAFE
// Test and test-and-set: wait with plain reads, which share the cache line, and exchange only when the lock looks free.
#include <assert.h>
#include <stdatomic.h>

atomic_int lock;
int inside;

void worker(void) {
  do {
    while (atomic_load(&lock)) {
    }
  } while (atomic_exchange(&lock, 1));
  inside = 1;
  assert(inside == 1);
  inside = 0;
  atomic_store(&lock, 0);
}
