// throng check examples/c/ticketlock-broken.c --entry worker --mutex critical : UNSAFE
// Tickets have two bits: the fifth thread draws the number of the first.
#include <stdatomic.h>

atomic_uint next, serving;

void critical(void) {
}

void worker(void) {
  unsigned ticket = atomic_fetch_add(&next, 1) & 3;
  while ((atomic_load(&serving) & 3) != ticket) {
  }
  critical();
  atomic_fetch_add(&serving, 1);
}
