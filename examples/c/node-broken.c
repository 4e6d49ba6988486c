// throng check examples/c/node-broken.c --entry worker --memory-safety : UNSAFE
// The node is looked at after it was freed.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int total;

void worker(void) {
  int *node = malloc(sizeof *node);
  if (!node)
    return;
  *node = 1;
  pthread_mutex_lock(&lock);
  total += *node;
  pthread_mutex_unlock(&lock);
  free(node);
  assert(*node == 1);
}
