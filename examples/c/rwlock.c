// throng check examples/c/rwlock.c : SAFE
// A readers-writer lock: a mutex protects the number of readers and the flag of the writer.
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int readers, writing;
int data, copy;

void lock_shared(void) {
  pthread_mutex_lock(&mutex);
  while (writing) {
    pthread_cond_wait(&changed, &mutex);
  }
  readers++;
  pthread_mutex_unlock(&mutex);
}

void unlock_shared(void) {
  pthread_mutex_lock(&mutex);
  readers--;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

void lock_exclusive(void) {
  pthread_mutex_lock(&mutex);
  while (writing || readers > 0) {
    pthread_cond_wait(&changed, &mutex);
  }
  writing = 1;
  pthread_mutex_unlock(&mutex);
}

void unlock_exclusive(void) {
  pthread_mutex_lock(&mutex);
  writing = 0;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}

void *reader(void *unused) {
  while (1) {
    lock_shared();
    assert(data == copy);
    unlock_shared();
  }
}

void *writer(void *unused) {
  while (1) {
    lock_exclusive();
    data = 1 - data;
    copy = 1 - copy;
    unlock_exclusive();
  }
}

int main(void) {
  while (1) {
    pthread_t t;
    pthread_create(&t, 0, reader, 0);
    pthread_create(&t, 0, writer, 0);
  }
}
