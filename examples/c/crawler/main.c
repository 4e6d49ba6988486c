#include "crawler.h"

int limit;

struct tally {
  int largest, seen;
};

static void *worker(void *unused) {
  struct tally *own = malloc(sizeof *own); /* known to this worker alone */
  if (!own)
    return NULL;
  own->largest = own->seen = 0;
  for (int page = take(); page >= 0; page = take()) {
    own->seen++;
    if (page > own->largest)
      own->largest = page;
    if (page < limit)
      count(page);
  }
  free(own);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t threads[4];
  limit = argc > 1 ? 100 : 1000;
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, worker, NULL);
  for (int i = 0; i < 3; i++)
    put(10 * i);
  close_queue();
  int seen = total();
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], NULL);
  return seen;
}
