// throng check examples/c/peterson.c --mutex critical : SAFE
// Peterson's algorithm for two threads.
#include <pthread.h>
#include <stdatomic.h>

atomic_int wants[2], turn;

void critical(void) {
}

void enter(int me) {
  atomic_store(&wants[me], 1);
  atomic_store(&turn, 1 - me);
  while (atomic_load(&wants[1 - me]) && atomic_load(&turn) == 1 - me) {
  }
  critical();
  atomic_store(&wants[me], 0);
}

void *other(void *unused) {
  while (1)
    enter(1);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  while (1)
    enter(0);
}
