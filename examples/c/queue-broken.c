// throng check examples/c/queue-broken.c : UNSAFE
// A bounded queue that does not look again after it has waited.
#include <assert.h>
#include <pthread.h>

enum { SIZE = 1, ITEMS = 3 };

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int items[SIZE], count, first;

void put(int item) {
  pthread_mutex_lock(&lock);
  while (count == SIZE)
    pthread_cond_wait(&changed, &lock);
  items[(first + count) % SIZE] = item;
  count++;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
}

int take(void) {
  pthread_mutex_lock(&lock);
  if (count == 0)
    pthread_cond_wait(&changed, &lock);
  int item = items[first];
  first = (first + 1) % SIZE;
  count--;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return item;
}

void *producer(void *unused) {
  for (int i = 0; i < ITEMS; i++)
    put(i);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, producer, 0);
  for (int i = 0; i < ITEMS; i++)
    assert(take() == i);
  return 0;
}
