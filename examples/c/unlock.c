// throng check examples/c/unlock.c --entry worker --stuck any --deadlock : SAFE
// Any number of threads take turns with a spin lock: whoever has it gives it back.
#include <sched.h>
#include <stdatomic.h>

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
    used++;
    release();
  }
}
