//! Random programs of one thread, without undefined behaviour but for signed overflow, which wraps
//! in both worlds.

use std::fmt::Write as _;

use throng_model::random::Random;

const TYPES: [&str; 13] = [
    "signed char",
    "unsigned char",
    "char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "_Bool",
    "enum up",
    "enum down",
];

const CONSTANTS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "7",
    "0x7fffffff",
    "0xffffffff",
    "2147483648",
    "-2147483647 - 1",
    "0x80000000",
    "4294967295u",
    "1l",
    "-3ll",
    "0xfffffffffffffffful",
    "0777",
    "0b1011",
    "'a'",
    "'\\n'",
    "'\\xff'",
    "'\\0'",
    "'ab'",
    "LOW",
    "HIGH",
    "MINUS",
    "sizeof(int)",
];

/// Variables that can be assigned to. Those that begin with `l` are local.
const PLACES: [&str; 22] = [
    "g0", "g1", "g2", "g3", "l0", "l1", "l2", "a[1]", "a[2]", "m[1][0]", "s.a", "s.b", "s.c[1]", "s.in.x",
    "s.in.y", "t.a", "t.in.y", "u.i", "u.c[2]", "(*p)", "q->b", "q->in.x",
];

pub struct Generator {
    r: Random,
}

impl Generator {
    fn ty(&mut self) -> &'static str {
        self.r.pick(&TYPES)
    }

    fn leaf(&mut self) -> String {
        match self.r.below(5) {
            0 | 1 => format!("({})", self.r.pick(&CONSTANTS)),
            2 => format!("a[{} & 3]", self.r.pick(&["l0", "g0", "s.a"])),
            3 => format!("text[{} & 3]", self.r.pick(&["l1", "g1", "0", "2"])),
            _ => self.r.pick(&PLACES).into(),
        }
    }

    /// An expression without side effects.
    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.r.below(5) == 0 {
            return self.leaf();
        }
        let (a, b) = (self.expression(depth - 1), self.expression(depth - 1));
        match self.r.below(16) {
            0 => format!("({})({a})", self.ty()),
            1 => format!("({a} ? {b} : {})", self.leaf()),
            2 => format!("({a} ?: {b})"),
            3 => format!("({a} {} ({b} & 7))", self.r.pick(&["<<", ">>"])),
            4 => format!("({a} {} (({b} & 15) + 1))", self.r.pick(&["/", "%"])),
            5 => format!("({}({a}))", self.r.pick(&["-", "~", "!", "+"])),
            6 => format!("({} + 1, ({b}))", self.r.pick(&PLACES)),
            7 => format!("sizeof({a})"),
            8 => format!("({{ {} k = {a}; k + {b}; }})", self.ty()),
            9 => format!("((struct pair){{ .y = {a}, .x = {b} }}).{}", self.r.pick(&["x", "y"])),
            10 => format!("({a} {} {b})", self.r.pick(&["&&", "||"])),
            11 | 12 => format!("({a} {} {b})", self.r.pick(&["<", "<=", ">", ">=", "==", "!="])),
            _ => format!("({a} {} {b})", self.r.pick(&["+", "-", "*", "&", "|", "^"])),
        }
    }

    fn statement(&mut self, depth: usize) -> String {
        let v = self.r.pick(&PLACES);
        let e = self.expression(2);
        match self.r.below(if depth == 0 { 9 } else { 16 }) {
            0 | 1 => format!("{v} = {e};"),
            2 => format!("{v} {} {e};", self.r.pick(&["+=", "-=", "*=", "&=", "|=", "^="])),
            3 => format!("{v} {} ({e} & 7);", self.r.pick(&["<<=", ">>="])),
            4 => format!("{v} {} (({e} & 15) + 1);", self.r.pick(&["/=", "%="])),
            5 => format!("l0 = {v}{};", self.r.pick(&["++", "--"])),
            6 => format!("l1 = {}{v};", self.r.pick(&["++", "--"])),
            7 => format!("{v} = f({e}, {});", self.expression(1)),
            8 => self
                .r
                .pick(&[
                    "t = s;",
                    "s = changed(t);",
                    "s.in = t.in;",
                    "q = q == &s ? &t : &s;",
                    "p = &a[3] - (l0 & 3);",
                    "l2 = p - a;",
                    "p = a; l0 = *p++; p = a;",
                    "u.l = l1;",
                    "l0 = named[1][l1 & 1];",
                    "l2 = op[l1 & 1](l0, l1);",
                    "m[0][1] = 7[text] + *(text + 1);",
                ])
                .into(),
            9 | 10 => format!(
                "if ({e}) {{ {} }} else {{ {} }}",
                self.statement(depth - 1),
                self.statement(depth - 1)
            ),
            11 => format!(
                "for (int k = 0; k < 3; k++) {{ if (k == 1) continue; {} }}",
                self.statement(depth - 1)
            ),
            12 => format!(
                "{{ int n = 0; do {{ {} if (n == 1) break; }} while (++n < 4); }}",
                self.statement(depth - 1)
            ),
            13 => format!("{{ {} h = {e}; {{ {} l0 = h; sum += l0; }} }}", self.ty(), self.ty()),
            14 => format!("if ({e}) goto L{0}; {1} L{0}: sum++;", self.fresh(), self.statement(0)),
            _ => {
                let parts: Vec<String> = (0..4).map(|_| self.statement(depth - 1)).collect();
                format!(
                    "switch ({e} & 7) {{ case 1: {} case 2 ... 4: {} break; default: {} break; case '\\5': {} }}",
                    parts[0], parts[1], parts[2], parts[3]
                )
            }
        }
    }

    /// A number for a label.
    fn fresh(&mut self) -> usize {
        self.r.below(1 << 30)
    }

    fn constant(&mut self) -> &'static str {
        self.r.pick(&CONSTANTS)
    }

    fn declarations(&mut self) -> String {
        let mut text = String::from(
            "enum up { LOW, HIGH = 9 }; enum down { MINUS = -2, ZERO = 0 }; struct pair { int x; short y; };\n",
        );
        let (a, b, c, d) = (self.ty(), self.ty(), self.ty(), self.ty());
        _ = writeln!(text, "struct big {{ {a} a; {b} b; struct {{ {c} x; {d} y; }} in; {a} c[3]; }};");
        // Not every byte is a truth value.
        let i = self.r.pick(&TYPES[..10]);
        _ = writeln!(text, "union mix {{ {i} i; unsigned char c[8]; unsigned long l; }};");
        for n in 0..4 {
            _ = writeln!(text, "static {} g{n} = {};", self.ty(), self.constant());
        }
        let element = self.ty();
        let index = self.r.below(3);
        _ = writeln!(
            text,
            "static {element} a[] = {{ [{index}] = {}, {}, [3] = 5 }};",
            self.constant(),
            self.constant()
        );
        _ = writeln!(
            text,
            "static {element} *p = &a[1]; static {} m[][2] = {{ 1, 2, {} }};",
            self.ty(),
            self.constant()
        );
        let first =
            ["{ 1, 2, 3, 4, 5 }", "{ .in.x = 3, 4, 5, .a = 1 }", "{ 1, .in = { .y = 2 }, { [1] = 6 } }"];
        _ = writeln!(
            text,
            "static struct big s = {}, t = {{ {} }}, *q = &t;",
            self.r.pick(&first),
            self.constant()
        );
        _ = writeln!(
            text,
            "static union mix u = {};",
            self.r.pick(&["{ 3 }", "{ .l = 77 }", "{ .c = { 1, 2, [5] = 9 } }"])
        );
        let string =
            self.r.pick(&["\"abcdefgh\"", "\"\\x41\\102\\t\" \"\" \"\\\"z....\"", "{ \"\\a?\\?abcdef\" }"]);
        _ = writeln!(text, "static char text[] = {string}, named[][3] = {{ \"xy\", {{ 'a', 'b' }} }};");
        text
    }

    fn functions(&mut self) -> String {
        let mut text = String::new();
        let (a, b, result) = (self.ty(), self.ty(), self.ty());
        let value = self.expression(1);
        let value = value.replace("l0", "c").replace("l1", "d").replace("l2", "n");
        _ = writeln!(
            text,
            "static unsigned sum = 1; static void mix(unsigned long x) {{ sum = sum * 31 + (unsigned)x + (unsigned)(x >> 32); }}"
        );
        _ = writeln!(
            text,
            "static {result} f({a} c, {b} d) {{ static {a} n = 3; n += c; if (n & 1) return {value}; return n ^ d; }}"
        );
        _ = writeln!(text, "static struct big changed(struct big v) {{ v.a++; v.in.y = v.c[2]; return v; }}");
        _ = writeln!(
            text,
            "static long plus(long x, int y) {{ return x + y; }} static long times(long x, int y) {{ return x * y; }}"
        );
        _ = writeln!(text, "static long (*op[2])(long, int) = {{ plus, &times }};");
        text
    }
}

