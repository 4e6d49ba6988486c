// throng check examples/c/tickets.c --entry worker : SAFE
// A ticket lock for any number of threads, which draw tickets again and again, until numbers begin at 0 once more.
#include <assert.h>
#include <stdatomic.h>

atomic_uint next, serving;
int inside;

void worker(void) {
  while (1) {
    unsigned mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine) {
    }
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store(&serving, mine + 1);
  }
}
