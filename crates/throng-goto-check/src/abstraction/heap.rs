//! Allocated memory as objects with a fixed place, which paths can speak of.
//!
//! Two kinds of allocations get such an object:
//! - one that is made at most once in a run: its object is shared memory like that of a variable
//!   outside functions, with a flag beside it that says whether it was freed, if something frees;
//! - one whose address its thread keeps for itself: each thread has an object of its own in private
//!   memory. It begins anew with each allocation, when no register holds the old address any more.
//!
//! An access to what was freed, or freeing it again, is a memory error, so that a proof shows that
//! there is none. Memory that was freed may be used again for another object, whose address then
//! compares equal to the old one; so programs that free have places only if they allocate at one
//! place. Allocations of other kinds stay what they are, which is not abstracted.
//!
//! Beside that, an argument that is the same constant wherever threads of a function are started is
//! this constant, so that accesses through it name their object.

use throng_goto::program::{
    BinOp, Expr, INT, Instr, Object, PRIVATE, PointerUse, Private, Program, Reg, Template, Violation,
    address, expressions, object_of, offset_of, writes,
};
use throng_goto::step::OPEN;

use super::variables::constants;

/// Targets of jumps inside of a block that is put in begin here.
const INSIDE: usize = 1 << 40;
/// Largest number of bytes of an object.
const LARGEST: i64 = 4096;
const USED_AGAIN: &str = "memory is accessed after it was freed";
const FREED_AGAIN: &str = "memory is freed twice";

/// Returns the program with places for what it allocates; `None`: it allocates nothing, or is not
/// such that this would help.
pub fn placed(program: &Program) -> Option<Program> {
    if !program.is_flat() || !program.templates.iter().flat_map(|t| &t.code).any(allocates) {
        return None;
    }
    let code = || program.templates.iter().flat_map(|t| &t.code);
    let frees = code().any(|i| matches!(i, Instr::Free(_)));
    if frees && code().filter(|i| allocates(i)).count() > 1 {
        // What is allocated next may have the address of what was freed, and compare equal to it.
        return None;
    }
    let mut placed = program.clone();
    let mut objects = Vec::new();
    for t in 0..program.templates.len() {
        // From the end, because what is put in changes later places.
        for at in (0..program.templates[t].code.len()).rev() {
            let Instr::Alloc(r, Expr::Const(size)) = program.templates[t].code[at] else { continue };
            let once = program.runs_once(t) && !program.templates[t].repeats(at);
            if (1..=LARGEST).contains(&size) && (once || is_own(&program.templates[t], at, r)) {
                objects.push(placed.place(once, (t, at), r, size as u32));
            }
        }
    }
    if objects.is_empty() {
        return None;
    }
    placed.place_objects();
    placed.finish();
    while propagate(&mut placed) {
        placed.finish();
    }
    if frees {
        (0..placed.templates.len()).try_for_each(|t| guard(&mut placed, t, &objects))?;
        placed.finish();
    }
    Some(placed)
}

/// An object that was allocated.
struct Placed {
    object: i64,
    /// The address of the flag that says whether it was freed.
    flag: i64,
    shared: bool,
}

/// Adds objects to a program.
trait Place {
    fn place(&mut self, once: bool, site: (usize, usize), r: Reg, size: u32) -> Placed;
    fn add(&mut self, shared: bool, name: String, init: Vec<u16>) -> i64;
}

impl Place for Program {
    fn place(&mut self, shared: bool, (t, at): (usize, usize), r: Reg, size: u32) -> Placed {
        let line = self.origin(t, at).line;
        let object = self.add(shared, format!("malloc:{line}"), vec![OPEN; size as usize]);
        let flag = address(self.add(shared, format!("freed:{line}"), vec![0; 4]), 0);
        let given = Instr::Let(r, Expr::Const(address(object, 0)));
        let own = [
            Instr::Begins(Expr::Const(address(object, 0)), size),
            Instr::Store(Expr::Const(flag), Expr::Const(0), INT),
            given.clone(),
        ];
        let block = if shared { vec![given] } else { own.to_vec() };
        splice(&mut self.templates[t], at, block);
        Placed { object, flag, shared }
    }

    /// Adds an object with these bytes, and returns its number.
    fn add(&mut self, shared: bool, name: String, init: Vec<u16>) -> i64 {
        if shared {
            self.objects.push(Object {
                name,
                init,
                base: 0,
                align: 4,
                parts: Vec::new(),
                visible: true,
                global: true,
                library: false,
                leaves: true,
                external: false,
            });
            return self.objects.len() as i64;
        }
        // Behind everything else, where nothing has a value at the start.
        let end = |l: &Private| l.base + l.size;
        let base = self.locals.iter().map(end).max().unwrap_or(0).max(self.private.len() as u32);
        self.locals.push(Private { name, base, size: init.len() as u32, align: 4 });
        PRIVATE + self.locals.len() as i64 - 1
    }
}

