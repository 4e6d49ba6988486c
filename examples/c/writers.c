// throng check examples/c/writers.c --entry reader,writer : SAFE
// A readers-writer lock as two words: a reader counts itself and looks for a writer, a writer says so and waits for readers.
#include <assert.h>
#include <stdatomic.h>

atomic_uint writing, readers;
int data, copy;

void reader(void) {
  while (1) {
    while (1) {
      while (atomic_load(&writing)) {
      }
      atomic_fetch_add(&readers, 1);
      if (!atomic_load(&writing))
        break;
      atomic_fetch_sub(&readers, 1);
    }
    assert(data == copy);
    atomic_fetch_sub(&readers, 1);
  }
}

void writer(void) {
  while (1) {
    while (atomic_exchange(&writing, 1)) {
    }
    while (atomic_load(&readers)) {
    }
    data = 1 - data;
    copy = 1 - copy;
    atomic_store(&writing, 0);
  }
}
