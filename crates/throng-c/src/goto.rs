//! The goto program: what a C program means, with calls inlined and every access to memory written out.
//!
//! One [`Template`] per function that threads start in. Private scalars are registers; everything whose address
//! matters is bytes in memory. An address is a number: the object in the upper half, the offset in the lower.

use std::fmt::Write as _;

/// An integer type: its size in bytes, and whether it has a sign. `_Bool` has size 1 and the flag `truth`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Int {
    /// Size in bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// Whether values may be negative.
    pub signed: bool,
    /// Whether it is `_Bool`.
    pub truth: bool,
}

impl Int {
    /// An integer type that is not `_Bool`.
    pub const fn new(size: u8, signed: bool) -> Int {
        Int { size, signed, truth: false }
    }

    /// `v` converted to this type.
    pub fn wrap(self, v: i64) -> i64 {
        if self.truth {
            return i64::from(v != 0);
        }
        match (self.size, self.signed) {
            (1, true) => v as i8 as i64,
            (1, false) => v as u8 as i64,
            (2, true) => v as i16 as i64,
            (2, false) => v as u16 as i64,
            (4, true) => v as i32 as i64,
            (4, false) => v as u32 as i64,
            _ => v,
        }
    }

    fn name(self) -> String {
        if self.truth {
            return "bool".into();
        }
        format!("{}{}", if self.signed { 'i' } else { 'u' }, u32::from(self.size) * 8)
    }
}

/// `int`
pub const INT: Int = Int::new(4, true);
/// Pointers, and `unsigned long`.
pub const PTR: Int = Int::new(8, false);

/// A private variable of one template.
pub type Reg = u32;

/// Object numbers from here on are private memory.
pub const PRIVATE: i64 = 0x4000_0000;
/// Object numbers from here on are functions.
pub const FUNCTION: i64 = 0x2000_0000;

/// The address of byte `offset` of `object`.
pub fn address(object: i64, offset: i64) -> i64 {
    (object << 32).wrapping_add(offset)
}

/// Operators on two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
}

impl BinOp {
    fn symbol(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Rem => "%",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
        }
    }

    /// Whether the result is 0 or 1.
    pub fn compares(self) -> bool {
        matches!(self, BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le)
    }

    /// The value, in type `at` of the operands; `None` where C leaves the result open.
    pub fn apply(self, a: i64, b: i64, at: Int) -> Option<i64> {
        let bits = u32::from(at.size) * 8;
        Some(match self {
            BinOp::Add => at.wrap(a.wrapping_add(b)),
            BinOp::Sub => at.wrap(a.wrapping_sub(b)),
            BinOp::Mul => at.wrap(a.wrapping_mul(b)),
            BinOp::Div | BinOp::Rem if b == 0 => return None,
            BinOp::Div if at.signed => at.wrap(a.wrapping_div(b)),
            BinOp::Div => at.wrap((a as u64 / b as u64) as i64),
            BinOp::Rem if at.signed => at.wrap(a.wrapping_rem(b)),
            BinOp::Rem => at.wrap((a as u64 % b as u64) as i64),
            BinOp::Shl | BinOp::Shr if b < 0 || b >= i64::from(bits) => return None,
            BinOp::Shl => at.wrap(a.wrapping_shl(b as u32)),
            BinOp::Shr if at.signed => a.wrapping_shr(b as u32),
            BinOp::Shr => ((a as u64) >> b) as i64,
            BinOp::And => a & b,
            BinOp::Or => a | b,
            BinOp::Xor => a ^ b,
            BinOp::Eq => i64::from(a == b),
            BinOp::Ne => i64::from(a != b),
            BinOp::Lt if at.signed => i64::from(a < b),
            BinOp::Lt => i64::from((a as u64) < b as u64),
            BinOp::Le if at.signed => i64::from(a <= b),
            BinOp::Le => i64::from(a as u64 <= b as u64),
        })
    }
}

/// A private computation.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A value, or the address of an object.
    Const(i64),
    /// A private variable.
    Reg(Reg),
    /// Conversion.
    Cast(Box<Expr>, Int),
    /// An operator on operands of the given type.
    Bin(BinOp, Box<Expr>, Box<Expr>, Int),
    /// The number of the running thread.
    SelfId,
}

