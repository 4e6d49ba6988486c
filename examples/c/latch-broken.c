// throng check examples/c/latch-broken.c : UNSAFE
// A latch that is counted down before the result is there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PARTS = 2 };

atomic_int left = PARTS;
int result[PARTS];

void *part(void *at) {
  atomic_fetch_sub(&left, 1);
  *(int *)at = 1;
  return 0;
}

int main(void) {
  pthread_t threads[PARTS];
  for (int i = 0; i < PARTS; i++)
    pthread_create(&threads[i], 0, part, &result[i]);
  while (atomic_load(&left)) {
  }
  for (int i = 0; i < PARTS; i++)
    assert(result[i] == 1);
  return 0;
}
