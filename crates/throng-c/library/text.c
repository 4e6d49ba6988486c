/* Texts: bytes up to a zero. */

typedef unsigned long size_t;
typedef unsigned char byte;

void *malloc(size_t n);
size_t strlen(const char *s);
void __throng_write(void *to, size_t n);
void __throng_errno(void);
long __throng_between(long least, long most);
int __throng_any(void);

static int lower(int c) {
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

size_t strnlen(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && s[i])
        i++;
    return i;
}

char *strncpy(char *to, const char *from, size_t n) {
    size_t i = 0;
    for (; i < n; i++) {
        char c = from[i];
        to[i] = c;
        if (!c)
            break;
    }
    for (; i < n; i++)
        to[i] = 0;
    return to;
}

char *stpncpy(char *to, const char *from, size_t n) {
    size_t i = 0, end;
    for (; i < n; i++) {
        char c = from[i];
        if (!c)
            break;
        to[i] = c;
    }
    end = i;
    for (; i < n; i++)
        to[i] = 0;
    return to + end;
}

char *stpcpy(char *to, const char *from) {
    size_t i = 0;
    for (;; i++) {
        char c = from[i];
        to[i] = c;
        if (!c)
            return to + i;
    }
}

char *strncat(char *to, const char *from, size_t n) {
    size_t end = strlen(to), i = 0;
    for (; i < n; i++) {
        char c = from[i];
        if (!c)
            break;
        to[end + i] = c;
    }
    to[end + i] = 0;
    return to;
}

size_t strlcpy(char *to, const char *from, size_t n) {
    size_t i = 0;
    for (;; i++) {
        char c = from[i];
        if (i + 1 < n)
            to[i] = c;
        else if (i + 1 == n)
            to[i] = 0;
        if (!c)
            return i;
    }
}

size_t strlcat(char *to, const char *from, size_t n) {
    size_t end = 0, i = 0;
    while (end < n && to[end])
        end++;
    for (;; i++) {
        char c = from[i];
        if (end + i + 1 < n)
            to[end + i] = c;
        else if (end + i + 1 == n)
            to[end + i] = 0;
        if (!c)
            return end + i;
    }
}

int strcasecmp(const char *a, const char *b) {
    for (size_t i = 0;; i++) {
        int x = lower((byte)a[i]), y = lower((byte)b[i]);
        if (x != y)
            return x < y ? -1 : 1;
        if (!x)
            return 0;
    }
}

int strncasecmp(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int x = lower((byte)a[i]), y = lower((byte)b[i]);
        if (x != y)
            return x < y ? -1 : 1;
        if (!x)
            return 0;
    }
    return 0;
}

char *strrchr(const char *s, int c) {
    const char *found = 0;
    for (size_t i = 0;; i++) {
        char here = s[i];
        if (here == (char)c)
            found = s + i;
        if (!here)
            return (char *)found;
    }
}

char *index(const char *s, int c) {
    for (size_t i = 0;; i++) {
        char here = s[i];
        if (here == (char)c)
            return (char *)s + i;
        if (!here)
            return 0;
    }
}

char *rindex(const char *s, int c) {
    return strrchr(s, c);
}

char *strchrnul(const char *s, int c) {
    for (size_t i = 0;; i++) {
        char here = s[i];
        if (here == (char)c || !here)
            return (char *)s + i;
    }
}

char *strstr(const char *s, const char *part) {
    for (size_t i = 0;; i++) {
        size_t k = 0;
        char c, here;
        for (;;) {
            c = part[k];
            if (!c)
                return (char *)s + i;
            here = s[i + k];
            if (here != c)
                break;
            k++;
        }
        if (!here)
            return 0;
    }
}

char *strcasestr(const char *s, const char *part) {
    for (size_t i = 0;; i++) {
        size_t k = 0;
        char c, here;
        for (;;) {
            c = part[k];
            if (!c)
                return (char *)s + i;
            here = s[i + k];
            if (lower((byte)here) != lower((byte)c))
                break;
            k++;
        }
        if (!here)
            return 0;
    }
}

char *strnstr(const char *s, const char *part, size_t n) {
    size_t m = strlen(part);
    for (size_t i = 0; i + m <= n; i++) {
        size_t k = 0;
        while (k < m && s[i + k] == part[k])
            k++;
        if (k == m)
            return (char *)s + i;
        if (!s[i])
            return 0;
    }
    return 0;
}

static int among(char c, const char *set) {
    for (size_t i = 0;; i++) {
        char here = set[i];
        if (!here)
            return 0;
        if (here == c)
            return 1;
    }
}

size_t strspn(const char *s, const char *set) {
    for (size_t i = 0;; i++) {
        char c = s[i];
        if (!c || !among(c, set))
            return i;
    }
}

size_t strcspn(const char *s, const char *set) {
    for (size_t i = 0;; i++) {
        char c = s[i];
        if (!c || among(c, set))
            return i;
    }
}

char *strpbrk(const char *s, const char *set) {
    for (size_t i = 0;; i++) {
        char c = s[i];
        if (!c)
            return 0;
        if (among(c, set))
            return (char *)s + i;
    }
}

char *strsep(char **at, const char *set) {
    char *s = *at;
    if (!s)
        return 0;
    for (size_t i = 0;; i++) {
        char c = s[i];
        if (!c) {
            *at = 0;
            return s;
        }
        if (among(c, set)) {
            s[i] = 0;
            *at = s + i + 1;
            return s;
        }
    }
}

char *strtok_r(char *given, const char *set, char **at) {
    char *s = given;
    if (!s)
        s = *at;
    if (!s)
        return 0;
    while (*s && among(*s, set))
        s++;
    if (!*s) {
        *at = s;
        return 0;
    }
    for (size_t i = 0;; i++) {
        char c = s[i];
        if (!c) {
            *at = s + i;
            return s;
        }
        if (among(c, set)) {
            s[i] = 0;
            *at = s + i + 1;
            return s;
        }
    }
}

static char *strtok_state;

char *strtok(char *s, const char *set) {
    return strtok_r(s, set, &strtok_state);
}

char *strdup(const char *s) {
    size_t n = strlen(s) + 1;
    char *to = malloc(n);
    for (size_t i = 0; i < n; i++)
        to[i] = s[i];
    return to;
}

char *strndup(const char *s, size_t most) {
    size_t n = strnlen(s, most);
    char *to = malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        to[i] = s[i];
    to[n] = 0;
    return to;
}

char *basename(char *s) {
    char *last = s;
    if (!s)
        return 0;
    for (size_t i = 0;; i++) {
        char c = s[i];
        if (!c)
            return last;
        if (c == '/')
            last = s + i + 1;
    }
}

int mkstemp(char *name) {
    size_t n = strlen(name);
    __throng_write(name + n - 6, 6);
    __throng_errno();
    return __throng_any();
}

char *mkdtemp(char *name) {
    size_t n = strlen(name);
    __throng_write(name + n - 6, 6);
    __throng_errno();
    return __throng_between(0, 1) ? name : 0;
}
