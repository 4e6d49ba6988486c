// throng check examples/c/node.c --entry worker --memory-safety --assertions : SAFE
// Each thread has a node of its own on the heap, which it frees.
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
  assert(*node == 1);
  free(node);
}
