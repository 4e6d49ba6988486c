// throng check examples/c/semaphore.c : SAFE
// A counting semaphore with three permits: at most three threads are inside at the same time.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int permits = 3;
atomic_int inside;

void acquire(void) {
  int left = atomic_load(&permits);
  while (left == 0 || !atomic_compare_exchange_weak(&permits, &left, left - 1)) {
    left = atomic_load(&permits);
  }
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
