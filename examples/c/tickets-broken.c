// throng check examples/c/tickets-broken.c --entry worker : UNSAFE
// Two steps draw a ticket, and two threads may draw the same.
#include <assert.h>
#include <stdatomic.h>

atomic_uint next, serving;
int inside;

void worker(void) {
  while (1) {
    unsigned mine = atomic_load(&next);
    atomic_store(&next, mine + 1);
    while (atomic_load(&serving) != mine) {
    }
    inside++;
    assert(inside == 1);
    inside--;
    atomic_store(&serving, mine + 1);
  }
}
