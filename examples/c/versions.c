// throng check examples/c/versions.c : SAFE
// A sequence lock for any number of readers and writers: a reader that sees the same even version twice has seen one write.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint version;
atomic_int left, right;
pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *unused) {
  pthread_mutex_lock(&writers);
  int next = atomic_load(&left) + 1;
  atomic_fetch_add(&version, 1);
  atomic_store(&left, next);
  atomic_store(&right, next);
  atomic_fetch_add(&version, 1);
  pthread_mutex_unlock(&writers);
  return 0;
}

void *reader(void *unused) {
  unsigned before = atomic_load(&version);
  if (before % 2 == 1)
    return 0;
  int a = atomic_load(&left), b = atomic_load(&right);
  if (atomic_load(&version) == before)
    assert(a == b);
  return 0;
}

int main(void) {
  pthread_t t;
  while (1) {
    pthread_create(&t, 0, writer, 0);
    pthread_create(&t, 0, reader, 0);
  }
}
