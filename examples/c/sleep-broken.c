// throng check examples/c/sleep-broken.c --stuck any : UNSAFE
// A mutex on a futex that forgets sleepers: after a wake-up, the word does not say that others sleep.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FREE, TAKEN, CONTENDED };

atomic_int word;
int data;

void lock(void) {
  int found = FREE;
  if (atomic_compare_exchange_strong(&word, &found, TAKEN))
    return;
  for (;;) {
    found = FREE;
    if (atomic_compare_exchange_strong(&word, &found, TAKEN))
      return;
    if (found == CONTENDED || atomic_compare_exchange_strong(&word, &found, CONTENDED))
      syscall(SYS_futex, &word, FUTEX_WAIT, CONTENDED, NULL, NULL, 0);
  }
}

void unlock(void) {
  if (atomic_exchange(&word, FREE) == CONTENDED)
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void *worker(void *unused) {
  lock();
  data++;
  unlock();
  return NULL;
}

int main(void) {
  pthread_t one, two;
  pthread_create(&one, NULL, worker, NULL);
  pthread_create(&two, NULL, worker, NULL);
  worker(NULL);
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  return 0;
}
