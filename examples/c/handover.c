// throng check examples/c/handover.c --assertions --deadlock : SAFE
// A condition variable: the state is in a variable, and is looked at again in a loop, under the lock.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, message;

void *sender(void *unused) {
  pthread_mutex_lock(&lock);
  message = 42;
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, sender, 0);
  pthread_mutex_lock(&lock);
  while (!ready)
    pthread_cond_wait(&changed, &lock);
  assert(message == 42);
  pthread_mutex_unlock(&lock);
  pthread_join(t, 0);
  return 0;
}
