// A first program for Throng: threads that share a lock. It has a bug; `throng check` finds it.
//
// `main` starts any number of threads, which may be interrupted between any two accesses to shared
// memory. An assertion that fails in one of the executions makes the verdict UNSAFE.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int lock;                // 1: some thread holds the lock
int busy;                       // 1: some thread is in the critical section

void *worker(void *unused) {
  // The bug: between looking at the lock and taking it, another thread may do the same.
  // To mend it, do both in one step. Replace the next two lines by:
  //   while (atomic_exchange(&lock, 1)) {}
  while (atomic_load(&lock)) {}
  atomic_store(&lock, 1);

  assert(busy == 0);            // what must hold whenever a thread gets here
  busy = 1;
  busy = 0;

  atomic_store(&lock, 0);
  return unused;
}

int main(void) {
  for (;;) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
  }
}

// Next:
//   throng check FILE                       is it safe, for any number of threads?
//   throng check FILE --race                may two threads access `busy` at the same time?
//   throng check FILE --entry worker        the same question about a function, without a main
//   throng check FILE --replay bug.c        a C program that takes the steps of the run and fails
//   throng check FILE --html page.html      look at the run, or at the proof, in a browser