/// The text of a program: `unsigned long NAME(void)` returns a checksum.
pub fn program(seed: u64, name: &str) -> String {
    let mut g = Generator { r: Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 77) };
    let mut text = g.declarations() + &g.functions();
    let locals: Vec<String> = (0..3).map(|n| format!("{} l{n} = {};", g.ty(), g.constant())).collect();
    _ = writeln!(text, "unsigned long {name}(void) {{ {}", locals.join(" "));
    for _ in 0..12 {
        _ = writeln!(text, "  {}\n  mix({});", g.statement(2), g.expression(2));
    }
    for place in PLACES {
        _ = writeln!(text, "  mix({place});");
    }
    text.push_str(
        "  mix(sizeof a + sizeof m + sizeof(struct big) + sizeof text + sizeof named); return sum;\n}\n",
    );
    text
}

/// Variables of a program that computes with floating point; the last four are integers.
const NUMBERS: [&str; 12] = ["d", "e", "f", "g", "s.d", "s.f[1]", "(*p)", "v[i & 3]", "i", "l", "u", "c"];

const FLOATING: [&str; 20] = [
    "0.1",
    "0.1f",
    "1.5",
    "-0.0",
    "3",
    "1e300",
    "1e-310",
    "2.5e38f",
    "1e-45f",
    "0x1.8p-3",
    "16777217",
    "0x1p53",
    "9007199254740993",
    "0.5f",
    "-7.25",
    "1e16",
    ".3e1",
    "18446744073709551615u",
    "1.0f / 3",
    "'a'",
];

