// A release sequence of C11: the second write of the thread continues what the first one began, so
// that who reads it knows the data (in C++20 it does not). SAFE; with -DORDER=memory_order_relaxed:
// UNSAFE.
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
  atomic_store_explicit(&ready, 2, memory_order_relaxed);
  return 0;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, 0, produce, 0);
  if (atomic_load_explicit(&ready, memory_order_acquire) == 2) {
    assert(data == 42);
  }
  pthread_join(a, 0);
  return 0;
}
