// A flag announces data. `throng check message.c`: SAFE; with -DORDER=memory_order_relaxed: UNSAFE.
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
  atomic_store_explicit(&ready, 1, ORDER);
  return 0;
}

void *consume(void *unused) {
  if (atomic_load_explicit(&ready, memory_order_acquire))
    assert(data == 42);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, produce, 0);
  pthread_create(&b, 0, consume, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
