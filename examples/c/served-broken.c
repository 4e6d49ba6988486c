// throng check examples/c/served-broken.c --entry worker --starvation acquire : UNSAFE
// A test-and-set lock serves whoever looks at the right moment.
#include <stdatomic.h>

atomic_int lock;

void acquire(void) {
  while (atomic_exchange(&lock, 1)) {
  }
}

void worker(void) {
  for (;;) {
    acquire();
    atomic_store(&lock, 0);
  }
}
