//! Variables in memory, loads, stores, addresses of elements.

use rustc_hash::FxHashSet;

use super::arithmetic::with_sign;
use super::constants::element;
use super::function::{Operand, Writer};
use super::{Problem, Result};
use crate::layout::{Leaf, container, leaves, size_align};
use crate::syntax::tree::{Block, Instruction, Op, Order, Type, Typed, Value};
use throng_goto::program::{Access, BinOp, Expr, Instr, Int, Local, PTR, PointerUse};

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    /// Makes registers for the parameters.
    pub(super) fn parameters(&mut self) -> Result<()> {
        for p in &self.function.parameters {
            let mut parts = Vec::new();
            for (_, leaf) in self.leaves(&p.ty)? {
                parts.push(Operand::Is(Expr::Reg(self.named_register(leaf.int(), p.name))));
            }
            self.set(Some(p.name), parts);
        }
        self.template.arguments = self.template.registers.len();
        if self.function.variadic {
            return Err(self.placed(Problem::unsupported("a function with variable arguments")));
        }
        // What is passed by value is a copy of the function's own.
        for p in &self.function.parameters {
            if let Some(ty) = &p.by_value {
                let ty = self.resolved(ty)?;
                let (size, align) = size_align(&ty).map_err(Problem::unsupported)?;
                let k = self.local(p.name, size as u32, align as u32, true);
                let from = self.scalar(&Type::Pointer, &Value::Local(p.name))?;
                self.emit(Instr::Begins(Expr::Local(k), size as u32));
                self.copy_known(&Expr::Local(k), &from, size, align.min(8) as u8);
                self.set(Some(p.name), vec![Operand::Is(Expr::Local(k))]);
            }
        }
        Ok(())
    }

    /// Makes registers for the parameters of a function that is not written.
    pub(super) fn parameters_alone(&mut self) {
        for p in &self.function.parameters {
            for (_, leaf) in self.leaves(&p.ty).unwrap_or_default() {
                self.register(leaf.int(), None);
            }
        }
        self.template.arguments = self.template.registers.len();
    }

    /// A new variable in memory of the function: its number.
    pub(crate) fn local(&mut self, name: &str, size: u32, align: u32, addressed: bool) -> u32 {
        let local = Local { name: name.into(), size, align: align.max(1), addressed, ..Local::default() };
        self.template.locals.push(local);
        self.template.locals.len() as u32 - 1
    }

    /// Makes the variables in memory of the function: they live from its begin, or from where that
    /// is marked.
    pub(super) fn variables(&mut self, order: &[&'a Block<'t>]) -> Result<()> {
        let escaping = escaping(order);
        let marked = marked(order);
        self.shapes = shapes(self, order);
        for i in order.iter().flat_map(|b| &b.code) {
            let (Op::Alloca { of, count, align }, Some(name)) = (&i.op, i.result) else { continue };
            let ty = self.resolved(of)?;
            let (mut size, natural) =
                size_align(&ty).map_err(|what| self.placed(Problem::unsupported(what)))?;
            match count {
                None => {}
                Some((_, Value::Int(n))) if (0..=1 << 20).contains(n) => {
                    size = size.saturating_mul(*n as u64);
                }
                Some(_) => {
                    return Err(self.placed(Problem::unsupported("a local array of computed size")));
                }
            }
            if size > crate::layout::MOST_BYTES {
                return Err(
                    self.placed(Problem::new("E854", "a variable takes more bytes than are supported"))
                );
            }
            let (written, parts) = self.described(order, name);
            let addressed = escaping.contains(name);
            let k = self.local(&written, size as u32, (*align).max(natural as u32), addressed);
            self.template.locals[k as usize].parts = parts;
            self.variables.insert(name, k);
            self.set(Some(name), vec![Operand::Is(Expr::Local(k))]);
            match marked.contains(name) {
                true => self.marked.push(k),
                false => self.emit(Instr::Begins(Expr::Local(k), size as u32)),
            }
        }
        Ok(())
    }

    /// Returns what a variable in memory is called in the source, and its parts.
    fn described(&self, order: &[&'a Block<'t>], name: &str) -> (String, Vec<crate::debug::Part>) {
        for i in order.iter().flat_map(|b| &b.code) {
            if let Op::Debug { what: (_, Value::Local(of)), variable, declares: true, whole } = &i.op
                && *of == name
                && let Some((written, _, ty)) = self.debug().variable(*variable)
            {
                let parts = ty.filter(|_| *whole).map_or_else(Vec::new, |ty| self.debug().parts(ty));
                return (written.to_string(), parts);
            }
        }
        (name.to_string(), Vec::new())
    }

    /// The lifetimes of the variables of the function end.
    pub(super) fn end_variables(&mut self) {
        let own = self.variables.values().copied().filter(|&k| self.template.locals[k as usize].addressed);
        let mut own: Vec<u32> = own.collect();
        own.sort_unstable();
        if !own.is_empty() {
            let ended = own.iter().map(|&k| (Expr::Local(k), self.template.locals[k as usize].size));
            let ended = ended.collect();
            self.emit(Instr::Ends(ended));
        }
    }

    /// The lifetime of a variable begins or ends here.
    pub(super) fn lifetime(&mut self, begins: bool, of: &Value<'t>) {
        let Value::Local(name) = of else { return };
        let Some(&k) = self.variables.get(name) else { return };
        let size = self.template.locals[k as usize].size;
        self.emit(match begins {
            true => Instr::Begins(Expr::Local(k), size),
            false => Instr::Ends(vec![(Expr::Local(k), size)]),
        });
    }

    // ---- accesses ----

    /// Notes an order of an atomic access, and returns what kind of access it is.
    pub(super) fn ordered(&mut self, order: Option<Order>) -> Access {
        match order {
            None => self.access,
            Some(order) => {
                self.lower.program.weak_orders |= order != Order::SeqCst;
                Access::Atomic(order.of_memory())
            }
        }
    }

    /// Loads a number into a new register.
    pub(super) fn load_number(&mut self, kind: Access, from: Expr, at: Int, name: Option<&str>) -> Expr {
        let r = match name {
            Some(name) => self.named_register(at, name),
            None => self.register(at, None),
        };
        self.emit_as(kind, Instr::Load(r, from, at));
        Expr::Reg(r)
    }

    pub(super) fn store_number(&mut self, kind: Access, to: Expr, e: Expr, at: Int) {
        self.emit_as(kind, Instr::Store(to, e, at));
    }

    /// Stores what has no value.
    pub(super) fn store_undefined(&mut self, to: Expr, at: Int) {
        let r = self.register(at, None);
        self.template.copies.push(self.template.code.len());
        self.emit(Instr::Any(r));
        self.emit(Instr::Store(to, Expr::Reg(r), at));
    }

    pub(super) fn load(
        &mut self,
        result: Option<&'t str>,
        of: &Type<'t>,
        from: &Value<'t>,
        order: Option<Order>,
        behind: &'a [Instruction<'t>],
    ) -> Result<()> {
        let leaves = self.leaves(of)?;
        let address = self.scalar(&Type::Pointer, from)?;
        let kind = self.ordered(order);
        if leaves.len() != 1 && order.is_some() {
            return Err(Problem::unsupported("an atomic access to more than 64 bits"));
        }
        let copied = leaves.len() == 1 && order.is_none() && self.is_copied(result, behind);
        let mut parts = Vec::new();
        for (offset, leaf) in leaves {
            let at = leaf.stored();
            if let Some(v) = self.constant_in(&address, offset, leaf).filter(|_| order.is_none()) {
                parts.push(Operand::Is(within(Expr::Const(v), leaf)));
                continue;
            }
            if copied {
                self.template.copies.push(self.template.code.len());
            }
            let e = self.load_number(kind, moved(&address, offset as i64), at, result);
            parts.push(Operand::Is(self.keep(leaf.int(), within(e, leaf))));
        }
        self.set(result, parts);
        Ok(())
    }

    /// Returns the number at an address, if that is in a variable that never changes.
    pub(crate) fn constant_in(&mut self, address: &Expr, offset: u64, leaf: Leaf) -> Option<i64> {
        self.lower.constant_at(moved(address, offset as i64).constant()?, leaf)
    }

    /// Returns whether a value that is loaded is stored at once, and goes nowhere else.
    fn is_copied(&self, result: Option<&'t str>, behind: &'a [Instruction<'t>]) -> bool {
        let next = behind.iter().find(|i| !matches!(i.op, Op::Debug { .. }));
        let Some((name, Instruction { op: Op::Store { what: (ty, v), order: None, to, .. }, .. })) =
            result.zip(next)
        else {
            return false;
        };
        // Nothing is written between the two that computes the address.
        let simple = match to {
            Value::Local(to) => self.is_simple(to),
            Value::Global(_) => true,
            _ => false,
        };
        let whole = !matches!(ty, Type::Int(bits) if u32::from(container(*bits).size) * 8 != *bits);
        *v == Value::Local(name) && self.uses.get(name) == Some(&1) && simple && whole
    }

    fn is_simple(&self, name: &'t str) -> bool {
        matches!(self.value_of(name), Some([Operand::Is(_)]))
    }

    pub(super) fn store(&mut self, what: &Typed<'t>, to: &Value<'t>, order: Option<Order>) -> Result<()> {
        let leaves = self.leaves(&what.0)?;
        let parts = self.parts(&what.0, &what.1)?;
        let address = self.scalar(&Type::Pointer, to)?;
        let kind = self.ordered(order);
        if leaves.len() != 1 && order.is_some() {
            return Err(Problem::unsupported("an atomic access to more than 64 bits"));
        }
        for ((offset, leaf), part) in leaves.into_iter().zip(parts) {
            let (to, at) = (moved(&address, offset as i64), leaf.stored());
            match part {
                Operand::Is(e) => self.store_number(kind, to, e, at),
                Operand::Undefined if order.is_none() => self.store_undefined(to, at),
                open => {
                    let e = self.number(open, at);
                    self.store_number(kind, to, e, at);
                }
            }
        }
        Ok(())
    }

    // ---- addresses ----

    pub(super) fn element(
        &mut self,
        result: Option<&'t str>,
        of: &Type<'t>,
        base: &Value<'t>,
        indices: &[Typed<'t>],
    ) -> Result<()> {
        let base = self.scalar(&Type::Pointer, base)?;
        let mut numbers = Vec::new();
        for (ty, v) in indices {
            let Type::Int(bits @ ..=64) = ty else {
                return Err(Problem::unsupported("an index of this type"));
            };
            let e = self.scalar(ty, v)?;
            numbers.push(match bits {
                64 => e,
                bits => with_sign(e, *bits),
            });
        }
        let known: Vec<Option<i64>> = numbers.iter().map(Expr::constant).collect();
        let (offset, open) = element(&self.resolved(of)?, &known)?;
        let mut e = moved(&base, offset);
        for (k, step) in &open {
            let bytes = Expr::bin(BinOp::Mul, numbers[*k].clone(), Expr::Const(*step), PTR);
            let bytes = if *step == 1 { numbers[*k].clone() } else { bytes };
            let bytes = if indices[*k].0 == Type::Int(64) { bytes } else { Expr::cast(bytes, PTR) };
            e = Expr::bin(BinOp::Add, e, bytes, PTR);
        }
        if !open.is_empty() {
            self.emit(Instr::Pointer(PointerUse::Moved(base, e.clone())));
        }
        self.define(result, PTR, e);
        Ok(())
    }

    pub(super) fn value_of(&self, name: &str) -> Option<&[Operand]> {
        self.values_of(name)
    }
}

/// Returns a number that was loaded as a value: of an integer of fewer bits than its bytes have, the
/// others are not part of it.
fn within(e: Expr, leaf: Leaf) -> Expr {
    let at = leaf.stored();
    match leaf {
        Leaf::Int(1) => Expr::bin(BinOp::And, e, Expr::Const(1), at),
        Leaf::Int(bits) if u32::from(at.size) * 8 != bits => super::arithmetic::without_sign(e, bits),
        _ => e,
    }
}

/// Returns an address some bytes further on.
pub(super) fn moved(e: &Expr, offset: i64) -> Expr {
    match e {
        _ if offset == 0 => e.clone(),
        Expr::Bin(BinOp::Add, a, b, PTR) => match **b {
            Expr::Const(before) => moved(a, before.wrapping_add(offset)),
            _ => Expr::bin(BinOp::Add, e.clone(), Expr::Const(offset), PTR),
        },
        e => Expr::bin(BinOp::Add, e.clone(), Expr::Const(offset), PTR),
    }
}

/// Returns whether a call is of an intrinsic function, by the begin of its name.
fn is_intrinsic(callee: &Value<'_>, name: &str) -> bool {
    matches!(callee, Value::Global(n) if n.starts_with(name))
}

/// Returns the variables whose addresses are used other than to access them: other threads may come
/// to know them.
fn escaping<'t>(order: &[&Block<'t>]) -> FxHashSet<&'t str> {
    let code = || order.iter().flat_map(|b| &b.code);
    // What addresses are made of others.
    let mut made: Vec<(&'t str, &'t str)> = Vec::new();
    let mut found: FxHashSet<&'t str> = FxHashSet::default();
    for i in code() {
        let mut escapes = |v: &Value<'t>| {
            if let Value::Local(name) = v {
                found.insert(name);
            }
        };
        match &i.op {
            Op::Load { .. } | Op::Debug { .. } | Op::Compare { .. } => {}
            Op::Store { what: (_, v), .. } => escapes(v),
            Op::Element { base: Value::Local(base), .. } => made.extend(i.result.map(|r| (r, *base))),
            Op::Element { .. } => {}
            Op::ReadModifyWrite { with: (_, v), .. } => escapes(v),
            Op::CompareExchange { expected: (_, a), new, .. } => {
                escapes(a);
                escapes(new);
            }
            Op::Call(call) if ["llvm.lifetime", "llvm.mem"].iter().any(|n| is_intrinsic(&call.callee, n)) => {
            }
            op => super::function::operands(op, &mut escapes),
        }
    }
    let mut more = true;
    while more {
        more = false;
        for (result, base) in &made {
            more |= found.contains(result) && found.insert(base);
        }
    }
    found
}

