// throng check examples/c/pool-broken.c --deadlock : UNSAFE
// A thread pool that is closed with a signal instead of a broadcast: one worker waits for ever, and so does who joins it.
#include <assert.h>
#include <pthread.h>

enum { WORKERS = 2, JOBS = 2 };

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int queued, closed, done;

void *worker(void *unused) {
  pthread_mutex_lock(&lock);
  while (1) {
    while (queued == 0 && !closed)
      pthread_cond_wait(&changed, &lock);
    if (queued == 0)
      break;
    queued--;
    done++;
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t workers[WORKERS];
  for (int i = 0; i < WORKERS; i++)
    pthread_create(&workers[i], 0, worker, 0);
  for (int i = 0; i < JOBS; i++) {
    pthread_mutex_lock(&lock);
    queued++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
  }
  pthread_mutex_lock(&lock);
  closed = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < WORKERS; i++)
    pthread_join(workers[i], 0);
  assert(done == JOBS);
  return 0;
}
