/* ---- the turnstile ---- */
enum { __THRONG_THREADS = __THRONG_KNOWN + 1, __THRONG_HELD = 4096, __THRONG_ANY = 3, __THRONG_PATIENCE = 10000000 };
static int __throng_now, __throng_count = __THRONG_FIRST, __throng_racing, __throng_idle;
static __thread int __throng_me = -1, __throng_at = -1, __throng_holds, __throng_depth, __throng_input_at, __throng_found_at;
/* How often this thread came by the access that it waits for next, unseen. */
static __thread int __throng_skipped;
static struct { void *function, *argument, *result; int ended; } __throng_threads[__THRONG_THREADS];

static void __throng_impossible(const char *why) {
  __throng_print(2, "replay: thread %d: %s\n", __throng_me, why);
  __throng_quit(3);
}
/* Ends the program: it has not gone on as the schedule says. */
static void __throng_stalled(int now) {
  if (now == __THRONG_STEPS) __throng_print(2, "replay: all steps were made, and nothing was violated\n");
  else
    __throng_print(2, "replay: thread %d does not make step %d of %d, at line %d\n", __throng_order[now].thread, now + 1, __THRONG_STEPS,
                   __throng_order[now].line);
  __throng_quit(3);
}
/* Waits until so many steps are made; -1: for ever. Microseconds without a step are counted. */
static void __throng_await(int steps) {
  int now, before = -1, idle = 0;
  while ((now = __atomic_load_n(&__throng_now, __ATOMIC_SEQ_CST)) != steps) {
    int nap = steps < 0 ? 50000 : steps - now < 3 ? 20 : 500;
    if (now != before) { before = now; idle = 0; }
    idle += nap + 50;
    if (idle > __THRONG_PATIENCE) __throng_stalled(now);
    __throng_sleep(nap);
  }
}
void __throng_park(void) { __throng_await(-1); }