/// Returns whether only registers of the thread ever hold the address of what is allocated at a
/// place, and none of them does when the place is come to again.
fn is_own(t: &Template, at: usize, r: Reg) -> bool {
    let mut holds = vec![false; t.registers.len()];
    holds[r as usize] = true;
    let names = |e: &Expr, holds: &[bool]| {
        let mut some = false;
        e.registers(&mut |r| some |= holds[r as usize]);
        some
    };
    loop {
        let before = holds.iter().filter(|h| **h).count();
        for i in &t.code {
            if let Instr::Let(to, e) = i
                && !matches!(e, Expr::Bin(op, ..) if op.compares())
                && names(e, &holds)
            {
                holds[*to as usize] = true;
            }
        }
        if holds.iter().filter(|h| **h).count() == before {
            break;
        }
    }
    let stays = |i: &Instr| match i {
        Instr::Let(..) | Instr::Load(..) | Instr::Branch(..) | Instr::Assume(_) | Instr::Free(_) => true,
        Instr::Pointer(PointerUse::Moved(..) | PointerUse::Ordered(..) | PointerUse::Compared(..)) => true,
        Instr::Store(_, e, _) => !names(e, &holds),
        i => {
            let mut all = true;
            expressions(i, &mut |e| all &= !names(e, &holds));
            all
        }
    };
    t.code.iter().all(stays) && t.live[at].iter().all(|&r| !holds[r as usize])
}

/// Replaces an argument by the constant that it always is; whether there was one.
fn propagate(program: &mut Program) -> bool {
    let known: Vec<_> = (0..program.templates.len()).map(|t| constants(program, t)).collect();
    let (first, _) = super::graph::Graph::first(program);
    for t in (0..program.templates.len()).filter(|t| !first.contains(t)) {
        for r in 0..program.templates[t].arguments as Reg {
            let sites = program.templates.iter().enumerate().flat_map(|(by, other)| {
                let starts = other.code.iter().filter_map(move |i| match i {
                    Instr::Spawn(child, args, _) if *child == t => Some((by, args)),
                    _ => None,
                });
                starts.map(|(by, args)| match args.get(r as usize) {
                    Some(Expr::Const(v)) => Some(*v),
                    Some(Expr::Reg(given)) => known[by].get(given).copied(),
                    _ => None,
                })
            });
            let values: Vec<Option<i64>> = sites.collect();
            let Some(&Some(value)) = values.first() else { continue };
            let template = &mut program.templates[t];
            let used = template.live.first().is_some_and(|live| live.contains(&r));
            let written = template.code.iter().any(|i| writes(i) == Some(r));
            let fits = template.registers[r as usize].wrap(value) == value;
            if values.iter().all(|v| *v == Some(value)) && used && !written && fits {
                let leaf = |e: &Expr| (*e == Expr::Reg(r)).then_some(Expr::Const(value));
                template.code.iter_mut().for_each(|i| replace(i, &leaf));
                return true;
            }
        }
    }
    false
}

/// Replaces leaves of all expressions of an instruction.
fn replace(i: &mut Instr, leaf: &dyn Fn(&Expr) -> Option<Expr>) {
    let with = |e: &mut Expr| *e = e.replaced(leaf);
    match i {
        Instr::Let(_, e)
        | Instr::Load(_, e, _)
        | Instr::Branch(e, ..)
        | Instr::Assume(e)
        | Instr::Join(e, _)
        | Instr::Alloc(_, e)
        | Instr::Free(e)
        | Instr::Meets(e, _)
        | Instr::Acquire(e)
        | Instr::Release(e)
        | Instr::End(e)
        | Instr::Return(Some(e)) => with(e),
        Instr::Store(a, e, _) | Instr::Resize(_, a, e) => {
            with(a);
            with(e);
        }
        Instr::Spawn(_, args, _) | Instr::Call { arguments: args, .. } => args.iter_mut().for_each(with),
        Instr::CallPointer { address, arguments, .. } => {
            with(address);
            arguments.iter_mut().for_each(|a| with(&mut a.0));
        }
        Instr::Pointer(using) => match using {
            PointerUse::Moved(a, b) | PointerUse::Ordered(a, b) | PointerUse::Compared(a, b) => {
                with(a);
                with(b);
            }
            PointerUse::Number(a) => with(a),
            PointerUse::Bytes => {}
        },
        Instr::Any(_)
        | Instr::Jump(_)
        | Instr::AtomicBegin
        | Instr::AtomicEnd
        | Instr::Fence(_)
        | Instr::Begins(..)
        | Instr::Ends(_)
        | Instr::Fail(..)
        | Instr::Unmodelled(_)
        | Instr::Halt
        | Instr::Return(None) => {}
    }
}

