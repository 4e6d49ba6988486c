/* The queue: a list and a flag, both protected by one lock. */
#include "crawler.h"

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct page *first;
  int closed;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};

void put(struct page *page) {
  pthread_mutex_lock(&queue.lock);
  page->next = queue.first;
  queue.first = page;
  pthread_cond_signal(&queue.changed);
  pthread_mutex_unlock(&queue.lock);
}

/* Returns a page that now belongs to the caller, or NULL at the end. */
struct page *take(void) {
  pthread_mutex_lock(&queue.lock);
  while (!queue.first && !queue.closed)
    pthread_cond_wait(&queue.changed, &queue.lock);
  struct page *page = queue.first;
  if (page)
    queue.first = page->next;
  pthread_mutex_unlock(&queue.lock);
  return page;
}

void close_queue(void) {
  pthread_mutex_lock(&queue.lock);
  queue.closed = 1;
  pthread_cond_broadcast(&queue.changed);
  pthread_mutex_unlock(&queue.lock);
}
