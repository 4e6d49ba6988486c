//! The constructs of C, row by row: each is computed as the compiler computes it, or refused.

/// What must happen to a program.
#[derive(Clone, Copy)]
pub enum Row {
    /// `test` returns what it returns when it is compiled.
    Read(&'static str, &'static str),
    /// It is refused with a message that has this in it; it need not be compiled.
    Refused(&'static str, &'static str, &'static str),
}

use Row::{Read, Refused};

pub const ROWS: &[Row] = &[
    // Enumerations.
    Read(
        "enumeration without negative constants",
        "enum e { A, B = 5 }; long test(void) { enum e x = A; x--; return (x > 0) + (A - 1 < 0) * 2 + sizeof(enum e) * 4; }",
    ),
    Read(
        "enumeration with a negative constant",
        "enum e { A = -1, B }; long test(void) { enum e x = B; x--; return (x < 0) + (x == A) * 2; }",
    ),
    Read(
        "enumeration with a large constant",
        "enum e { A = 0x7fffffff, B = 0x80000000 }; long test(void) { return sizeof(enum e) * 10 + sizeof(A) + (B > 0) + (-1 < B) * 2; }",
    ),
    Read(
        "enumeration of 64 bits",
        "enum e { A = -1, B = 0xffffffff, C = 1ll << 40 }; long test(void) { return sizeof(enum e) * 100 + sizeof A * 10 + sizeof C + B; }",
    ),
    Read(
        "enumeration by its tag",
        "enum e { A = -3 }; struct s { enum e x; }; long test(void) { struct s v = { A }; enum e y = v.x; return y < 0; }",
    ),
    Refused(
        "enumeration that overflows",
        "enum e { A = 0x7fffffff, B }; long test(void) { return B < 0; }",
        "overflow",
    ),
    Refused("enumeration of no constants", "enum e *p; long test(void) { return sizeof *p; }", "enumeration"),
    // Literals.
    Read("empty string", "long test(void) { const char *q = \"\"; return q[0] + sizeof \"\" * 10; }"),
    Read(
        "strings next to each other",
        "long test(void) { const char *q = \"a\" \"\" \"\\x41\" \"1\"; return q[0] + q[1] * 3 + q[2] * 5 + sizeof(\"a\" \"b\"); }",
    ),
    Read(
        "quotes in a string",
        "long test(void) { const char *q = \"\\\"\"; return q[0] + sizeof \"\\\"\\\"\"; }",
    ),
    Read(
        "escape sequences",
        "long test(void) { const char q[] = \"\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\?\\0\\17\\377\\x7f\\1234\"; long n = 0; for (int i = 0; i < sizeof q; i++) n = n * 7 + q[i]; return n; }",
    ),
    Read("string as UTF-8", "long test(void) { const char *q = u8\"ab\"; return q[1]; }"),
    Read("wide string", "long test(void) { return sizeof L\"ab\"; }"),
    Read("wide string as initial value", "static int w[] = L\"ab\"; long test(void) { return w[0]; }"),
    Read("wide character", "long test(void) { return L'a'; }"),
    Read("constants of several characters", "long test(void) { return 'ab' * 3 + 'abcd' + '\\377\\1'; }"),
    Read(
        "characters are signed",
        "long test(void) { char c = '\\xff'; return c + '\\377' * 2 + (char)200; }",
    ),
    Read(
        "characters of other sizes",
        "static const __typeof__(u\"\"[0]) t[] = u\"a\\u20ac\\x12ff\", e[3] = { u'b' }; static int w[4] = { L\"ab\" }; struct s { short n; unsigned x[]; }; static struct s f = { 1, U\"\\U0001f600z\" }; long test(void) { int v[] = L\"xyz\" L\"\\377\"; const unsigned char *q = (void *)u8\"\\u00e9\"; return t[1] + t[2] * 3 + e[0] + w[1] * 5 + f.x[0] + f.x[1] * 7 + v[3] * 11 + q[0] * 13 + q[1] + sizeof t + sizeof v * 100 + L'\\xffffffff' + (u'\\xffff' > 0) + sizeof U\"abc\" + L\"q\" \"r\"[1]; }",
    ),
    Read("universal character name", "long test(void) { return \"\\u00e9\"[0]; }"),
    Read(
        "types of integer constants",
        "long test(void) { return (0xffffffff > -1) + (4294967295 > -1) * 2 + (2147483648 > -1) * 4 + (0x80000000 > -1) * 8 + sizeof 2147483648 * 100 + sizeof 0x80000000 * 10000 + (1u > -1) * 16 + sizeof 1l + sizeof(1ull) + (037777777777 > -1) * 32; }",
    ),
    Refused("number that is too large", "long test(void) { return 0x1ffffffffffffffff > 0; }", "too large"),
    Read("binary constants", "long test(void) { return 0b101 + 0B11; }"),
    // Initial values.
    Read(
        "braces left out of an array without a size",
        "static int m[][2] = { 1, 2, 3 }; static struct { int x, y; } p[] = { 1, 2, { 3 }, 4 }; long test(void) { return sizeof m + sizeof p + m[1][0] * 100 + p[2].x * 1000; }",
    ),
    Read(
        "braces left out of nested arrays",
        "static struct { int a[2]; int b; } q[] = { 1, 2, 3, 4, 5, 6, 7 }; long test(void) { return sizeof q + q[1].a[1] * 100 + q[1].b * 1000 + q[2].a[0] * 10000; }",
    ),
    Read(
        "designators",
        "static int a[] = { [2] = 5, 6, [0] = 1, 2 }; long test(void) { return sizeof a + a[0] * 10 + a[1] * 100 + a[2] * 1000 + a[3] * 10000; }",
    ),
    Read(
        "designators that lead on",
        "struct in { int x, y; }; static struct { struct in a, b; int c; } s = { .a.x = 1, 2, 3, .b.y = 4, 5 }; long test(void) { return s.a.x + s.a.y * 10 + s.b.x * 100 + s.b.y * 1000 + s.c * 10000; }",
    ),
    Read(
        "designators of elements of elements",
        "static int m[2][3] = { [0][1] = 1, 2, 3, [1][2] = 4 }; long test(void) { long n = 0; for (int i = 0; i < 6; i++) n = n * 10 + m[i / 3][i % 3]; return n; }",
    ),
    Read(
        "later initial values replace earlier ones",
        "struct in { int x, y; }; static struct { struct in a; int b; } s = { .a = { 1, 2 }, .b = 3, .a = { .y = 7 } }; long test(void) { return s.a.x + s.a.y * 10 + s.b * 100; }",
    ),
    Read(
        "anonymous members",
        "static struct { int a; union { int b; char c; }; struct { int d, e; }; } s = { 1, .c = 2, .e = 3 }; long test(void) { return s.a + s.b * 10 + s.d * 100 + s.e * 1000 + sizeof s; }",
    ),
    Read(
        "unions",
        "static union { char c; int i; unsigned char b[8]; } u = { .i = 0x01020304 }, v = { 5 }; long test(void) { return u.b[3] + u.c * 10 + v.i * 1000 + sizeof u; }",
    ),
    Read(
        "local arrays and structures",
        "struct s { int a; char t[4]; }; long test(void) { struct s v[] = { { 1, \"ab\" }, 2, 'x' }; int z[5] = { 7 }; return sizeof v + v[1].t[0] + v[0].t[2] + z[0] * 100 + z[4]; }",
    ),
    Read(
        "text that fills an array",
        "static char a[3] = \"abc\", b[5] = { \"ab\" }; long test(void) { return a[2] + b[1] * 3 + b[4] + sizeof b; }",
    ),
    Read(
        "ranges inside of ranges",
        "static struct { int a, b[3]; } t[5] = { [1 ... 3] = { 7, { [0 ... 1] = 4 } }, [2].b[2] = 9, [4] = { 1 } }; long test(void) { long v = 0; for (int i = 0; i < 5; i++) v = v * 10 + t[i].a + t[i].b[0] + 2 * t[i].b[2]; return v; }",
    ),
    Read(
        "range of elements, in a function",
        "static int n; static int next(void) { return ++n; } long test(void) { int a[6] = { [1 ... 4] = next(), [2] = 8 }; return a[0] + a[1] * 10 + a[2] * 100 + a[4] * 1000 + a[5] + n * 10000; }",
    ),
    Read(
        "array of ranges without a size",
        "static char t[] = { [0 ... 9] = 2, [4 ... 5] = 1, 7 }; long test(void) { return sizeof t * 1000 + t[4] * 100 + t[6] * 10 + t[9]; }",
    ),
    Read(
        "array without a size at the end of a structure, as text",
        "static struct { short n; char text[]; } s = { 3, \"abc\" }; long test(void) { return sizeof s * 100 + s.text[2] + s.text[3]; }",
    ),
    Read(
        "array without a size at the end, of structures",
        "struct p { int x, y; }; static struct { int n; struct p all[]; } s = { 2, { { 1 }, { .y = 5 }, [3] = { 8, 9 } } }; long test(void) { return s.all[0].x + s.all[1].y * 10 + s.all[2].x * 100 + s.all[3].y * 1000; }",
    ),
    Read(
        "array without a size at the end, copied",
        "struct s { int n; int a[]; }; static struct s s = { 1, { 2, 3 } }; long test(void) { struct s t = s; return t.n + sizeof t; }",
    ),
    Read(
        "a structure among initial values, then changed",
        "struct p { int x, y; }; struct q { int n; struct p p; int m; }; long test(void) { struct p p = { 1, 2 }; struct q q = { 5, p, 6 }, r = { .p = q.p, .n = 3 }; return q.n + q.p.x * 10 + q.p.y * 100 + q.m * 1000 + r.p.y * 10000 + r.m; }",
    ),
    Refused(
        "a part of a structure that has an initial value as a whole",
        "struct p { int x, y; }; long test(void) { struct p p = { 1, 2 }; struct { struct p p; } q = { p, .p.x = 7 }; return q.p.y; }",
        "another initial value of a part",
    ),
    Read(
        "the result of a function among initial values",
        "struct p { int x, y; }; static struct p make(int x) { struct p p = { x, x + 1 }; return p; } long test(void) { struct { struct p a[2]; int n; } s = { { make(3), make(5) }, 1 }; return s.a[0].y + s.a[1].y * 10 + s.n * 100; }",
    ),
    Read(
        "a literal among constants",
        "struct p { int x, y; }; static struct p t[] = { { 1, 2 }, (struct p){ 3, 4 }, (struct p){ .y = 6 } }; static struct p one = (struct p){ 7 }; long test(void) { return t[1].x + t[2].x + t[2].y * 10 + one.x * 100 + sizeof t; }",
    ),
    Read(
        "the address of a literal of the file scope",
        "struct p { int x, *to; }; static struct p *list = &(struct p){ 1, (int[]){ 4, 5, 6 } }; static int *a = (int[3]){ 7 }; long test(void) { list->x++; a[1] = 3; return list->x + list->to[2] * 10 + a[0] * 100 + a[1] * 1000; }",
    ),
    Read(
        "conditions among constants",
        "static int x = sizeof(int) == 4 ? 5 : 6, y = 1 && 0 || 3; static char *s = 1 ? \"a\" : 0; long test(void) { return x + y * 10 + (s[0] == 'a') * 100; }",
    ),
    Read(
        "a constant variable among constants",
        "static const int n = 5; static const struct { int a, b; } p = { 1, 2 }; static int x = n + 1; long test(void) { static int y = n * 2; return x * 100 + y; }",
    ),
    Read(
        "addresses among constants",
        "static int a[4], *p = a + 3, *q = &a[1]; static struct { char c; int x[3]; } s; static int *r = &s.x[2]; static char *t = (char *)&s + 4; static void *v = (void *)(a + 1); long test(void) { *p = 1; *q = 2; *r = 3; *(int *)t = 4; return a[3] + a[1] * 10 + s.x[2] * 100 + s.x[0] * 1000 + (v == q) * 10000; }",
    ),
    Read(
        "copies of structures with parts that have no value",
        "struct s { char c; int a[3]; double d; char *t; }; long test(void) { struct s x, y, z; x.c = 1; x.a[1] = 2; y = x; z = y; z.a[2] = 5; x = z; return x.c + x.a[1] * 10 + x.a[2] * 100; }",
    ),
    Read(
        "copies of large structures",
        "struct s { int n; struct { char c; long l[300]; short s[7]; } a[3]; }; static struct s x, y; long test(void) { x.a[2].l[299] = 5; x.a[0].c = 3; x.a[2].s[6] = 4; x.n = 2; y = x; struct s z = y; return z.n + z.a[2].l[299] * 10 + z.a[0].c * 100 + z.a[2].s[6] * 1000; }",
    ),
    Read(
        "copies of unions",
        "union u { struct { char c; int i; } s; short h[6]; long l; }; long test(void) { union u x, y; x.l = 0x0102030405060708; x.h[5] = 9; y = x; return y.s.i + y.h[5] * 10 + y.s.c * 1000; }",
    ),
    Read(
        "copies of structures that are packed",
        "struct __attribute__((packed)) s { char c; long l; short h; }; static struct s x[2]; long test(void) { struct s y; x[1] = (struct s){ 1, 2, 3 }; y = x[1]; return y.c + y.l * 10 + y.h * 100 + sizeof y; }",
    ),
    Read(
        "`memcpy` of a part of a structure",
        "struct s { char c; int a; long b; }; long test(void) { struct s x = { 1, 2, 3 }, y = { 4, 5, 6 }; __builtin_memcpy(&y, &x, __builtin_offsetof(struct s, b)); return y.c + y.a * 10 + y.b * 100; }",
    ),
    Read(
        "`memcpy` between types",
        "long test(void) { unsigned u = 0x40490fdb; float f; int i; __builtin_memcpy(&i, &u, 4); char b[4]; __builtin_memcpy(b, &u, 4); long l = 0; __builtin_memcpy(&l, b, 3); return i + b[1] + l; }",
    ),
    Read(
        "`memmove` inside of structures",
        "struct p { int x; char c; }; long test(void) { struct p a[4] = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }; __builtin_memmove(a + 1, a, 3 * sizeof a[0]); __builtin_memmove((char *)a + 4, a, 4); return a[0].c + a[1].x * 10 + a[1].c * 100 + a[3].c * 1000 + a[0].x; }",
    ),
    Read("range of elements", "static int a[4] = { [0 ... 2] = 1 }; long test(void) { return a[1]; }"),
    Read(
        "array without a size in a structure",
        "static struct { int n; int a[]; } s = { 1, { 2, 3 } }; long test(void) { return s.a[1]; }",
    ),
    Read(
        "a structure among initial values",
        "struct s { int a; }; long test(void) { struct s x = { 1 }; struct s y[1] = { x }; return y[0].a; }",
    ),
    Refused(
        "too many initial values",
        "static int a[1] = { 1, 2 }; long test(void) { return a[0]; }",
        "too many",
    ),
    Read(
        "compound literals",
        "struct s { int x, y; }; static int f(struct s v, int *a) { return v.x + v.y * 10 + a[2] * 100; } long test(void) { return f((struct s){ .y = 2 }, (int[]){ 1, 2, 3 }) + (int){ 4 } + sizeof((char[]){ 1, 2, 3 }); }",
    ),
    // Layout.
    Read(
        "layout of bit-fields",
        "struct a { char c; int f : 4; char d; }; struct b { int a : 30; int b : 5; char c; }; struct c { int a : 1; int : 0; int b : 1; }; struct d { long a : 40; int b; }; struct e { char a : 4; char b : 5; char c; }; struct f { char c; int : 3; char d; }; union g { int a : 3; char c; }; struct h { short a : 10; int b : 20; long c : 3; }; long test(void) { return sizeof(struct a) + sizeof(struct b) * 10 + sizeof(struct c) * 100 + sizeof(struct d) * 1000 + sizeof(struct e) * 100000 + sizeof(struct f) * 1000000 + sizeof(union g) * 10000000l + sizeof(struct h) * 100000000l; }",
    ),
    Read(
        "bit-fields",
        "static struct { int a : 3; unsigned b : 5; _Bool c : 1; long d : 40; } s; long test(void) { s.a = 5; s.b = 33; s.c = 4; s.d = -1; s.b += 3; s.a--; return s.a + s.b * 10 + s.c * 100 + (s.d == -1) * 1000 + (s.a = 6) * 10000; }",
    ),
    Read(
        "bit-fields become `int`",
        "static struct { unsigned a : 3; unsigned b : 32; unsigned long c : 33; unsigned long d : 20; } s = { 7, -1, -1, 1 }; long test(void) { return (s.a - 8 < 0) + (s.b > -1) * 2 + (s.c + 1 == 0) * 4 + (s.d - 2 < 0) * 8 + (1 ? s.a : -1) * 16 + (~s.a < 0) * 256 + (s.c << 1 > s.c) * 512 + sizeof(+s.a) * 1024 + sizeof(s.c + 1) * 4096; }",
    ),
    Read(
        "bit-fields that are packed",
        "#pragma pack(push, 2)\nstruct p { char c; int a : 20; long b : 50; };\n#pragma pack(pop)\nstruct __attribute__((packed)) s { char c; int a : 20; long b : 60; short d; }; struct t { char c; int a : 9 __attribute__((packed)), b : 30 __attribute__((packed)); int x : 3 __attribute__((aligned(8))); }; long test(void) { struct s s = { 1, -2, -3, 4 }; struct p p = { 5, 6, -7 }; unsigned char *b = (void *)&s; long n = 0; for (int i = 0; i < sizeof s; i++) n = n * 3 + b[i]; return n + sizeof(struct s) * 10 + sizeof(struct t) * 1000 + sizeof(struct p) * 100000 + p.a + p.b + _Alignof(struct t); }",
    ),
    Read(
        "bit-fields of enumerations, and in unions",
        "enum e { A, B = 6 }; enum n { C = -2, D }; static union { struct { enum e a : 3; enum n b : 2; unsigned : 3; int c : 8; } s; unsigned short v; } u; long test(void) { u.s.a = B; u.s.b = C; u.s.c = -1; return u.v + u.s.a * 100000 + (u.s.b == C) * 1000000l + sizeof u; }",
    ),
    Read(
        "wide bit-fields as numbers",
        "struct q { unsigned long a : 58, b : 6; long c : 40; }; long test(void) { struct q q = { 3, 2, -5 }; int t[6] = { 0, 1, 2, 3, 4, 5 }; long n = t[q.a] + *(t + q.b) * 10; double d = q.c * 1.5; n += d * 2; switch (q.a) { case 3: n += 100; } n += (1 ? q.c : 2.0) * 1000; q.c = d; return n * 10 + q.c; }",
    ),
    Read(
        "initial values of bit-fields",
        "struct in { int a : 4, : 3; unsigned b : 9; }; static struct { struct in i[2]; int b : 2; char c; } s = { { { 1, 2 }, { .b = 3, .a = -1 } }, { 1 }, 7 }, t[] = { [0 ... 2] = { .i[1].b = 500 } }; long test(void) { typeof(s) l = { { [1] = { -2, s.c } }, .c = 9 }; struct { char c; int a : 20; char d; } m = { 1, -5, 2 }; return s.i[0].a + s.i[1].b * 10 + s.i[1].a * 100 + s.b * 1000 + t[2].i[1].b * 10000l + l.i[1].a + l.i[1].b * 7 + l.c + m.a * 3 + m.d; }",
    ),
    Read(
        "initial values of bit-fields that make a number that looks like an address",
        "#pragma pack(1)\nstruct s { unsigned a : 22, b : 21, c : 4, d : 31; }; static struct s s = { 103, 788, 2, 6054 }; long test(void) { struct s l = { 1, 2, 3, 6054 }; unsigned char *p = (void *)&s; return s.d + l.d * 10l + p[6] * 100000l + s.b * 10000000l; }",
    ),
    Read(
        "bit-fields with more bits than `int` as indices, and where a statement decides",
        "struct q { unsigned long front : 58, bits : 6, count; int *a; }; static int x[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }; long test(void) { struct q q = { 3, 2, 1, x }; int *p = q.a + (5 - q.front); long n = 0; switch (q.front) { case 3: n = 1; break; default: n = 2; } p += q.front; return *p + x[q.front] * 10 + q.a[q.front + q.count] * 100 + (q.a + 8)[-q.count] * 1000 + n * 10000 + (5 - q.front) * sizeof(int) * 100000 + (1 << q.front) * 10000000; }",
    ),
    Read(
        "bit-fields without a value beside some that have one",
        "struct s { int a : 3, b : 5, c : 12; }; long test(void) { struct s x, y, *p = __builtin_malloc(sizeof *p); x.b = 7; y = x; y.a = 1; p->c = 9; *p = y; y = *p; p->a++; return y.b + y.a * 10 + x.b * 100 + p->a * 1000; }",
    ),
    Read(
        "assignments to bit-fields as values",
        "static struct { unsigned a : 3; int b : 4; } s; static struct { struct { int : 5, d : 7; }; } t; long test(void) { long n = (s.a = 13) + (s.b = 15) * 100 + s.a++ * 1000 + --s.b * 10000l; t.d = 70; s.a |= 5; s.b <<= 2; s.b /= 3; return n + t.d * 1000000l + s.a + s.b * 7; }",
    ),
    Read(
        "counted bits",
        "static volatile unsigned u = 0x00f0a100; static volatile long l = -5, z; long test(void) { unsigned x = u; long y = l; return __builtin_popcount(x) + __builtin_popcountl(y) * 3 + __builtin_clz(x) * 5 + __builtin_ctz(x) * 7 + __builtin_clzll(1ll << 40 | x) * 11 + __builtin_ctzl(y << 9) * 13 + __builtin_ffs(x) * 17 + __builtin_ffsl(z) * 19 + __builtin_ffsll(y << 40) * 23 + __builtin_parity(x) * 29 + __builtin_parityll(y) * 31 + __builtin_clrsb(x) * 37 + __builtin_clrsbl(y) * 41 + __builtin_clrsb(z) * 43 + __builtin_bswap16(x) + __builtin_bswap32(x) + __builtin_bswap64(y); }",
    ),
    Refused(
        "no bits to count",
        "static int x; long test(void) { return __builtin_clz(x); }",
        "defined result",
    ),
    Read(
        "arithmetic that tells of overflows",
        "static long n; static void add(int v) { n = n * 3 + v; } static const long long v[] = { 0, 1, -1, 5, 0x7fffffff, -0x80000000ll, 0xffffffff, 0x7fffffffffffffff, -0x7fffffffffffffff - 1, 0x123456789, -77 }; long test(void) { for (int i = 0; i < 11; i++) for (int j = 0; j < 11; j++) { long long a = v[i], b = v[j], r; unsigned long ur; int ir; unsigned char c; short h; unsigned w; add(__builtin_add_overflow(a, b, &r)); n ^= r; add(__builtin_sub_overflow(a, (unsigned long)b, &r)); n ^= r; add(__builtin_mul_overflow(a, b, &r)); n ^= r; add(__builtin_mul_overflow((unsigned long)a, b, &ur)); n ^= ur; add(__builtin_mul_overflow((unsigned long)a, (unsigned long)b, &r)); add(__builtin_mul_overflow((int)a, (unsigned)b, &ir)); n ^= ir; add(__builtin_add_overflow((int)a, b, &c)); n ^= c; add(__builtin_sub_overflow((unsigned)a, (short)b, &h)); n ^= h; add(__builtin_mul_overflow((unsigned)a, (unsigned)b, &w)); n ^= w; add(__builtin_sadd_overflow(a, b, &ir)); add(__builtin_usubl_overflow(a, b, &ur)); n ^= ur; add(__builtin_smulll_overflow(a, b, &r)); add(__builtin_add_overflow_p(a, b, (short)0)); add(__builtin_mul_overflow_p((int)a, (int)b, 0u)); } return n; }",
    ),
    Read(
        "functions of the compiler",
        "static int n; static int next(void) { return ++n; } struct s { char c; int a[3][4]; }; long test(void) { int x = 5; __builtin_prefetch(&x + next() * 0, 0, 3); long e = __builtin_expect(x > 3, next()) + __builtin_expect_with_probability(x, 5, 0.5); int *p = __builtin_assume_aligned(&x, 4); return *p + e + n * 10 + __builtin_choose_expr(sizeof(int) == 4, x, next()) * 100 + __builtin_classify_type(x) + __builtin_classify_type(p) * 3 + __builtin_offsetof(struct s, a[2][x - 4]) * 1000 + __alignof__(x) + __alignof__(n) * 3 + __alignof__(p) * 7 + __builtin_constant_p(x++) + x; }",
    ),
    Read(
        "structures as variable arguments",
        "struct s { char c[3]; }; struct t { long a, b; short c; }; static long sum(int n, ...) { __builtin_va_list ap, aq; __builtin_va_start(ap, n); struct s x = __builtin_va_arg(ap, struct s); int i = __builtin_va_arg(ap, int); __builtin_va_copy(aq, ap); struct t y = __builtin_va_arg(ap, struct t); long l = __builtin_va_arg(ap, long) + __builtin_va_arg(aq, struct t).c; return x.c[2] + i * 10 + y.b * 100 + y.c * 1000 + l * 10000; } long test(void) { struct s x = { 1, 2, 3 }; struct t y = { 4, 5, 6 }; return sum(1, x, 7, y, 8l); }",
    ),
    Read(
        "numbers of addresses where they do not matter",
        "static long a[3]; struct __attribute__((aligned(16))) big { char c[16]; }; static struct big b; static int f(int x) { return x; } long test(void) { unsigned long p = (unsigned long)&a[1], q = (unsigned long)a; long *r = (long *)(p + 8); *r = 7; char *heap = __builtin_malloc(8); unsigned long tagged = (unsigned long)heap | 1; long n = (p - q) + (p == q + 8) * 100 + a[2] * 1000 + (p % 8) + ((int)(long)&b & 15) + ((unsigned long)&f + 5 == 5 + (unsigned long)f) * 10000 + (tagged & 1) * 100000; *(char *)(tagged & ~1ul) = 3; return n + heap[0]; }",
    ),
    Read(
        "functions inside functions",
        "static int twice(int (*f)(int), int x) { return f(f(x)); } long test(void) { int v = 3, a[4] = { 1, 2, 3, 4 }; struct { int x, y; } s = { 5, 6 }; int plain(int x) { return x * 2 + 1; } void add(int n) { v += n; a[1]++; if (n > 1) add(n - 1); } int outer(int k) { int own = k, v = 100; int inner(void) { own += s.y; add(2); return own + v; } s.x++; return inner() + inner(); } add(4); { int v = 50; long n = outer(7) + v; return n + a[1] * 100 + s.x * 1000 + twice(plain, 3) * 10000; } }",
    ),
    Read(
        "functions inside functions, of arrays of computed size",
        "static int of(int n) { int a[n]; int at(int i) { return a[i] + n; } struct p { int x[3]; }; struct p make(int k) { struct p p = { { k, n, a[1] } }; return p; } for (int i = 0; i < n; i++) a[i] = i * i; n++; return at(2) + make(4).x[2] * 10 + make(5).x[0] * 100 + make(1).x[1] * 1000; } long test(void) { int f(x) short x; { return x; } return of(5) + f(70000); }",
    ),
    Refused(
        "address of a function that uses variables around it",
        "static int f(int (*g)(void)) { return g(); } long test(void) { int x = 1; int g(void) { return x; } return f(g); }",
        "whose variables it uses",
    ),
    Refused(
        "jump out of a function inside a function",
        "long test(void) { __label__ out; void f(void) { goto out; } f(); return 0; out: return 1; }",
        "jump out of a function",
    ),
    Refused(
        "address of a bit-field",
        "static struct { int a : 3; } s; long test(void) { return *&s.a; }",
        "address of a bit-field",
    ),
    Refused(
        "atomic bit-field",
        "static struct { _Atomic int a : 3; } s; long test(void) { return s.a; }",
        "`_Atomic` bit-field",
    ),
    Read(
        "copy of bit-fields",
        "static struct { int a : 3; int b; } s, t; long test(void) { s = t; return s.b; }",
    ),
    Read(
        "copy of bit-fields inside",
        "struct in { int a : 3; }; static struct { struct in i[2]; int b; } s, t; long test(void) { s = t; return s.b; }",
    ),
    Read(
        "initial value of a local bit-field",
        "long test(void) { struct { int b; int a : 3; } s = { 1 }; return s.b; }",
    ),
    Refused(
        "wide bit-field",
        "struct s { int a : 40; }; long test(void) { return sizeof(struct s); }",
        "wider",
    ),
    Read(
        "padding and alignment",
        "struct s { char a; long b; char c; short d; }; struct t { char x; struct s y; char z; }; long test(void) { return sizeof(struct s) + sizeof(struct t) * 100 + _Alignof(struct t) * 10000 + __builtin_offsetof(struct t, y.d) * 100000; }",
    ),
    Read(
        "empty and flexible arrays",
        "struct s { int n; char a[]; }; struct t { int n; long a[0]; }; long test(void) { return sizeof(struct s) + sizeof(struct t) * 10; }",
    ),
    Read(
        "sizes",
        "static int a[3][4]; static int f(void) { return 1; } long test(void) { char c = 1; return sizeof c + sizeof(c + c) * 10 + sizeof a[0] * 100 + sizeof 'a' * 1000 + sizeof(c ? c : c) * 10000 + sizeof(a + 0) * 100000 + sizeof(f()) * 1000000 + sizeof(long double) + sizeof(c, c); }",
    ),
    // Conversions and operators.
    Read(
        "integer promotions",
        "long test(void) { unsigned char c = 200, d = 100; short s = -1; unsigned u = 1; return (c + d) + (s < u) * 1000 + (c << 4) * 10000l + (~c < 0) * 2 + (-c < 0) * 3; }",
    ),
    Read(
        "assignment with an operator converts",
        "long test(void) { unsigned char c = 200; c += 100; signed char d = 100; d *= 3; _Bool b = 1; b += 5; int i = 7; i /= 2u; i -= 10; i >>= 1; return c + d * 1000 + b * 7 + i * 100000; }",
    ),
    Read(
        "types of shifts",
        "long test(void) { int i = -8; unsigned u = 0x80000000; long n = 1; return (i >> 1) + (u >> 31) * 10 + (n << 33) + (1 << n) * 3 + ((char)1 << 10); }",
    ),
    Read(
        "types of the conditional operator",
        "long test(void) { int i = -1; unsigned u = 1; char c = -1; int *p = 0; return (1 ? i : u) + (1 ? c : i) * 3 + (long)(p ? p : 0) + sizeof(1 ? 1 : 1l) + (i ?: u); }",
    ),
    Read(
        "comparison of signed and unsigned",
        "long test(void) { return (-1 < 1u) + (-1l < 1u) * 2 + ((short)-1 < (unsigned short)1) * 4 + (-1ll < 1ul) * 8; }",
    ),
    Read(
        "division and remainder",
        "long test(void) { int a = -7, b = 2; unsigned u = 7; return a / b + a % b * 10 + (a / u > 100) * 100 + -7l % 3 * 1000; }",
    ),
    Read(
        "truth values",
        "long test(void) { _Bool b = 256; int *p = &(int){ 1 }; _Bool c = p; return b + c * 2 + !p * 4 + !!5 * 8 + sizeof(_Bool); }",
    ),
    Read(
        "comma",
        "long test(void) { int i = 0; int j = (i++, i + 5); for (i = 0, j++; i < 3; i++, j += 2) ; return i + j * 10; }",
    ),
    Read(
        "short circuits",
        "static int n; static int f(int v) { n = n * 2 + 1; return v; } long test(void) { int a = f(0) && f(1), b = f(1) || f(0), c = f(1) && f(2); return n + a * 100 + b * 1000 + c * 10000; }",
    ),
    Read(
        "pointers",
        "static int a[5] = { 1, 2, 3, 4, 5 }; long test(void) { int *p = a + 1, *q = &a[4]; p++; return *p + p[-1] * 10 + (q - p) * 100 + (p < q) * 1000 + *(q - 2) * 10000 + 2[a] + (&*p == p) + (char *)q - (char *)p; }",
    ),
    Read(
        "statement expressions and typeof",
        "long test(void) { __auto_type x = 3l; __typeof__(x) y = ({ int z = 4; z * 2; }); return x + y + sizeof y; }",
    ),
    Read(
        "selection by type",
        "long test(void) { unsigned short s = 1; return _Generic(1, int: 1, default: 2) + _Generic(s, short: 10, unsigned short: 20) + _Generic(1u, int: 100, default: 200); }",
    ),
    Refused(
        "selection among types that are one here",
        "long test(void) { return _Generic(1l, long long: 1, default: 2); }",
        "_Generic",
    ),
    Refused(
        "selection by pointer",
        "static const char *p; long test(void) { return _Generic(p, char *: 1, default: 2); }",
        "_Generic",
    ),
    Read(
        "constant or not",
        "long test(void) { return __builtin_constant_p(3 + 4) + __builtin_constant_p(\"a\") * 4; }",
    ),
    // Statements.
    Read(
        "ranges of cases",
        "static int f(int v) { switch (v) { case 1 ... 3: return 1; case -5: return 2; case 'a': return 3; default: return 4; case 10: ; } return 5; } long test(void) { return f(2) + f(-5) * 10 + f('a') * 100 + f(7) * 1000 + f(10) * 10000; }",
    ),
    Read(
        "switch converts its cases",
        "long test(void) { unsigned char c = 255; int n = 0; switch (c) { case -1: n = 1; break; case 255: n = 2; } unsigned u = 0xffffffff; switch (u) { case -1: n += 10; } return n; }",
    ),
    Read(
        "cases inside of loops",
        "long test(void) { int n = 0, i = 5; switch (i % 4) { case 0: do { n++; case 3: n += 10; case 2: n += 100; case 1: n += 1000; } while (--i > 0); } return n; }",
    ),
    Read(
        "goto",
        "long test(void) { int i = 0, n = 0; again: n += i; if (++i < 4) goto again; { goto out; n = 100; } out: return n; }",
    ),
    Read(
        "static variables of functions",
        "static int f(void) { static int n = 3; return n++; } static int g(void) { static int n; return ++n; } long test(void) { f(); f(); g(); return f() + g() * 10; }",
    ),
    Read(
        "scopes",
        "static int x = 1; long test(void) { int n = x; int x = 2; { n += x * 10; int x = 3; n += x * 100; } for (int x = 4; x < 5; x++) n += x * 1000; return n + x * 10000; }",
    ),
    // Declarations and definitions.
    Read(
        "tentative definitions",
        "static int x; static int x = 4; static int x; long test(void) { return x; }",
    ),
    Read(
        "declared after use",
        "static int f(int); extern int y_of_row; static long g(void) { return f(3) + y_of_row; } int y_of_row = 7; static int f(int v) { return v * 2; } long test(void) { return g(); }",
    ),
    Read(
        "old style",
        "static int f(a, c) int a; char c; { return a + c; } static int g(); static int g(int v) { return v; } long test(void) { return f(1, 300) + g(5) * 100; }",
    ),
    Read("no type is int", "f_of_row() { return 3; } long test(void) { return f_of_row(); }"),
    Read("a variable without a type", "static x = 3; long test(void) { return x; }"),
    Read(
        "parameters of array and function type",
        "static int f(int a[3], int g(int)) { return g(a[1]) + sizeof a; } static int h(int v) { return v * 2; } long test(void) { int a[3] = { 1, 2, 3 }; return f(a, h); }",
    ),
    Read(
        "structures by value",
        "struct s { int a; int b[2]; }; static struct s f(struct s v) { v.b[1]++; return v; } long test(void) { struct s x = { 1, { 2, 3 } }, y = f(x); y = f(y); return x.b[1] + y.b[1] * 10 + f(y).a * 100; }",
    ),
    Read(
        "qualifiers",
        "static volatile const int c = 3; static int f(int *restrict p, register int n) { return *p + n; } long test(void) { volatile int v = 4; int w = 1; return c + v + f(&w, 2); }",
    ),
    Read(
        "inline functions",
        "static inline int f(int v) { return v + 1; } static __inline__ __attribute__((always_inline)) int g(int v) { return f(v) * 2; } long test(void) { return g(3); }",
    ),
    Read(
        "static assertions that hold",
        "_Static_assert(sizeof(int) == 4, \"\"); struct s { int a; _Static_assert(1, \"\"); }; long test(void) { _Static_assert(2 > 1, \"\"); return sizeof(struct s); }",
    ),
    Refused(
        "static assertion in a file",
        "_Static_assert(sizeof(int) == 8, \"\"); long test(void) { return 1; }",
        "static assertion",
    ),
    Refused(
        "static assertion in a block",
        "long test(void) { _Static_assert(0, \"\"); return 1; }",
        "static assertion",
    ),
    Refused(
        "static assertion in a structure",
        "struct s { int a; _Static_assert(0, \"\"); }; long test(void) { return sizeof(struct s); }",
        "static assertion",
    ),
    Refused(
        "function that is defined twice",
        "static int f(void) { return 1; } static int f(void) { return 2; } long test(void) { return f(); }",
        "defined twice",
    ),
    Refused(
        "variable that is defined twice",
        "static int x = 1; static int x = 2; long test(void) { return x; }",
        "defined twice",
    ),
    Refused(
        "structure that is defined twice",
        "struct s { int a; }; struct s { long a; }; long test(void) { return sizeof(struct s); }",
        "defined twice",
    ),
    Refused(
        "local variable that is declared twice",
        "long test(void) { int x = 1; int x = 2; return x; }",
        "declared twice",
    ),
    Refused(
        "variable of two types",
        "extern int x; extern long x; long test(void) { return 1; }",
        "two types",
    ),
    Refused("function of two types", "int f(int); long f(int); long test(void) { return 1; }", "two types"),
    Refused("type of two types", "typedef int t; typedef long t; long test(void) { return 1; }", "two types"),
    Refused(
        "variable and function",
        "static int x; static int x(void) { return 1; } long test(void) { return 1; }",
        "something else",
    ),
    Refused(
        "constant and variable",
        "static int A; enum { A }; long test(void) { return A; }",
        "something else",
    ),
    Read(
        "a structure that hides another one",
        "struct s { int a; }; long test(void) { struct s; struct s *p; struct s { long a, b; }; { struct s { char a; }; } return sizeof(struct s) + sizeof *p * 100; }",
    ),
    Read(
        "an inner structure of the same tag",
        "struct s { int a; }; long test(void) { struct s { long a, b; }; return sizeof(struct s); }",
    ),
    Read("digraphs", "static int a<:2:> = <% 1, 2 %>; long test(void) <% return a<:1:>; %>"),
    Read(
        "labels before declarations",
        "long test(void) { int n = 1; goto L; L: ; int m = 2; return n + m; }",
    ),
    Read(
        "attributes of C23 without effect",
        "[[maybe_unused]] static int f([[maybe_unused]] int a) { return 3; } long test(void) { switch (1) { case 1: [[fallthrough]]; case 2: return f(1); } return 0; }",
    ),
    Read(
        "packed structures of C23",
        "struct [[gnu::packed]] s { char a; int b; }; long test(void) { return sizeof(struct s); }",
    ),
    Refused("attributes of C23", "[[gnu::weakref]] static int x; long test(void) { return x; }", "weakref"),
    Refused(
        "128 bits in a structure",
        "struct s { char c; __int128 x; }; long test(void) { return sizeof(struct s); }",
        "__int128",
    ),
    Read(
        "128 bits that are not used",
        "typedef __int128 wide; struct s { wide x; }; extern wide f(struct s *, wide); long test(void) { return 1; }",
    ),
    Read(
        "complex numbers in memory",
        "struct s { char c; float _Complex z; }; struct __attribute__((packed)) p { char c; _Complex float z; }; static double _Complex z[3] = { 1.0 + 2.0i, 3, -4.0i }; long test(void) { _Complex w = z[0]; z[2] = w; return sizeof z + sizeof(struct s) * 100 + sizeof(struct p) * 10000 + _Alignof(_Complex double) * 1000000 + sizeof(_Complex char) * 10000000l + sizeof(_Complex) * 100000000l + __builtin_offsetof(struct s, z) * 10000000000l + (long)__real__ z[2] * 100000000000l + (long)__imag__ z[2] * 1000000000000l; }",
    ),
    Read(
        "parts of complex numbers",
        "long test(void) { _Complex double z; double *p = &__imag__ z, x = 7.5; __real__ z = 2.5; *p = 4; __imag__ z += 1; ++__real__ z; __real__ x = 8; return __real__ z * 100 + __imag__ z + (__imag__ x == 0) * 7 + __real__ x * 1000 + (*(&__real z + 1) == 5) * 3; }",
    ),
    Read(
        "sums and products of complex numbers",
        "static double k(_Complex double z) { return __real__ z * 1000 + __imag__ z; } long test(void) { _Complex double a = 1.5 + 2i, b = -3 + 0.5i, c = a * b, d = a - b; _Complex float e = a; d += c; c -= 2; a *= 3.0f; e = 2 * e + 1.0iF; double x = 3; x *= b; return k(a) + k(b) * 3 + k(c) * 7 + k(d) * 11 + k(e) * 13 + k(-a) * 17 + k(~b) * 19 + k(2 - b) * 23 + k(b / 2) * 29 + x * 31 + k(+a) * 37; }",
    ),
    Read(
        "rounding of complex products",
        "static float a = 0.1f, b = 0.7f, c = 1.3f, d = 3.7f; long test(void) { _Complex float x = a + b * 1.0iF, y = c + d * 1.0iF, z = x * y; double p = 0.1, q = 0.3; _Complex double u = p + q * 1.0i, v = u * u + u * 0.7; union { float f; int i; } r = { __real__ z }, i = { __imag__ z }; union { double d; long i; } s = { __real__ v }, t = { __imag__ v }; return r.i * 3l + i.i * 5l + (s.i % 1000003) + (t.i % 1000003) * 7; }",
    ),
    Read(
        "zeros of complex numbers",
        "static long k(_Complex double z) { return (1 / __real__ z < 0) + (1 / __imag__ z < 0) * 2; } long test(void) { double m = -0.0, o = 0.0; _Complex double z = __builtin_complex(m, m), w = __builtin_complex(o, o); return k(z) + k(0 + z) * 10 + k(z - 0.0) * 100 + k(0.0 - w) * 1000 + k(-w) * 10000 + k(~w) * 100000 + k(m * w) * 1000000 + k(w + w) * 10000000l; }",
    ),
    Read(
        "complex numbers are compared",
        "long test(void) { _Complex double a = 1 + 2i, b = 1 - 2i, o = 0; _Complex float f = 1 + 2.0if; double n = __builtin_nan(\"\"); _Complex double m = n; return (a == b) + (a != b) * 2 + (a == ~b) * 4 + (a == f) * 8 + (o == 0) * 16 + (1 != a) * 32 + (o ? 64 : 0) + (a ? 128 : 0) + !o * 256 + !a * 512 + (o || a) * 1024 + (o && a) * 2048 + (_Bool)(a - 1) * 4096 + (m == m) * 8192 + (m != m) * 16384; }",
    ),
    Read(
        "conversions of complex numbers",
        "static double f(double v) { return v; } static _Complex float g(_Complex float v) { return v; } long test(void) { _Complex double z = 5.75 - 3.5i; int i = z; _Complex int n = z; _Complex double w = (_Complex double)(float)0.1f + n; return i + (long)f(z) * 10 + (long)__imag__ g(z) * 100 + __imag__ n * 1000 + (long)(__real__ w * 100000) + (long)(_Complex double)7 * 1000000 + (_Bool)z * 100000000l + (g(3) == 3) * 1000000000l + (unsigned char)(300 + 2i) * 10000000000l; }",
    ),
    Read(
        "complex integers",
        "struct s { _Complex unsigned short x; }; static struct s v = { 100 + 200i }; static struct s f(void) { return v; } long test(void) { _Complex int a = 3 + 4i, b = 2 - 1i, c = a * b, d = a * 2 - b; _Complex long e = c + 10000000000i; _Complex unsigned u = -1; return (f().x == v.x) + __real__ c * 10 + __imag__ c * 100 + __real__ d * 1000 + __imag__ d * 10000 + (__imag__ e + __real__ e) + (__real__ u == 0xffffffff) * 7 + __imag__ ~a + __real__ -a * 3 + sizeof(a + e) * 5 + (a == 3 + 4i) * 11; }",
    ),
    Read(
        "complex numbers in calls",
        "typedef _Complex double z; static z f(z a, int n, z b) { a += n; return n ? f(b, n - 1, a) : a - b; } static z old(x, y) z x; _Complex float y; { return x * y; } static double sum(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); double r = 0; while (n--) { z v = __builtin_va_arg(l, z); r = r * 10 + __real__ v + __imag__ v * 3; } __builtin_va_end(l); return r; } long test(void) { z v = f(1 + 2i, 3, 4 - 1i); z (*p)(z, int, z) = f; return __real__ v * 100 + __imag__ v + sum(2, v, 1.0 + 0i) * 1000 + __real__ p(v, 1, 2) * 100000 + __imag__ old(v, (_Complex float)(1 + 1i)) * 1000000; }",
    ),
    Read(
        "order in complex expressions",
        "static _Complex double z = 1 + 1i; static _Complex double f(void) { z = 10 + 20i; return 2; } long test(void) { _Complex double a = (f(), z), b, c; c = b = a; _Complex double d = (a, b) * (z += 1); _Complex double e = c == b ? d : 3; double h = 0 ? z : 2.5f; return __real__ a + __imag__ a * 10 + __real__ d * 100 + __imag__ e * 10000 + (long)h * 1000000 + __real__ ({ _Complex double q = z; q * 2; }) * 10000000; }",
    ),
    Read(
        "initial values of complex numbers",
        "struct s { int n; _Complex float z; int m; _Complex double w[2]; }; static struct s v = { 1, 2 + 3i, 4, 5, 6i }, u = { .z = { 7 }, .w[1] = 8 - 9i }; static const _Complex double c = -(1 + 2.5i) + 3 * 1i; static _Complex double *l = &(_Complex double){ 1i }; long test(void) { static _Complex float t = 2i + 1; float x = 3; struct s w = { x, x + 1i, 5, { x * 2i, 7 } }; _Complex double a = { 4 + 1i }, *q = (_Complex double[]){ 1, a }; return __imag__ v.z + v.m * 10 + __real__ v.w[0] * 100 + __imag__ v.w[1] * 1000 + __real__ u.z * 10000 + __imag__ u.w[1] * 100000 + __imag__ c * 1000000 + __imag__ t * 10000000 + __imag__ w.z * 100000000 + w.m * 1000000000l + __imag__ w.w[0] * 10000000000l + __imag__ q[1] * 100000000000l + __imag__ *l * 1000000000000l; }",
    ),
    Read(
        "functions of complex numbers",
        "long test(void) { _Complex double z = 1.5 + 2i; _Complex float f = 3 - 4i; return __builtin_creal(z) * 2 + __builtin_cimag(z) * 10 + __builtin_cimag(__builtin_conj(z)) * 100 + __builtin_crealf(f) * 1000 + __builtin_cimagf(f) * 10000 + __builtin_cimagf(__builtin_conjf(f)) * 100000 + __imag__ __builtin_complex(1.0f, 2.0f) * 1000000 + __builtin_creal(7) * 10000000 + sizeof __builtin_complex(1.0f, 2.0f) * 1000000000l; }",
    ),
    Read(
        "choice by a complex type",
        "long test(void) { _Complex float f = 1; _Complex double d = 2; _Complex int i = 3; return _Generic(f, _Complex double: 1, _Complex float: 2) + _Generic(f + d, _Complex double: 10, default: 20) + _Generic(f * 1.0, _Complex double: 100, default: 200) + _Generic(i + 1.0f, _Complex float: 1000, default: 2000) + _Generic(__real__ f, float: 10000, default: 20000) + __builtin_types_compatible_p(_Complex float, __typeof__(f)) * 100000 + __builtin_types_compatible_p(_Complex float, _Complex int) * 1000000 + __builtin_classify_type(d) * 10000000; }",
    ),
    Refused(
        "complex numbers of type `long double`",
        "static long double _Complex z; long test(void) { return sizeof z; }",
        "_Complex long double",
    ),
    Refused(
        "an imaginary `long double`",
        "long test(void) { return sizeof(2.0iL); }",
        "_Complex long double",
    ),
    Refused(
        "complex numbers that are atomic",
        "static _Atomic _Complex float z; long test(void) { return sizeof z; }",
        "_Atomic",
    ),
    Refused(
        "steps of complex numbers",
        "long test(void) { _Complex double z = 1; z++; return __real__ z; }",
        "`++`",
    ),
    Refused(
        "quotients of complex integers",
        "long test(void) { _Complex int z = 6 + 2i; z = z / 2; return __real__ z; }",
        "quotient",
    ),
    Refused(
        "sums of complex characters",
        "long test(void) { _Complex char z = 6 + 2i; z += z; return __real__ z; }",
        "small integers",
    ),
    Refused(
        "products of complex constants",
        "long test(void) { _Complex double z = (0.1 + 2i) * (0.7 - 0.3i); return __real__ z; }",
        "product of complex constants",
    ),
    Refused(
        "complex types of the same size",
        "long test(void) { _Complex long z = 1; return _Generic(z, _Complex long: 1, _Complex long long: 2); }",
        "_Generic",
    ),
    Refused("integers of any width", "static _BitInt(7) z; long test(void) { return sizeof z; }", "_BitInt"),
    Read(
        "alignment",
        "struct s { char a; _Alignas(16) char b; _Alignas(long) char c; _Alignas(0) char d; }; struct t { struct s s; _Alignas(32) char e[3]; }; long test(void) { return sizeof(struct s) + __builtin_offsetof(struct s, b) * 100 + __builtin_offsetof(struct s, c) * 10000 + _Alignof(struct s) * 1000000 + sizeof(struct t) * 100000000l; }",
    ),
    Read(
        "alignment of a variable",
        "static _Alignas(64) int x = 3; long test(void) { _Alignas(16) char c = 4; return x + c + sizeof x; }",
    ),
    Read(
        "packed structures",
        "struct __attribute__((packed)) s { char a; int b; }; struct t { char a; short b; long c; } __attribute__((__packed__)); struct u { char x; struct t y; struct s z[2]; }; long test(void) { struct t v = { 1, 2, 3 }, w = v; struct s *p = &(struct s){ 4, 5 }; return sizeof(struct s) + sizeof(struct t) * 10 + sizeof(struct u) * 1000 + w.c * 100000 + p->b * 1000000 + _Alignof(struct s) * 10000000l; }",
    ),
    Read(
        "structures that are aligned",
        "typedef unsigned long word; struct s { char a; } __attribute__((aligned(16))); typedef struct { char a; } __attribute__((aligned(sizeof(word)))) t; typedef struct __attribute__((aligned (sizeof (void *)))) { short a; } u; struct __attribute__((packed, aligned(4))) v { char a; int b; }; struct w { char c; struct s d; t e; }; long test(void) { return sizeof(struct s) + sizeof(t) * 100 + sizeof(u) * 1000 + sizeof(struct v) * 10000 + sizeof(struct w) * 100000 + _Alignof(struct w); }",
    ),
    Read(
        "packed bit-fields",
        "struct __attribute__((packed)) s { char a; int b : 4; }; long test(void) { return sizeof(struct s); }",
    ),
    Read(
        "packed members",
        "struct s { char a; int b __attribute__((packed)); short c __attribute__((packed, aligned(2))); char d; int e; }; long test(void) { struct s v = { 1, 2, 3, 4, 5 }, w = v; return sizeof(struct s) + __builtin_offsetof(struct s, b) * 100 + __builtin_offsetof(struct s, c) * 1000 + __builtin_offsetof(struct s, e) * 10000 + w.b * 1000000 + w.c * 10000000; }",
    ),
    Read(
        "aligned members",
        "struct s { char a; int b __attribute__((aligned(64))); char __attribute__((aligned(8))) c, d; struct { char x; } __attribute__((aligned(4))) e; char f; }; long test(void) { return sizeof(struct s) + __builtin_offsetof(struct s, c) * 1000 + __builtin_offsetof(struct s, d) * 100000 + __builtin_offsetof(struct s, e) * 10000000l + __builtin_offsetof(struct s, f) * 1000000000l; }",
    ),
    Read(
        "largest alignment",
        "struct s { char a; } __attribute__((aligned)); long test(void) { return sizeof(struct s); }",
    ),
    Refused(
        "structure with a refused one inside",
        "struct in { char a; int b __attribute__((noinit)); }; struct out { char c; struct in i; }; long test(void) { return sizeof(struct out); }",
        "noinit",
    ),
    Refused(
        "copy of a refused structure",
        "struct s { char a; int b __attribute__((noinit)); }; static char x[8], y[8]; long test(void) { *(struct s *)x = *(struct s *)y; return 1; }",
        "noinit",
    ),
    Refused(
        "member of a refused structure",
        "typedef struct { char a; int b __attribute__((noinit)); } t; static char raw[8]; long test(void) { return ((t *)raw)->b; }",
        "noinit",
    ),
    Read(
        "aligned type",
        "typedef int t __attribute__((aligned(16))); typedef long u __attribute__((aligned(2))); typedef u v; struct s { char a; t b; u c; v d; char e; t *f; }; long test(void) { return sizeof(struct s) + __builtin_offsetof(struct s, b) * 1000 + __builtin_offsetof(struct s, c) * 100000 + __builtin_offsetof(struct s, d) * 10000000l + __builtin_offsetof(struct s, f) * 1000000000l + _Alignof(t) * 100000000000l + _Alignof(v) * 10000000000000l; }",
    ),
    Read(
        "packing by a pragma",
        "\n#pragma pack(push, 1)\nstruct s { char a; int b; };\n#pragma pack(2)\nstruct t { char a; int b; char c; };\n#pragma pack(pop)\n#pragma pack(push)\n#pragma pack(4)\nstruct u { char a; long b; struct t c; short d __attribute__((aligned(8))); };\n#pragma pack()\nstruct v { char a; struct u b; long c; };\nlong test(void) { struct s x = { 1, 2 }; return sizeof(struct s) + sizeof(struct t) * 10 + sizeof(struct u) * 1000 + sizeof(struct v) * 100000 + x.b; }",
    ),
    Read(
        "bit-fields that a pragma packs",
        "\n#pragma pack(1)\nstruct s { char a; int b : 4; };\nlong test(void) { return sizeof(struct s); }",
    ),
    Read(
        "after packing by a pragma",
        "\n#pragma pack(push, 1)\nstruct s { char a; int b; };\n#pragma pack(pop)\nstruct t { char a; int b; }; long test(void) { return sizeof(struct t); }",
    ),
    Refused(
        "pragma of threads",
        "long test(void) { int n = 0;\n#pragma omp parallel\nn++; return n; }",
        "#pragma omp",
    ),
    Refused("unknown pragma", "\n#pragma strange\nlong test(void) { return 1; }", "#pragma strange"),
    Read(
        "cleanup",
        "static int n; static void f(int *p) { n = n * 10 + *p; } static int g(int v) { __attribute__((cleanup(f))) int x = v, y = v + 1; x += 2; return x; } long test(void) { int r = g(1); return n + r * 100; }",
    ),
    Read(
        "cleanup by all ways out",
        "static long n; static void f(int *p) { n = n * 10 + *p; } static int g(int v) { int a __attribute__((cleanup(f))) = 1; for (int i = 0; i < 3; i++) { int b __attribute__((cleanup(f))) = 2; if (i == 0) continue; { int c __attribute__((cleanup(f))) = 3; if (i == 1) break; } } again: ; int d __attribute__((cleanup(f))) = 4; if (v-- > 0) goto again; if (v < 0) { int e __attribute__((cleanup(f))) = 5; goto out; } out: return a; } long test(void) { int r = g(1); switch (r) { int x __attribute__((cleanup(f))); case 1: x = 7; break; } int s = ({ int y __attribute__((cleanup(f))) = 8; y + 1; }); return n * 10 + s; }",
    ),
    Read(
        "cleanup of a structure",
        "struct s { int a, b; }; static int n; static void f(struct s *p) { n = p->a + p->b * 10; } static void g(void) { struct s x __attribute__((cleanup(f))) = { 1, 2 }; } long test(void) { g(); return n; }",
    ),
    Refused(
        "cleanup by a function with a meaning of its own",
        "void free(void *); static void g(void) { void *p __attribute__((cleanup(free))) = 0; } long test(void) { g(); return 1; }",
        "cleanup",
    ),
    Read(
        "constructor",
        "static int n; __attribute__((constructor)) static void f(void) { n = n * 10 + 1; } static void g(void) __attribute__((constructor(201))); static void g(void) { n = n * 10 + 2; } __attribute__((constructor(102))) static void h(void) { n = n * 10 + 3; } __attribute__((constructor)) static void k(void) { n = n * 10 + 4; } long test(void) { return n; }",
    ),
    Read(
        "destructor in a list",
        "static int n; static void f(void) __attribute__((unused, __destructor__(101))); static void f(void) { n = 1; } long test(void) { return n; }",
    ),
    Refused(
        "function in a section that runs",
        "static int n; static void f(void) { n = 1; } static void (*p)(void) __attribute__((section(\".init_array\"), used)) = f; long test(void) { return n; }",
        "section",
    ),
    Read(
        "mode",
        "typedef int t __attribute__((mode(DI))); typedef unsigned __attribute__((__mode__(__QI__))) u; static int w __attribute__((mode(word))); struct s { unsigned a __attribute__((mode(HI))); char b; }; long test(void) { u x = 255; x++; return sizeof(t) + sizeof(u) * 10 + x * 100 + sizeof w * 1000 + sizeof(struct s) * 10000; }",
    ),
    Refused(
        "mode of 128 bits",
        "typedef int t __attribute__((mode(TI))); long test(void) { return sizeof(t); }",
        "TI",
    ),
    Read(
        "alias",
        "static int f(void) { return 3; } static int g(void) __attribute__((alias(\"f\"))); static int (*h)(void) = g; long test(void) { return g() + h() * 10 + (h == f) * 100; }",
    ),
    Refused(
        "alias of a variable",
        "static int x = 3; extern int y __attribute__((alias(\"x\"))); long test(void) { return y; }",
        "alias",
    ),
    Read(
        "weak",
        "int weak_of_row(void) __attribute__((weak)); int weak_of_row(void) { return 3; } __attribute__((weak)) int weak_too; long test(void) { return weak_of_row() + weak_too; }",
    ),
    Refused(
        "weak and not defined",
        "extern int w(void) __attribute__((weak)); long test(void) { return w ? 1 : 0; }",
        "weak",
    ),
    Refused(
        "weak variable that is not defined",
        "extern int w __attribute__((weak)); long test(void) { return &w ? 1 : 0; }",
        "weak",
    ),
    Refused(
        "unknown attribute",
        "static int x __attribute__((strange)); long test(void) { return x; }",
        "strange",
    ),
    Read(
        "packed enumeration",
        "enum __attribute__((packed)) e { A, B = 255 }; enum f { C = -1, D = 127 } __attribute__((packed)); enum g { E = 256 } __attribute__((packed)); struct s { enum e x; enum f y; }; long test(void) { struct s v = { B, C }; v.x++; return sizeof(enum e) + sizeof(enum f) * 10 + sizeof(enum g) * 100 + sizeof A * 1000 + v.x * 10000 + (v.y < 0) * 100000 + sizeof(struct s) * 1000000; }",
    ),
    Read(
        "transparent union",
        "union u { int *i; long *l; } __attribute__((transparent_union)); static int f(union u); long test(void) { return sizeof(union u) + sizeof f(0); }",
    ),
    Read(
        "thread-local variables of functions",
        "static int f(void) { static _Thread_local int n = 3; static __thread char c[2]; c[1]++; return n++ + c[1] * 10; } static int g(void) { int a[3] = { 1, 2, 3 }; static __thread long n = 7; return n + a[1]; } long test(void) { g(); f(); return f() + g() * 100; }",
    ),
    Read(
        "functions that do not return",
        "_Noreturn static void f(void) { for (;;) ; } static void g(void) __attribute__((noreturn)); static void g(void) { __builtin_unreachable(); } long test(void) { if (0) f(); if (0) g(); return 1; }",
    ),
    Refused(
        "name of a variable in assembly",
        "static int y; extern int x asm(\"y\"); long test(void) { return x; }",
        "assembly",
    ),
    Refused(
        "name of a function in assembly",
        "extern int x(void) __asm__(\"other\"); long test(void) { return x(); }",
        "assembly",
    ),
    Refused(
        "variable in a register by name",
        "long test(void) { register int x asm(\"eax\") = 3; return x; }",
        "assembly",
    ),
    Refused(
        "assembly outside functions",
        "asm(\".globl strange\"); long test(void) { return 1; }",
        "assembly",
    ),
    Refused(
        "assembly",
        "long test(void) { int x = 1; asm volatile(\"incl %0\" : \"+r\"(x)); return x; }",
        "assembly",
    ),
    Read(
        "assembly that is empty",
        "long test(void) { int x = 1; asm volatile(\"\" ::: \"memory\"); __asm__(\"\" : : \"r\"(x++)); return x; }",
    ),
    Read("labels as values", "long test(void) { void *p = &&L; goto *p; return 2; L: return 1; }"),
    Read(
        "local labels",
        "long test(void) { int n = 0; for (int i = 0; i < 2; i++) { __label__ L, M; goto L; M: n += 10; goto N; L: n++; goto M; } N: { __label__ N; goto N; n = 5; N: ; } L: if (n == 11) { n++; goto L; } return n; }",
    ),
    // Floating point.
    Read(
        "floating point in a union",
        "static union { float f; int i; } u = { 1.0f }; static union { double d; long l; } w = { 0.1 }; long test(void) { w.l++; return u.i + w.l + (w.d > 0.1); }",
    ),
    Read("the bytes of a number", "static double d = 1; long test(void) { return ((char *)&d)[7]; }"),
    Read(
        "literals of floating point",
        "static double a[] = { 1., .5, 1e3, 0x1p-2, 0x.8p+1, 1E-2, 0.1f, 3, 1e400, 4.9e-324, 1000.5 }; static float f[] = { 0.1, 16777217, 1e-46, 3.4e38f, 0x1.000001p0 }; long test(void) { long h = 0; for (unsigned i = 0; i < sizeof a; i++) h = h * 31 + ((unsigned char *)a)[i]; for (unsigned i = 0; i < sizeof f; i++) h = h * 31 + ((unsigned char *)f)[i]; return h; }",
    ),
    Read(
        "floating point becomes an integer where constants are expected",
        "enum { A = (int)3.75, B = (unsigned char)200.5f }; static int a[(int)2.5]; static _Bool b = 0.1; struct s { char c[(long)(1.5 * 2)]; }; long test(void) { switch (3) { case (int)3.9: return A + B * 10 + sizeof a * 100 + b + sizeof(struct s); } return 0; }",
    ),
    Refused("a fractional constant", "enum { A = 2.5 }; long test(void) { return A; }", "not an integer"),
    Refused("bits of a number", "long test(void) { double d = 1; return d & 1; }", "not an integer"),
    Read(
        "conversions of floating point",
        "long test(void) { unsigned long u = -1ul; long l = -1; double d = u; float f = 16777217; _Bool b = 0.25, c = 0.0; signed char s = -3.9; return (d > l) + (f == 16777216) * 2 + b * 4 + c * 8 + s * 100 + ((float)0.1 == 0.1) * 16 + (u == (float)u) * 32; }",
    ),
    Read(
        "conditions of floating point",
        "long test(void) { double n = 0.0 / 0.0, z = -0.0; float h = 0.5; long r = 0; if (n) r++; if (z) r += 2; if (!h) r += 4; while (h) { r += 8; h = 0; } return r + (n == n) * 100 + (n != n) * 200 + (n < 1 || n >= 1) * 400 + (z == 0) * 800 + (z ? 1 : 1.5) * 1000 + (h ?: 2.5) * 10000; }",
    ),
    Read(
        "assignments of floating point",
        "static _Atomic double at = 0.5; long test(void) { int i = 7; i += 2.9; i *= 0.5; double d = 3; float f = 2; d /= 4; d -= f++ + --f; at = at + 2; char c = 100; c *= 1.2; return i + (long)(d * 100) * 10 + c * 10000 + (long)(at * 10); }",
    ),
    Read(
        "floating point as argument and result",
        "static float half(x) float x; { return x / 2; } static double sum(int n, ...) { __builtin_va_list a; __builtin_va_start(a, n); double r = 0; while (n--) r += __builtin_va_arg(a, double); __builtin_va_end(a); return r; } static double (*p)(int, ...) = sum; struct s { float f; double d; }; static struct s twice(struct s v) { v.f *= 2; v.d *= 2; return v; } long test(void) { struct s v = { 0.75f, 1.125 }; return half(3.0) * 100 + sum(3, 1.5, 2.5f, 0.25) * 1000 + p(1, 4.0) + twice(v).d * 4000 + twice(v).f; }",
    ),
    Read(
        "functions of numbers",
        "long test(void) { double n = __builtin_nan(\"\"), i = __builtin_inf(), x = -2.5; return (__builtin_fabs(x) == 2.5) + (__builtin_isinf_sign(-i) == -1) * 2 + !!__builtin_signbit(-0.0) * 4 + (__builtin_copysign(3, x) == -3) * 8 + __builtin_isunordered(n, x) * 16 + __builtin_isgreater(i, x) * 32 + (__builtin_floor(x) == -3) * 64 + (__builtin_fmax(n, 1) == 1) * 128 + __builtin_fpclassify(1, 2, 3, 4, 5, x) * 1000 + __builtin_fpclassify(1, 2, 3, 4, 5, 1e-310) * 10000 + __builtin_fpclassify(1, 2, 3, 4, 5, n) * 100000 + (__builtin_huge_valf() > 1e38) * 256; }",
    ),
    Read(
        "long double is read, stored and copied",
        "static long double a = 1.5L, b[2]; static long double same(long double x) { return -x * 2; } static long second(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); __builtin_va_arg(l, long double); return __builtin_va_arg(l, int); } struct s { char c; long double d; int i; }; long test(void) { long double x = 3, *p = &x; struct s v = { 1, 2.5L, 7 }, w = v; x += a; b[1] = same(*p); x++; w.d = x; return sizeof x + w.i * 100 + second(1, x, 5) * 1000 + sizeof(struct s) * 10000 + (long)(double)2.25L + (1.0L < 2) * 7; }",
    ),
    Read(
        "the bytes of a constant long double",
        "static long double a[] = { 1.5L, 0.0L, 3, 1e300, 0x1p-1072L, -4.94065645841246544176568792868221372e-324L }; long test(void) { long h = 0; for (int i = 0; i < 6; i++) for (int k = 0; k < 10; k++) h = h * 31 + ((unsigned char *)&a[i])[k]; return h; }",
    ),
    // What an audit found.
    Read(
        "a union with a truth value is copied as it is",
        "union u { int i; _Bool b; }; struct s { int t; union { long v; _Bool b; } u; }; static long get(struct s x) { return x.u.v; } long test(void) { union u a, c; a.i = 2; c = a; struct s s = { 1, { .v = 300 } }; return c.i + get(s) * 10; }",
    ),
    Read(
        "a union of which a part has a value is copied",
        "union u { char c; int i; }; long test(void) { union u x, y; x.c = 3; y = x; return y.c; }",
    ),
    Read(
        "initial values with effects",
        "long test(void) { int i; int a[2] = { (i = 1), (i = 2) }; return a[0] * 10 + a[1]; }",
    ),
    Refused(
        "two initial values of a union",
        "static union { int i; char c[4]; } u = { .i = 1, .c[1] = 9 }; long test(void) { return u.i; }",
        "second initial value of a union",
    ),
    Read(
        "pointers of two types in a choice",
        "long test(void) { short a[2]; short *p = a; void *v = a; int c = 1; return ((char *)((c ? p : v) + 1) - (char *)a) * 10 + sizeof *(c ? p : (void *)0); }",
    ),
    Read(
        "an attribute of the first member",
        "struct s { __attribute__((packed)) int a; char b; int c; }; long test(void) { return sizeof(struct s); }",
    ),
    Read(
        "an atomic structure has its size as alignment",
        "struct s { int x; _Atomic struct { int a, b; } p; }; long test(void) { return sizeof(struct s); }",
    ),
    Read(
        "packing inside a structure",
        "struct s { char a;\n#pragma pack(1)\n int b; };\n#pragma pack()\nstruct t { char a; int b; }; long test(void) { return sizeof(struct s) + sizeof(struct t) * 10; }",
    ),
    Read(
        "packing that is not taken back",
        "#pragma pack(1)\n#pragma pack(pop)\nstruct s { char a; int b; };\n#pragma pack()\nlong test(void) { return sizeof(struct s); }",
    ),
    Read(
        "a quote in an attribute",
        "static int g __attribute__((deprecated(\"5\\\" disk\"))) = 1; static int h __attribute__((deprecated(\"6\\\" disk\"))) = 7; long test(void) { return g * 10 + h; }",
    ),
    Read(
        "arrays of computed size in several dimensions",
        "long test(void) { int n = 3, m = 4, v = 0; int a[n][m], b[2][n]; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = i * j; b[1][2] = 5; n = m = 9; for (int i = 0; i < 3; i++) v += a[i][3]; int (*p)[4] = &a[1]; return v + sizeof a * 100 + sizeof a[0] * 10000 + (*p)[2] + b[1][2] + sizeof b; }",
    ),
    Read(
        "parameters of computed size",
        "static int sum(int n, int m, int a[n][m]) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += a[i][j]; return s + sizeof a[0] * 100 + sizeof *a; } static int last(int, int[*]); static int last(int n, int a[n]) { return a[n - 1]; } long test(void) { int a[2][3] = { { 1, 2, 3 }, { 4, 5, 6 } }; return sum(2, 3, a) + last(3, a[1]) * 10; }",
    ),
    Read(
        "effects in the size of a parameter",
        "static int f(int i, int a[i++]) { return i; } long test(void) { int a[10]; return f(10, a); }",
    ),
    Read(
        "pointers to arrays of computed size",
        "long test(void) { int n = 3, a[12]; for (int i = 0; i < 12; i++) a[i] = i; int (*p)[n] = (int (*)[n])a, (*q)[n] = p + 2; q++; return (*q)[1] + (q - p) * 100 + (p[1][2]) * 1000 + sizeof *p * 10000; }",
    ),
    Read(
        "types of computed size",
        "long test(void) { int n = 5; typedef short T[n]; n = 7; T t, *p = &t; t[4] = 3; return sizeof t + sizeof(T) * 100 + (*p)[4] + sizeof(int[n]) * 10000 + sizeof(__typeof__(t)); }",
    ),
    Read(
        "arrays of computed size in loops",
        "long test(void) { int v = 0; for (int k = 1; k < 400; k++) { char c[k], d[k + 1]; c[k - 1] = 1; d[k] = 2; if (k % 3 == 0) continue; v += c[k - 1] + d[k]; if (k == 390) break; } return v; }",
    ),
    Read(
        "arrays of computed size and goto",
        "long test(void) { int k = 0, v = 0; again: ; int d[100 + k]; d[99 + k] = 5; v += d[99 + k]; if (++k < 500) goto again; { int e[k]; e[0] = 3; if (v) goto out; } v = 0; out: return v; }",
    ),
    Read(
        "text of computed size",
        "static int length(const char *s) { int n = 0; while (s[n]) n++; return n; } static int copy(const char *s) { char t[length(s) + 1]; for (int i = 0; (t[i] = s[i]); i++) ; return length(t) + sizeof t * 10; } long test(void) { return copy(\"abcd\") + copy(\"\") * 1000; }",
    ),
    Read(
        "addresses of labels",
        "static int run(const char *code) { static void *const to[] = { &&add, &&twice, &&end }; int v = 1; goto *to[*code - 'a']; add: v += 3; goto *to[*++code - 'a']; twice: v *= 2; goto *to[*++code - 'a']; end: return v; } long test(void) { return run(\"aabbac\") + run(\"c\") * 100; }",
    ),
    Read(
        "distances of labels",
        "static int f(int i) { static const int to[] = { &&a - &&a, &&b - &&a, &&c - &&a }; goto *(&&a + to[i]); a: return 5; b: return 6; c: return 7; } long test(void) { return f(0) + f(1) * 10 + f(2) * 100; }",
    ),
    Read(
        "a computed goto that leaves and enters blocks",
        "long test(void) { int v = 0, n = 0; void *p = &&first; { int x[2] = { 1, 2 }; if (v) { first: ; int y = 5; v += y; p = &&second; } x[1] = 3; v += x[1]; if (n++ < 3) goto *p; } second: v += 100; if (n < 6) goto *(n++ ? &&second : p); return v; }",
    ),
    Read(
        "local labels whose addresses are taken",
        "static int twice(int v) { int r = 0; for (int i = 0; i < 2; i++) r += ({ __label__ out; void *p = &&out; int x = v + i; if (x > 3) goto *p; x *= 10; out: x; }); return r; } long test(void) { return twice(2) + twice(3) * 1000 + twice(7) * 100000; }",
    ),
    Read(
        "assembly without instructions",
        "long test(void) { int x = 3, y = 4, z; long l = 5; __asm__ volatile(\"\" : : : \"memory\"); __asm__(\"\" : \"+r\"(x)); __asm__(\"\" : \"=r\"(z) : \"0\"(y + 1)); __asm__ volatile(\"\" : : \"m\"(l), \"r\"(&l) : \"memory\"); __asm__(\"\" : [out] \"=r\"(y) : [in] \"[out]\"(x)); __asm__ volatile(\"nop\\n\\tnop\"); return x + y * 10 + z * 100; }",
    ),
    Read(
        "Duff's device",
        "static void copy(char *to, const char *from, int n) { int k = (n + 3) / 4; switch (n % 4) { case 0: do { *to++ = *from++; case 3: *to++ = *from++; case 2: *to++ = *from++; case 1: *to++ = *from++; } while (--k > 0); } } long test(void) { char t[12] = { 0 }; copy(t, \"abcdefghij\", 10); return t[9] + t[0] * 1000 + t[10]; }",
    ),
    Read(
        "cases in ranges and in odd places",
        "static int f(int x) { int v = 0; switch (x) { int y; case -3 ... 2: v++; break; if (0) { default: v = 9; } else { case 7: v += 5; } case 8 ... 9: y = 3; v += y; while (v < 100) { case 20: v += 50; if (v > 60) break; } } return v; } long test(void) { return f(-3) + f(7) * 10 + f(8) * 1000 + f(20) * 100000 + f(50); }",
    ),
    Read(
        "statement expressions of structures",
        "struct s { int a, b[3]; }; static struct s make(int v) { return ({ struct s t = { v, { 1, 2, v } }; t.a++; t; }); } long test(void) { int n = 2; struct s x = ({ int k[n]; k[1] = 4; make(k[1]); }); return ({ make(7); }).b[2] + x.a * 10 + ({ struct s y[n]; y[1] = x; y[1]; }).b[2] * 100; }",
    ),
    Read(
        "jumps out of statement expressions",
        "long test(void) { int v = 0; for (int i = 0; i < 5; i++) { v += ({ if (i == 1) continue; if (i == 4) break; i; }) * 10; } v += ({ if (v > 3) goto out; 1; }); v = 0; out: return v + ({ return v + 7; 1; }); }",
    ),
    Read(
        "literals in loops",
        "struct p { int x, *n; }; long test(void) { int v = 0; for (int i = 0; i < 3; i++) { struct p *p = &(struct p){ i, &(int){ i * 2 } }; v = v * 10 + p->x + *p->n; p->x = 9; int *a = (int[]){ i, [3] = 7 }; v += a[3] + a[2]; a[2] = 5; } return v; }",
    ),
    Read(
        "accesses of other sizes",
        "union u { long l; char c[8]; short s[4]; void *p; }; long test(void) { union u u; u.l = 0x0102030405060708; u.c[3] = 9; long l = 0x1122334455667788; unsigned char *b = (unsigned char *)&l; b[0] = 1; *(short *)(b + 2) = 5; int x = 3; union u v = { .p = &x }, w; for (int i = 0; i < 8; i++) w.c[i] = v.c[i]; *(int *)w.p = 8; return u.s[1] + (l & 0xffffffff) + b[7] + x; }",
    ),
    Read(
        "the type of an array of computed size",
        "long test(void) { int n = 3; int a[n]; a[0] = 0; return sizeof(__typeof__(a)); }",
    ),
    Read(
        "sizes of floating-point constants",
        "long test(void) { return sizeof 1.0f + sizeof 1.0 * 10 + sizeof 1.0L * 1000 + sizeof(1 ? 1 : 2.0) * 100000; }",
    ),
    Read(
        "a qualified type does not fit a value",
        "long test(void) { int y = 2; return _Generic(y, const int: 1, _Atomic int: 3, default: 2); }",
    ),
    Read(
        "a static variable in an expression",
        "long test(void) { int c = 1; return c ? ({ static const char *s = \"abc\"; s[0]; }) : 0; }",
    ),
    Read(
        "a function of the compiler in sizeof",
        "long test(void) { long x = 1; return sizeof(__builtin_bswap64(x)); }",
    ),
    Read(
        "the type of an expectation",
        "long test(void) { unsigned u = 1; return __builtin_expect(u, 1) - 2 < 0; }",
    ),
    Refused("a number beyond long", "long test(void) { return -9223372036854775808 < 0; }", "too large"),
    Read(
        "a jump past a declaration",
        "static void set(int *p, int v) { *p = v; } long test(void) { long r = 0; for (int i = 0; i < 2; i++) { goto in; int a; in: set(&a, i + 3); r = r * 10 + a; } return r; }",
    ),
    Read(
        "a choice with a constant 0",
        "static short g = -5; enum up { LOW, HIGH = 9 }; long test(void) { return (g ?: (enum up)0) > 0; }",
    ),
    // Vectors of GCC.
    Read(
        "vectors: sizes and alignments",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); struct s { char a; vs b; char c; vi d; vi *e; }; long test(void) { vc x[3]; int __attribute__((mode(HI))) __attribute__((vector_size(8))) m; __attribute__((vector_size(4 * sizeof(int)))) int *p, q; return sizeof(vi) + sizeof x * 100 + _Alignof(vs) * 10000 + sizeof(struct s) * 100000l + __builtin_offsetof(struct s, d) * 100000000l + sizeof(m[0]) * 100000000000l + sizeof p * 1000000000000l + sizeof *p * 10000000000000l + sizeof q * 1000000000000000l; }",
    ),
    Read(
        "vectors: attributes behind declarators",
        "typedef short (*f)(int) __attribute__((vector_size(4))); struct s { char a; int b[2] __attribute__((vector_size(8))), *c __attribute__((vector_size(32))); }; long test(void) { static int v __attribute__((vector_size(16))) = { 1, 2, 3, 4 }; char w __attribute__((vector_size(2))) = { 5, 6 }; f g = 0; struct s s; return sizeof(g(1)) + sizeof s.b * 10 + sizeof *s.c * 1000 + sizeof(struct s) * 100000 + v[3] * 10000000 + w[1] * 100000000; }",
    ),
    Read(
        "vectors: arithmetic on int",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long bytes(const void *p, int n) { const unsigned char *b = p; long h = 7; for (int i = 0; i < n; i++) h = h * 31 + b[i]; return h; } long test(void) { vi a = { 150, -100, 77, 2147483647 }, b = { 10, 13, -20, 3 }, r[8]; r[0] = a + b; r[1] = a - b; r[2] = a * b; r[3] = a / b; r[4] = a % b; r[5] = (a & b) | (a ^ b); r[6] = -a; r[7] = ~a + +b; return bytes(r, sizeof r); }",
    ),
    Read(
        "vectors: arithmetic on small numbers",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long bytes(const void *p, int n) { const unsigned char *b = p; long h = 7; for (int i = 0; i < n; i++) h = h * 31 + b[i]; return h; } long test(void) { vc a = { 250, 1, 2, 3, 128, 255, 6, 77 }, b = { 7, 3, 200, 9, 128, 2, 1, 5 }, r[7]; vs c = { -32768, 32767, 5, -7 }, d = { 2, 3, 4, -1 }, q[4]; r[0] = a + b; r[1] = a - b; r[2] = a * b; r[3] = a / b; r[4] = a % b; r[5] = -a; r[6] = ~a; q[0] = c + d; q[1] = c * d; q[2] = c << (vs) { 1, 2, 3, 4 }; q[3] = c >> (vs) { 4, 3, 2, 1 }; return bytes(r, sizeof r) + bytes(q, sizeof q) * 3; }",
    ),
    Read(
        "vectors: shifts",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long bytes(const void *p, int n) { const unsigned char *b = p; long h = 7; for (int i = 0; i < n; i++) h = h * 31 + b[i]; return h; } long test(void) { vu a = { 1, 0x80000000u, 7, 0xffffffff }, b = { 31, 1, 3, 4 }, r[4]; vi c = { -1, -8, 100, 7 }, q[2]; r[0] = a << b; r[1] = a >> b; r[2] = a << 3; r[3] = 2u << b; q[0] = c >> 2; q[1] = c >> (vi) { 1, 2, 3, 0 }; return bytes(r, sizeof r) + bytes(q, sizeof q); }",
    ),
    Read(
        "vectors: floating point",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long bytes(const void *p, int n) { const unsigned char *b = p; long h = 7; for (int i = 0; i < n; i++) h = h * 31 + b[i]; return h; } long test(void) { vf a = { 1.5f, -2, 0.1f, 3e8f }, b = { 2, 0.25f, 0.7f, -1 }, r[8]; vd c = { 1.1, -7 }, d = { 3, 0.3 }, q[5]; r[0] = a + b; r[1] = a - b; r[2] = a * b; r[3] = a / b; r[4] = -a; r[5] = 2 + a; r[6] = a * 0.5; r[7] = 1 / b; q[0] = c + d; q[1] = c / d; q[2] = -c; q[3] = 2 - d; q[4] = c * 3.; return bytes(r, sizeof r) + bytes(q, sizeof q); }",
    ),
    Read(
        "vectors: numbers as operands",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long bytes(const void *p, int n) { const unsigned char *b = p; long h = 7; for (int i = 0; i < n; i++) h = h * 31 + b[i]; return h; } static volatile short one = 1; long test(void) { vs a = { 3, 4, 5, -6 }, r[9]; short k = 3; r[0] = 2 + a; r[1] = a - 2; r[2] = k * a; r[3] = 100 / a; r[4] = a % k; r[5] = 2 ^ a; r[6] = a & 6; r[7] = one | a; r[8] = 1 << (a & 3); return bytes(r, sizeof r); }",
    ),
    Read(
        "vectors: comparisons",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long bytes(const void *p, int n) { const unsigned char *b = p; long h = 7; for (int i = 0; i < n; i++) h = h * 31 + b[i]; return h; } long test(void) { vi a = { 1, 5, -3, 7 }, b = { 2, 5, -4, 7 }, r[6]; vf c = { 1, 2, 3, -1 }, d = { 1, 3, 2, -1 }; vc e = { 200, 1 }, f = { 100, 1, 3 }; vd g = { 1, 2 }; r[0] = a < b; r[1] = a >= b; r[2] = a == b; r[3] = a != 5; r[4] = c > d; r[5] = c <= d; char s __attribute__((vector_size(8))) = e > f; vl t = g == 1; return bytes(r, sizeof r) + bytes(&s, 8) + bytes(&t, 16) + sizeof(a < b) + (a < b)[0]; }",
    ),
    Read(
        "vectors: subscripts",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long all(vi v) { return v[0] + v[1] * 100l + v[2] * 10000l + v[3] * 1000000l; } static vi give(int k) { return (vi) { k, k + 1, k + 2, k + 3 }; } long test(void) { vi v = { 1, 2 }, *p = &v; int i = 2; v[i] = 7; v[i + 1] += v[0] + 8; v[0]++; (*p)[1] = give(5)[3]; p[0][1] *= 2; int *q = &v[2]; *q += 3; return all(v) + ((vi) { 1, 2, 3, 4 } + v)[2]; }",
    ),
    Read(
        "vectors: initial values",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long all(vi v) { return v[0] + v[1] * 100l + v[2] * 10000l + v[3] * 1000000l; } static vi a[] = { { 1, 2, 3, 4 }, { 5 }, (vi) { 6, 7 } }; struct s { int k; vi v; int l; }; static struct s f = { 1, { 2, 3 }, 4 }; long test(void) { vi w = { 9, 8, 7, 6 }; struct s g = { 1, w, 3 }, h = { .v = { 4, 5 }, .l = 6 }; vi e = { }; vi n[2] = { w, { 1 } }; return all(a[0]) + all(a[1]) * 2 + all(a[2]) * 3 + all(f.v) + f.l + all(g.v) + g.l + all(h.v) * 5 + h.l + all(e) + all(n[0]) * 7 + all(n[1]) + sizeof a; }",
    ),
    Read(
        "vectors: arguments and results",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long all(vi v) { return v[0] + v[1] * 100l + v[2] * 10000l + v[3] * 1000000l; } struct s { char c; vi v; }; static vi twice(vi v) { v += v; return v; } static struct s in(vi v, int k) { struct s r = { k, v + k }; return r; } static vi (*f)(vi) = twice; long test(void) { vi v = { 1, 2, 3, 4 }; vi w = twice(v); struct s s = in(f(w), 3); return all(v) + all(w) * 3 + all(s.v) * 5 + s.c + all(twice(twice(v))) * 7; }",
    ),
    Read(
        "vectors: compound assignment",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long all(vi v) { return v[0] + v[1] * 100l + v[2] * 10000l + v[3] * 1000000l; } static vi g = { 1, 2, 3, 4 }; long test(void) { vi a = g, b = { 5, 6, 7, 8 }; a += b; a -= 1; a *= a; b <<= 1; b |= 1; b ^= g; a %= b; g &= (vi) { 1, 3, 1, 7 }; vi c = a++, d = --b; return all(a) + all(b) * 3 + all(c) * 5 + all(d) * 7 + all(g); }",
    ),
    Read(
        "vectors: conversions keep the bits",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long bytes(const void *p, int n) { const unsigned char *b = p; long h = 7; for (int i = 0; i < n; i++) h = h * 31 + b[i]; return h; } long test(void) { vf f = { 1, -2, 3.5f, 0 }; vi i = (vi) f; vc c = (vc) 0x0102030405060708l; vs s = (vs) c; long n = (long) s; vl l = (vl) f; vu u = (vu) (vi) { -1, 2 }; f[0] = 9; s[1] = 5; short h __attribute__((vector_size(4))) = (short __attribute__((vector_size(4)))) 0x40004; return bytes(&i, 16) + bytes(&c, 8) * 3 + n + l[1] + u[0] + (long) (vs) c + (int) h; }",
    ),
    Read(
        "vectors in unions",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static union { vi v; int i[4]; long l[2]; vf f; } u; long test(void) { u.v = (vi) { 1, 2, 3, 4 } + 1; long r = u.i[0] + u.i[3] * 10 + u.l[1] % 1000 * 100; u.f += 1.0f; return r + u.i[2]; }",
    ),
    Read(
        "vectors: what is chosen, and what changes later",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long all(vi v) { return v[0] + v[1] * 100l + v[2] * 10000l + v[3] * 1000000l; } static vi g = { 1, 2, 3, 4 }; static vi change(void) { g = (vi) { 7, 7, 7, 7 }; return (vi) { 1, 1, 1, 1 }; } long test(void) { int k = 3; vi a = k > 2 ? g : g + 1, b = k < 2 ? g : g + 1; vi old = a; vi c = (a = b, a) * 2; change(); return all(a) + all(b) * 3 + all(c) * 5 + all(old) * 7 + all(g) * 11; }",
    ),
    Read(
        "vectors of many elements",
        "typedef char big __attribute__((vector_size(64))); typedef int huge __attribute__((vector_size(4096))); static huge h, k; static void set(big *p) { big v = *p; v[63] = 1; *p = v + 1; } long test(void) { big v = (big) { }; set(&v); h += 3; k = h * h - 2; k[1000] += 5; long s = 0; for (int i = 0; i < 1024; i++) s += k[i] * (i + 1); for (int i = 0; i < 64; i++) s = s * 3 + v[i]; return s; }",
    ),
    Read(
        "vectors compared by their bytes",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); long test(void) { vc a = { 1, 2, 3, 4 }, b = { 3, 3, 3, 3 }, c = { 3, 6, 9, 12 }, r = a * b; vc d; __builtin_memcpy(&d, &r, sizeof d); return __builtin_memcmp(&r, &c, 8) == 0 && __builtin_memcmp(&d, &a, 8) != 0; }",
    ),
    Read(
        "vectors as variable arguments",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static long all(vi v) { return v[0] + v[1] * 100l + v[2] * 10000l + v[3] * 1000000l; } static long sum(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); long r = 0; while (n--) r = r * 3 + all(__builtin_va_arg(l, vi)); __builtin_va_end(l); return r; } long test(void) { vi v = { 1, 2, 3, 4 }; return sum(2, v, v + 1); }",
    ),
    Refused(
        "a shuffle of vectors",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); long test(void) { vi a = { 1, 2, 3, 4 }; return __builtin_shuffle(a, (vi) { 3, 2, 1, 0 })[0]; }",
        "__builtin_shuffle",
    ),
    Refused(
        "a conversion of elements",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); long test(void) { vi a = { 1, 2, 3, 4 }; return __builtin_convertvector(a, vf)[0]; }",
        "__builtin_convertvector",
    ),
    Refused(
        "vectors of different types",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); long test(void) { vi a = { 1, 2 }; vu b = { 3, 4 }; return (a + b)[0]; }",
        "vectors of different types",
    ),
    Refused(
        "a vector as a condition",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); long test(void) { vi a = { 1, 2 }, b = { 3, 4 }; return (a < b ? a : b)[0]; }",
        "a vector as a condition",
    ),
    Refused(
        "an atomic vector",
        "typedef int vi __attribute__((vector_size(16))); typedef unsigned char vc __attribute__((vector_size(8))); typedef short vs __attribute__((__vector_size__(8))); typedef float vf __attribute__((vector_size(16))); typedef double vd __attribute__((vector_size(16))); typedef long long vl __attribute__((vector_size(16))); typedef unsigned vu __attribute__((vector_size(16))); static _Atomic vi g; long test(void) { return (g + 1)[0]; }",
        "`_Atomic` vector",
    ),
    Refused(
        "a vector of a structure",
        "struct s { int x; } v __attribute__((vector_size(16))); long test(void) { return sizeof v; }",
        "vector_size",
    ),
    Refused(
        "a vector attribute on a parameter",
        "static long f(int v __attribute__((vector_size(16)))) { return sizeof v; } long test(void) { return f((__attribute__((vector_size(16))) int) { 1 }); }",
        "vector_size",
    ),
    Read(
        "vectors of numbers with an alignment of their own",
        "typedef int odd __attribute__((aligned(2))); typedef odd v __attribute__((vector_size(8))); struct s { char a; odd b __attribute__((vector_size(16))); char c; v d; __attribute__((vector_size(8))) odd e; }; long test(void) { return sizeof(struct s) + __builtin_offsetof(struct s, b) * 1000 + __builtin_offsetof(struct s, d) * 100000 + __builtin_offsetof(struct s, e) * 10000000 + _Alignof(v) * 1000000000l; }",
    ),
    Read(
        "vectors as types that are chosen by",
        "typedef long long v __attribute__((vector_size(16))); typedef int w __attribute__((vector_size(16))); static w g; long test(void) { return _Generic(g, w: 1, default: 2) + __builtin_types_compatible_p(w, v) * 4 + __builtin_types_compatible_p(w, typeof(g)) * 8; }",
    ),
    Refused(
        "vectors that are one type here",
        "typedef long long v __attribute__((vector_size(16))); typedef long w __attribute__((vector_size(16))); static v g; long test(void) { return _Generic(g, w: 1, default: 2); }",
        "_Generic",
    ),
];
