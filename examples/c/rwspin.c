// throng check examples/c/rwspin.c : SAFE
// A readers-writer spin lock in one word: -1 for a writer, else the number of readers.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int state;
int data, copy;

void lock_shared(void) {
  while (1) {
    int seen = atomic_load(&state);
    if (seen >= 0 && atomic_compare_exchange_weak(&state, &seen, seen + 1)) {
      return;
    }
  }
}

void unlock_shared(void) {
  atomic_fetch_sub(&state, 1);
}

void lock_exclusive(void) {
  int none = 0;
  while (!atomic_compare_exchange_weak(&state, &none, -1)) {
    none = 0;
  }
}

void unlock_exclusive(void) {
  atomic_store(&state, 0);
}

void *reader(void *unused) {
  lock_shared();
  assert(data == copy);
  unlock_shared();
  return 0;
}

void *writer(void *unused) {
  lock_exclusive();
  data = 1 - data;
  copy = 1 - copy;
  unlock_exclusive();
  return 0;
}

int main(void) {
  while (1) {
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    pthread_create(&t, 0, writer, 0);
  }
}
