/* ---- the turnstile ---- */
enum { __THRONG_THREADS = 256, __THRONG_LOCKS = 4096, __THRONG_OTHER = 3 };
static int __throng_now, __throng_count = __THRONG_FIRST, __throng_racing, __throng_idle;
static __thread int __throng_me = -1, __throng_at = -1, __throng_holds, __throng_depth, __throng_input_at, __throng_found_at;
static struct { unsigned long id; void *function, *argument, *result; int ended; } __throng_threads[__THRONG_THREADS];
static struct { const volatile void *lock; int value, owner, count, kind; } __throng_locks[__THRONG_LOCKS];

static void __throng_impossible(const char *why) {
  __throng_print(2, "replay: thread %d: %s\n", __throng_me, why);
  __throng_quit(3);
}
void __throng_park(void) { for (;;) __throng_sleep(1000000); }

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
/* Waits for this thread's turn at an access that other threads can see; 0 if it is not one of the run. */
static int __throng_take(int site, int kind) {
  int i;
  if (__throng_depth > 0) return 0;
  i = __throng_next();
  if (i == __THRONG_STEPS) {
    if (__THRONG_STUCK || __throng_me < __THRONG_KNOWN && __throng_last[__throng_me].goes_on) return 0;
    /* A run that ends anywhere: the last step goes on up to the access that would have been next. */
    if (!__THRONG_FAILS && __throng_me < __THRONG_KNOWN && __throng_last[__throng_me].site != site) return 0;
    __throng_release();
    if (__THRONG_FAILS && __throng_me < __THRONG_KNOWN && __throng_last[__throng_me].site == site) {
      if (__atomic_add_fetch(&__throng_racing, 1, __ATOMIC_SEQ_CST) == 2) __throng_failed("data race");
      __throng_park();
    }
    __throng_park();
  }
  /* Another access: no other thread sees it, and it belongs to the step before. */
  if (__throng_order[i].site != site || (kind != __THRONG_OTHER && __throng_order[i].kind != kind)) return 0;
  __throng_release();
  while (__atomic_load_n(&__throng_now, __ATOMIC_SEQ_CST) != i) __throng_sleep(20);
  __throng_at = i;
  __throng_holds = 1;
  return 1;
}
/* The same where this thread need not get a turn: it goes on in any case. */
void __throng_maybe(int site, int kind) {
  int i = __throng_next();
  if (i < __THRONG_STEPS && __throng_order[i].site == site && __throng_order[i].kind == kind) __throng_take(site, kind);
}
/* Deadlocks: a thread that has ended or cannot go on is idle. */
void __throng_failed(const char *what);
static void __throng_rest(void) {
  if (__atomic_add_fetch(&__throng_idle, 1, __ATOMIC_SEQ_CST) == __throng_count && __THRONG_STUCK) {
    while (__atomic_load_n(&__throng_now, __ATOMIC_SEQ_CST) != __THRONG_STEPS) __throng_sleep(20);
    __throng_failed("deadlock: no thread can go on");
  }
}
/* Before something that may have to wait. 1 if the run ends in a deadlock, and this thread has come to its end: all others have made their steps. */
static int __throng_before(int site) {
  if (!__THRONG_STUCK || __throng_next() < __THRONG_STEPS) { __throng_take(site, __THRONG_OTHER); return 0; }
  __throng_release();
  while (__atomic_load_n(&__throng_now, __ATOMIC_SEQ_CST) != __THRONG_STEPS) __throng_sleep(20);
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
int __throng_pass(int site) { __throng_take(site, __THRONG_OTHER); return 0; }
void __throng_begin(int site) { __throng_before(site); __throng_depth++; }
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
void __throng_assert(int holds) { if (!holds) __throng_failed("the assertion fails"); }
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
  if (__throng_pthread_create(&__throng_threads[k].id, 0, __throng_body, (void *)(unsigned long)k))
    __throng_impossible("a thread cannot be created");
}
int __throng_create(int site, void *handle, unsigned long size, void *function, void *argument) {
  int k;
  __throng_take(site, __THRONG_OTHER);
  k = __throng_count++;
  if (k >= __THRONG_THREADS) __throng_impossible("too many threads");
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
  __throng_pthread_join(__throng_threads[number].id, 0);
  if (result) { __throng_maybe(site, 1); *result = __throng_threads[number].result; }
  return 0;
}
enum { __THRONG_KEYS = 16 };
static int __throng_keys;
static void *__throng_functions[__THRONG_KEYS];
static __thread void *__throng_specific[__THRONG_KEYS];
int __throng_key_create(int site, void *key, unsigned long size, void *function) {
  unsigned k;
  __throng_take(site, __THRONG_OTHER);
  k = __throng_keys++;
  if (k >= __THRONG_KEYS) __throng_impossible("too many keys");
  __throng_functions[k] = function;
  __throng_maybe(site, 1);
  __builtin_memcpy(key, &k, size < sizeof k ? size : sizeof k);
  return 0;
}
int __throng_key_delete(int site, unsigned key) {
  __throng_take(site, __THRONG_OTHER);
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
  __throng_take(site, __THRONG_OTHER);
  return __throng_calloc(1, size);
}
/* One access of a function of the library; if other threads do not see it, it takes no turn. */
static int __throng_access(int site, int kind) {
  int i = __throng_next();
  if (__throng_depth > 0) return 0;
  /* A thread that is to race somewhere else goes on. */
  if (i == __THRONG_STEPS && __throng_me < __THRONG_KNOWN && __throng_last[__throng_me].site >= 0 && __throng_last[__throng_me].site != site) return 0;
  if (i < __THRONG_STEPS && __throng_order[i].site != site) return 0;
  return __throng_take(site, kind);
}
/* All turns of a call of the library. */
void __throng_call(int site) { while (__throng_access(site, __THRONG_OTHER)) {} }
void *__throng_set(int site, void *to, int value, unsigned long n) {
  unsigned long i;
  for (i = 0; i < n; i++) { __throng_access(site, 1); ((volatile unsigned char *)to)[i] = (unsigned char)value; }
  return to;
}

