// The same with fences. SAFE; with -DORDER=memory_order_relaxed for the release fence's order: UNSAFE.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_release
#endif

int data;
atomic_int ready;

void *produce(void *unused) {
  data = 42;
  atomic_thread_fence(ORDER);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return 0;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, produce, 0);
  if (atomic_load_explicit(&ready, memory_order_relaxed)) {
    atomic_thread_fence(memory_order_acquire);
    assert(data == 42);
  }
  pthread_join(a, 0);
  return 0;
}
