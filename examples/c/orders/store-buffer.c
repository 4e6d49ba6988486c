// The two stores are in one order for all, if all accesses are sequentially consistent. SAFE; with
// -DORDER=memory_order_release for one store: UNSAFE.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_seq_cst
#endif

atomic_int x, y;
int a, b;

void *left(void *unused) {
  atomic_store_explicit(&x, 1, ORDER);
  a = atomic_load_explicit(&y, memory_order_seq_cst);
  return 0;
}

void *right(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_seq_cst);
  b = atomic_load_explicit(&x, memory_order_seq_cst);
  return 0;
}

int main(void) {
  pthread_t s, t;
  pthread_create(&s, 0, left, 0);
  pthread_create(&t, 0, right, 0);
  pthread_join(s, 0);
  pthread_join(t, 0);
  assert(a || b);
  return 0;
}
