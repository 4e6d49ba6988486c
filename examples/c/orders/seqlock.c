// A sequence lock: the reader throws away what it has read if the number has changed meanwhile, and
// may have read older values then. SAFE; with -DORDER=memory_order_relaxed for its fence: UNSAFE.
// (__atomic_load_n, because the macro of <stdatomic.h> copies what it reads through memory.)
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_acquire
#endif

atomic_int sequence, left, right;

void *update(void *unused) {
  atomic_store_explicit(&sequence, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&left, 7, memory_order_relaxed);
  atomic_store_explicit(&right, 7, memory_order_relaxed);
  atomic_store_explicit(&sequence, 2, memory_order_release);
  return 0;
}

int main(void) {
  pthread_t a;
  int before, after, l, r;
  pthread_create(&a, 0, update, 0);
  do {
    before = __atomic_load_n(&sequence, memory_order_acquire);
    r = __atomic_load_n(&right, memory_order_relaxed);
    l = __atomic_load_n(&left, memory_order_relaxed);
    atomic_thread_fence(ORDER);
    after = __atomic_load_n(&sequence, memory_order_relaxed);
  } while (before != after || before % 2 != 0);
  assert(l == r);
  return 0;
}