/* Ends the step that this thread is in. */
static void __throng_release(void) {
  if (!__throng_holds) return;
  __throng_holds = 0;
  __throng_dump(__throng_at);
  __atomic_store_n(&__throng_now, __throng_at + 1, __ATOMIC_SEQ_CST);
  if (__throng_at + 1 == __THRONG_STEPS && !__THRONG_FAILS) __throng_quit(0);
}
static int __throng_next(void) {
  int i = __throng_at + 1;
  while (i < __THRONG_STEPS && __throng_order[i].thread != __throng_me) i++;
  return i;
}
/* Whether this thread has come to an access that it waits for; accesses at the same place that no other thread sees come before. */
static int __throng_arrived(int at_site, int at_kind, int skip, int site, int kind) {
  if (at_site != site || (kind != __THRONG_ANY && at_kind != kind)) return 0;
  return __throng_skipped++ >= skip;
}
/* The access that races is not made: both threads stop in front of theirs. */
static int __throng_is_racing(void) {
  return __THRONG_FAILS && __throng_me < __THRONG_KNOWN && __throng_last[__throng_me].races && __throng_next() == __THRONG_STEPS;
}
static void __throng_race(int site, int kind) {
  if (!__throng_arrived(__throng_last[__throng_me].site, __throng_last[__throng_me].kind, __throng_last[__throng_me].skip, site, kind)) return;
  __throng_release();
  __throng_await(__THRONG_STEPS);
  if (__atomic_add_fetch(&__throng_racing, 1, __ATOMIC_SEQ_CST) == 2) __throng_failed("data race");
  __throng_park();
}
/* Waits for this thread's turn at an access that other threads can see; 0 if it is not one of the run. */
static int __throng_take(int site, int kind) {
  int i;
  if (__throng_is_racing()) { __throng_race(site, kind); return 0; }
  if (__throng_depth > 0) return 0;
  i = __throng_next();
  if (i == __THRONG_STEPS) {
    if (__THRONG_STUCK || __throng_me < __THRONG_KNOWN && __throng_last[__throng_me].goes_on) return 0;
    /* A run that ends anywhere: the last step goes on up to the access that would have been next. */
    if (!__THRONG_FAILS && __throng_me < __THRONG_KNOWN && __throng_last[__throng_me].site != site) return 0;
    __throng_release();
    __throng_park();
  }
  /* Another access: no other thread sees it, and it belongs to the step before. */
  if (!__throng_arrived(__throng_order[i].site, __throng_order[i].kind, __throng_order[i].skip, site, kind)) return 0;
  __throng_release();
  __throng_await(i);
  __throng_at = i;
  __throng_holds = 1;
  __throng_skipped = 0;
  return 1;
}
/* The same where this thread need not get a turn: it goes on in any case. */
int __throng_maybe(int site, int kind) {
  int i = __throng_next();
  if (i < __THRONG_STEPS && (__throng_order[i].site != site || __throng_order[i].kind != kind)) return 0;
  if (i == __THRONG_STEPS && !__throng_is_racing()) return 0;
  return __throng_take(site, kind);
}
/* Every turn that comes next and is one of these. */
void __throng_all(int site, int kind) { while (__throng_maybe(site, kind)) ; }
/* Deadlocks: a thread that has ended or cannot go on is idle. */
void __throng_failed(const char *what);
static void __throng_rest(void) {
  if (__atomic_add_fetch(&__throng_idle, 1, __ATOMIC_SEQ_CST) == __throng_count && __THRONG_STUCK) {
    __throng_await(__THRONG_STEPS);
    __throng_failed("deadlock: no thread can go on");
  }
}
/* Before something that may have to wait. 1 if the run ends in a deadlock, and this thread has come to its end: all others have made their steps. */
static int __throng_before(int site) {
  if (__throng_depth > 0) return 0;
  if (!__THRONG_STUCK || __throng_next() < __THRONG_STEPS) { __throng_take(site, __THRONG_ANY); return 0; }
  __throng_release();
  __throng_await(__THRONG_STEPS);
  return 1;
}
/* What a thread waits for does not come about: that is as it should be at the end of such a run, and nowhere else. */
static void __throng_blocked(int last, const char *why) {
  if (!last) __throng_impossible(why);
  __throng_print(2, "replay: thread %d: %s\n", __throng_me, why);
  __throng_rest();
  __throng_park();
}
static void __throng_free(int last) {
  if (last) __throng_impossible("no deadlock: this thread can go on");
}
void __throng_turn(int site, int kind) { __throng_take(site, kind); }
int __throng_pass(int site) { __throng_take(site, __THRONG_ANY); return 0; }
void __throng_begin(int site) { __throng_take(site, __THRONG_ANY); __throng_depth++; }
void __throng_end(void) { if (__throng_depth > 0) __throng_depth--; }
static long long __throng_pop(const struct __throng_value *list, int count, int *at, int site, int *found) {
  int i;
  *found = 0;
  for (i = *at; i < count; i++)
    if (list[i].thread == __throng_me) {
      if (list[i].site != site) return 0;
      *at = i + 1;
      *found = 1;
      return list[i].value;
    }
  return 0;
}
long long __throng_input(int site) {
  int found;
  return __throng_pop(__throng_inputs, __THRONG_INPUTS, &__throng_input_at, site, &found);
}
/* Compares a floating-point number with the bits that it should have; those of a NaN are open. */
void __throng_compare(int step, const char *name, const volatile void *at, long long bits, int size) {
  float narrow[2];
  double wide[2];
  __builtin_memcpy(narrow, (const void *)at, 4);
  __builtin_memcpy(narrow + 1, &bits, 4);
  wide[0] = narrow[0], wide[1] = narrow[1];
  if (size == 8) {
    __builtin_memcpy(wide, (const void *)at, 8);
    __builtin_memcpy(wide + 1, &bits, 8);
  }
  if (wide[0] != wide[0] && wide[1] != wide[1] || !__builtin_memcmp(wide, wide + 1, 8)) return;
  __throng_print(1, "step %d: %s is %.17g, not %.17g\n", step, name, wide[0], wide[1]);
  __throng_quit(4);
}
double __throng_double(int site) {
  long long v = __throng_input(site);
  double number;
  __builtin_memcpy(&number, &v, sizeof number);
  return number;
}
float __throng_float(int site) {
  int v = (int)__throng_input(site);
  float number;
  __builtin_memcpy(&number, &v, sizeof number);
  return number;
}
void __throng_open(int site, void *to, unsigned long size) {
  long long v = __throng_input(site);
  __builtin_memcpy(to, &v, size < sizeof v ? size : sizeof v);
}
void __throng_scan(int site, void *to, unsigned long size) {
  long long v = __throng_input(site);
  __throng_turn(site, 1);
  __builtin_memcpy(to, &v, size < sizeof v ? size : sizeof v);
}
void __throng_read(int site, void *from, unsigned long size) {
  int found;
  long long v;
  __throng_take(site, 0);
  v = __throng_pop(__throng_founds, __THRONG_FOUNDS, &__throng_found_at, site, &found);
  if (found) __builtin_memcpy(from, &v, size < sizeof v ? size : sizeof v);
}
void __throng_copy(int site, void *to, void *from, int count, const int *parts) {
  long long part;
  int i;
  for (i = 0; i < count; i++) {
    int offset = parts[2 * i], size = parts[2 * i + 1];
    __throng_read(site, (char *)from + offset, size);
    __builtin_memcpy(&part, (char *)from + offset, size);
    __throng_take(site, 1);
    __builtin_memcpy((char *)to + offset, &part, size);
  }
}
/* One step, or one for each byte. */
void *__throng_fill(int site, void *to, int value, unsigned long size) {
  unsigned long i;
  for (i = 0; i < size; i++) {
    __throng_take(site, 1);
    ((char *)to)[i] = value;
  }
  return to;
}
char *__throng_copy_text(int site, char *to, char *from) {
  unsigned long i = 0;
  char c;
  do {
    __throng_read(site, from + i, 1);
    c = from[i];
    __throng_take(site, 1);
    to[i++] = c;
  } while (c);
  return to;
}
void __throng_failed(const char *what) {
  __throng_print(2, "replay: thread %d: %s\n", __throng_me, what);
  __throng_abort();
}
void __throng_arithmetic(int op, int is_signed, int size, long long x, long long y) {
  long long most = size == 8 ? 0x7fffffffffffffffLL : (1LL << (size * 8 - 1)) - 1, result = 0;
  int over = 0;
  if ((op == '/' || op == '%') && y == 0) __throng_failed("a divisor is zero");
  if ((op == '<' || op == '>') && (y < 0 || y >= size * 8)) __throng_failed("a shift is too far");
  if (!is_signed) return;
  if (op == '+') over = __builtin_add_overflow(x, y, &result);
  if (op == '-') over = __builtin_sub_overflow(x, y, &result);
  if (op == '*') over = __builtin_mul_overflow(x, y, &result);
  if (op == '/' || op == '%') over = y == -1 && x == -most - 1;
  if (op == '<') over = x < 0 || x > most >> y;
  if (over || result > most || result < -most - 1) __throng_failed("a signed integer overflows");
}
void __throng_failed_assertion(const char *what) {
  if (!__THRONG_ASSERTS) __throng_impossible("an assertion fails, which is not what was asked about");
  __throng_print(2, "replay: thread %d: the assertion fails%s%s\n", __throng_me, what ? ": " : "", what ? what : "");
  __throng_abort();
}
void __throng_assert(int holds) { if (!holds) __throng_failed_assertion(0); }
void __throng_assume(int holds) { if (!holds) { if (__throng_depth == 0) __throng_release(); __throng_park(); } }

