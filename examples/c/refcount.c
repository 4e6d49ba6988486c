// throng check examples/c/refcount.c : SAFE
// Reference counting: whoever takes the count to 0 frees the object, and only then.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int references = 2;
atomic_int freed;

void release(void) {
  if (atomic_fetch_sub(&references, 1) == 1) {
    assert(atomic_exchange(&freed, 1) == 0);
  }
}

void *user(void *unused) {
  assert(atomic_load(&freed) == 0);
  release();
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, user, 0);
  user(0);
  pthread_join(t, 0);
  assert(atomic_load(&freed) == 1);
  return 0;
}
