// throng check examples/c/release.c --stuck any : SAFE
// A spin lock that is given back on every path: no thread waits for it for ever.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { LIMIT = 1 };

atomic_int lock;
int used;

void acquire(void) {
  while (atomic_exchange(&lock, 1))
    sched_yield();
}

void *worker(void *unused) {
  acquire();
  if (used == LIMIT) {
    atomic_store(&lock, 0);
    return NULL;
  }
  used++;
  atomic_store(&lock, 0);
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, worker, NULL);
  pthread_create(&two, NULL, worker, NULL);
  worker(NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
