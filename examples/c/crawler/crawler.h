/* A crawler in three files: workers take pages from a queue and count what they see. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* queue.c */
void put(int page);
int take(void); /* a page, or -1 at the end */
void close_queue(void);

/* stats.c */
void count(int size);
int total(void);

/* main.c: written before the workers start, and read by them. */
extern int limit;
