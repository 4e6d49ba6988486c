//! Programs with one atomic operation or one lock changed, for languages whose text is not at hand:
//! what a compiler has written is changed behind it.
//!
//! An operation that reads and writes at once becomes two, so that others may move between; a lock
//! is taken although another thread has it. A place in the source is one mutant, however often the
//! compiler has copied it.

use throng_lang::mutant::{Change, Mutant};

use crate::program::{Access, Instr, Order, Program, next};

/// An atomic section, and how it can be changed.
struct Section {
    template: usize,
    begin: usize,
    /// Its instructions, its ends included.
    members: Vec<usize>,
    change: Change,
}

/// Returns every way to change one operation or lock, in the order of lines.
pub fn mutants(program: &Program) -> Vec<Mutant> {
    let mut found: Vec<Mutant> = sections(program).iter().filter_map(|s| named(program, s)).collect();
    found.sort_by(|a, b| (&a.lines, a.change, &a.what).cmp(&(&b.lines, b.change, &b.what)));
    found.dedup();
    found
}

/// Returns the program with one thing changed.
pub fn mutated(program: &Program, mutant: &Mutant) -> Program {
    let mut changed = program.clone();
    for section in sections(program).iter().filter(|s| named(program, s).as_ref() == Some(mutant)) {
        change(&mut changed, section);
    }
    changed.finish();
    changed
}

/// Returns the mutant that a change makes, if it is one of a line of the user's.
fn named(program: &Program, section: &Section) -> Option<Mutant> {
    let origin = program.origin(section.template, section.begin);
    let what = origin.text.trim().to_string();
    let own = origin.file.is_none() && !what.is_empty();
    own.then(|| Mutant { change: section.change, lines: vec![origin.line], what, edits: Vec::new() })
}

fn sections(program: &Program) -> Vec<Section> {
    let mut found = Vec::new();
    for (template, t) in program.templates.iter().enumerate() {
        for begin in (0..t.code.len()).filter(|&pc| t.code[pc] == Instr::AtomicBegin) {
            let members = members(&t.code, begin);
            if let Some(change) = kind(program, template, &members) {
                found.push(Section { template, begin, members, change });
            }
        }
    }
    found
}

/// The instructions of a section.
fn members(code: &[Instr], begin: usize) -> Vec<usize> {
    let (mut found, mut work) = (Vec::new(), next(code, begin));
    while let Some(pc) = work.pop() {
        if pc < code.len() && !found.contains(&pc) {
            found.push(pc);
            if code[pc] != Instr::AtomicEnd {
                work.extend(next(code, pc));
            }
        }
    }
    found.sort_unstable();
    found
}

/// Returns how a section can be changed: one that waits is that of a lock, one with a read and a
/// write of the same memory is an operation.
fn kind(program: &Program, template: usize, members: &[usize]) -> Option<Change> {
    let t = &program.templates[template];
    let code = || members.iter().map(|&pc| &t.code[pc]);
    let count = |is: &dyn Fn(&Instr) -> bool| code().filter(|i| is(i)).count();
    let acquires = count(&|i| matches!(i, Instr::Acquire(_)));
    let waits = count(&|i| matches!(i, Instr::Assume(_)));
    let loads = count(&|i| matches!(i, Instr::Load(..)));
    let stores = count(&|i| matches!(i, Instr::Store(..)));
    let updates = members.iter().filter(|&&pc| matches!(t.access[pc], Access::Update(..))).count();
    if loads != 1 || stores == 0 {
        return None;
    }
    match waits {
        0 if updates == loads + stores => Some(Change::Split),
        1 if acquires == 1 || updates == loads + stores => Some(Change::Unlocked),
        _ => None,
    }
}

fn change(program: &mut Program, section: &Section) {
    let t = &mut program.templates[section.template];
    let split = section.change == Change::Split;
    for &pc in std::iter::once(&section.begin).chain(&section.members) {
        match (&t.code[pc], t.access[pc]) {
            (Instr::AtomicBegin | Instr::AtomicEnd, _) if split => t.code[pc] = Instr::Jump(pc + 1),
            (Instr::Assume(_), _) if !split => t.code[pc] = Instr::Jump(pc + 1),
            _ if !split => {}
            (Instr::Load(..), Access::Update(done, _)) => t.access[pc] = Access::Atomic(reading(done)),
            (Instr::Store(..), Access::Update(done, _)) => t.access[pc] = Access::Atomic(writing(done)),
            _ => {}
        }
    }
}

/// The part of an order that a read has.
fn reading(order: Order) -> Order {
    match order {
        Order::SeqCst => Order::SeqCst,
        order if order.acquires() => Order::Acquire,
        _ => Order::Relaxed,
    }
}

/// The part of an order that a write has.
fn writing(order: Order) -> Order {
    match order {
        Order::SeqCst => Order::SeqCst,
        order if order.releases() => Order::Release,
        _ => Order::Relaxed,
    }
}
