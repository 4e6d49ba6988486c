// throng check examples/c/counter.c : SAFE
// Any number of threads add 1 to a counter of 32 bits. Each looks afterwards whether it is larger than what it had read.
#include <assert.h>
#include <limits.h>
#include <pthread.h>

unsigned value;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *add(void *unused) {
  pthread_mutex_lock(&lock);
  if (value == UINT_MAX) {
    pthread_mutex_unlock(&lock);
    return 0;
  }
  unsigned before = value; //@ predicate before < value
  value = before + 1;
  pthread_mutex_unlock(&lock);
  assert(value > before);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, add, 0);
}
