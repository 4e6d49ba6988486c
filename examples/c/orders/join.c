// What a thread did is known when it was joined, whatever orders it used. SAFE; without the join
// (-DJOIN=0): UNSAFE.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#ifndef JOIN
#define JOIN 1
#endif

int data;
atomic_int done;

void *work(void *unused) {
  data = 5;
  atomic_store_explicit(&done, 1, memory_order_relaxed);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  if (JOIN)
    pthread_join(t, 0);
  if (atomic_load_explicit(&done, memory_order_relaxed))
    assert(data == 5);
  return 0;
}
