// throng check examples/c/claim-broken.c --entry worker : UNSAFE
// Work that threads claim from a shared counter in two steps: two threads do the same job.
#include <assert.h>
#include <stdatomic.h>

enum { JOBS = 3 };

atomic_uint next;
atomic_int done[JOBS];

void worker(void) {
  unsigned job = atomic_load(&next);
  while (job < JOBS) {
    atomic_store(&next, job + 1);
    assert(atomic_exchange(&done[job], 1) == 0);
    job = atomic_load(&next);
  }
}
