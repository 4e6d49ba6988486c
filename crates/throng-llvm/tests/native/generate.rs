//! Random Rust functions without undefined behaviour: integers of all widths, control flow, arrays,
//! structures, enumerations, references, slices.

use std::fmt::Write;

const INTS: [&str; 10] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "u128"];

/// A source of choices.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Returns a program: `run` writes what each of its functions returns to `OUT`.
pub fn program(seed: u64, functions: usize) -> String {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let inputs: Vec<String> = (0..16)
        .map(|_| match r.below(4) {
            0 => r.below(4).to_string(),
            1 => (u64::MAX - r.below(3) as u64).to_string(),
            2 => (1u64 << r.below(64)).to_string(),
            _ => ((r.below(1 << 31) as u64) << 31 ^ r.below(1 << 31) as u64).to_string(),
        })
        .collect();
    let mut text = format!(
        "pub const N: usize = {functions};\n\
         #[no_mangle] pub static mut IN: [u64; 16] = [{}];\n\
         #[no_mangle] pub static mut OUT: [u64; N] = [0; N];\n\
         fn input(k: usize) -> u64 {{ unsafe {{ core::ptr::addr_of!(IN[k]).read_volatile() }} }}\n\
         #[derive(Clone, Copy)] struct Pair {{ a: u16, b: i64, c: [u8; 3] }}\n\
         #[derive(Clone, Copy)] enum Shape {{ Empty, Dot(u8), Line {{ from: u32, to: i16 }}, Long(u64) }}\n\
         fn area(s: &Shape) -> u64 {{ match s {{ Shape::Empty => 7, Shape::Dot(x) => *x as u64 + 1, \
         Shape::Line {{ from, to }} => (*from as u64).wrapping_mul(*to as u64), Shape::Long(x) => !*x }} }}\n\
         fn two(x: u64, y: u32) -> (u64, bool) {{ (x.rotate_left(y), x > y as u64) }}\n\
         fn three(x: u8, y: i16, z: u64) -> Pair {{ Pair {{ a: y as u16 ^ x as u16, b: z as i64, c: [x, !x, y as u8] }} }}\n\
         fn change(p: &mut Pair, by: u64) {{ p.a = p.a.wrapping_add(by as u16); p.b ^= by as i64; p.c.swap(0, (by % 3) as usize); }}\n",
        inputs.join(", ")
    );
    for k in 0..functions {
        let mut f = Function { r: &mut r, text: String::new(), variables: Vec::new(), depth: 0 };
        f.body();
        let body = f.text;
        writeln!(text, "#[inline(never)] fn f{k}() -> u64 {{\n{body}}}").expect("text");
    }
    let calls: String = (0..functions).map(|k| format!("OUT[{k}] = f{k}(); ")).collect();
    writeln!(text, "#[no_mangle] pub fn run() {{ unsafe {{ {calls} }} }}").expect("text");
    text
}

struct Function<'r> {
    r: &'r mut Random,
    text: String,
    /// Variables that were declared, and their types.
    variables: Vec<(String, &'static str)>,
    depth: usize,
}