/* ---- threads ---- */
static void *__throng_body(void *me) {
  int k = (int)(unsigned long)me;
  __throng_me = k;
  void *result = ((void *(*)(void *))__throng_threads[k].function)(__throng_threads[k].argument);
  __throng_exit(k < __THRONG_KNOWN ? __throng_last[k].end : 0, result);
  return result;
}
static void __throng_start(int k, void *function, void *argument) {
  __throng_threads[k].function = function;
  __throng_threads[k].argument = argument;
  unsigned long id;
  if (__throng_pthread_create(&id, 0, __throng_body, (void *)(unsigned long)k)) __throng_impossible("a thread cannot be created");
  /* Who joins it looks at `ended`; so its stack is free as soon as it ends. */
  __throng_pthread_detach(id);
}
int __throng_create(int site, void *handle, unsigned long size, void *function, void *argument) {
  int k;
  __throng_take(site, __THRONG_ANY);
  k = __throng_count++;
  if (k >= __THRONG_KNOWN) __throng_impossible("a thread is created that is none of the run");
  __throng_start(k, function, argument);
  __throng_maybe(site, 1);
  /* 0 is the handle of no thread. */
  unsigned long number = __THRONG_NUMBERED ? k + 1 : 1;
  if (handle) __builtin_memcpy(handle, &number, size < sizeof number ? size : sizeof number);
  return 0;
}
int __throng_join(int site, unsigned long handle, void **result) {
  int last = __throng_before(site);
  unsigned long number = handle - 1;
  if (number >= (unsigned long)__throng_count) __throng_impossible("a thread is joined that there is not");
  if (last && !__atomic_load_n(&__throng_threads[number].ended, __ATOMIC_SEQ_CST)) __throng_blocked(last, "waits for the end of a thread");
  __throng_free(last);
  while (!__atomic_load_n(&__throng_threads[number].ended, __ATOMIC_SEQ_CST)) __throng_sleep(20);
  if (result) { __throng_maybe(site, 1); *result = __throng_threads[number].result; }
  return 0;
}
enum { __THRONG_KEYS = 16 };
static int __throng_keys;
static void *__throng_functions[__THRONG_KEYS];
static __thread void *__throng_specific[__THRONG_KEYS];
int __throng_key_create(int site, void *key, unsigned long size, void *function) {
  unsigned k;
  __throng_take(site, __THRONG_ANY);
  k = __throng_keys++;
  if (k >= __THRONG_KEYS) __throng_impossible("too many keys");
  __throng_functions[k] = function;
  __throng_maybe(site, 1);
  __builtin_memcpy(key, &k, size < sizeof k ? size : sizeof k);
  return 0;
}
int __throng_key_delete(int site, unsigned key) {
  __throng_take(site, __THRONG_ANY);
  __throng_functions[key] = 0;
  return 0;
}
int __throng_set_specific(unsigned key, void *value) { __throng_specific[key] = value; return 0; }
void *__throng_get_specific(unsigned key) { return __throng_specific[key]; }
void __throng_exit(int site, void *result) {
  int key;
  for (key = 0; key < __THRONG_KEYS; key++)
    if (__throng_specific[key]) {
      void *value = __throng_specific[key];
      __throng_take(site, 0);
      if (!__throng_functions[key]) continue;
      __throng_specific[key] = 0;
      ((void (*)(void *))__throng_functions[key])(value);
      key = -1;
    }
  __throng_threads[__throng_me].result = result;
  __atomic_store_n(&__throng_threads[__throng_me].ended, 1, __ATOMIC_SEQ_CST);
  __throng_release();
  __throng_rest();
  __throng_pthread_exit(result);
}
unsigned long __throng_self(void) { return __throng_me + 1; }
void *__throng_malloc(int site, unsigned long size) {
  __throng_take(site, __THRONG_ANY);
  return __throng_calloc(1, size);
}
void *__throng_realloc(int site, void *p, unsigned long size) {
  __throng_take(site, __THRONG_ANY);
  return __throng_real_realloc(p, size);
}
/* An array whose size is not constant is allocated, and its block left: a variable has the site. */
unsigned long __throng_array(int site, unsigned long size) {
  __throng_take(site, __THRONG_ANY);
  return size;
}
void __throng_leave_array(void *site) { __throng_take((int)*(long *)site, __THRONG_ANY); }
/* Memory is given back only where that is to be seen: else a later call could not get another address. */
void __throng_give_back(int site, void *p) {
  __throng_take(site, __THRONG_ANY);
  if (__THRONG_MEMORY) __throng_real_free(p);
}
/* All turns of a call of the library; its accesses are made after the last of them. */
void __throng_call(int site) {
  for (;;) {
    int i = __throng_next();
    if (__throng_is_racing()) {
      __throng_skipped = __throng_last[__throng_me].skip;
      __throng_race(site, __THRONG_ANY);
      return;
    }
    if (__throng_depth > 0) return;
    if (i < __THRONG_STEPS && __throng_order[i].site != site) return;
    if (i < __THRONG_STEPS) __throng_skipped = __throng_order[i].skip;
    if (!__throng_take(site, __THRONG_ANY)) return;
  }
}

