// throng check examples/c/thousand-broken.c : UNSAFE
// A thousand threads of each of two kinds: the writers take another lock, and are created behind all readers.
#include <assert.h>
#include <pthread.h>

enum { THREADS = 1000 };

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
int inside;

void *reads(void *unused) {
  pthread_mutex_lock(&lock);
  assert(inside == 0);
  pthread_mutex_unlock(&lock);
  return 0;
}

void *writes(void *unused) {
  pthread_mutex_lock(&other);
  inside++;
  inside--;
  pthread_mutex_unlock(&other);
  return 0;
}

int main(void) {
  pthread_t readers[THREADS], writers[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&readers[i], 0, reads, 0);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&writers[i], 0, writes, 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(readers[i], 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(writers[i], 0);
  return 0;
}
