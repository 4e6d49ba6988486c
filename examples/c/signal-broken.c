// throng check examples/c/signal-broken.c --stuck any : UNSAFE
// A lost wake-up: between the look at the flag and the wait, the flag is set and signalled.
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
atomic_int ready;

void *waiter(void *unused) {
  pthread_mutex_lock(&mutex);
  while (!ready)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, waiter, NULL);
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_join(thread, NULL);
  return 0;
}
