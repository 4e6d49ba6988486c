// throng check examples/c/once.c --entry user --race --assertions : SAFE
// Double-checked initialisation: the flag is atomic, and is set after the value.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
atomic_int ready;
int value;

void user(void) {
  if (!atomic_load(&ready)) {
    pthread_mutex_lock(&lock);
    if (!atomic_load(&ready)) {
      value = 42;
      atomic_store(&ready, 1);
    }
    pthread_mutex_unlock(&lock);
  }
  assert(value == 42);
}
