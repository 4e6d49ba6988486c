// throng check examples/c/unlock-broken.c --entry worker --stuck any : UNSAFE
// One path leaves the lock taken, and whoever comes then waits for ever.
#include <sched.h>
#include <stdatomic.h>

enum { LIMIT = 2 };

atomic_int lock;
int used;

void acquire(void) {
  while (atomic_exchange(&lock, 1)) {
    while (atomic_load(&lock))
      sched_yield();
  }
}

void release(void) {
  atomic_store(&lock, 0);
}

void worker(void) {
  for (;;) {
    acquire();
    if (used == LIMIT)
      return;
    used++;
    release();
  }
}
