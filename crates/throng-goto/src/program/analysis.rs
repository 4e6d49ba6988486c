//! Facts about programs that are found out once: which registers matter where, and which values
//! stand for all inputs.

use super::{BinOp, Conversion, Expr, Instr, Program, Reg, Template, Width, next, reads, writes};

/// For each instruction, the registers that it or a later one reads before they are written. Each
/// register is followed back from where it is read, so that the work is the size of the result.
pub(super) fn live(t: &Template) -> Vec<Vec<Reg>> {
    let n = t.code.len();
    let mut predecessors = vec![Vec::new(); n + 1];
    let mut readers = vec![Vec::new(); t.registers.len()];
    for (pc, i) in t.code.iter().enumerate() {
        next(&t.code, pc).into_iter().for_each(|to| predecessors[to].push(pc));
        reads(i, &mut |r| readers[r as usize].push(pc));
    }
    let mut found: Vec<Vec<Reg>> = vec![Vec::new(); n + 1];
    for (r, readers) in (0..).zip(readers) {
        let mut work = readers;
        while let Some(pc) = work.pop() {
            if found[pc].last() != Some(&r) {
                found[pc].push(r);
                let before = predecessors[pc].iter().copied();
                work.extend(before.filter(|&before| writes(&t.code[before]) != Some(r)));
            }
        }
    }
    found.truncate(n);
    found
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
    if p.creates_without_bound() {
        // As many threads as a race takes.
        found.push(2);
    }
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
    computed(p, &mut |e| compared(e, &mut found));
    found.extend([i64::from(i32::MAX), i64::from(i32::MIN)]);
    different(found, MOST)
}

/// The floating-point numbers that occur in comparisons, and their neighbours, as `double`.
pub(super) fn numbers(p: &Program) -> Vec<i64> {
    const MOST: usize = 20;
    let mut found = [0.0, 1.0, -1.0, 0.5].map(f64::to_bits).map(|bits| bits as i64).to_vec();
    fn compared(e: &Expr, found: &mut Vec<i64>) {
        match e {
            Expr::Float(op, a, b, at) => {
                compared(a, found);
                compared(b, found);
                if op.compares() {
                    for v in [a, b].into_iter().filter_map(|e| e.constant()) {
                        let near = [v, v.wrapping_add(1), v.wrapping_sub(1)];
                        let double = |v| Conversion::Resize(*at, Width::Double).apply(v);
                        found.extend(near.into_iter().filter_map(|v| double(v).ok()));
                    }
                }
            }
            Expr::Bin(_, a, b, _) => {
                compared(a, found);
                compared(b, found);
            }
            Expr::Cast(e, _) | Expr::Convert(e, _) => compared(e, found),
            _ => {}
        }
    }
    computed(p, &mut |e| compared(e, &mut found));
    found.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(f64::to_bits).map(|bits| bits as i64));
    different(found, MOST)
}

/// Calls `f` on what is computed.
fn computed(p: &Program, f: &mut impl FnMut(&Expr)) {
    for i in p.templates.iter().flat_map(|t| &t.code) {
        match i {
            Instr::Let(_, e)
            | Instr::Branch(e, ..)
            | Instr::Assume(e)
            | Instr::Store(_, e, _)
            | Instr::Return(Some(e)) => f(e),
            Instr::Call { arguments, .. } => arguments.iter().for_each(&mut *f),
            Instr::CallPointer { arguments, .. } => arguments.iter().for_each(|(e, _)| f(e)),
            _ => {}
        }
    }
}

/// Returns the first values that are different.
fn different(found: Vec<i64>, most: usize) -> Vec<i64> {
    let mut unique = Vec::new();
    for v in found {
        if !unique.contains(&v) && unique.len() < most {
            unique.push(v);
        }
    }
    unique
}