impl Expr {
    /// An operator, computed at once where that is possible.
    pub fn bin(op: BinOp, a: Expr, b: Expr, at: Int) -> Expr {
        match (&a, &b) {
            (Expr::Const(x), Expr::Const(y)) => {
                if let Some(v) = op.apply(*x, *y, at) {
                    return Expr::Const(v);
                }
            }
            (_, Expr::Const(0)) if matches!(op, BinOp::Add | BinOp::Sub) => return a,
            _ => {}
        }
        Expr::Bin(op, Box::new(a), Box::new(b), at)
    }

    /// A conversion, computed at once where that is possible.
    pub fn cast(e: Expr, to: Int) -> Expr {
        match e {
            Expr::Const(v) => Expr::Const(to.wrap(v)),
            Expr::Bin(op, ..) if op.compares() => e,
            e => Expr::Cast(Box::new(e), to),
        }
    }

    /// Whether it is 0.
    pub fn not(e: Expr) -> Expr {
        Expr::bin(BinOp::Eq, e, Expr::Const(0), Int::new(8, true))
    }

    /// Calls `f` on every register in it.
    pub fn registers(&self, f: &mut impl FnMut(Reg)) {
        match self {
            Expr::Reg(r) => f(*r),
            Expr::Cast(e, _) => e.registers(f),
            Expr::Bin(_, a, b, _) => {
                a.registers(f);
                b.registers(f);
            }
            Expr::Const(_) | Expr::SelfId => {}
        }
    }

    /// Calls `f` on every constant in it.
    pub fn constants(&self, f: &mut impl FnMut(i64)) {
        match self {
            Expr::Const(v) => f(*v),
            Expr::Cast(e, _) => e.constants(f),
            Expr::Bin(_, a, b, _) => {
                a.constants(f);
                b.constants(f);
            }
            Expr::Reg(_) | Expr::SelfId => {}
        }
    }
}

/// One instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum Instr {
    /// `r = e`
    Let(Reg, Expr),
    /// `r = any value of its type`
    Any(Reg),
    /// `r = *e`
    Load(Reg, Expr, Int),
    /// `*a = e`
    Store(Expr, Expr, Int),
    /// `if (e) goto first; else goto second`
    Branch(Expr, usize, usize),
    /// `goto`
    Jump(usize),
    /// Blocks forever if the value is 0.
    Assume(Expr),
    /// From here on, no other thread moves.
    AtomicBegin,
    /// Until here.
    AtomicEnd,
    /// Starts a thread in a template; the register receives its number.
    Spawn(usize, Vec<Expr>, Reg),
    /// Waits until the thread with this number has ended; the register receives its result.
    Join(Expr, Reg),
    /// Allocates bytes; the register receives the address.
    Alloc(Reg, Expr),
    /// Frees what was allocated.
    Free(Expr),
    /// Private memory goes out of scope: first byte, length.
    Clear(u32, u32),
    /// The property is violated.
    Fail(String),
    /// What follows is not modelled.
    Unmodelled(String),
    /// The process ends.
    Halt,
    /// The thread ends with this result.
    End(Expr),
}

/// Where an instruction comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The file, if it is not the user's.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if not known, because a macro was expanded in the line.
    pub column: u32,
    /// The user's line.
    pub text: String,
    /// The function and its callers.
    pub function: String,
    /// Labels on it.
    pub labels: Vec<String>,
}

/// The code of threads that start in one function.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// The function.
    pub name: String,
    /// The instructions.
    pub code: Vec<Instr>,
    /// Where each comes from, as an index into [`Program::origins`].
    pub origins: Vec<u32>,
    /// The types of the registers. The first are the arguments.
    pub registers: Vec<Int>,
    /// What the registers are called in C, if they are variables there.
    pub names: Vec<Option<String>>,
    /// How many arguments there are.
    pub arguments: usize,
    /// Bytes of private memory.
    pub frame: u32,
    /// Whether at most one thread ever runs it.
    pub single: bool,
    /// For each instruction, the registers that are read later, sorted.
    pub live: Vec<Vec<Reg>>,
}

