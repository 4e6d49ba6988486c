// throng check examples/c/semaphore-broken.c : UNSAFE
// A counting semaphore that looks at the permits first and takes one later.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int permits = 3;
atomic_int inside;

void acquire(void) {
  while (atomic_load(&permits) == 0) {
  }
  atomic_fetch_sub(&permits, 1);
}

void release(void) {
  atomic_fetch_add(&permits, 1);
}

void *worker(void *unused) {
  acquire();
  int others = atomic_fetch_add(&inside, 1);
  assert(others < 3);
  atomic_fetch_sub(&inside, 1);
  release();
  return 0;
}

int main(void) {
  while (1) {
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
  }
}
