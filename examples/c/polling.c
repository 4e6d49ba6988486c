// throng check examples/c/polling.c --stuck any : SAFE
// A thread that looks for work until it is to stop; both paths of the other one say so.
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>

atomic_int work, stop;
int done;

void *worker(void *unused) {
  while (!atomic_load(&stop)) {
    if (atomic_exchange(&work, 0))
      done++;
    sched_yield();
  }
  return NULL;
}

int main(int count, char **arguments) {
  pthread_t thread;
  pthread_create(&thread, NULL, worker, NULL);
  if (count > 1) {
    atomic_store(&stop, 1);
  } else {
    atomic_store(&work, 1);
    while (atomic_load(&work))
      sched_yield();
    atomic_store(&stop, 1);
  }
  pthread_join(thread, NULL);
  return 0;
}