/// An object in shared memory with a fixed place.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its name in C.
    pub name: String,
    /// Its initial bytes; [`crate::step::OPEN`] is a byte that was never written.
    pub init: Vec<u16>,
    /// The first byte's place in shared memory.
    pub base: usize,
    /// The type to show it with: (offset, type, suffix of the name).
    pub parts: Vec<(u32, Int, String)>,
    /// Whether accesses to it can be seen by other threads.
    pub visible: bool,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Where threads start; the first is the one that the program starts with.
    pub templates: Vec<Template>,
    /// Shared objects; number 1 is the first.
    pub objects: Vec<Object>,
    /// The initial private memory of every thread: thread-local variables.
    pub private: Vec<u16>,
    /// Names of functions, by number, for function pointers.
    pub functions: Vec<String>,
    /// Where instructions come from.
    pub origins: Vec<Origin>,
    /// Whether threads have numbers: some thread waits for another, or asks who it is.
    pub numbered: bool,
    /// Whether some thread reads the result of another.
    pub results: bool,
    /// Values to try for inputs.
    pub interesting: Vec<i64>,
}

impl Program {
    /// The number of bytes of shared memory with a fixed place.
    pub fn shared_size(&self) -> usize {
        self.objects.last().map_or(0, |o| o.base + o.init.len())
    }

    /// Where an instruction comes from.
    pub fn origin(&self, template: usize, pc: usize) -> &Origin {
        &self.origins[self.templates[template].origins[pc] as usize]
    }

    /// Completes the program: liveness, visibility, interesting values.
    pub fn finish(&mut self) {
        for t in &mut self.templates {
            t.live = live(t);
        }
        self.results = self.templates.iter().any(|t| {
            let reads =
                |(pc, i): (usize, &Instr)| matches!(i, Instr::Join(_, r) if t.live[pc + 1].contains(r));
            t.code.iter().enumerate().any(reads)
        });
        self.visibility();
        self.interesting = interesting(self);
    }

