// throng check examples/c/ticketlock.c --mutex critical : SAFE
// A ticket lock: threads are served in the order in which they draw tickets. Three threads, because tickets never come back.
#include <pthread.h>
#include <stdatomic.h>

atomic_uint next, serving;

void critical(void) {
}

void *worker(void *unused) {
  unsigned ticket = atomic_fetch_add(&next, 1);
  while (atomic_load(&serving) != ticket) {
  }
  critical();
  atomic_fetch_add(&serving, 1);
  return 0;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], 0, worker, 0);
  pthread_create(&t[1], 0, worker, 0);
  worker(0);
  pthread_join(t[0], 0);
  pthread_join(t[1], 0);
  return 0;
}