impl Generator {
    /// An expression of some arithmetic type.
    fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.r.below(5) == 0 {
            let constant = self.r.below(3) == 0;
            return format!("({})", if constant { self.r.pick(&FLOATING) } else { self.r.pick(&NUMBERS) });
        }
        let (a, b) = (self.number(depth - 1), self.number(depth - 1));
        match self.r.below(12) {
            0 => format!("(({})({a}))", self.r.pick(&["double", "float", "_Bool"])),
            // Other numbers have no integer.
            1 => format!("to_{}({a})", self.r.pick(&["int", "long", "unsigned", "char"])),
            2 => format!("({a} ? {b} : {})", self.r.pick(&NUMBERS)),
            3 => format!("({a} {} {b})", self.r.pick(&["<", "<=", ">", ">=", "==", "!=", "&&", "||"])),
            4 => format!("({}{a})", self.r.pick(&["-", "+", "!"])),
            5 if self.r.below(2) == 0 => {
                let (function, ty) = (
                    self.r.pick(&["isnan", "isinf", "isfinite", "isnormal"]),
                    self.r.pick(&["float", "double"]),
                );
                format!("(!!__builtin_{function}(({ty})({a})))")
            }
            5 => format!(
                "__builtin_{}({a})",
                self.r.pick(&[
                    "fabs",
                    "floor",
                    "ceilf",
                    "trunc",
                    "round",
                    "rint",
                    "sqrt",
                    "fabsf",
                    "nearbyintf"
                ])
            ),
            // Of two zeros, any may be the least one.
            6 => format!(
                "{}({a} + 0.7, {b} + 0.0)",
                self.r.pick(&[
                    "__builtin_fmin",
                    "__builtin_fmaxf",
                    "half",
                    "narrow",
                    "__builtin_isless",
                    "__builtin_isunordered",
                ])
            ),
            7 => format!("({a} * 1.0 / {b})"),
            // Some compilers make `-i` of `0.0 - i`, which has another sign.
            8 => format!("({a} + o - {b})"),
            _ => format!("({a} {} {b})", self.r.pick(&["+", "*"])),
        }
    }

    fn step(&mut self, depth: usize) -> String {
        let n = self.r.below(8);
        let v = self.r.pick(&NUMBERS[..8]);
        let e = self.number(2);
        match self.r.below(if depth == 0 { 6 } else { 8 }) {
            0 | 1 => format!("{v} = {e};"),
            2 => format!("{v} {} {e};", self.r.pick(&["+=", "-=", "*="])),
            3 => format!(
                "d = {v}{} + {}{};",
                self.r.pick(&["++", "--"]),
                self.r.pick(&["++", "--"]),
                NUMBERS[n]
            ),
            4 => format!("{} = to_int({e});", self.r.pick(&NUMBERS[8..])),
            5 => "w = s; w.d += s.f[0]; s = w; p = p == &d ? &s.d : &d;".into(),
            6 => format!("if ({e}) {{ {} }} else {{ {} }}", self.step(depth - 1), self.step(depth - 1)),
            _ => format!("for (float k = 0; k < 1; k += 0.4f) {{ {} }}", self.step(depth - 1)),
        }
    }
}

