/* Sorting and searching with a function of the program. */

typedef unsigned long size_t;
typedef unsigned char byte;

void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *)) {
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0; k--) {
            byte *b = (byte *)base + k * size, *a = b - size;
            if (compare(a, b) <= 0)
                break;
            for (size_t j = 0; j < size; j++) {
                byte c = a[j];
                a[j] = b[j];
                b[j] = c;
            }
        }
}

void *bsearch(const void *key, const void *base, size_t n, size_t size,
              int (*compare)(const void *, const void *)) {
    size_t from = 0, to = n;
    while (from < to) {
        size_t middle = (from + to) / 2;
        const byte *at = (const byte *)base + middle * size;
        int order = compare(key, at);
        if (order == 0)
            return (void *)at;
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return 0;
}

void *lfind(const void *key, const void *base, size_t *n, size_t size,
            int (*compare)(const void *, const void *)) {
    for (size_t i = 0; i < *n; i++)
        if (compare(key, (const byte *)base + i * size) == 0)
            return (void *)((const byte *)base + i * size);
    return 0;
}
