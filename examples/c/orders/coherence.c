// One location is read in the order in which it was written, even relaxed. SAFE; two locations are
// not: with -DSECOND=y UNSAFE.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef SECOND
#define SECOND x
#endif

atomic_int x, y;

void *write(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&SECOND, 2, memory_order_relaxed);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, write, 0);
  int late = atomic_load_explicit(&SECOND, memory_order_relaxed);
  int early = atomic_load_explicit(&x, memory_order_relaxed);
  if (late == 2)
    assert(early != 0);
  return 0;
}