    /// An object is visible unless only one thread can ever access it, or nothing writes it.
    fn visibility(&mut self) {
        let n = self.objects.len();
        let (mut written, mut escapes) = (vec![false; n], vec![false; n]);
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); n];
        let object = |v: i64| {
            let o = v >> 32;
            (o >= 1 && o <= n as i64).then(|| o as usize - 1)
        };
        for o in &self.objects {
            // Addresses stored in initial values escape.
            for i in (0..o.init.len()).step_by(8) {
                if let Some(bytes) = o.init.get(i..i + 8) {
                    let v = bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b & 255));
                    if let Some(t) = object(v) {
                        escapes[t] = true;
                    }
                }
            }
        }
        for (k, t) in self.templates.iter().enumerate() {
            for i in &t.code {
                let rest = |e: &Expr, escapes: &mut Vec<bool>| {
                    e.constants(&mut |v| {
                        if let Some(o) = object(v) {
                            escapes[o] = true;
                        }
                    });
                };
                match i {
                    Instr::Load(_, Expr::Const(a), _) => {
                        if let Some(o) = object(*a) {
                            users[o].push(k);
                        }
                    }
                    Instr::Store(Expr::Const(a), v, _) => {
                        if let Some(o) = object(*a) {
                            users[o].push(k);
                            written[o] = true;
                        }
                        rest(v, &mut escapes);
                    }
                    Instr::Let(_, e)
                    | Instr::Load(_, e, _)
                    | Instr::Branch(e, ..)
                    | Instr::Assume(e)
                    | Instr::Join(e, _)
                    | Instr::Alloc(_, e)
                    | Instr::Free(e)
                    | Instr::End(e) => rest(e, &mut escapes),
                    Instr::Store(a, v, _) => {
                        rest(a, &mut escapes);
                        rest(v, &mut escapes);
                    }
                    Instr::Spawn(_, args, _) => args.iter().for_each(|e| rest(e, &mut escapes)),
                    _ => {}
                }
            }
        }
        for (o, object) in self.objects.iter_mut().enumerate() {
            users[o].dedup();
            let alone = matches!(users[o][..], [k] if self.templates[k].single);
            object.visible = escapes[o] || written[o] && !alone;
        }
    }

    /// What an address is called.
    pub fn name_of(&self, a: i64) -> Option<String> {
        let (object, offset) = (a >> 32, a & 0xffff_ffff);
        if object >= PRIVATE {
            return Some(format!("frame[{offset}]"));
        }
        if object >= FUNCTION {
            return self.functions.get((object - FUNCTION) as usize).cloned();
        }
        let o = self.objects.get(usize::try_from(object).ok()?.checked_sub(1)?)?;
        let part = o.parts.iter().find(|p| i64::from(p.0) == offset);
        Some(match part {
            Some(p) => format!("{}{}", o.name, p.2),
            None if offset == 0 => o.name.clone(),
            None => format!("{}+{offset}", o.name),
        })
    }

    fn show(&self, t: &Template, e: &Expr) -> String {
        match e {
            Expr::Const(v) => match self.name_of(*v) {
                Some(name) => format!("&{name}"),
                None => v.to_string(),
            },
            Expr::Reg(r) => register_name(t, *r),
            Expr::Cast(e, to) => format!("{}({})", to.name(), self.show(t, e)),
            Expr::Bin(op, a, b, _) => {
                format!("({} {} {})", self.show(t, a), op.symbol(), self.show(t, b))
            }
            Expr::SelfId => "self".into(),
        }
    }

    fn cell(&self, t: &Template, a: &Expr, at: Int) -> String {
        match a {
            Expr::Const(v) if self.name_of(*v).is_some() => self.name_of(*v).unwrap_or_default(),
            a => format!("*({}*){}", at.name(), self.show(t, a)),
        }
    }

    /// One instruction as text.
    pub fn instruction(&self, t: &Template, i: &Instr) -> String {
        let show = |e: &Expr| self.show(t, e);
        let reg = |r: &Reg| register_name(t, *r);
        match i {
            Instr::Let(r, e) => format!("{} = {}", reg(r), show(e)),
            Instr::Any(r) => format!("{} = any {}", reg(r), t.registers[*r as usize].name()),
            Instr::Load(r, a, at) => format!("{} = load {}", reg(r), self.cell(t, a, *at)),
            Instr::Store(a, e, at) => format!("store {} = {}", self.cell(t, a, *at), show(e)),
            Instr::Branch(e, a, b) => format!("if {} goto {a} else {b}", show(e)),
            Instr::Jump(a) => format!("goto {a}"),
            Instr::Assume(e) => format!("assume {}", show(e)),
            Instr::AtomicBegin => "atomic begin".into(),
            Instr::AtomicEnd => "atomic end".into(),
            Instr::Spawn(k, args, r) => {
                let args: Vec<String> = args.iter().map(show).collect();
                format!("{} = start {}({})", reg(r), self.templates[*k].name, args.join(", "))
            }
            Instr::Join(e, r) => format!("{} = join {}", reg(r), show(e)),
            Instr::Alloc(r, e) => format!("{} = allocate {}", reg(r), show(e)),
            Instr::Free(e) => format!("free {}", show(e)),
            Instr::Clear(from, n) => format!("clear frame[{from}..{}]", from + n),
            Instr::Fail(why) => format!("fail: {why}"),
            Instr::Unmodelled(why) => format!("not modelled: {why}"),
            Instr::Halt => "exit".into(),
            Instr::End(e) => format!("end {}", show(e)),
        }
    }

    /// The program as text, with the C lines it comes from.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for o in &self.objects {
            let seen = if o.visible { "" } else { "  // no other thread sees accesses to it" };
            _ = writeln!(out, "object {}: {} bytes{seen}", o.name, o.init.len());
        }
        for t in &self.templates {
            let args: Vec<String> = (0..t.arguments).map(|r| register_name(t, r as Reg)).collect();
            _ = writeln!(out, "\nthread {}({}):", t.name, args.join(", "));
            let mut last = (0, String::new());
            for (pc, i) in t.code.iter().enumerate() {
                let origin = &self.origins[t.origins[pc] as usize];
                let here = (origin.line, origin.function.clone());
                if here != last {
                    _ = writeln!(out, "  // {}:{} {}", origin.function, origin.line, origin.text);
                    last = here;
                }
                _ = writeln!(out, "{pc:5}: {}", self.instruction(t, i));
            }
        }
        out
    }
}

fn register_name(t: &Template, r: Reg) -> String {
    match &t.names[r as usize] {
        Some(name) => format!("{name}.{r}"),
        None => format!("t{r}"),
    }
}

