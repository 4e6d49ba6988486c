// throng check examples/c/shutdown-broken.c --memory-safety : UNSAFE
// A flag that ends a thread, and what it uses is freed too early: the flag says that it should end, not that it has ended.
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
  free(counter);
  pthread_join(t, 0);
  return 0;
}
