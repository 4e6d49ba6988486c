#include "crawler.h"

int limit;

static void *worker(void *arg) {
  int *largest = arg; /* of this worker alone */
  struct page *page;
  while ((page = take())) {
    if (page->size > *largest)
      *largest = page->size;
    if (page->size < limit)
      count(page);
    free(page);
  }
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[4];
  int largest[4] = {0};
  limit = argc > 1 ? 100 : 1000;
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, worker, &largest[i]);
  for (int i = 0; i < 3; i++) {
    struct page *page = malloc(sizeof *page);
    if (!page)
      break;
    page->number = i;
    page->size = 10 * i;
    put(page);
  }
  close_queue();
  int seen = total();
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  return seen;
}
