// throng check examples/c/dinner.c --starvation dine : SAFE
// Philosophers who take the forks in one order: under a fair scheduler each of them gets to eat.
#include <pthread.h>

pthread_mutex_t fork0 = PTHREAD_MUTEX_INITIALIZER, fork1 = PTHREAD_MUTEX_INITIALIZER;

void dine(void) {
  pthread_mutex_lock(&fork0);
  pthread_mutex_lock(&fork1);
}

void *philosopher(void *unused) {
  for (;;) {
    dine();
    pthread_mutex_unlock(&fork1);
    pthread_mutex_unlock(&fork0);
  }
  return NULL;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, philosopher, NULL);
  philosopher(NULL);
  return 0;
}
