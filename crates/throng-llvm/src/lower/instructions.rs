//! Instructions: control flow and values. What computes is in [`super::arithmetic`], what accesses
//! memory in [`super::memory`].

use super::function::{Operand, Writer, reads};
use super::{Problem, Result, Role};
use crate::layout::{Leaf, MOST_LEAVES, leaves};
use crate::syntax::tree::{Block, Instruction, Op, Type, Typed, Value};
use throng_goto::program::{Access, BOOL, BinOp, Expr, Instr, Int, Reg};
use throng_goto::step::OPEN;

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    /// Writes an instruction, the `n`th of its block.
    pub(super) fn instruction(
        &mut self,
        block: &'a Block<'t>,
        n: usize,
        i: &'a Instruction<'t>,
    ) -> Result<()> {
        let result = i.result;
        if self.demanded.is_idle(i) {
            self.set(result, vec![Operand::Is(Expr::Const(0))]);
            return Ok(());
        }
        match &i.op {
            Op::Phi(..) | Op::Debug { .. } | Op::Alloca { .. } => Ok(()),
            Op::Binary(how, flags, ty, a, b) => self.binary(result, *how, *flags, ty, a, b),
            Op::Compare { float, how, of, a, b } => self.compare(result, *float, how, of, a, b),
            Op::Cast(how, flags, from, to) => self.cast(result, *how, *flags, from, to),
            Op::Negate(v) => self.negate(result, v),
            Op::Load { of, from, order, .. } => self.load(result, of, from, *order, &block.code[n + 1..]),
            Op::Store { what, to, order, .. } => self.store(what, to, *order),
            Op::Element { of, base, indices, .. } => self.element(result, of, base, indices),
            Op::Select { condition, yes, no } => self.select(result, condition, yes, no),
            Op::Call(call) => {
                self.call(result, call)?;
                match call.then {
                    Some(to) => self.go(block, to),
                    None => Ok(()),
                }
            }
            Op::Return(value) => self.leave(value.as_ref()),
            Op::Branch(to) => self.go(block, to),
            Op::BranchIf(condition, yes, no) => self.branch(block, condition, yes, no),
            Op::Switch { on, default, cases } => self.switch(block, on, default, cases),
            Op::Unreachable => {
                self.unreachable();
                Ok(())
            }
            Op::Extract { from, path } => self.extract(result, from, path),
            Op::Insert { into, what, path } => self.insert(result, into, what, path),
            Op::ReadModifyWrite { how, at, with, order } => {
                self.read_modify_write(result, how, at, with, *order)
            }
            Op::CompareExchange { at, expected, new, weak, success, failure } => {
                self.compare_exchange(result, at, expected, new, *weak, [*success, *failure])
            }
            Op::Fence(order) => {
                self.fence(*order);
                Ok(())
            }
            Op::Freeze(v) => self.freeze(result, v),
            Op::Other(name) => Err(Problem::unsupported(format!("the instruction `{name}`"))),
        }
    }

    /// To come to `unreachable` is a violation, unless what stands before it does not return.
    fn unreachable(&mut self) {
        let ended = matches!(
            self.template.code.last(),
            Some(Instr::Fail(..) | Instr::Halt | Instr::End(_) | Instr::Unmodelled(_))
        );
        if !ended {
            self.fail("code is reached that the program says is unreachable");
        }
    }

    // ---- control flow ----

    /// Goes to a block: values that come from several blocks get theirs.
    fn go(&mut self, from: &'a Block<'t>, to: &'t str) -> Result<()> {
        self.assign(from, to)?;
        let label = self.block_label(to)?;
        self.emit(Instr::Jump(label));
        Ok(())
    }

    /// Returns a label that leads to a block, and whether something is to be written there first.
    fn way(&mut self, to: &'t str) -> Result<(usize, bool)> {
        let target = self.function.blocks.iter().find(|b| b.label == to);
        let assigns = target.is_some_and(|b| b.code.iter().any(|i| matches!(i.op, Op::Phi(..))));
        Ok(if assigns { (self.label(), true) } else { (self.block_label(to)?, false) })
    }

    fn branch(&mut self, from: &'a Block<'t>, on: &Value<'t>, yes: &'t str, no: &'t str) -> Result<()> {
        if yes == no {
            return self.go(from, yes);
        }
        match self.reach.number(&Type::Int(1), on) {
            Some(0) => return self.go(from, no),
            Some(_) => return self.go(from, yes),
            None => {}
        }
        let condition = self.scalar(&Type::Int(1), on)?;
        match condition {
            Expr::Const(0) => return self.go(from, no),
            Expr::Const(_) => return self.go(from, yes),
            _ => {}
        }
        let ((a, written_a), (b, written_b)) = (self.way(yes)?, self.way(no)?);
        self.emit(Instr::Branch(condition, a, b));
        for (label, to, written) in [(a, yes, written_a), (b, no, written_b)] {
            if written {
                self.place_label(label);
                self.go(from, to)?;
            }
        }
        Ok(())
    }

    fn switch(
        &mut self,
        from: &'a Block<'t>,
        on: &Typed<'t>,
        default: &'t str,
        cases: &[(Value<'t>, &'t str)],
    ) -> Result<()> {
        let leaves = self.leaves(&on.0)?;
        let [(_, leaf)] = leaves[..] else {
            return Err(Problem::unsupported("a switch over an integer of this many bits"));
        };
        let value = self.typed(on)?;
        let value = self.keep(leaf.int(), value);
        let mut ways = Vec::new();
        // The last case needs no test if there is no other number.
        let numbers: Vec<i128> =
            cases.iter().filter_map(|(v, _)| if let Value::Int(n) = v { Some(*n) } else { None }).collect();
        let is_all = |most: i64| (0..=i128::from(most)).all(|n| numbers.contains(&n));
        let all = self.bound(&value).is_some_and(|most| most < 256 && is_all(most));
        let (cases, default) = match cases {
            [first @ .., (_, last)] if all => (first, *last),
            cases => (cases, default),
        };
        for (case, to) in cases {
            let case = self.scalar(&on.0, case)?;
            let (label, written) = self.way(to)?;
            let next = self.label();
            let same = Expr::bin(BinOp::Eq, value.clone(), case, wide(leaf.int()));
            self.emit(Instr::Branch(same, label, next));
            if written {
                ways.push((label, *to));
            }
            self.place_label(next);
        }
        self.go(from, default)?;
        for (label, to) in ways {
            self.place_label(label);
            self.go(from, to)?;
        }
        Ok(())
    }

    /// Assigns to the values of a block that come from several ones, all at once.
    fn assign(&mut self, from: &'a Block<'t>, to: &'t str) -> Result<()> {
        let Some(target) = self.function.blocks.iter().find(|b| b.label == to) else { return Ok(()) };
        let mut copies: Vec<(Reg, Operand, Int)> = Vec::new();
        for i in &target.code {
            let (Op::Phi(ty, ways), Some(name)) = (&i.op, i.result) else { continue };
            let is_first = |label: &str| from.label.is_empty() && self.block_label(label).is_ok();
            let way = ways.iter().find(|(_, label)| *label == from.label || is_first(label));
            let Some((value, _)) = way else {
                return Err(Problem::new("E853", format!("`%{name}` has no value behind `%{}`", from.label)));
            };
            let (new, old) = (self.parts(ty, value)?, self.parts(ty, &Value::Local(name))?);
            for ((old, new), (_, leaf)) in old.into_iter().zip(new).zip(self.leaves(ty)?) {
                let Operand::Is(Expr::Reg(r)) = old else { continue };
                if new != Operand::Is(Expr::Reg(r)) {
                    copies.push((r, new, leaf.int()));
                }
            }
        }
        let is_read = |r: Reg, at: usize| {
            let other = |(n, (_, e, _)): (usize, &(Reg, Operand, Int))| {
                n > at && matches!(e, Operand::Is(e) if reads(e, r))
            };
            copies.iter().enumerate().any(other)
        };
        if (0..copies.len()).any(|n| is_read(copies[n].0, n)) {
            for (_, e, at) in &mut copies {
                if let Operand::Is(value) = e {
                    *e = Operand::Is(match value {
                        // A register may be assigned before it is copied.
                        Expr::Reg(_) => {
                            let r = self.register(*at, None);
                            self.emit(Instr::Let(r, value.clone()));
                            Expr::Reg(r)
                        }
                        other => self.keep(*at, other.clone()),
                    });
                }
            }
        }
        for (r, e, _) in copies {
            self.emit(match e {
                Operand::Is(e) => Instr::Let(r, e),
                Operand::Undefined => Instr::Any(r),
            });
        }
        Ok(())
    }

    /// Returns from the function.
    fn leave(&mut self, value: Option<&Typed<'t>>) -> Result<()> {
        let mut results = Vec::new();
        if let Some((ty, v)) = value {
            let leaves = self.leaves(ty)?;
            results = self.parts(ty, v)?.into_iter().zip(leaves).map(|(p, (_, leaf))| (p, leaf)).collect();
        }
        // What is returned is computed before variables are gone.
        let mut numbers = Vec::new();
        for (part, leaf) in results {
            let e = match part {
                Operand::Is(e) => Some(self.keep(leaf.int(), e)),
                Operand::Undefined => None,
            };
            numbers.push((e, leaf));
        }
        let result = match (&numbers[..], self.role) {
            ([], _) | (_, Role::Main | Role::Entry) => None,
            ([(one, leaf)], _) => {
                let part = one.clone().map_or(Operand::Undefined, Operand::Is);
                Some(self.number(part, leaf.int()))
            }
            (several, _) => {
                self.hand_over(several);
                None
            }
        };
        self.end_variables();
        match self.role {
            Role::Main => self.emit(Instr::Halt),
            Role::Entry => self.emit(Instr::End(Expr::Const(0))),
            Role::Called => self.emit(Instr::Return(result)),
        }
        Ok(())
    }

    /// Writes results that are more than one number to where the caller finds them.
    fn hand_over(&mut self, numbers: &[(Option<Expr>, Leaf)]) {
        let slots = self.slots();
        for (n, (e, leaf)) in numbers.iter().enumerate() {
            let at = leaf.stored();
            let to = Expr::Const(slots + place(n, at));
            match e {
                Some(e) => self.emit_as(Access::Internal, Instr::Store(to, e.clone(), at)),
                None => self.store_undefined(to, at),
            }
        }
    }

    /// Returns where results of functions are that are more than one number: each thread has such a
    /// place, and the caller reads it at once.
    pub(super) fn slots(&mut self) -> i64 {
        if let Some(a) = self.lower.result_slots {
            return a;
        }
        let a = self.lower.thread_local("(results)", vec![OPEN; 16 * MOST_RESULTS], 8);
        self.lower.result_slots = Some(a);
        a
    }

    /// Reads the result of a call that is more than one number.
    pub(crate) fn take_over(&mut self, leaves: &[(u64, Leaf)]) -> Result<Vec<Operand>> {
        if leaves.len() > MOST_RESULTS {
            return Err(Problem::unsupported("a function with a result of this many parts"));
        }
        let slots = self.slots();
        let mut parts = Vec::new();
        for (n, (_, leaf)) in leaves.iter().enumerate() {
            let (at, r) = (leaf.stored(), self.register(leaf.int(), None));
            self.emit_as(Access::Internal, Instr::Load(r, Expr::Const(slots + place(n, at)), at));
            parts.push(Operand::Is(Expr::Reg(r)));
        }
        Ok(parts)
    }

    // ---- values ----

    fn select(
        &mut self,
        result: Option<&'t str>,
        condition: &Typed<'t>,
        yes: &Typed<'t>,
        no: &Typed<'t>,
    ) -> Result<()> {
        let leaves = self.leaves(&yes.0)?;
        let (a, b) = (self.parts(&yes.0, &yes.1)?, self.parts(&no.0, &no.1)?);
        let test = self.typed(condition)?;
        if let Expr::Const(v) = test {
            self.set(result, if v != 0 { a } else { b });
            return Ok(());
        }
        if let ([Operand::Is(x)], [Operand::Is(y)], [(_, Leaf::Int(1))]) = (&a[..], &b[..], &leaves[..]) {
            // `c || y`, `c && x`
            let bits = Int::new(1, false);
            let e = match (x, y) {
                (Expr::Const(1), y) => Some(Expr::bin(BinOp::Or, test.clone(), y.clone(), bits)),
                (x, Expr::Const(0)) => Some(Expr::bin(BinOp::And, test.clone(), x.clone(), bits)),
                _ => None,
            };
            if let Some(e) = e {
                self.define(result, BOOL, e);
                return Ok(());
            }
        }
        if let ([Operand::Is(x)], [Operand::Is(y)], [(_, leaf)]) = (&a[..], &b[..], &leaves[..])
            && let Some(e) = self.chosen(&test, x, y)
        {
            self.define(result, leaf.int(), Expr::cast(e, leaf.int()));
            return Ok(());
        }
        let Some(name) = result else { return Ok(()) };
        let (first, second, end) = (self.label(), self.label(), self.label());
        let registers: Vec<Reg> = leaves.iter().map(|(_, l)| self.named_register(l.int(), name)).collect();
        for ((&r, x), y) in registers.iter().zip(&a).zip(&b) {
            if let (Operand::Is(x), Operand::Is(y)) = (x, y)
                && let (Some(x), Some(y)) = (self.bound(x), self.bound(y))
            {
                self.bounds.insert(r, x.max(y));
            }
        }
        self.emit(Instr::Branch(test, first, second));
        for (label, parts) in [(first, a), (second, b)] {
            self.place_label(label);
            for (&r, part) in registers.iter().zip(parts) {
                self.emit(match part {
                    Operand::Is(e) => Instr::Let(r, e),
                    Operand::Undefined => Instr::Any(r),
                });
            }
            self.emit(Instr::Jump(end));
        }
        self.place_label(end);
        self.set(result, registers.into_iter().map(|r| Operand::Is(Expr::Reg(r))).collect());
        Ok(())
    }

    fn freeze(&mut self, result: Option<&'t str>, (ty, v): &Typed<'t>) -> Result<()> {
        let leaves = self.leaves(ty)?;
        let parts = self.parts(ty, v)?;
        let fixed = parts.into_iter().zip(leaves).map(|(part, (_, leaf))| {
            let e = self.number(part, leaf.int());
            Operand::Is(e)
        });
        let fixed = fixed.collect();
        self.set(result, fixed);
        Ok(())
    }

    /// Returns the type of a part of an aggregate, and which of its numbers belong to it.
    fn within(&self, ty: &Type<'t>, path: &[u64]) -> Result<(Type<'t>, std::ops::Range<usize>)> {
        let count = |ty: &Type<'t>| leaves(ty).map(|l| l.len()).map_err(Problem::unsupported);
        let mut at = self.resolved(ty)?;
        let mut from = 0;
        for &n in path {
            let wrong = || Problem::new("E853", "a part of a value that does not exist");
            let n = usize::try_from(n).ok().filter(|n| *n <= MOST_LEAVES).ok_or_else(wrong)?;
            at = match at {
                Type::Struct(fields, _) => {
                    for f in fields.iter().take(n) {
                        from += count(f)?;
                    }
                    fields.get(n).cloned().ok_or_else(wrong)?
                }
                Type::Array(length, of) if (n as u64) < length => {
                    from += n * count(&of)?;
                    Type::clone(&of)
                }
                _ => return Err(wrong()),
            };
        }
        let length = count(&at)?;
        Ok((at, from..from + length))
    }

    fn extract(&mut self, result: Option<&'t str>, (ty, v): &Typed<'t>, path: &[u64]) -> Result<()> {
        let (_, range) = self.within(ty, path)?;
        let parts = self.parts(ty, v)?;
        self.set(result, parts[range].to_vec());
        Ok(())
    }

    fn insert(
        &mut self,
        result: Option<&'t str>,
        (ty, v): &Typed<'t>,
        (part_type, part): &Typed<'t>,
        path: &[u64],
    ) -> Result<()> {
        let (_, range) = self.within(ty, path)?;
        let mut parts = self.parts(ty, v)?;
        let new = self.parts(part_type, part)?;
        if new.len() != range.len() {
            return Err(Problem::new("E853", "a part that is inserted has another type"));
        }
        // What is kept in several aggregates is computed once.
        let leaves = self.leaves(part_type)?;
        let new: Vec<Operand> = new
            .into_iter()
            .zip(leaves)
            .map(|(part, (_, leaf))| match part {
                Operand::Is(e) => Operand::Is(self.keep(leaf.int(), e)),
                open => open,
            })
            .collect();
        parts.splice(range, new);
        self.set(result, parts);
        Ok(())
    }
}

/// Maximum number of numbers that the result of a call consists of.
const MOST_RESULTS: usize = 64;

/// Returns where a result goes: numbers of different sizes have different places.
fn place(n: usize, at: Int) -> i64 {
    let size = i64::from(at.size);
    MOST_RESULTS as i64 * size + n as i64 * size
}

/// The type in which numbers of a type are compared.
pub(super) fn wide(at: Int) -> Int {
    Int { truth: false, ..at.plain() }
}
