// throng check examples/c/transfer-broken.c --deadlock : UNSAFE
// As transfer.c, but each takes the lock of the account first that it takes the coin from: two of them may wait for each other.
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
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&first);
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
