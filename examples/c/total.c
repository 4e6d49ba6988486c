// throng check examples/c/total.c --race : SAFE
// Any number of threads add to a total of 32 bits; every access is under the lock.
#include <pthread.h>

int total;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *add(void *unused) {
  for (int i = 0; i < 100; i++) {
    pthread_mutex_lock(&lock);
    total += i;
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

int main(void) {
  total = 0;
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, add, 0);
}
