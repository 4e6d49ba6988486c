// throng check examples/c/seqlock-broken.c : UNSAFE
// A sequence lock whose reader does not look whether a write is going on.
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
    int x = atomic_load(&a), y = atomic_load(&b);
    if (atomic_load(&version) != before)
      continue;
    assert(x == y);
    return 0;
  }
}
