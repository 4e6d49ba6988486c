/* As stats.c, but the total is read without the lock. */
#include "crawler.h"

static atomic_int pages;
static int size;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void count(const struct page *page) {
  atomic_fetch_add(&pages, 1);
  pthread_mutex_lock(&lock);
  size += page->size;
  pthread_mutex_unlock(&lock);
}

int total(void) { return size; }