/* ---- locks: the schedule says who goes when, so that none of them has to wait ---- */
/* Their words are those of the program that was checked, in the same places, so that who writes them directly is seen. */
static __thread const volatile void *__throng_held[__THRONG_HELD];
static __thread int __throng_holdings;
static int *__throng_word(int site, const volatile void *lock, int offset) {
  int found, v = (int)__throng_pop(__throng_founds, __THRONG_FOUNDS, &__throng_found_at, site, &found);
  int *word = (int *)((char *)lock + offset);
  if (found) *word = v;
  return word;
}
static void __throng_put(const volatile void *lock, int offset, int v) { *(int *)((char *)lock + offset) = v; }
static int __throng_acquired(const volatile void *lock) {
  if (__throng_holdings == __THRONG_HELD) __throng_impossible("too many locks are held");
  __throng_held[__throng_holdings++] = lock;
  return 0;
}
static void __throng_released(const volatile void *lock) {
  int i;
  for (i = 0; i < __throng_holdings; i++)
    if (__throng_held[i] == lock) { __throng_held[i] = __throng_held[--__throng_holdings]; return; }
  if (__THRONG_MISUSE) __throng_failed("a lock is released that the thread does not hold");
}
int __throng_reset(int site, const volatile void *lock, int value) {
  __throng_take(site, __THRONG_ANY);
  __throng_put(lock, 0, value);
  return 0;
}
/* A mutex that knows its owner: the number of the owner and how often it is held beyond the first time; 1 is a recursive one, 2 one that
   checks for errors. */
