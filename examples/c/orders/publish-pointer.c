// An object is filled and then published. SAFE; with -DORDER=memory_order_relaxed: UNSAFE.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef ORDER
#define ORDER memory_order_release
#endif

struct config {
  int size;
};
static struct config the;
struct config *_Atomic current;

void *fill(void *unused) {
  the.size = 3;
  atomic_store_explicit(&current, &the, ORDER);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, fill, 0);
  struct config *found = atomic_load_explicit(&current, memory_order_acquire);
  if (found)
    assert(found->size == 3);
  return 0;
}
