//! What a thread does next if it has read the stale value: a copy of the code, up to the next thing
//! that others can see.
//!
//! A thread that has read it and does nothing more leaves an execution that is as good without the
//! read: it waits for another value, or its loop begins again as it was. If it goes on, the
//! execution is not one of sequential consistency: that is the failure. The copy need not be exact
//! about values that a pass reads elsewhere: any value stands for them.

use throng_goto::program::{Access, Expr, Instr, next};

use super::bits::Shared;
use super::writer::{Label, Writer};

/// Writes the copy of the code.
pub fn write(writer: &mut Writer<'_>) -> Result<(), String> {
    let n = writer.old.code.len();
    for pc in 0..n {
        writer.place(n + pc);
        writer.origin = writer.old.origins[pc];
        instruction(writer, pc)?;
    }
    ends(writer);
    Ok(())
}

/// Writes what the copy ends with, and every other failure.
pub fn ends(writer: &mut Writer<'_>) {
    writer.place(writer.bad);
    writer.fails();
    writer.place(writer.stops);
    writer.emit(Instr::Assume(Expr::Const(0)));
    writer.emit(Instr::Halt);
}

/// Where control goes in the copy, from one instruction of the code to the next: a pass of a
/// waiting loop may end, and nothing has happened; everything else outside of it is noticed.
pub fn goes(writer: &Writer<'_>, from: usize, to: usize) -> Label {
    let waits = |pc: usize| writer.context.waiting.iter().find(|l| l.points.binary_search(&pc).is_ok());
    match (waits(from).map(|l| l.head), waits(to).map(|l| l.head)) {
        (Some(head), _) if head == to => writer.stops,
        (here, there) if here == there => writer.old.code.len() + to,
        _ => writer.bad,
    }
}

/// Writes the copy of an instruction.
fn instruction(writer: &mut Writer<'_>, pc: usize) -> Result<(), String> {
    let i = &writer.old.code[pc];
    let targets: Vec<Label> = next(&writer.old.code, pc).iter().map(|&to| goes(writer, pc, to)).collect();
    match (i, &targets[..]) {
        (Instr::Branch(c, ..), &[a, b]) => {
            let c = writer.own(c);
            writer.emit(Instr::Branch(c, a, b));
        }
        (_, &[only]) => {
            let to = if straight(writer, pc)? { only } else { writer.bad };
            writer.emit(Instr::Jump(to));
        }
        _ => writer.emit(Instr::Jump(writer.bad)),
    }
    Ok(())
}

/// Writes the copy of an instruction that goes on behind itself. Returns whether it does.
fn straight(writer: &mut Writer<'_>, pc: usize) -> Result<bool, String> {
    let i = &writer.old.code[pc];
    let own = |a: &Expr| {
        let context = writer.context;
        context.places.resolve(context.program, writer.template, a).is_ok_and(|found| found.is_empty())
    };
    let as_it_is = match i {
        Instr::Let(..) | Instr::Any(_) | Instr::Assume(_) => true,
        Instr::Load(_, a, _) | Instr::Store(a, ..) | Instr::Begins(a, _) => own(a),
        Instr::Ends(list) => list.iter().all(|l| own(&l.0)),
        _ => false,
    };
    match i {
        _ if as_it_is => {
            let moved = writer.moved(i)?;
            writer.keep(pc, moved);
        }
        Instr::Jump(_) | Instr::AtomicBegin | Instr::Pointer(_) => {}
        Instr::AtomicEnd => writer.emit(Instr::Let(writer.direct, Expr::Const(0))),
        // Another read in a pass of the same loop.
        Instr::Load(r, ..) if waits(writer, pc) => {
            let r = writer.shifted(*r);
            writer.emit(Instr::Any(r));
        }
        // The operation that has met the stale value writes behind it, unless another one has.
        Instr::Store(..) if matches!(writer.old.access[pc], Access::Update(..)) => {
            let read = writer.get(Shared::Read);
            let between = writer.where_all(vec![read, Expr::Reg(writer.direct)]);
            writer.emit(Instr::Jump(writer.stops));
            writer.place(between);
            writer.emit(Instr::Jump(writer.bad));
            return Ok(false);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn waits(writer: &Writer<'_>, pc: usize) -> bool {
    writer.context.waiting.iter().any(|l| l.points.binary_search(&pc).is_ok())
}
