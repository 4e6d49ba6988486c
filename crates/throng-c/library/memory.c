/* Blocks of bytes. */

typedef unsigned long size_t;
typedef unsigned char byte;

void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *p, size_t n);
void free(void *p);
int *__errno_location(void);
void *memcpy(void *to, const void *from, size_t n);

void *memchr(const void *s, int c, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (((const byte *)s)[i] == (byte)c)
            return (void *)((const byte *)s + i);
    return 0;
}

void *memrchr(const void *s, int c, size_t n) {
    for (size_t i = n; i > 0; i--)
        if (((const byte *)s)[i - 1] == (byte)c)
            return (void *)((const byte *)s + i - 1);
    return 0;
}

void *rawmemchr(const void *s, int c) {
    size_t i = 0;
    while (((const byte *)s)[i] != (byte)c)
        i++;
    return (void *)((const byte *)s + i);
}

void *mempcpy(void *to, const void *from, size_t n) {
    for (size_t i = 0; i < n; i++)
        ((byte *)to)[i] = ((const byte *)from)[i];
    return (byte *)to + n;
}

void *memccpy(void *to, const void *from, int c, size_t n) {
    for (size_t i = 0; i < n; i++) {
        byte b = ((const byte *)from)[i];
        ((byte *)to)[i] = b;
        if (b == (byte)c)
            return (byte *)to + i + 1;
    }
    return 0;
}

void *memmem(const void *s, size_t n, const void *part, size_t m) {
    for (size_t i = 0; m <= n && i <= n - m; i++) {
        size_t k = 0;
        while (k < m && ((const byte *)s)[i + k] == ((const byte *)part)[k])
            k++;
        if (k == m)
            return (void *)((const byte *)s + i);
    }
    return 0;
}

void bcopy(const void *from, void *to, size_t n) {
    if ((const byte *)from < (byte *)to)
        for (size_t i = n; i > 0; i--)
            ((byte *)to)[i - 1] = ((const byte *)from)[i - 1];
    else
        for (size_t i = 0; i < n; i++)
            ((byte *)to)[i] = ((const byte *)from)[i];
}

void explicit_bzero(void *to, size_t n) {
    for (size_t i = 0; i < n; i++)
        ((byte *)to)[i] = 0;
}

void *aligned_alloc(size_t align, size_t n) {
    return malloc(n);
}

void *memalign(size_t align, size_t n) {
    return malloc(n);
}

void *valloc(size_t n) {
    return malloc(n);
}

void *pvalloc(size_t n) {
    return malloc((n + 4095) / 4096 * 4096);
}

int posix_memalign(void **to, size_t align, size_t n) {
    if (align < sizeof(void *) || (align & (align - 1)))
        return 22;
    *to = malloc(n);
    return 0;
}

void *reallocarray(void *p, size_t n, size_t size) {
    if (size && n > (size_t)-1 / size) {
        *__errno_location() = 12;
        return 0;
    }
    return realloc(p, n * size);
}

void cfree(void *p) {
    free(p);
}
