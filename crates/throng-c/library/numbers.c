/* Numbers, and texts that stand for them. */

typedef unsigned long size_t;
typedef struct { int quot, rem; } div_t;
typedef struct { long quot, rem; } ldiv_t;
typedef struct { long long quot, rem; } lldiv_t;

int *__errno_location(void);

long long imaxabs(long long n) {
    return n < 0 ? -n : n;
}

div_t div(int a, int b) {
    div_t r = { a / b, a % b };
    return r;
}

ldiv_t ldiv(long a, long b) {
    ldiv_t r = { a / b, a % b };
    return r;
}

lldiv_t lldiv(long long a, long long b) {
    lldiv_t r = { a / b, a % b };
    return r;
}

int ffs(int n) {
    unsigned rest = n;
    int at = 1;
    if (!rest)
        return 0;
    while (!(rest & 1)) {
        rest >>= 1;
        at++;
    }
    return at;
}

int ffsl(long n) {
    unsigned long rest = n;
    int at = 1;
    if (!rest)
        return 0;
    while (!(rest & 1)) {
        rest >>= 1;
        at++;
    }
    return at;
}

int ffsll(long long n) {
    unsigned long long rest = n;
    int at = 1;
    if (!rest)
        return 0;
    while (!(rest & 1)) {
        rest >>= 1;
        at++;
    }
    return at;
}

unsigned htonl(unsigned n) {
    return n << 24 | (n & 0xff00) << 8 | (n >> 8 & 0xff00) | n >> 24;
}

unsigned ntohl(unsigned n) {
    return n << 24 | (n & 0xff00) << 8 | (n >> 8 & 0xff00) | n >> 24;
}

unsigned short htons(unsigned short n) {
    return (unsigned short)(n << 8 | n >> 8);
}

unsigned short ntohs(unsigned short n) {
    return (unsigned short)(n << 8 | n >> 8);
}

static int digit(int c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 99;
}

/* Reads a number: its absolute value; whether it has a sign, and whether it is larger than `most`
   (or, with a sign, than `least`). */
static unsigned long long number(const char *s, char **end, int given, int *negative, int *large,
                                 unsigned long long most, unsigned long long least) {
    size_t i = 0, begins;
    int base = given, sign = 0, over = 0, d;
    unsigned long long v = 0, bound;
    while (s[i] == ' ' || (s[i] >= '\t' && s[i] <= '\r'))
        i++;
    if (s[i] == '-') {
        sign = 1;
        i++;
    } else if (s[i] == '+') {
        i++;
    }
    if ((base == 0 || base == 16) && s[i] == '0' && (s[i + 1] == 'x' || s[i + 1] == 'X') &&
        digit((unsigned char)s[i + 2]) < 16) {
        base = 16;
        i += 2;
    } else if (base == 0) {
        base = s[i] == '0' ? 8 : 10;
    }
    bound = sign ? least : most;
    begins = i;
    for (;; i++) {
        d = digit((unsigned char)s[i]);
        if (d >= base)
            break;
        if (over || v > (bound - d) / base || d > bound)
            over = 1;
        else
            v = v * base + d;
    }
    if (end)
        *end = (char *)s + (i == begins ? 0 : i);
    *negative = sign;
    *large = over;
    if (over)
        *__errno_location() = 34;
    return v;
}

int atoi(const char *s) {
    int negative, large;
    unsigned long long v = number(s, 0, 10, &negative, &large, 0x7fffffffffffffff, 0x8000000000000000);
    if (large)
        return negative ? 0 : -1;
    return (int)(negative ? 0 - v : v);
}

long long atoll(const char *s) {
    int negative, large;
    unsigned long long v = number(s, 0, 10, &negative, &large, 0x7fffffffffffffff, 0x8000000000000000);
    if (large)
        return negative ? (long long)0x8000000000000000 : 0x7fffffffffffffff;
    return (long long)(negative ? 0 - v : v);
}

long long strtoll(const char *s, char **end, int base) {
    int negative, large;
    unsigned long long v = number(s, end, base, &negative, &large, 0x7fffffffffffffff, 0x8000000000000000);
    if (large)
        return negative ? (long long)0x8000000000000000 : 0x7fffffffffffffff;
    return (long long)(negative ? 0 - v : v);
}

unsigned long long strtoull(const char *s, char **end, int base) {
    int negative, large;
    unsigned long long v = number(s, end, base, &negative, &large, 0xffffffffffffffff, 0xffffffffffffffff);
    if (large)
        return 0xffffffffffffffff;
    return negative ? 0 - v : v;
}

long strtol(const char *s, char **end, int base) {
    int negative, large;
    unsigned long most = (unsigned long)-1 / 2;
    unsigned long long v = number(s, end, base, &negative, &large, most, (unsigned long long)most + 1);
    if (large)
        return negative ? -(long)most - 1 : (long)most;
    return (long)(negative ? 0 - v : v);
}

long atol(const char *s) {
    return strtol(s, 0, 10);
}

unsigned long strtoul(const char *s, char **end, int base) {
    int negative, large;
    unsigned long most = (unsigned long)-1;
    unsigned long long v = number(s, end, base, &negative, &large, most, most);
    if (large)
        return most;
    return (unsigned long)(negative ? 0 - v : v);
}

long long strtoimax(const char *s, char **end, int base) {
    return strtoll(s, end, base);
}

unsigned long long strtoumax(const char *s, char **end, int base) {
    return strtoull(s, end, base);
}

long long strtoq(const char *s, char **end, int base) {
    return strtoll(s, end, base);
}

unsigned long long strtouq(const char *s, char **end, int base) {
    return strtoull(s, end, base);
}
