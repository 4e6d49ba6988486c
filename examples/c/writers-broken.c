// throng check examples/c/writers-broken.c --entry reader,writer : UNSAFE
// A reader looks for a writer before it counts itself.
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
      break;
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
