// Knowledge is passed on: the third thread has never met the first. SAFE; with
// -DORDER=memory_order_relaxed: UNSAFE.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_acquire
#endif

int data;
atomic_int first, second;

void *start(void *unused) {
  data = 1;
  atomic_store_explicit(&first, 1, memory_order_release);
  return 0;
}

void *pass(void *unused) {
  if (atomic_load_explicit(&first, ORDER))
    atomic_store_explicit(&second, 1, memory_order_release);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, start, 0);
  pthread_create(&b, 0, pass, 0);
  if (atomic_load_explicit(&second, memory_order_acquire))
    assert(data == 1);
  return 0;
}
