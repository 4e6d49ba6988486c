//! Facts about programs that are found out once: which registers matter where, and which values
//! stand for all inputs.

use super::{BinOp, Expr, Instr, Program, Reg, Template, next, reads, writes};

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
            Instr::Let(_, e)
            | Instr::Branch(e, ..)
            | Instr::Assume(e)
            | Instr::Store(_, e, _)
            | Instr::Return(Some(e)) => compared(e, &mut found),
            Instr::Call { arguments, .. } => arguments.iter().for_each(|e| compared(e, &mut found)),
            Instr::CallPointer { arguments, .. } => {
                arguments.iter().for_each(|(e, _)| compared(e, &mut found));
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