/// The text of a program that computes with floating point: `unsigned long NAME(void)` returns a
/// checksum.
pub fn floating(seed: u64, name: &str) -> String {
    let mut g = Generator { r: Random::new(seed.wrapping_mul(0xd134_2543_de82_ef95) + 5) };
    let mut text = String::new();
    _ = writeln!(
        text,
        "static struct {{ float f[2]; double d; }} s = {{ {{ {}, 1 }}, {} }}, w; static double d = {}, v[4] = {{ 2, [2] = 0.25 }}; \
         static float e = {}; static int i = 3; static long l = -5; static unsigned u = 7; static signed char c = 1; static int o;",
        g.r.pick(&FLOATING),
        g.r.pick(&FLOATING),
        g.r.pick(&FLOATING),
        g.r.pick(&FLOATING)
    );
    text.push_str(
        "static int to_int(double x) { return x > -2e9 && x < 2e9 ? (int)x : 11; } static long to_long(double x) { return x > -9e18 && x < 9e18 ? x : 12; }\n\
         static unsigned to_unsigned(double x) { return x > -1 && x < 4e9 ? (unsigned)x : 13; } static char to_char(float x) { return x > -129 && x < 128 ? x : 14; }\n\
         static double half(float x, double y) { return (x + y) / 2; } static float narrow(double x, double y) { return x - y; }\n\
         static unsigned long sum = 1; static void mix(double x) { union { double d; unsigned long l; } b; if (x != x) b.l = 1; else b.d = x; sum = sum * 31 + b.l; }\n",
    );
    _ = writeln!(
        text,
        "unsigned long {name}(void) {{ double *p = &d; float f = {}; double g = 0.75;",
        g.r.pick(&FLOATING)
    );
    for _ in 0..10 {
        _ = writeln!(text, "  {}\n  mix({});", g.step(2), g.number(2));
    }
    for place in NUMBERS {
        _ = writeln!(text, "  mix({place});");
    }
    text.push_str("  return sum;\n}\n");
    text
}
