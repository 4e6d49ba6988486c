// throng check examples/c/phases.c --starvation begin_read : SAFE
// A phase-fair lock: a reader waits for at most one writer, at whose end it is let in.
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
int wanted, waiting;
atomic_int readers, phase;

void begin_read(void) {
  pthread_mutex_lock(&gate);
  if (!wanted) {
    readers++;
    pthread_mutex_unlock(&gate);
    return;
  }
  int mine = phase;
  waiting++;
  pthread_mutex_unlock(&gate);
  while (phase == mine) {
  }
}

void end_read(void) {
  pthread_mutex_lock(&gate);
  readers--;
  pthread_mutex_unlock(&gate);
}

void begin_write(void) {
  pthread_mutex_lock(&gate);
  wanted = 1;
  pthread_mutex_unlock(&gate);
  while (readers) {
  }
}

void end_write(void) {
  pthread_mutex_lock(&gate);
  wanted = 0;
  readers += waiting;
  waiting = 0;
  phase = !phase;
  pthread_mutex_unlock(&gate);
}

void *reader(void *unused) {
  for (;;) {
    begin_read();
    end_read();
  }
  return NULL;
}

int main(void) {
  pthread_t one;
  pthread_create(&one, NULL, reader, NULL);
  for (;;) {
    begin_write();
    end_write();
  }
  return 0;
}
