// throng check examples/c/ring-broken.c : UNSAFE
// A ring that publishes its index before the item is there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { SIZE = 2, ITEMS = 3 };

int ring[SIZE];
atomic_uint head, tail;

void *producer(void *unused) {
  for (int i = 0; i < ITEMS; i++) {
    while (atomic_load(&tail) - atomic_load(&head) == SIZE) {
    }
    unsigned at = atomic_load(&tail);
    atomic_store(&tail, at + 1);
    ring[at % SIZE] = i;
  }
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, producer, 0);
  for (int i = 0; i < ITEMS; i++) {
    unsigned at = atomic_load(&head);
    while (atomic_load(&tail) == at) {
    }
    int item = ring[at % SIZE];
    atomic_store(&head, at + 1);
    assert(item == i);
  }
  return 0;
}
