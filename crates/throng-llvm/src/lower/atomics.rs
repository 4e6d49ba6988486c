//! Atomic operations that read and write, and fences.

use super::arithmetic::without_sign;
use super::function::{Family, Operand, Words, Writer};
use super::{Problem, Result};
use crate::layout::Leaf;
use crate::syntax::tree::{Binary, Order, Type, Typed, Value};
use throng_goto::program::{Access, BOOL, BinOp, Expr, Instr, PTR};

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    pub(super) fn fence(&mut self, order: Order) {
        self.ordered(Some(order));
        self.lower.program.fences = true;
        self.emit(Instr::Fence(order.of_memory()));
    }

    /// Returns the number that an atomic operation is about.
    fn atomic_leaf(&self, ty: &Type<'t>) -> Result<Leaf> {
        match self.leaves(ty)?[..] {
            [(_, leaf @ (Leaf::Int(8 | 16 | 32 | 64) | Leaf::Pointer))] => Ok(leaf),
            _ => Err(Problem::unsupported(format!("an atomic operation on {}", crate::syntax::name_of(ty)))),
        }
    }

    /// `atomicrmw`: reads and writes in one step.
    pub(super) fn read_modify_write(
        &mut self,
        result: Option<&'t str>,
        how: &str,
        at: &Value<'t>,
        with: &Typed<'t>,
        order: Order,
    ) -> Result<()> {
        let leaf = self.atomic_leaf(&with.0)?;
        let (int, bits) = (leaf.stored(), u32::from(leaf.stored().size) * 8);
        let address = self.scalar(&Type::Pointer, at)?;
        let operand = self.typed(with)?;
        // Computed before, so that the section has one read and one write.
        let (address, operand) = (self.keep_place(address), self.keep(int, operand));
        if let Some(old) = self.leaves_lock(how, &address, &operand) {
            self.set(result, vec![Operand::Is(old)]);
            return Ok(());
        }
        self.ordered(Some(order));
        let kind = Access::Update(order.of_memory(), order.of_memory());
        self.emit(Instr::AtomicBegin);
        let old = self.load_number(kind, address.clone(), int, result);
        let operate = |w: &mut Self, how| w.operate(how, bits, old.clone(), operand.clone());
        let new = match how {
            "xchg" => operand.clone(),
            "add" => operate(self, Binary::Add)?,
            "sub" => operate(self, Binary::Sub)?,
            "and" => operate(self, Binary::And)?,
            "or" => operate(self, Binary::Or)?,
            "xor" => operate(self, Binary::Xor)?,
            "nand" => {
                let both = operate(self, Binary::And)?;
                without_sign(Expr::bin(BinOp::Xor, both, Expr::Const(-1), int), bits)
            }
            "max" | "min" | "umax" | "umin" => {
                let less = if how.starts_with('u') { "ult" } else { "slt" };
                let (x, y) = match how.ends_with("max") {
                    true => (operand.clone(), old.clone()),
                    false => (old.clone(), operand.clone()),
                };
                let keeps = Self::comparison(less, bits, x, y)?;
                self.choice(int, keeps, old.clone(), operand.clone())
            }
            _ => return Err(Problem::unsupported(format!("`atomicrmw {how}`"))),
        };
        let new = self.keep(int, new);
        self.store_number(kind, address, new, int);
        self.emit(Instr::AtomicEnd);
        self.set(result, vec![Operand::Is(old)]);
        Ok(())
    }

    /// Leaves a lock, if that is what the operation does, and returns what it finds in the word: no
    /// thread waits, see the models of locks.
    fn leaves_lock(&mut self, how: &str, word: &Expr, operand: &Expr) -> Option<Expr> {
        match (self.words?, how) {
            (Words::Unlocks, "xchg") => {
                self.unlock(word);
                Some(Expr::Const(1))
            }
            (Words::UnlocksReader, "sub") if self.lower.knows(Family::RwLock) => {
                self.unlock_reader(word);
                Some(operand.clone())
            }
            (Words::UnlocksWriter, "sub") if self.lower.knows(Family::RwLock) => {
                self.unlock_writer(word);
                Some(operand.clone())
            }
            _ => None,
        }
    }

    /// Keeps an address in a register, unless it is a place in a variable.
    fn keep_place(&mut self, e: Expr) -> Expr {
        let simple = matches!(&e, Expr::Bin(BinOp::Add, _, b, _) if matches!(**b, Expr::Const(_)));
        if simple { e } else { self.keep(PTR, e) }
    }

    /// Returns one of two numbers, by a condition.
    pub(super) fn choice(&mut self, at: throng_goto::program::Int, test: Expr, yes: Expr, no: Expr) -> Expr {
        let r = self.register(at, None);
        let (first, second, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::Branch(test, first, second));
        self.place_label(first);
        self.emit(Instr::Let(r, yes));
        self.emit(Instr::Jump(end));
        self.place_label(second);
        self.emit(Instr::Let(r, no));
        self.place_label(end);
        Expr::Reg(r)
    }

    /// Takes a lock, if that is what the operation does: the old value, and whether it was taken.
    fn takes_lock(&mut self, word: &Expr, expected: &Expr) -> Option<(Expr, Expr)> {
        match self.words? {
            Words::Locks => self.lock(word),
            Words::LocksToWrite => self.lock_to_write(word),
            Words::TriesToLock if self.lower.knows(Family::Mutex) => {
                let old = self.try_to_lock(word);
                return Some((old.clone(), Expr::is_zero(old)));
            }
            _ => return None,
        }
        Some((expected.clone(), Expr::Const(1)))
    }

    /// `cmpxchg`: the old value, and whether the new one was written. A weak one may fail for no
    /// reason.
    pub(super) fn compare_exchange(
        &mut self,
        result: Option<&'t str>,
        at: &Value<'t>,
        expected: &Typed<'t>,
        new: &Value<'t>,
        weak: bool,
        orders: [Order; 2],
    ) -> Result<()> {
        let int = self.atomic_leaf(&expected.0)?.stored();
        let address = self.scalar(&Type::Pointer, at)?;
        let (old_value, new_value) = (self.typed(expected)?, self.scalar(&expected.0, new)?);
        let address = self.keep_place(address);
        let (old_value, new_value) = (self.keep(int, old_value), self.keep(int, new_value));
        if let Some((old, done)) = self.takes_lock(&address, &old_value) {
            self.set(result, vec![Operand::Is(old), Operand::Is(done)]);
            return Ok(());
        }
        orders.iter().for_each(|&order| _ = self.ordered(Some(order)));
        let kind = Access::Update(orders[0].of_memory(), orders[1].of_memory());
        let done = self.register(BOOL, None);
        let (same, write, other, end) = (self.label(), self.label(), self.label(), self.label());
        let fails = weak.then(|| {
            let r = self.register(BOOL, None);
            self.emit(Instr::Any(r));
            r
        });
        self.emit(Instr::AtomicBegin);
        let old = self.load_number(kind, address.clone(), int, result);
        let equal = Expr::bin(BinOp::Eq, old.clone(), old_value, int);
        self.emit(Instr::Branch(equal, same, other));
        self.place_label(same);
        if let Some(r) = fails {
            self.emit(Instr::Branch(Expr::Reg(r), other, write));
            self.place_label(write);
        }
        self.store_number(kind, address.clone(), new_value, int);
        self.emit(Instr::Let(done, Expr::Const(1)));
        self.emit(Instr::Jump(end));
        self.place_label(other);
        self.emit(Instr::Let(done, Expr::Const(0)));
        self.place_label(end);
        self.emit(Instr::AtomicEnd);
        self.set(result, vec![Operand::Is(old), Operand::Is(Expr::Reg(done))]);
        Ok(())
    }
}
