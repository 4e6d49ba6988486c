// throng check examples/c/shutdown.c --race --assertions : SAFE
// A flag that ends a thread, and what it used is freed after the join.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int stop;
int *counter;

void *worker(void *unused) {
  while (!atomic_load(&stop))
    *counter = (*counter + 1) % 2;
  return 0;
}

int main(void) {
  pthread_t t;
  counter = malloc(sizeof *counter);
  if (!counter)
    return 1;
  *counter = 0;
  pthread_create(&t, 0, worker, 0);
  atomic_store(&stop, 1);
  pthread_join(t, 0);
  assert(*counter >= 0);
  free(counter);
  return 0;
}
