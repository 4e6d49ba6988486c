/* Functions that are called where the process exits: the last one comes first. */

void __more_than_32_exit_handlers(void);

static void (*handlers[32])(void);
static int count;

int atexit(void (*f)(void)) {
    int n;
    __CPROVER_atomic_begin();
    n = count;
    if (n == 32)
        __more_than_32_exit_handlers();
    handlers[n] = f;
    count = n + 1;
    __CPROVER_atomic_end();
    return 0;
}

void __throng_exit(void) {
    for (;;) {
        void (*f)(void) = 0;
        __CPROVER_atomic_begin();
        if (count) {
            count--;
            f = handlers[count];
        }
        __CPROVER_atomic_end();
        if (!f)
            break;
        f();
    }
}
