// throng check examples/c/preference-broken.c --starvation begin_write : UNSAFE
// Readers go first: as long as one of them is always inside, the writer waits.
#include <pthread.h>
#include <stdatomic.h>

atomic_int state;

void begin_read(void) {
  for (;;) {
    int seen = atomic_load(&state);
    if (seen >= 0 && atomic_compare_exchange_strong(&state, &seen, seen + 1))
      return;
  }
}

void begin_write(void) {
  int none = 0;
  while (!atomic_compare_exchange_strong(&state, &none, -1))
    none = 0;
}

void *reader(void *unused) {
  for (;;) {
    begin_read();
    atomic_fetch_sub(&state, 1);
  }
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, reader, NULL);
  pthread_create(&two, NULL, reader, NULL);
  for (;;) {
    begin_write();
    atomic_store(&state, 0);
  }
  return 0;
}
