/* Written by throng: the program below is forced through one schedule, with the inputs of that run.
   Compile it with: cc -pthread -w THIS_FILE -lm */
#define __throng_words(x) #x
#define __throng_prefix(x) __throng_words(x)
#define __throng_symbol(name) __asm__(__throng_prefix(__USER_LABEL_PREFIX__) name)
extern int __throng_print(int, const char *, ...) __throng_symbol("dprintf");
extern void __throng_abort(void) __throng_symbol("abort");
extern void __throng_quit(int) __throng_symbol("_exit");
extern int __throng_sleep(unsigned) __throng_symbol("usleep");
extern void *__throng_calloc(unsigned long, unsigned long) __throng_symbol("calloc");
extern void __throng_real_free(void *) __throng_symbol("free");
extern void *__throng_real_realloc(void *, unsigned long) __throng_symbol("realloc");
extern int __throng_pthread_create(unsigned long *, void *, void *(*)(void *), void *) __throng_symbol("pthread_create");
extern int __throng_pthread_detach(unsigned long) __throng_symbol("pthread_detach");
extern void __throng_pthread_exit(void *) __throng_symbol("pthread_exit");
void __throng_turn(int site, int kind);
int __throng_maybe(int site, int kind);
void __throng_all(int site, int kind);
void __throng_copy(int site, void *to, void *from, int count, const int *parts);
void *__throng_fill(int site, void *to, int value, unsigned long size);
char *__throng_copy_text(int site, char *to, char *from);
void __throng_read(int site, void *from, unsigned long size);
long long __throng_input(int site);
void __throng_compare(int step, const char *name, const volatile void *at, long long bits, int size);
double __throng_double(int site);
float __throng_float(int site);
/* An input of a type, by its value; that of a floating-point number is its bits. */
#define __throng_input_as(type, site) \
  __builtin_choose_expr(__builtin_types_compatible_p(type, double), __throng_double(site), \
  __builtin_choose_expr(__builtin_types_compatible_p(type, float), __throng_float(site), (type)__throng_input(site)))
void __throng_open(int site, void *to, unsigned long size);
void __throng_scan(int site, void *to, unsigned long size);
void __throng_begin(int site);
void __throng_end(void);
void __throng_failed(const char *what);
void __throng_failed_assertion(const char *what);
void __throng_assert(int holds);
void __throng_assume(int holds);
void __throng_park(void);
int __throng_create(int site, void *handle, unsigned long size, void *function, void *argument);
int __throng_join(int site, unsigned long number, void **result);
void __throng_exit(int site, void *result);
int __throng_key_create(int site, void *key, unsigned long size, void *function);
int __throng_key_delete(int site, unsigned key);
int __throng_set_specific(unsigned key, void *value);
void *__throng_get_specific(unsigned key);
unsigned long __throng_self(void);
void *__throng_malloc(int site, unsigned long size);
void *__throng_realloc(int site, void *p, unsigned long size);
unsigned long __throng_array(int site, unsigned long size);
void __throng_leave_array(void *site);
int __throng_lock(int site, const volatile void *lock, int waits, int known);
int __throng_unlock(int site, const volatile void *lock, int known);
void __throng_call(int site);
void __throng_give_back(int site, void *p);
int __throng_read_lock(int site, const volatile void *lock, int waits);
int __throng_write_lock(int site, const volatile void *lock, int waits);
int __throng_rw_unlock(int site, const volatile void *lock);
int __throng_reset(int site, const volatile void *lock, int value);
int __throng_init(int site, const volatile void *lock, const volatile void *attribute, int known);
int __throng_destroy(int site, const volatile void *lock);
int __throng_cond_init(int site, const volatile void *condition, unsigned long size);
int __throng_wait(int site, const volatile void *condition, const volatile void *lock, int steps, int known);
int __throng_signal(int site, const volatile void *condition, int all);
int __throng_sem_post(int site, const volatile void *sem);
int __throng_sem_wait(int site, const volatile void *sem, int waits);
int __throng_sem_value(int site, const volatile void *sem, int *to);
int __throng_barrier_init(int site, const volatile void *barrier, int count);
int __throng_barrier(int site, const volatile void *barrier);
int __throng_once(int site, const volatile void *once, void (*function)(void));
int __throng_enter(int site, int place);
void __throng_leave(int site, int place);
int __throng_pass(int site);
void __throng_arithmetic(int op, int is_signed, int size, long long x, long long y);
/* Whether a mutex has room for its owner and its kind. */
#define __THRONG_KNOWS(lock) (sizeof *(lock) >= 20)
#define __throng_checked(op, result, x, y) \
  __throng_arithmetic(_Generic((result), float: 0, double: 0, long double: 0, default: (op)), _Generic((result), int: 1, long: 1, long long: 1, default: 0), sizeof(result), (long long)(x), (long long)(y))
/* An inline function of C99 need not exist otherwise. */
#define inline
/* ---- the program ---- */
