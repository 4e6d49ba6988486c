/* Input: bytes from outside, of which all are possible. */

typedef unsigned long size_t;

void *malloc(size_t n);
void free(void *p);
long __throng_between(long least, long most);
void __throng_fill(void *to, size_t n);
void __throng_write(void *to, size_t n);
int __throng_any(void);
int *__errno_location(void);
void __futex(void);
void __more_than_8_threads_at_futexes(void);
int sem_wait(int *woken);
void __throng_errno(void);

long read(int file, void *to, size_t n) {
    long done = __throng_between(-1, n);
    if (done > 0)
        __throng_fill(to, done);
    __throng_errno();
    return done;
}

long pread(int file, void *to, size_t n, long at) {
    return read(file, to, n);
}

long recv(int socket, void *to, size_t n, int flags) {
    return read(socket, to, n);
}

size_t fread(void *to, size_t size, size_t n, void *stream) {
    size_t done = __throng_between(0, n);
    if (size == 0)
        return 0;
    __throng_fill(to, done * size);
    __throng_errno();
    return done;
}

size_t fread_unlocked(void *to, size_t size, size_t n, void *stream) {
    return fread(to, size, n, stream);
}

char *fgets(char *to, int n, void *stream) {
    int i = 0;
    while (i + 1 < n) {
        char c;
        if (__throng_between(0, 1))
            break;
        c = __throng_between(-128, 127);
        to[i] = c;
        i++;
        if (c == '\n')
            break;
    }
    __throng_errno();
    if (i == 0 && n > 1)
        return 0;
    if (n > 0)
        to[i] = 0;
    return to;
}

char *fgets_unlocked(char *to, int n, void *stream) {
    return fgets(to, n, stream);
}

char *gets(char *to) {
    int i = 0;
    if (__throng_between(0, 1))
        return 0;
    while (__throng_between(0, 1)) {
        char c = __throng_between(-128, 127);
        if (c == '\n')
            break;
        to[i] = c;
        i++;
    }
    to[i] = 0;
    return to;
}

long getdelim(char **line, size_t *room, int end, void *stream) {
    long n = __throng_between(-1, 2147483645);
    __throng_errno();
    if (*line == 0 || *room < (size_t)n + 2) {
        free(*line);
        *line = malloc(n + 2);
        *room = n + 2;
    }
    if (n <= 0)
        return -1;
    __throng_fill(*line, n);
    (*line)[n] = 0;
    return n;
}

long getline(char **line, size_t *room, void *stream) {
    return getdelim(line, room, '\n', stream);
}

static void address(void *to, unsigned *n) {
    if (to) {
        unsigned most = *n;
        __throng_write(to, most);
        *n = __throng_between(0, 128);
    }
}

int accept(int socket, void *to, unsigned *n) {
    address(to, n);
    __throng_errno();
    return __throng_any();
}

int getsockname(int socket, void *to, unsigned *n) {
    address(to, n);
    __throng_errno();
    return __throng_between(-1, 0);
}

int getpeername(int socket, void *to, unsigned *n) {
    return getsockname(socket, to, n);
}

int getsockopt(int socket, int level, int name, void *to, unsigned *n) {
    return getsockname(socket, to, n);
}

long recvfrom(int socket, void *to, size_t n, int flags, void *from, unsigned *size) {
    address(from, size);
    return read(socket, to, n);
}

/* `struct pollfd` takes eight bytes; the last two are written. */
int poll(void *files, unsigned long n, int timeout) {
    for (unsigned long i = 0; i < n; i++) {
        __throng_write((char *)files + 8 * i + 6, 2);
    }
    __throng_errno();
    if (timeout >= 0)
        return __throng_between(-1, n);
    return __throng_between(0, 1) ? -1 : __throng_between(1, n);
}

int ppoll(void *files, unsigned long n, const void *timeout, const void *mask) {
    return poll(files, n, timeout ? 0 : -1);
}

/* `struct epoll_event` takes twelve bytes. */
int epoll_wait(int queue, void *events, int most, int timeout) {
    int n = __throng_between(-1, most);
    if (n > 0)
        __throng_write(events, 12 * n);
    __throng_errno();
    return n;
}

int epoll_pwait(int queue, void *events, int most, int timeout, const void *mask) {
    return epoll_wait(queue, events, most, timeout);
}

char *getcwd(char *to, size_t n) {
    char *found = to;
    __throng_errno();
    if (__throng_between(0, 1))
        return 0;
    if (!found)
        found = malloc(n ? n : 4096);
    if (n)
        __throng_write(found, n);
    return found;
}

char *realpath(const char *path, char *to) {
    char *found = to;
    for (size_t i = 0; path[i]; i++)
        ;
    __throng_errno();
    if (__throng_between(0, 1))
        return 0;
    if (!found)
        found = malloc(4096);
    __throng_write(found, 4096);
    return found;
}

/* Threads that sleep at a word, each at a place of its own, until it is woken. */
static int *slept_at[8];
static int woken[8];

static int sleep_at(int *word, int value) {
    int i = 0, differs;
    __CPROVER_atomic_begin();
    differs = *word != value;
    if (!differs) {
        while (i < 8 && (slept_at[i] || woken[i]))
            i++;
        if (i == 8)
            __more_than_8_threads_at_futexes();
        slept_at[i] = word;
    }
    __CPROVER_atomic_end();
    if (differs) {
        *__errno_location() = 11;
        return -1;
    }
    sem_wait(&woken[i]);
    return 0;
}

/* Any `most` of the threads at a word are woken, or all if there are no more. */
static int wake_at(int *word, int most) {
    int i, left = 0, done = 0;
    __CPROVER_atomic_begin();
    for (i = 0; i < 8; i++)
        left += slept_at[i] == word;
    for (i = 0; i < 8; i++)
        if (slept_at[i] == word) {
            if (done < most && (left <= most - done || __throng_between(0, 1))) {
                slept_at[i] = 0;
                woken[i] = 1;
                done++;
            }
            left--;
        }
    __CPROVER_atomic_end();
    return done;
}

/* Waiting for a word to change, where waits end only when they are woken. One with a time limit may
   end at any time. */
long __throng_futex(int *word, int operation, int value, void *late) {
    int what = operation & 127;
    if (what == 1 || what == 10)
        return wake_at(word, value);
    if (what != 0 && what != 9)
        __futex();
    if (late && __throng_between(0, 1)) {
        __throng_errno();
        return -1;
    }
    return sleep_at(word, value);
}

/* Of Linux: the number of the thread, and waiting for a word to change. A wait may end at any time.
   Numbers are those of x86-64. */
long syscall(long number, ...) {
    __builtin_va_list list;
    int *word;
    int operation, value, now;
    if (number == 186)
        return __throng_any();
    __builtin_va_start(list, number);
    word = __builtin_va_arg(list, int *);
    operation = __builtin_va_arg(list, int) & 127;
    value = __builtin_va_arg(list, int);
    if (operation == 0 || operation == 9) {
        __CPROVER_atomic_begin();
        now = *word;
        __CPROVER_atomic_end();
        if (now != value) {
            *__errno_location() = 11;
            return -1;
        }
        if (__throng_between(0, 1))
            return 0;
        __throng_errno();
        return -1;
    }
    if (operation == 1 || operation == 10)
        return value == 1 ? __throng_between(0, 1) : __throng_any();
    __futex();
    return 0;
}
