/* The queue: what is in it and whether it is closed are protected by one lock. */
#include "crawler.h"

enum { ROOM = 8 };

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int pages[ROOM];
static int number, closed;

void put(int page) {
  pthread_mutex_lock(&queue_lock);
  while (number == ROOM)
    pthread_cond_wait(&changed, &queue_lock);
  pages[number++] = page;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&queue_lock);
}

int take(void) {
  int page = -1;
  pthread_mutex_lock(&queue_lock);
  while (number == 0 && !closed)
    pthread_cond_wait(&changed, &queue_lock);
  if (number > 0)
    page = pages[--number];
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&queue_lock);
  return page;
}

void close_queue(void) {
  pthread_mutex_lock(&queue_lock);
  closed = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&queue_lock);
}