/// Looks at the flag of an object wherever it is accessed or freed; `None`: an access may be to any
/// object.
fn guard(program: &mut Program, t: usize, objects: &[Placed]) -> Option<()> {
    let known = constants(program, t);
    let leaf = |e: &Expr| match e {
        Expr::Reg(r) => known.get(r).map(|v| Expr::Const(*v)),
        _ => None,
    };
    for at in (0..program.templates[t].code.len()).rev() {
        let i = program.templates[t].code[at].clone();
        let (Instr::Load(_, a, _) | Instr::Store(a, ..) | Instr::Free(a)) = &i else { continue };
        let mut bases = Vec::new();
        a.replaced(&leaf).constants(&mut |c| bases.extend((object_of(c) > 0).then(|| object_of(c))));
        let [base] = bases[..] else { return None };
        let Some(object) = objects.iter().find(|o| o.object == base) else { continue };
        let free = match a.replaced(&leaf) {
            Expr::Const(a) => offset_of(a) == 0,
            _ => false,
        };
        let block = match &i {
            Instr::Free(_) if !free => return None,
            Instr::Free(_) => object.freeing(program, t),
            _ => object.accessed(program, t, i.clone()),
        };
        splice(&mut program.templates[t], at, block);
    }
    Some(())
}

impl Placed {
    /// An access, where the object was not freed.
    fn accessed(&self, program: &mut Program, t: usize, access: Instr) -> Vec<Instr> {
        self.checked(program, t, access, USED_AGAIN)
    }

    /// Freeing the object, where it was not freed.
    fn freeing(&self, program: &mut Program, t: usize) -> Vec<Instr> {
        let sets = Instr::Store(Expr::Const(self.flag), Expr::Const(1), INT);
        self.checked(program, t, sets, FREED_AGAIN)
    }

    /// One step: a memory error if the flag is set, else an instruction.
    fn checked(&self, program: &mut Program, t: usize, then: Instr, why: &str) -> Vec<Instr> {
        let error = match program.asked.contains(&Violation::Memory) {
            true => Instr::Fail(Violation::Memory, why.into()),
            false => Instr::Unmodelled(why.into()),
        };
        let flag = program.templates[t].register();
        let is_set = Expr::Bin(BinOp::Ne, Box::new(Expr::Reg(flag)), Box::new(Expr::Const(0)), INT);
        let (begin, end) = match self.shared {
            true => (Instr::AtomicBegin, Instr::AtomicEnd),
            false => (Instr::Jump(INSIDE + 1), Instr::Jump(INSIDE + 6)),
        };
        let load = Instr::Load(flag, Expr::Const(self.flag), INT);
        vec![begin, load, Instr::Branch(is_set, INSIDE + 3, INSIDE + 4), error, then, end]
    }
}

/// Adds a register without a name.
trait Register {
    fn register(&mut self) -> Reg;
}

impl Register for Template {
    fn register(&mut self) -> Reg {
        self.registers.push(INT);
        self.names.push(None);
        self.owners.push(String::new());
        self.registers.len() as Reg - 1
    }
}

/// Puts instructions in the place of one. Targets from [`INSIDE`] on are places among them.
fn splice(t: &mut Template, at: usize, block: Vec<Instr>) {
    let more = block.len() - 1;
    let moved = |pc: usize| if pc > at { pc + more } else { pc };
    let target = |pc: &mut usize| *pc = if *pc >= INSIDE { *pc - INSIDE + at } else { moved(*pc) };
    t.code.splice(at..=at, block);
    for i in &mut t.code {
        match i {
            Instr::Branch(_, yes, no) => {
                target(yes);
                target(no);
            }
            Instr::Jump(to) => target(to),
            _ => {}
        }
    }
    let (origin, access) = (t.origins[at], t.access[at]);
    t.origins.splice(at..=at, std::iter::repeat_n(origin, more + 1));
    t.access.splice(at..=at, std::iter::repeat_n(access, more + 1));
    t.doubts.iter_mut().for_each(|d| d.0 = moved(d.0));
    t.copies.iter_mut().for_each(|c| *c = moved(*c));
    t.bits.iter_mut().for_each(|b| b.0 = moved(b.0));
}

fn allocates(i: &Instr) -> bool {
    matches!(i, Instr::Alloc(..))
}
