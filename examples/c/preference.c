// throng check examples/c/preference.c --starvation begin_write : SAFE
// Readers stay outside while the writer wants to write, so that it gets in.
#include <pthread.h>
#include <stdatomic.h>

atomic_int wanted, readers;

void begin_read(void) {
  for (;;) {
    while (atomic_load(&wanted)) {
    }
    atomic_fetch_add(&readers, 1);
    if (!atomic_load(&wanted))
      return;
    atomic_fetch_sub(&readers, 1);
  }
}

void begin_write(void) {
  atomic_store(&wanted, 1);
  while (atomic_load(&readers)) {
  }
}

void *reader(void *unused) {
  for (;;) {
    begin_read();
    atomic_fetch_sub(&readers, 1);
  }
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, reader, NULL);
  pthread_create(&two, NULL, reader, NULL);
  for (;;) {
    begin_write();
    atomic_store(&wanted, 0);
  }
  return 0;
}
