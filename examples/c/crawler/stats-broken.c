/* As stats.c, but the total is read without the lock. */
#include "crawler.h"

static atomic_int pages;
static int size;
static pthread_mutex_t size_lock = PTHREAD_MUTEX_INITIALIZER;

void count(int of_page) {
  atomic_fetch_add(&pages, 1);
  pthread_mutex_lock(&size_lock);
  size += of_page;
  pthread_mutex_unlock(&size_lock);
}

int total(void) { return size; }
