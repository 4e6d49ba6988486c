//! Facts about programs that are found out once: which registers matter where, and which values
//! stand for all inputs.

use std::collections::HashMap;

use super::{
    BinOp, Expr, FUNCTION, Instr, PRIVATE, PointerUse, Program, Reg, Template, is_private, next, object_of,
    reads, writes,
};

/// For each instruction, the registers that it or a later one reads before they are written.
pub(super) fn live(t: &Template) -> Vec<Vec<Reg>> {
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

/// See [`Template::representatives`].
pub(super) fn representatives(t: &Template) -> Vec<Option<Vec<i64>>> {
    let mut found: Vec<Option<Vec<i64>>> = vec![Some(Vec::new()); t.registers.len()];
    for i in &t.code {
        let tested = match i {
            Instr::Branch(Expr::Reg(r), ..) => Some((*r, 0)),
            Instr::Branch(Expr::Bin(op, a, b, at), ..) if op.compares() => match (&**a, &**b) {
                (Expr::Reg(r), Expr::Const(c)) | (Expr::Const(c), Expr::Reg(r))
                    if *at == t.registers[*r as usize] || matches!(op, BinOp::Eq | BinOp::Ne) =>
                {
                    Some((*r, *c))
                }
                _ => None,
            },
            _ => None,
        };
        match tested {
            Some((r, c)) => {
                if let Some(values) = &mut found[r as usize] {
                    values.extend([c.wrapping_sub(1), c, c.wrapping_add(1)]);
                }
            }
            None => reads(i, &mut |r| found[r as usize] = None),
        }
    }
    for (values, at) in found.iter_mut().zip(&t.registers) {
        let Some(list) = values else { continue };
        if list.is_empty() || list.len() > 60 {
            *values = None;
            continue;
        }
        let top = 1i64.checked_shl(u32::from(at.size) * 8 - 1).unwrap_or(i64::MIN);
        // The least and the largest value, in either reading.
        list.extend([0, -1, top, top.wrapping_sub(1)]);
        list.iter_mut().for_each(|v| *v = at.wrap(*v));
        list.sort_unstable();
        list.dedup();
    }
    found
}

/// The values that occur in comparisons, and their neighbours.
pub(super) fn interesting(p: &Program) -> Vec<i64> {
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
            Expr::Cast(e, _) | Expr::Convert(e, _) => compared(e, found),
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

/// The objects whose addresses a value may be.
type Objects = std::collections::BTreeSet<i64>;

/// Stands for all allocated objects.
const HEAP: i64 = -1;

/// Where addresses of objects may be that cease to exist: local variables, and all that is
/// allocated. What is nowhere on the list need not be looked at, and a number that happens to look
/// like such an address is left alone.
#[derive(Clone, Debug, Default)]
pub struct Holders {
    registers: Vec<HashMap<i64, Vec<Reg>>>,
    memory: Objects,
    /// Whether memory may hold any address.
    pub any: bool,
}

impl Holders {
    fn key(p: &Program, object: i64) -> i64 {
        if object > p.objects.len() as i64 && object < FUNCTION { HEAP } else { object }
    }

    /// The registers of a template that may hold an address in an object.
    pub fn registers(&self, p: &Program, template: usize, object: i64) -> &[Reg] {
        let found = self.registers.get(template).and_then(|t| t.get(&Self::key(p, object)));
        found.map_or(&[], |list| list)
    }

    /// Returns whether memory may hold an address in an object.
    pub fn in_memory(&self, p: &Program, object: i64) -> bool {
        self.memory.contains(&Self::key(p, object))
    }
}

/// Where addresses go, whatever the order of instructions: a set of objects for each register, one
/// for everything in memory, one for what other threads are handed.
struct Flow {
    registers: Vec<Vec<Objects>>,
    memory: Objects,
    published: Objects,
    results: Objects,
    /// What is stored in local variables of the first thread.
    inside: HashMap<i64, Objects>,
}

impl Flow {
    fn of(p: &Program) -> Flow {
        let registers = p.templates.iter().map(|t| vec![Objects::new(); t.registers.len()]);
        let registers = registers.collect();
        let (memory, published, results) = Default::default();
        let mut flow = Flow { registers, memory, published, results, inside: HashMap::new() };
        for o in &p.objects {
            for bytes in o.init.windows(8) {
                let v = bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b & 255));
                flow.memory.extend(named(p, v));
            }
        }
        flow.published = flow.memory.clone();
        while flow.pass(p) {}
        flow
    }

    /// Goes through all instructions once; whether some set has grown.
    fn pass(&mut self, p: &Program) -> bool {
        let before = self.size();
        for (k, t) in p.templates.iter().enumerate() {
            for i in &t.code {
                let (to, from) = match i {
                    Instr::Let(r, e) => (*r, self.objects(p, k, e)),
                    Instr::Load(r, _, at) if at.size == 8 => (*r, self.memory.clone()),
                    Instr::Alloc(r, _) => (*r, [HEAP].into()),
                    Instr::Join(_, r) => (*r, self.results.clone()),
                    Instr::Store(a, e, at) if at.size == 8 => {
                        let stored = self.objects(p, k, e);
                        match a {
                            Expr::Const(a) if is_private(*a) => {}
                            // A local variable may stay unknown to others, and what is in it, too.
                            Expr::Const(a) if p.object_at(*a).is_some_and(|o| !o.global) => {
                                self.inside.entry(object_of(*a)).or_default().extend(&stored);
                            }
                            _ => self.published.extend(&stored),
                        }
                        self.memory.extend(stored);
                        continue;
                    }
                    Instr::Spawn(child, args, _) => {
                        for (n, e) in args.iter().enumerate() {
                            let handed = self.objects(p, k, e);
                            self.published.extend(handed.iter().copied());
                            if let Some(r) = self.registers[*child].get_mut(n) {
                                r.extend(handed);
                            }
                        }
                        continue;
                    }
                    Instr::End(e) => {
                        let ended = self.objects(p, k, e);
                        self.published.extend(ended.iter().copied());
                        self.results.extend(ended);
                        continue;
                    }
                    _ => continue,
                };
                self.registers[k][to as usize].extend(from);
            }
        }
        for (o, contents) in &self.inside {
            if self.published.contains(o) {
                self.published.extend(contents);
            }
        }
        self.size() != before
    }

    fn size(&self) -> usize {
        let registers: usize = self.registers.iter().flatten().map(Objects::len).sum();
        let inside: usize = self.inside.values().map(Objects::len).sum();
        registers + self.memory.len() + self.published.len() + self.results.len() + inside
    }

    fn objects(&self, p: &Program, template: usize, e: &Expr) -> Objects {
        let mut found = Objects::new();
        e.registers(&mut |r| found.extend(&self.registers[template][r as usize]));
        e.constants(&mut |c| found.extend(named(p, c)));
        found
    }

    /// Returns whether a use of addresses is defined, whatever the values are.
    fn is_defined(&self, p: &Program, template: usize, using: &PointerUse) -> bool {
        let mut all = Objects::new();
        using.operands(&mut |e| all.extend(self.objects(p, template, e)));
        match using {
            PointerUse::Moved(..) => false,
            PointerUse::Ordered(..) => all.len() <= 1 && !all.contains(&HEAP),
            PointerUse::Compared(..) => !all.iter().any(|o| *o == HEAP || p.scoped.binary_search(o).is_ok()),
            PointerUse::Number(_) => all.is_empty(),
            PointerUse::Bytes => self.memory.is_empty(),
        }
    }
}

