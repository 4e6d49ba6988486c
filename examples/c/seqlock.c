// throng check examples/c/seqlock.c : SAFE
// A sequence lock: a reader that sees the same even number before and after has seen the values of one write.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint version;
atomic_int a, b;

void *writer(void *unused) {
  for (int i = 1; i < 3; i++) {
    atomic_fetch_add(&version, 1);
    atomic_store(&a, i);
    atomic_store(&b, i);
    atomic_fetch_add(&version, 1);
  }
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  while (1) {
    unsigned before = atomic_load(&version);
    if (before & 1)
      continue;
    int x = atomic_load(&a), y = atomic_load(&b);
    if (atomic_load(&version) != before)
      continue;
    assert(x == y);
    return 0;
  }
}
