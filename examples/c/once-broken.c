// throng check examples/c/once-broken.c --entry user : UNSAFE
// Double-checked initialisation that sets the flag before the value.
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
      atomic_store(&ready, 1);
      value = 42;
    }
    pthread_mutex_unlock(&lock);
  }
  assert(value == 42);
}