/// The object that a constant is an address in.
fn named(p: &Program, v: i64) -> Option<i64> {
    let o = object_of(v);
    let known = (1..=p.objects.len() as i64).contains(&o)
        || (FUNCTION..FUNCTION + p.functions.len() as i64).contains(&o)
        || (PRIVATE..PRIVATE + p.locals.len() as i64).contains(&o);
    known.then_some(o)
}

/// Finds out which objects other threads may come to know, and removes checks of pointers that
/// cannot fail.
pub(super) fn addresses(p: &mut Program) {
    let flow = Flow::of(p);
    for (o, object) in p.objects.iter_mut().enumerate() {
        object.leaves = flow.published.contains(&(o as i64 + 1));
    }
    let ends = |o: &i64| *o == HEAP || p.scoped.binary_search(o).is_ok();
    let registers = flow.registers.iter().map(|t| {
        let mut holders: HashMap<i64, Vec<Reg>> = HashMap::new();
        for (r, objects) in t.iter().enumerate() {
            objects.iter().filter(|o| ends(o)).for_each(|&o| holders.entry(o).or_default().push(r as Reg));
        }
        holders
    });
    let registers = registers.collect();
    let memory = flow.memory.iter().copied().filter(|o| ends(o)).collect();
    p.holders = Holders { registers, memory, any: !flow.memory.is_empty() };
    for k in 0..p.templates.len() {
        for pc in 0..p.templates[k].code.len() {
            if let Instr::Pointer(using) = &p.templates[k].code[pc]
                && flow.is_defined(p, k, using)
            {
                p.templates[k].code[pc] = Instr::Jump(pc + 1);
            }
        }
    }
}
