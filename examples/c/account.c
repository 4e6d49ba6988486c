// throng check examples/c/account.c : SAFE
// An object on the heap with a lock of its own, for any number of threads.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct account {
  pthread_mutex_t lock;
  int balance, booked;
};

void *worker(void *given) {
  struct account *a = given;
  pthread_mutex_lock(&a->lock);
  a->balance++;
  a->booked++;
  assert(a->balance == a->booked);
  pthread_mutex_unlock(&a->lock);
  return 0;
}

int main(void) {
  struct account *a = malloc(sizeof *a);
  if (!a)
    return 1;
  pthread_mutex_init(&a->lock, 0);
  a->balance = a->booked = 0;
  while (1) {
    pthread_t t;
    pthread_create(&t, 0, worker, a);
  }
}
