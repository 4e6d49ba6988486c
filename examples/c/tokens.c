// throng check examples/c/tokens.c : SAFE
// Any number of threads put tokens and take them; no more are taken than were put. The comparison that the proof needs is offered to it.
#include <assert.h>
#include <limits.h>
#include <pthread.h>

unsigned put, taken;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
//@ predicate taken <= put

void *work(void *unused) {
  pthread_mutex_lock(&lock);
  if (taken < put)
    taken = taken + 1;
  else if (put < UINT_MAX)
    put = put + 1;
  assert(taken <= put);
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t thread;
  while (1)
    pthread_create(&thread, 0, work, 0);
}