/* ---- locks: the schedule says who goes when, so that none of them has to wait ---- */
static __thread const volatile void *__throng_held[__THRONG_LOCKS];
static __thread int __throng_holdings;
static int __throng_state(const volatile void *lock) {
  int i;
  for (i = 0; i < __THRONG_LOCKS; i++) {
    if (__throng_locks[i].lock == lock) return i;
    if (__throng_locks[i].lock == 0) { __throng_locks[i].lock = lock; __throng_locks[i].kind = -1; return i; }
  }
  __throng_impossible("too many locks");
  return 0;
}
static int __throng_acquired(const volatile void *lock) {
  if (__throng_holdings == __THRONG_LOCKS) __throng_impossible("too many locks are held");
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
  __throng_take(site, __THRONG_OTHER);
  int i = __throng_state(lock);
  __throng_locks[i].value = value;
  __throng_locks[i].count = 0;
  return 0;
}
int __throng_set_kind(int site, const volatile void *attribute, int kind) {
  __throng_take(site, __THRONG_OTHER);
  __throng_locks[__throng_state(attribute)].kind = kind;
  return 0;
}
int __throng_init(int site, const volatile void *lock, const volatile void *attribute) {
  __throng_reset(site, lock, 0);
  __throng_locks[__throng_state(lock)].kind = attribute ? __throng_locks[__throng_state(attribute)].kind : 0;
  return 0;
}
int __throng_destroy(int site, const volatile void *lock) {
  __throng_take(site, __THRONG_OTHER);
  if (__throng_locks[__throng_state(lock)].value && __THRONG_MISUSE) __throng_failed("a mutex is destroyed while it is held");
  return 0;
}
int __throng_lock(int site, const volatile void *lock, int waits) {
  int last = __throng_before(site), i = __throng_state(lock);
  if (__throng_locks[i].value) {
    int mine = __throng_locks[i].owner == __throng_me && !last;
    /* Kinds: 1 is recursive, 2 checks for errors, -1 is what a static initialiser says. */
    if (mine && (__throng_locks[i].kind == 1 || __throng_locks[i].kind == -1 && waits)) { __throng_locks[i].count++; return 0; }
    if (!waits) return 16;
    if (mine && __throng_locks[i].kind == 2) return 35;
    __throng_blocked(last, "waits for a lock that is held");
  }
  __throng_free(last);
  __throng_locks[i].value = 1;
  __throng_locks[i].owner = __throng_me;
  return __throng_acquired(lock);
}
int __throng_unlock(int site, const volatile void *lock) {
  __throng_take(site, __THRONG_OTHER);
  int i = __throng_state(lock);
  if (__throng_locks[i].count) { __throng_locks[i].count--; return 0; }
  __throng_locks[i].value = __throng_locks[i].value > 1 ? __throng_locks[i].value - 1 : 0;
  __throng_released(lock);
  return 0;
}
int __throng_read_lock(int site, const volatile void *lock, int waits) {
  int last = __throng_before(site), i = __throng_state(lock);
  if (__throng_locks[i].value < 0) {
    if (!waits) return 16;
    __throng_blocked(last, "waits for a lock that is held");
  }
  __throng_free(last);
  __throng_locks[i].value++;
  return __throng_acquired(lock);
}
int __throng_write_lock(int site, const volatile void *lock, int waits) {
  int last = __throng_before(site), i = __throng_state(lock);
  if (__throng_locks[i].value) {
    if (!waits) return 16;
    __throng_blocked(last, "waits for a lock that is held");
  }
  __throng_free(last);
  __throng_locks[i].value = -1;
  return __throng_acquired(lock);
}
/* Of a condition, the number of threads that wait and that of those that have been woken and not yet gone on. */
int __throng_wait(int site, const volatile void *condition, const volatile void *lock, int steps) {
  __throng_unlock(site, lock);
  if (steps > 2) {
    int i = __throng_state(condition), last;
    __throng_locks[i].count++;
    last = __throng_before(site);
    if (last && __throng_locks[i].value == 0) __throng_blocked(last, "waits for a signal");
    __throng_free(last);
    if (__throng_locks[i].value > 0) __throng_locks[i].value--;
    else if (__throng_locks[i].count > 0) __throng_locks[i].count--;
  }
  return __throng_lock(site, lock, 1);
}
int __throng_signal(int site, const volatile void *condition, int all) {
  __throng_take(site, __THRONG_OTHER);
  int i = __throng_state(condition), woken = all ? __throng_locks[i].count : __throng_locks[i].count > 0;
  __throng_locks[i].count -= woken;
  __throng_locks[i].value += woken;
  return 0;
}
int __throng_sem_post(int site, const volatile void *sem) {
  __throng_take(site, __THRONG_OTHER);
  __throng_locks[__throng_state(sem)].value++;
  return 0;
}
int __throng_sem_wait(int site, const volatile void *sem, int waits) {
  int last = __throng_before(site), i = __throng_state(sem);
  if (__throng_locks[i].value <= 0) {
    if (!waits) return -1;
    __throng_blocked(last, "waits for a semaphore that is 0");
  }
  __throng_free(last);
  __throng_locks[i].value--;
  return 0;
}
int __throng_sem_value(int site, const volatile void *sem, int *to) {
  __throng_take(site, 0);
  int v = __throng_locks[__throng_state(sem)].value;
  __throng_maybe(site, 1);
  *to = v;
  return 0;
}
int __throng_barrier(int site, const volatile void *barrier) {
  __throng_take(site, __THRONG_OTHER);
  int i = __throng_state(barrier), round = __throng_locks[i].owner, last;
  if (++__throng_locks[i].count == __throng_locks[i].value) { __throng_locks[i].count = 0; __throng_locks[i].owner++; return -1; }
  last = __throng_before(site);
  if (__throng_locks[i].owner == round) __throng_blocked(last, "waits at a barrier");
  __throng_free(last);
  return 0;
}
int __throng_once(int site, const volatile void *once, void (*function)(void)) {
  int last = __throng_before(site), i = __throng_state(once);
  if (__throng_locks[i].value == 1) __throng_blocked(last, "waits for the end of a function that is called once");
  __throng_free(last);
  if (__throng_locks[i].value == 0) {
    __throng_locks[i].value = 1;
    function();
    __throng_take(site, 1);
    __throng_locks[i].value = 2;
  }
  return 0;
}
static int __throng_inside[64];
int __throng_enter(int site, int place) {
  __throng_take(site, __THRONG_OTHER);
  if (__throng_inside[place]) __throng_failed("two threads are at places that exclude one another");
  __throng_inside[place] = 1;
  return 0;
}
void __throng_leave(int site, int place) {
  __throng_take(site, __THRONG_OTHER);
  __throng_inside[place] = 0;
}
