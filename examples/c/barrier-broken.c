// throng check examples/c/barrier-broken.c --deadlock : UNSAFE
// A barrier that waits for its counter: who comes back first for the next round sets the counter again before the other has seen it.
#include <assert.h>
#include <pthread.h>

enum { PARTIES = 2 };

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
int arrived, round_number;
int done[2];

void barrier(void) {
  pthread_mutex_lock(&lock);

  if (++arrived == PARTIES) {
    arrived = 0;
    round_number++;
    pthread_cond_broadcast(&opened);
  }
  while (arrived != 0)
    pthread_cond_wait(&opened, &lock);
  pthread_mutex_unlock(&lock);
}

void work(int me) {
  done[me] = 1;
  barrier();
  assert(done[1 - me] == 1);
  barrier();
  done[me] = 2;
}

void *other(void *unused) {
  work(1);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  work(0);
  pthread_join(t, 0);
  return 0;
}
