// throng check examples/c/barrier.c --assertions --deadlock : SAFE
// A barrier for two threads, used twice: who comes last opens the next round.
#include <assert.h>
#include <pthread.h>

enum { PARTIES = 2 };

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
int arrived, round_number;
int done[2];

void barrier(void) {
  pthread_mutex_lock(&lock);
  int mine = round_number;
  if (++arrived == PARTIES) {
    arrived = 0;
    round_number++;
    pthread_cond_broadcast(&opened);
  }
  while (mine == round_number)
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
