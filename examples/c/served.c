// throng check examples/c/served.c --entry worker --starvation acquire : SAFE
// A mutex of the library serves every thread that waits, however many there are.
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
long done;

void acquire(void) {
  pthread_mutex_lock(&lock);
}

void worker(void) {
  for (;;) {
    acquire();
    done++;
    pthread_mutex_unlock(&lock);
  }
}
