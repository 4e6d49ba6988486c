// throng check examples/c/latch.c --race --assertions : SAFE
// A latch: main waits until all parts have counted down, and reads their results then.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PARTS = 2 };

atomic_int left = PARTS;
int result[PARTS];

void *part(void *at) {
  *(int *)at = 1;
  atomic_fetch_sub(&left, 1);
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
