//! Constructs of C11, C17, C23 and GNU C. Each is read, and what the printer makes of its tree is
//! read as the same tree.

use super::{parse, print};

/// Declarations and definitions, one a line.
const OUTSIDE: &str = r#"
int a, *b, c[3], (*d)(void), *(*e[2])(int, char *), (*(*f)(int))[4];
void (*g)(void) = h;
int $dollar, x$1, \u00e9t\u00e9, élan;
typedef int T; typedef T U, *V; T t; U u; V v;
typedef struct S S; struct S { S *next; T t; unsigned b : 3, : 0, c : 5; };
struct { int; struct { int p; union { int q; float r; }; }; } anonymous;
union W { int i; char c[4]; } w = { .c = "abc" };
enum E { A, B = 5, C, } e1; enum { D };
enum F : unsigned char { F1, F2 = 200 }; enum G : long;
struct flexible { int n; char data[]; };
static inline __attribute__((always_inline)) int twice(int x) { return 2 * x; }
extern int printf(const char *restrict, ...) __attribute__((format(printf, 1, 2), nonnull));
_Noreturn void stop(void); [[noreturn]] void stop2(void); __attribute__((noreturn)) void stop3(void);
_Alignas(16) char buffer[16]; alignas(double) char other[8]; _Alignas(int) int y;
_Thread_local int tls; static __thread int tls2; thread_local int tls3;
_Atomic int at; _Atomic(int) at2; int *_Atomic at3; const _Atomic struct S *at4;
_Static_assert(sizeof(int) == 4, "int"); static_assert(1); _Static_assert(1);
int old(a, b) int a; char *b; { return a; }
implicit() { return 0; } *pointer() { return 0; }
int unnamed(int, char *) { return 1; }
int array(int n, int m[static n], int k[const *], int l[n][n]);
void (*signal(int sig, void (*handler)(int)))(int);
int init[] = { 1, 2, [5] = 3, 4, [10 ... 12] = 7 };
struct { int a, b[3]; struct { int c; } d; } nested = { .a = 1, .b[1] = 2, .d.c = 3, .d = { 4 } };
struct { int a, b; } gnu = { a: 1, b: 2 }; int empty[3] = {};
char text[] = "a" "b" L"c"; char raw[] = "\x41\101\n\"";
int numbers[] = { 0x1F, 017, 0b101, 1'000'000, 42u, 42UL, 42llu, 'a', L'a', u8'a', '\0' };
double reals[] = { 1., .5, 1e9, 1.5f, 0x1p-3, 1.0L, 1e+5, 3.4e38F };
typeof(a) same; __typeof__(int *) same2; typeof_unqual(const int) same3; __auto_type inferred = 1;
auto inferred23 = 5; constexpr int fixed = 3; static auto both = 1;
bool truth = true, falsehood = false; void *none = nullptr;
[[maybe_unused]] [[gnu::aligned(8), deprecated("old")]] static int attributed [[maybe_unused]];
struct [[gnu::packed]] tight { [[maybe_unused]] int a; } __attribute__((aligned(4)));
int section __attribute__((section("s"), unused)), second __attribute__((aligned)), third asm("name");
__extension__ typedef long long wide; __extension__ struct { int x; } extended;
int __attribute__((mode(DI))) mode; typedef int v4 __attribute__((vector_size(16)));
asm(".text"); __asm__ volatile ("nop");
unsigned long int long combined; long unsigned long combined2; int long short_order; signed mixed;
int const volatile *const restrict *qualified; const T also; T const after;
__int128 big; unsigned __int128 ubig; __int128_t big2; _Complex double cd; double _Complex cd2; _Float128 q;
__builtin_va_list list;
struct S function_with_struct(struct S s, union W w) { return s; }
int (parenthesised), (*(pointed)), (function)(int);
int T1(void), (T2)(void); struct T { int T; } T3; enum { in_enum } U1;
#pragma pack(push, 1)
struct packed { char c; int i; };
#pragma pack(pop)
# 5 "elsewhere.h" 3 4
#line 7 "elsewhere.h"
#pragma GCC diagnostic ignored "-Wall"
;
"#;

