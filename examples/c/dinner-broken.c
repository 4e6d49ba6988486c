// throng check examples/c/dinner-broken.c --starvation dine : UNSAFE
// A livelock: philosophers who put the first fork back if the second one is taken may do so for ever.
#include <pthread.h>

pthread_mutex_t fork0 = PTHREAD_MUTEX_INITIALIZER, fork1 = PTHREAD_MUTEX_INITIALIZER;

void dine(pthread_mutex_t *first, pthread_mutex_t *second) {
  for (;;) {
    pthread_mutex_lock(first);
    if (pthread_mutex_trylock(second) == 0)
      return;
    pthread_mutex_unlock(first);
  }
}

void *philosopher(void *unused) {
  dine(&fork0, &fork1);
  pthread_mutex_unlock(&fork0);
  pthread_mutex_unlock(&fork1);
  return NULL;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, philosopher, NULL);
  dine(&fork1, &fork0);
  pthread_mutex_unlock(&fork0);
  pthread_mutex_unlock(&fork1);
  pthread_join(other, NULL);
  return 0;
}
