// Lazy initialisation, looked at without the lock first (--entry worker). SAFE; with
// -DORDER=memory_order_relaxed: UNSAFE.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_acquire
#endif

pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
atomic_int ready;
int value;

void worker(void) {
  if (!atomic_load_explicit(&ready, ORDER)) {
    pthread_mutex_lock(&m);
    if (!atomic_load_explicit(&ready, memory_order_relaxed)) {
      value = 7;
      atomic_store_explicit(&ready, 1, memory_order_release);
    }
    pthread_mutex_unlock(&m);
  }
  assert(value == 7);
}