/// Statements and expressions, each the body of a function; `T` is a type there.
const INSIDE: &str = r#"
if (a) b; else if (c) d; else e;
if (a) if (b) c; else d;
while (a) do b; while (c); for (;;) break; for (int i = 0, j; i < 3; i++, j--) continue;
for (T t = 1; t; ) ; for (a = 0; ; a++) { } for (struct { int x; } s = { 1 }; s.x; ) ;
switch (a) { case 1: case 2 ... 5: b; break; default: c; case 'x': ; }
switch (a) case 1: b; switch (a) { int unreachable; default: }
goto end; again: a++; { goto again; end: } labelled: int declared = 1; last: 
goto *targets[a]; void *targets2[] = { &&one, &&two }; one: two: ;
{ __label__ local, local2; local: goto local2; local2: ; }
return; 
return a ? b : c ? d : e; 
return a ?: b; 
a = b = c; a += b -= c <<= 2; a, b, c; (a, b);
a + b * c - d / e % f << 2 >> 3 < 4 <= 5 > 6 >= 7 == 8 != 9 & 1 ^ 2 | 3 && 4 || 5;
!a + ~b - -c * *d + &e - ++f + --g - h++ + i--; - -a; + +a; & *a; *&a; a - -b; a+ ++b;
sizeof a; sizeof(a); sizeof(T); sizeof(T *[3]); sizeof (T){ 1 }; sizeof(T) * a; sizeof a[0]; sizeof (a)->b;
_Alignof(T); __alignof__(a); alignof(int); sizeof(int (*)(T)); sizeof(T)-1;
(T)a; (T)(a); (T *)a + b; (T)-a; (T)*a; (T)&a; (a)-b; (T){ 1, 2 }; &(T){ 1 }; (struct S){ .a = 1 }.a; (T[]){ 1, 2 }[0];
f(); f(a, b)(c)[d].e->g++; (*f)(a); f((a, b), c); (f)(a);
T *p; T (q); T (*r)(T), s[2]; { int T = 1; T * 2; T++; } T after;
T * multiplied; { T T; T * 3; } int (*T2)(T U, int T);
__builtin_offsetof(struct S, a.b[3].c); __builtin_va_arg(ap, T *); __builtin_types_compatible_p(int, T);
_Generic(a, int: 1, T *: 2, default: 3); _Generic((a), char: b)(c);
({ int x = 1; x + 1; }); a = ({ b; }) + 1; ({ ; });
asm(""); asm volatile ("x %0" : "=r"(a), [n] "+m"(b) : "r"(c) : "memory", "cc"); asm goto ("" : : : : one);
__extension__ a; __extension__ ({ 1; }); __real__ a; __imag a; 1.0i; 
__attribute__((fallthrough)); [[fallthrough]]; [[likely]] a; if (a) [[unlikely]] b; __attribute__((unused)) int un;
typeof(a) copy = a; typeof(int[3]) array; __auto_type x = a; auto y = b; static const auto z = c;
int nested(int x) { return x; } nested(1);
extern int outer; static int kept = 1; register int fast; typedef int L; L l; struct L { int a; } m;
_Static_assert(1, "x"); static_assert(sizeof(T) > 1); struct { int a; } s2 = {}, s3 = { };
__func__; __FUNCTION__; "a" "b"; L"w"; u8"x"; 'a'; 1 ? 2, 3 : 4; a ? b : (c, d);
while (a) [[x::y]] { } do { } while (0); ; ; { { } }
<% a<:0:> = 1; %>
"#;

fn same(text: &str) {
    let tree = parse(text).unwrap_or_else(|e| panic!("{e:#?}\n{text}"));
    let printed = print(&tree);
    let again = parse(&printed).unwrap_or_else(|e| panic!("printed: {e:#?}\n{text}\n{printed}"));
    assert_eq!(print(&again), printed, "{text}");
}

#[test]
fn declarations_are_read() {
    let lines = OUTSIDE.lines().filter(|l| !l.trim().is_empty());
    let alone = lines.clone().filter(|l| !l.contains("T ") && !l.starts_with('#'));
    alone.for_each(same);
    same(&format!("struct S; union W {{ int i; }}; {OUTSIDE}").replace("union W { int i; };", ""));
}

#[test]
fn statements_are_read() {
    for line in INSIDE.lines().filter(|l| !l.trim().is_empty()) {
        same(&format!("typedef int T; void f(void) {{ {line} }}"));
    }
}

#[test]
fn the_examples_are_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    for entry in std::fs::read_dir(folder).expect("examples are there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "c") {
            let text = std::fs::read_to_string(&path).expect("readable");
            // Without headers, whose types are declared here.
            let lines = text.lines().filter(|l| !l.trim_start().starts_with('#'));
            let types = "typedef long pthread_t, pthread_mutex_t, pthread_cond_t, atomic_int, atomic_bool, \
                         bool, sem_t, pthread_barrier_t, uint32_t, uint8_t, atomic_uint, size_t, atomic_flag;";
            same(&format!("{types}\n{}", lines.collect::<Vec<_>>().join("\n")));
        }
    }
}

/// Texts to begin with where texts are changed.
pub fn texts() -> impl Iterator<Item = String> {
    let inside = INSIDE.lines().map(|line| format!("typedef int T; int main(void) {{ {line} }}\n"));
    OUTSIDE.lines().map(|line| format!("{line} int main(void) {{ }}\n")).chain(inside)
}
