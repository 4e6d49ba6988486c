// throng check examples/c/fairness.c --starvation acquire : SAFE
// A ticket lock is fair: every thread that draws a ticket is served before others draw another one.
#include <pthread.h>
#include <stdatomic.h>

enum { TICKETS = 4 };

pthread_mutex_t machine = PTHREAD_MUTEX_INITIALIZER;
int next;
atomic_int serving;

void acquire(void) {
  pthread_mutex_lock(&machine);
  int mine = next;
  next = (next + 1) % TICKETS;
  pthread_mutex_unlock(&machine);
  while (atomic_load(&serving) != mine) {
  }
}

void *worker(void *unused) {
  for (;;) {
    acquire();
    atomic_store(&serving, (atomic_load(&serving) + 1) % TICKETS);
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