/// Returns the variables whose lifetimes are marked.
fn marked<'t>(order: &[&Block<'t>]) -> FxHashSet<&'t str> {
    let code = order.iter().flat_map(|b| &b.code);
    code.filter_map(|i| match &i.op {
        Op::Call(call) if is_intrinsic(&call.callee, "llvm.lifetime.start") => {
            call.arguments.iter().find_map(|a| match a.value {
                Value::Local(name) => Some(name),
                _ => None,
            })
        }
        _ => None,
    })
    .collect()
}

/// Where variables are accessed, and as what numbers: what is copied between them is copied in the
/// same parts.
fn shapes<'t>(
    w: &Writer<'_, '_, 't>,
    order: &[&Block<'t>],
) -> rustc_hash::FxHashMap<&'t str, Vec<(i64, u8)>> {
    let mut bases: rustc_hash::FxHashMap<&'t str, (&'t str, i64)> = rustc_hash::FxHashMap::default();
    let mut found: rustc_hash::FxHashMap<&'t str, Vec<(i64, u8)>> = rustc_hash::FxHashMap::default();
    for i in order.iter().flat_map(|b| &b.code) {
        let base = |v: &Value<'t>| match v {
            Value::Local(name) => Some(bases.get(name).copied().unwrap_or((name, 0))),
            _ => None,
        };
        match (&i.op, i.result) {
            (Op::Element { of, base: from, indices, .. }, Some(result)) => {
                let numbers: Vec<Option<i64>> = indices
                    .iter()
                    .map(|(_, v)| if let Value::Int(n) = v { i64::try_from(*n).ok() } else { None })
                    .collect();
                let at = w.resolved(of).and_then(|of| element(&of, &numbers));
                if let (Some((name, before)), Ok((offset, open))) = (base(from), at)
                    && open.is_empty()
                {
                    bases.insert(result, (name, before + offset));
                }
            }
            (Op::Load { of, from: at, .. }, _) | (Op::Store { what: (of, _), to: at, .. }, _) => {
                if let (Some((name, offset)), Ok(of)) = (base(at), w.resolved(of)) {
                    let parts = leaves(&of).unwrap_or_default();
                    let list = found.entry(name).or_default();
                    list.extend(parts.iter().map(|(o, l)| (offset + *o as i64, l.stored().size)));
                }
            }
            _ => {}
        }
    }
    found.values_mut().for_each(|list| {
        list.sort_unstable();
        list.dedup();
    });
    found
}
