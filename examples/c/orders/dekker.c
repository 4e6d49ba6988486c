// Two threads announce themselves, and look for the other. SAFE with the fence; with
// -DORDER=memory_order_acq_rel: UNSAFE, as each may read the other's flag from the start.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_seq_cst
#endif

atomic_int wants[2];
int inside;

void *enter(void *number) {
  int me = number != 0;
  atomic_store_explicit(&wants[me], 1, memory_order_release);
  atomic_thread_fence(ORDER);
  if (!atomic_load_explicit(&wants[1 - me], memory_order_acquire)) {
    assert(inside == 0);
    inside = 1;
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, enter, 0);
  pthread_create(&b, 0, enter, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