impl Function<'_> {
    fn line(&mut self, line: &str) {
        self.text += "    ";
        self.text += line;
        self.text += "\n";
    }

    fn body(&mut self) {
        for k in 0..4 {
            let ty = self.int();
            let n = self.r.below(16);
            self.line(&format!("let mut v{k} = input({n}) as {ty};"));
            self.variables.push((format!("v{k}"), ty));
        }
        let bool_of = self.expr("u32", 0);
        self.line(&format!("let mut t = {bool_of} % 3 == 1;"));
        self.line("let mut array = [input(1) as u32, 5, input(2) as u32, 9, 1 << 20];");
        self.line("let mut pair = three(input(3) as u8, input(4) as i16, input(5));");
        self.line("let mut shape = Shape::Empty;");
        for _ in 0..4 + self.r.below(4) {
            self.statement();
        }
        let sum: Vec<String> = (0..4).map(|k| format!("(v{k} as u64).wrapping_mul({})", 2 * k + 1)).collect();
        self.line(&format!(
            "{} ^ t as u64 ^ array.iter().fold(0u64, |s, x| s.wrapping_mul(31).wrapping_add(*x as u64)) \
             ^ pair.b as u64 ^ pair.a as u64 ^ pair.c[1] as u64 ^ area(&shape)",
            sum.join(" ^ ")
        ));
    }

    fn int(&mut self) -> &'static str {
        INTS[self.r.below(INTS.len())]
    }

    /// An expression of an integer type.
    fn expr(&mut self, ty: &str, depth: usize) -> String {
        if depth == 0 {
            return match self.r.below(4) {
                0 => {
                    let n = self.r.below(9);
                    format!("({n} as {ty})")
                }
                1 => {
                    let n = self.r.below(16);
                    format!("(input({n}) as {ty})")
                }
                _ => {
                    let n = self.r.below(self.variables.len());
                    format!("({} as {ty})", self.variables[n].0)
                }
            };
        }
        let d = depth - 1;
        let (a, b) = (self.expr(ty, d), self.expr(ty, d));
        match self.r.below(25) {
            0 => format!("{a}.wrapping_add({b})"),
            1 => format!("{a}.wrapping_sub({b})"),
            2 if ty != "u128" => format!("{a}.wrapping_mul({b})"),
            3 => format!("({a} & {b})"),
            4 => format!("({a} | {b})"),
            5 => format!("({a} ^ {b})"),
            6 if ty != "u128" => format!("{a}.checked_div({b}).unwrap_or(3)"),
            7 if ty != "u128" => format!("{a}.checked_rem({b}).unwrap_or(4)"),
            8 if ty != "u128" => {
                let n = self.expr("u32", 0);
                format!("{a}.wrapping_shl({n})")
            }
            9 if ty != "u128" => {
                let n = self.expr("u32", 0);
                format!("{a}.wrapping_shr({n})")
            }
            10 => format!("(!{a})"),
            11 => format!("{a}.max({b})"),
            12 => format!("{a}.min({b})"),
            13 if ty != "u128" => format!("{a}.saturating_add({b})"),
            14 if ty != "u128" => format!("{a}.saturating_sub({b})"),
            15 if ty != "u128" => format!("{a}.checked_add({b}).unwrap_or({a})"),
            16 if ty != "u128" => format!("{a}.checked_mul({b}).unwrap_or({b})"),
            17 if ty != "u128" => format!("{a}.rotate_left(5)"),
            18 if ty != "u128" => format!("({a}.leading_zeros() as {ty})"),
            19 if ty != "u128" => format!("({a}.trailing_zeros() as {ty})"),
            20 if ty != "u128" => format!("({a}.count_ones() as {ty})"),
            21 if ty != "u128" => format!("{a}.swap_bytes()"),
            22 => {
                let (c, to) = (self.condition(d), self.int());
                format!("(if {c} {{ {a} as {to} as {ty} }} else {{ {b} }})")
            }
            23 if ty != "u128" => format!("({a}.cmp(&{b}) as i32 as {ty})"),
            24 if ty != "u128" => format!("(({a}.overflowing_sub({b}).1) as {ty})"),
            _ => format!("{b}.wrapping_add({a})"),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        let ty = self.int();
        let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
        let op = self.r.pick(&["<", "<=", "==", "!=", ">", ">="]);
        let plain = format!("({a} {op} {b})");
        match self.r.below(4) {
            0 => format!("({plain} && t)"),
            1 => format!("({plain} || !t)"),
            _ => plain,
        }
    }

    fn block(&mut self) {
        self.depth += 1;
        for _ in 0..1 + self.r.below(2) {
            self.statement();
        }
        self.depth -= 1;
    }

    fn statement(&mut self) {
        let n = self.r.below(self.variables.len());
        let (name, ty) = self.variables[n].clone();
        match self.r.below(if self.depth > 2 { 9 } else { 13 }) {
            0 | 1 => {
                let e = self.expr(ty, 2);
                self.line(&format!("{name} = {e};"));
            }
            2 => {
                let c = self.condition(1);
                self.line(&format!("t = {c};"));
            }
            3 => {
                let (at, e) = (self.expr("usize", 1), self.expr("u32", 1));
                self.line(&format!("array[{at} % 5] = {e};"));
            }
            4 => {
                let e = self.expr("u64", 1);
                self.line(&format!("change(&mut pair, {e});"));
            }
            5 => {
                let (x, y) = (self.expr("u64", 1), self.expr("u32", 1));
                self.line(&format!("let (x, y) = two({x}, {y}); {name} ^= x as {ty}; t ^= y;"));
            }
            6 => {
                let kinds = [
                    "Shape::Empty".to_string(),
                    format!("Shape::Dot({})", self.expr("u8", 1)),
                    format!("Shape::Line {{ from: {}, to: {} }}", self.expr("u32", 1), self.expr("i16", 1)),
                    format!("Shape::Long({})", self.expr("u64", 1)),
                ];
                let k = self.r.below(4);
                self.line(&format!("shape = {};", kinds[k]));
            }
            7 => {
                let at = self.r.below(3);
                self.line(&format!(
                    "{{ let copy = array; array[{at}..{}].copy_from_slice(&copy[1..3]); array.reverse(); }}",
                    at + 2
                ));
            }
            8 => {
                let e = self.expr("u32", 1);
                self.line(&format!(
                    "{name} = match {e} % 5 {{ 0 => 1, 1 => {name}.wrapping_add(1), 3 => array[3] as {ty}, _ => {name} }};"
                ));
            }
            9 => {
                let c = self.condition(1);
                self.line(&format!("if {c} {{"));
                self.block();
                self.line("} else {");
                self.block();
                self.line("}");
            }
            10 => {
                let limit = 1 + self.r.below(3);
                self.line(&format!("for k in 0..{limit}u32 {{ {name} ^= k as {ty};"));
                self.block();
                let c = self.condition(0);
                self.line(&format!("if {c} {{ break; }} }}"));
            }
            11 => {
                let e = self.expr("u64", 1);
                self.line(&format!(
                    "{{ let found = array.iter().position(|x| *x as u64 > {e}); if let Some(at) = found {{ {name} = at as {ty}; }} }}"
                ));
            }
            _ => {
                let e = self.expr("u32", 1);
                self.line(&format!(
                    "{{ let mut boxed = [{e}; 4]; let (low, high) = boxed.split_at_mut(2); low[1] ^= high[0] >> 3; core::mem::swap(&mut low[0], &mut array[2]); {name} = boxed[1] as {ty}; }}"
                ));
            }
        }
    }
}