enum { __THRONG_COUNT = 4, __THRONG_KIND = 16 };
int __throng_init(int site, const volatile void *lock, const volatile void *attribute, int known) {
  __throng_reset(site, lock, 0);
  if (__THRONG_RECURSIVE && known) {
    __throng_put(lock, __THRONG_COUNT, 0);
    __throng_put(lock, __THRONG_KIND, attribute ? *__throng_word(site, attribute, 0) : 0);
  }
  return 0;
}
int __throng_destroy(int site, const volatile void *lock) {
  __throng_take(site, __THRONG_ANY);
  if (*__throng_word(site, lock, 0) && __THRONG_MISUSE) __throng_failed("a mutex is destroyed while it is held");
  return 0;
}
int __throng_lock(int site, const volatile void *lock, int waits, int known) {
  int last = __throng_before(site), owner, *word = __throng_word(site, lock, 0);
  known = known && __THRONG_RECURSIVE;
  owner = known ? __throng_me + 1 : 1;
  if (*word) {
    int kind = known ? *__throng_word(site, lock, __THRONG_KIND) : 0, mine = known && *word == owner;
    if (mine && kind == 1) { __throng_free(last); ++*__throng_word(site, lock, __THRONG_COUNT); return 0; }
    if (!waits) return 16;
    if (mine && kind == 2) { __throng_free(last); return 35; }
    __throng_blocked(last, "waits for a lock that is held");
  }
  __throng_free(last);
  *word = owner;
  return __throng_acquired(lock);
}
int __throng_unlock(int site, const volatile void *lock, int known) {
  __throng_take(site, __THRONG_ANY);
  if (__THRONG_RECURSIVE && known && *__throng_word(site, lock, __THRONG_KIND)) {
    if (*__throng_word(site, lock, 0) != __throng_me + 1) return 1;
    if (*__throng_word(site, lock, __THRONG_COUNT)) { --*__throng_word(site, lock, __THRONG_COUNT); return 0; }
  }
  __throng_put(lock, 0, 0);
  __throng_released(lock);
  return 0;
}
/* -1 is a writer; a positive number, readers. */
int __throng_read_lock(int site, const volatile void *lock, int waits) {
  int last = __throng_before(site), *word = __throng_word(site, lock, 0);
  if (*word == -1) {
    if (!waits) return 16;
    __throng_blocked(last, "waits for a lock that is held");
  }
  __throng_free(last);
  ++*word;
  return __throng_acquired(lock);
}
int __throng_write_lock(int site, const volatile void *lock, int waits) {
  int last = __throng_before(site), *word = __throng_word(site, lock, 0);
  if (*word) {
    if (!waits) return 16;
    __throng_blocked(last, "waits for a lock that is held");
  }
  __throng_free(last);
  *word = -1;
  return __throng_acquired(lock);
}
int __throng_rw_unlock(int site, const volatile void *lock) {
  __throng_take(site, __THRONG_ANY);
  int *word = __throng_word(site, lock, 0);
  *word = *word == -1 ? 0 : *word - 1;
  __throng_released(lock);
  return 0;
}
/* Of a condition, the number of threads that wait and that of those that have been woken and not yet gone on. */
int __throng_cond_init(int site, const volatile void *condition, unsigned long size) {
  __throng_pass(site);
  if (size >= 8) { __throng_put(condition, 0, 0); __throng_put(condition, 4, 0); }
  return 0;
}
int __throng_wait(int site, const volatile void *condition, const volatile void *lock, int steps, int known) {
  __throng_unlock(site, lock, known);
  if (steps > 2) {
    int *count = (int *)condition, *woken = count + 1, last;
    ++*count;
    last = __throng_before(site);
    if (last && *woken == 0) __throng_blocked(last, "waits for a signal");
    __throng_free(last);
    if (*woken > 0) --*woken;
    else if (*count > 0) --*count;
  }
  return __throng_lock(site, lock, 1, known);
}
int __throng_signal(int site, const volatile void *condition, int all) {
  int *count = (int *)condition, *woken = count + 1, n;
  if (!__THRONG_WAITS) return __throng_pass(site);
  __throng_take(site, __THRONG_ANY);
  n = all ? *count : *count > 0;
  *count -= n;
  *woken += n;
  return 0;
}
int __throng_sem_post(int site, const volatile void *sem) {
  __throng_take(site, __THRONG_ANY);
  ++*__throng_word(site, sem, 0);
  return 0;
}
int __throng_sem_wait(int site, const volatile void *sem, int waits) {
  int last = __throng_before(site), *word = __throng_word(site, sem, 0);
  if (*word <= 0) {
    if (!waits) return -1;
    __throng_blocked(last, "waits for a semaphore that is 0");
  }
  __throng_free(last);
  --*word;
  return 0;
}
int __throng_sem_value(int site, const volatile void *sem, int *to) {
  __throng_take(site, 0);
  int v = *__throng_word(site, sem, 0);
  __throng_maybe(site, 1);
  *to = v;
  return 0;
}
/* How many meet, how many are there, how often they have met. */
int __throng_barrier_init(int site, const volatile void *barrier, int count) {
  __throng_reset(site, barrier, count);
  __throng_put(barrier, 4, 0);
  __throng_put(barrier, 8, 0);
  return 0;
}
int __throng_barrier(int site, const volatile void *barrier) {
  __throng_take(site, __THRONG_ANY);
  int *count = __throng_word(site, barrier, 0), *here = __throng_word(site, barrier, 4), *met = __throng_word(site, barrier, 8);
  int round = *met, last;
  if (++*here == *count) { *here = 0; ++*met; return -1; }
  last = __throng_before(site);
  if (*met == round) __throng_blocked(last, "waits at a barrier");
  __throng_free(last);
  return 0;
}
/* 0 not begun, 1 running, 2 done. */
int __throng_once(int site, const volatile void *once, void (*function)(void)) {
  int last = __throng_before(site), *word = __throng_word(site, once, 0);
  if (*word == 1) __throng_blocked(last, "waits for the end of a function that is called once");
  __throng_free(last);
  if (*word == 0) {
    *word = 1;
    function();
    __throng_take(site, 1);
    *word = 2;
  }
  return 0;
}
static int __throng_inside[64];
int __throng_enter(int site, int place) {
  __throng_take(site, __THRONG_ANY);
  if (__throng_inside[place]) __throng_failed("two threads are at places that exclude one another");
  __throng_inside[place] = 1;
  return 0;
}
void __throng_leave(int site, int place) {
  __throng_take(site, __THRONG_ANY);
  __throng_inside[place] = 0;
}
