// throng check examples/c/phases-broken.c --starvation begin_read : UNSAFE
// Readers wait while a writer wants to write: it may want to again whenever they look.
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
int wanted;
atomic_int readers;

void begin_read(void) {
  pthread_mutex_lock(&gate);
  while (wanted) {
    pthread_mutex_unlock(&gate);
    pthread_mutex_lock(&gate);
  }
  readers++;
  pthread_mutex_unlock(&gate);
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
