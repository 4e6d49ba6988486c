// throng check examples/c/handles.c : SAFE
// A reference count for any number of threads: each gets a reference, and the last one closes.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int references = 1;
atomic_int closed;

void drop(void) {
  if (atomic_fetch_sub(&references, 1) == 1) {
    atomic_store(&closed, 1);
  }
}

void *user(void *unused) {
  assert(atomic_load(&closed) == 0);
  drop();
  return 0;
}

int main(void) {
  while (rand() % 2) {
    pthread_t t;
    atomic_fetch_add(&references, 1);
    pthread_create(&t, 0, user, 0);
  }
  drop();
  return 0;
}
