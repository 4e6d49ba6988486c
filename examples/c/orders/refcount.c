// Two owners of an object; the last one takes it apart. SAFE; with -DORDER=memory_order_relaxed:
// UNSAFE.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_acq_rel
#endif

atomic_int owners = 2;
int used[2], taken_apart;

void *own(void *number) {
  int me = number != 0;
  used[me] = 1;
  if (atomic_fetch_sub_explicit(&owners, 1, ORDER) == 1) {
    assert(used[0] && used[1]);
    taken_apart = 1;
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, own, 0);
  pthread_create(&b, 0, own, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(taken_apart);
  return 0;
}