/// Calls `f` on the registers that an instruction reads.
pub fn reads(i: &Instr, f: &mut impl FnMut(Reg)) {
    match i {
        Instr::Let(_, e)
        | Instr::Load(_, e, _)
        | Instr::Branch(e, ..)
        | Instr::Assume(e)
        | Instr::Join(e, _)
        | Instr::Alloc(_, e)
        | Instr::Free(e)
        | Instr::End(e) => e.registers(f),
        Instr::Store(a, e, _) => {
            a.registers(f);
            e.registers(f);
        }
        Instr::Spawn(_, args, _) => args.iter().for_each(|e| e.registers(f)),
        _ => {}
    }
}

/// The register that an instruction writes.
pub fn writes(i: &Instr) -> Option<Reg> {
    match i {
        Instr::Let(r, _)
        | Instr::Any(r)
        | Instr::Load(r, ..)
        | Instr::Spawn(_, _, r)
        | Instr::Join(_, r)
        | Instr::Alloc(r, _) => Some(*r),
        _ => None,
    }
}

/// Where control goes from instruction `pc`.
pub fn next(code: &[Instr], pc: usize) -> Vec<usize> {
    match &code[pc] {
        Instr::Branch(_, a, b) => vec![*a, *b],
        Instr::Jump(a) => vec![*a],
        Instr::Fail(_) | Instr::Unmodelled(_) | Instr::Halt | Instr::End(_) => Vec::new(),
        _ => vec![pc + 1],
    }
}

/// For each instruction, the registers that it or a later one reads before they are written.
fn live(t: &Template) -> Vec<Vec<Reg>> {
    let words = t.registers.len().div_ceil(64);
    let n = t.code.len();
    let mut before = vec![vec![0u64; words]; n + 1];
    let mut predecessors = vec![Vec::new(); n + 1];
    for pc in 0..n {
        for to in next(&t.code, pc) {
            predecessors[to].push(pc);
        }
    }
    let mut work: Vec<usize> = (0..n).collect();
    let mut queued = vec![true; n];
    while let Some(pc) = work.pop() {
        queued[pc] = false;
        let mut set = vec![0u64; words];
        for to in next(&t.code, pc) {
            for (a, b) in set.iter_mut().zip(&before[to]) {
                *a |= b;
            }
        }
        if let Some(r) = writes(&t.code[pc]) {
            set[r as usize / 64] &= !(1 << (r % 64));
        }
        reads(&t.code[pc], &mut |r| set[r as usize / 64] |= 1 << (r % 64));
        if set != before[pc] {
            before[pc] = set;
            for &p in &predecessors[pc] {
                if !queued[p] {
                    queued[p] = true;
                    work.push(p);
                }
            }
        }
    }
    let list = |set: &Vec<u64>| {
        (0..t.registers.len() as Reg).filter(|&r| set[r as usize / 64] >> (r % 64) & 1 == 1).collect()
    };
    before[..n].iter().map(list).collect()
}

/// The values that occur in comparisons, and their neighbours.
fn interesting(p: &Program) -> Vec<i64> {
    const MOST: usize = 14;
    let mut found = vec![0, 1, -1];
    fn compared(e: &Expr, found: &mut Vec<i64>) {
        match e {
            Expr::Bin(op, a, b, _) => {
                compared(a, found);
                compared(b, found);
                if op.compares() || *op == BinOp::Rem {
                    for e in [a, b] {
                        if let Expr::Const(v) = **e
                            && v.unsigned_abs() < 1 << 31
                        {
                            found.extend([v, v + 1, v - 1]);
                        }
                    }
                }
            }
            Expr::Cast(e, _) => compared(e, found),
            _ => {}
        }
    }
    let all = || p.templates.iter().flat_map(|t| &t.code);
    for i in all() {
        match i {
            Instr::Let(_, e) | Instr::Branch(e, ..) | Instr::Assume(e) | Instr::Store(_, e, _) => {
                compared(e, &mut found)
            }
            _ => {}
        }
    }
    found.extend([i64::from(i32::MAX), i64::from(i32::MIN)]);
    let mut unique = Vec::new();
    for v in found {
        if !unique.contains(&v) && unique.len() < MOST {
            unique.push(v);
        }
    }
    unique
}
