// A buffer that two threads hand to each other. SAFE; with -DORDER=memory_order_relaxed: UNSAFE.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_release
#endif

atomic_int turn;
int buffer;

void *take(void *unused) {
  while (atomic_load_explicit(&turn, memory_order_acquire) != 1) {
  }
  assert(buffer == 1);
  buffer = 2;
  atomic_store_explicit(&turn, 2, ORDER);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, take, 0);
  buffer = 1;
  atomic_store_explicit(&turn, 1, memory_order_release);
  while (atomic_load_explicit(&turn, memory_order_acquire) != 2) {
  }
  assert(buffer == 2);
  return 0;
}
