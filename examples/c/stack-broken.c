// throng check examples/c/stack-broken.c : UNSAFE
// A Treiber stack on an array without versions: the index that a thread has read may go and come back (ABA).
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { NODES = 2, NONE = NODES };

int next[NODES];
atomic_int top; // index of the first node
atomic_int taken[NODES];

int pop(void) {
  while (1) {
    int old = atomic_load(&top);
    int node = old;
    if (node == NONE)
      return NONE;
    int after = next[node];
    if (atomic_compare_exchange_strong(&top, &old, after))
      return node;
  }
}

void push(int node) {
  while (1) {
    int old = atomic_load(&top);
    next[node] = old;
    if (atomic_compare_exchange_strong(&top, &old, node))
      return;
  }
}

// What is popped belongs to one thread.
int own(void) {
  int node = pop();
  if (node != NONE)
    assert(atomic_exchange(&taken[node], 1) == 0);
  return node;
}

void *other(void *unused) {
  int a = own(), b = own();
  if (a != NONE) {
    atomic_store(&taken[a], 0);
    push(a);
  }
  return 0;
}

int main(void) {
  pthread_t t;
  next[0] = 1;
  next[1] = NONE;
  pthread_create(&t, 0, other, 0);
  own();
  own();
  return 0;
}
