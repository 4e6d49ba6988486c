// throng check examples/c/transfer.c --deadlock : SAFE
// Any number of threads move a coin between two accounts, in both directions. Each takes the locks in the same order, so that they never all wait.
#include <pthread.h>

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
int here = 1, there = 0;

void *forth(void *unused) {
  pthread_mutex_lock(&first);
  pthread_mutex_lock(&second);
  here = 0;
  there = 1;
  pthread_mutex_unlock(&second);
  pthread_mutex_unlock(&first);
  return 0;
}

void *back(void *unused) {
  pthread_mutex_lock(&first);
  pthread_mutex_lock(&second);
  there = 0;
  here = 1;
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
  return 0;
}

int __VERIFIER_nondet_int(void);

int main(void) {
  pthread_t t;
  while (__VERIFIER_nondet_int()) {
    pthread_create(&t, 0, forth, 0);
    pthread_create(&t, 0, back, 0);
  }
  pthread_exit(0);
}
