// throng check examples/c/fairness-broken.c --starvation acquire : UNSAFE
// A test-and-set lock is not fair: a thread may find it taken whenever it looks.
#include <pthread.h>
#include <stdatomic.h>

atomic_int lock;

void acquire(void) {
  while (atomic_exchange(&lock, 1)) {
  }
}

void *worker(void *unused) {
  for (;;) {
    acquire();
    atomic_store(&lock, 0);
  }
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, worker, NULL);
  pthread_create(&two, NULL, worker, NULL);
  pthread_join(one, NULL);
  return 0;
}
