/* Pieces of what `sprintf` and its like write, one behind the other: each function writes to `to`,
   where there is `room` for so many bytes, behind the first `from` characters, and returns how many
   there are then. What there is no room for is counted and not written. A room of -1 has no end. */

typedef unsigned long size_t;

size_t __throng_put(char *to, size_t room, size_t from, char c) {
    if (room == (size_t)-1 || from + 1 < room)
        to[from] = c;
    return from + 1;
}

size_t __throng_put_many(char *to, size_t room, size_t from, char c, long n) {
    size_t at = from;
    for (long i = 0; i < n; i++)
        at = __throng_put(to, room, at, c);
    return at;
}

void __throng_put_end(char *to, size_t room, size_t from) {
    if (room == (size_t)-1 || from < room)
        to[from] = 0;
    else if (room)
        to[room - 1] = 0;
}

/* A negative width, which is an argument, stands for spaces behind. */
size_t __throng_put_char(char *to, size_t room, size_t from, char c, long width, int left) {
    size_t at = from;
    if (!left)
        at = __throng_put_many(to, room, at, ' ', width - 1);
    at = __throng_put(to, room, at, c);
    if (left || width < 0)
        at = __throng_put_many(to, room, at, ' ', (width < 0 ? -width : width) - 1);
    return at;
}

/* A negative precision is none. */
size_t __throng_put_text(char *to, size_t room, size_t from, const char *s, long width, long precision,
                         int left) {
    size_t at = from;
    long n = 0;
    if (!left && width > 0) {
        while (n != precision && s[n])
            n++;
        at = __throng_put_many(to, room, at, ' ', width - n);
        n = 0;
    }
    while (n != precision) {
        char c = s[n];
        if (!c)
            break;
        at = __throng_put(to, room, at, c);
        n++;
    }
    if (left || width < 0)
        at = __throng_put_many(to, room, at, ' ', (width < 0 ? -width : width) - n);
    return at;
}

/* A number without its sign, which is a character or 0; `ten` is the digit for ten, and behind it
   comes the letter of the base 16, if that is to be seen. */
size_t __throng_put_number(char *to, size_t room, size_t from, unsigned long long v, char sign,
                           unsigned base, char ten, int alternate, long width, long precision, int left,
                           int zero) {
    unsigned long long power = 1;
    size_t at = from;
    long digits = 0, zeros = 0, least = width < 0 ? -width : width, n;
    int prefix = alternate && base == 16 && v != 0;
    if (v || precision != 0) {
        digits = 1;
        while (v / power >= base) {
            power *= base;
            digits++;
        }
    }
    if (precision > digits)
        zeros = precision - digits;
    else if (alternate && base == 8 && (v || !digits))
        zeros = 1;
    n = digits + zeros + (sign != 0) + 2 * prefix;
    if (zero && !left && width >= 0 && precision < 0 && least > n) {
        zeros += least - n;
        n = least;
    }
    if (!left && width > 0)
        at = __throng_put_many(to, room, at, ' ', least - n);
    if (sign)
        at = __throng_put(to, room, at, sign);
    if (prefix) {
        at = __throng_put(to, room, at, '0');
        at = __throng_put(to, room, at, ten + ('x' - 'a'));
    }
    at = __throng_put_many(to, room, at, '0', zeros);
    for (long i = 0; i < digits; i++) {
        char d = v / power % base;
        at = __throng_put(to, room, at, d < 10 ? '0' + d : ten + (d - 10));
        power /= base;
    }
    if (left || width < 0)
        at = __throng_put_many(to, room, at, ' ', least - n);
    return at;
}

size_t __throng_put_signed(char *to, size_t room, size_t from, long long v, char sign, long width,
                           long precision, int left, int zero) {
    unsigned long long size = v < 0 ? 0 - (unsigned long long)v : v;
    return __throng_put_number(to, room, from, size, v < 0 ? '-' : sign, 10, 'a', 0, width, precision,
                               left, zero);
}
