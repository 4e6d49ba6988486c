// throng check examples/c/versions-broken.c : UNSAFE
// A sequence lock for any number of readers and writers: the version is counted behind a write only, so that a reader may see half of it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint version;
atomic_int left, right;
pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *unused) {
  pthread_mutex_lock(&writers);
  int next = atomic_load(&left) + 1;
  atomic_store(&left, next);
  atomic_store(&right, next);
  atomic_fetch_add(&version, 1);
  pthread_mutex_unlock(&writers);
  return 0;
}

void *reader(void *unused) {
  unsigned before = atomic_load(&version);
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
