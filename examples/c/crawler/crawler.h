/* A crawler in three files: workers take pages from a queue and count what they see. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct page {
  int number;
  int size;
  struct page *next;
};

/* queue.c */
void put(struct page *page);
struct page *take(void);
void close_queue(void);

/* stats.c */
void count(const struct page *page);
int total(void);

/* main.c: written before the workers start, and read by them. */
extern int limit;
