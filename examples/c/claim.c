// throng check examples/c/claim.c --entry worker : SAFE
// Work that threads claim from a shared counter: each job is done by one thread.
#include <assert.h>
#include <stdatomic.h>

enum { JOBS = 3 };

atomic_uint next;
atomic_int done[JOBS];

void worker(void) {
  unsigned job = atomic_load(&next);
  while (job < JOBS) {
    if (atomic_compare_exchange_strong(&next, &job, job + 1)) {
      assert(atomic_exchange(&done[job], 1) == 0);
      job = atomic_load(&next);
    }
  }
}
