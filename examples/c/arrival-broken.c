// throng check examples/c/arrival-broken.c --stuck any : UNSAFE
// A barrier at which threads spin: who finds that another one has failed leaves without arriving.
#include <pthread.h>
#include <stdatomic.h>

enum { PARTIES = 2 };

atomic_int arrived, failed;

void *part(void *at) {
  if (atomic_load(&failed))
    return NULL;
  if (at == NULL)
    atomic_store(&failed, 1);
  atomic_fetch_add(&arrived, 1);
  while (atomic_load(&arrived) < PARTIES) {
  }
  return NULL;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, NULL, part, &failed);
  part(NULL);
  pthread_join(other, NULL);
  return 0;
}
