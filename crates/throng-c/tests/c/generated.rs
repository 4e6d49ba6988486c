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
