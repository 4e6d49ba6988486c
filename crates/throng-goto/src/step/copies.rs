//! Copies of bytes that were never written.
//!
//! Copying a byte that has no value does not choose one: the copy is [`COPIED`], which can be copied
//! again. What it is depends on the original, so that nothing is known of a run that reads it.
//!
//! The same holds for what a function writes of which it is not known what it can be.
//!
//! Between its load and its store, a part that has no value at all is a register without one. One
//! of which a part has no value is packed into the register if it is small. Other registers cannot
//! tell which bytes of a part have a value, so then load and store are executed at once; where other
//! threads could tell, the load chooses values.
//!
//! Any value that is stored and read nowhere else is such a copy, too.
//!
//! Where memory that was never written has an *undefined* value, which may differ from use to use
//! ([`crate::Program::undefined_values`]), a register without a value stands for it, and what is
//! stored from such a register is memory that was never written.

use super::bits::{is_packed, packed, unpacked};
use super::{COPIED, DEAD, Event, OPEN, Run, Stepper, Stop};
use crate::program::{Expr, Instr, Int, Reg, Template};

/// Returns the address that a copy stores to: the instruction is its load into a register.
fn copied_to(t: &Template, load: usize, r: Reg) -> Option<&Expr> {
    t.copies.binary_search(&load).ok()?;
    match t.code.get(load + 1)? {
        Instr::Store(to, Expr::Reg(stored), _) if *stored == r => Some(to),
        _ => None,
    }
}

/// Returns whether a byte has no value.
fn is_open(byte: u16) -> bool {
    byte == OPEN || byte == COPIED
}

/// Returns whether bytes without a value can be [`packed`] into a register of this type.
fn is_small(at: Int) -> bool {
    at.size <= 4 && !at.signed && !at.float
}

impl Stepper<'_> {
    /// Continues with bytes of which some were never written, if they are only copied. Returns
    /// whether they are.
    pub(super) fn load_unwritten(&self, run: &mut Run, r: Reg, a: i64, at: Int) -> Result<bool, Stop> {
        let Some(to) = copied_to(self.template(run), run.pc, r) else { return Ok(false) };
        let mut bytes = self.bytes(run, a, at.size, true)?.into_owned();
        if bytes.contains(&DEAD) {
            return Ok(false);
        }
        if bytes.iter().all(|&b| is_open(b)) {
            self.pass(run, a);
            run.registers[r as usize] = None;
            return Ok(true);
        }
        bytes.iter_mut().filter(|b| **b == OPEN).for_each(|b| *b = COPIED);
        if is_small(at) {
            self.pass(run, a);
            run.registers[r as usize] = Some(packed(&bytes));
            return Ok(true);
        }
        let named = matches!(to, Expr::Const(_) | Expr::Local(_));
        let to = self.value(to, run)?;
        if run.depth == 0 && self.is_shared(run, to) {
            return Ok(false);
        }
        self.pass(run, a);
        run.pc += 1;
        self.put(run, to, &bytes, named)?;
        Ok(true)
    }

    /// Stores a register that was loaded from bytes of which some were never written, or that a
    /// function of the library writes. Returns whether it is one.
    pub(super) fn store_unwritten(
        &self,
        run: &mut Run,
        address: &Expr,
        e: &Expr,
        at: Int,
    ) -> Result<bool, Stop> {
        let Expr::Reg(r) = e else { return Ok(false) };
        let packed = match run.registers[*r as usize] {
            _ if run.pc == 0 => return Ok(false),
            None => None,
            Some(v) if is_small(at) && is_packed(v) => Some(unpacked(v, at.size)),
            Some(_) => return Ok(false),
        };
        let t = self.template(run);
        let byte = match &t.code[run.pc - 1] {
            Instr::Load(loaded, ..) if loaded == r => COPIED,
            // What a function writes is chosen where it is read, unless that is in doubt.
            Instr::Any(open) if open == r && t.doubt(run.pc - 1).is_none() => OPEN,
            Instr::Any(open) if open == r => COPIED,
            _ => return Ok(false),
        };
        if copied_to(t, run.pc - 1, *r).is_none() {
            return Ok(false);
        }
        let a = self.value(address, run)?;
        let named = matches!(address, Expr::Const(_) | Expr::Local(_));
        let bytes = packed.unwrap_or_else(|| vec![byte; at.size.into()]);
        self.put(run, a, &bytes, named)?;
        Ok(true)
    }

    /// Reads memory of which nothing was written, where that is an undefined value. Returns whether
    /// it is.
    pub(super) fn load_undefined(&self, run: &mut Run, r: Reg, a: i64, bytes: &[u16]) -> bool {
        let undefined = self.program.undefined_values && bytes.iter().all(|&b| is_open(b));
        if undefined {
            self.pass(run, a);
            run.registers[r as usize] = None;
            run.record(Event::Opened(run.point(), r));
        }
        undefined
    }

    /// Stores an undefined value. Returns whether it is one.
    pub(super) fn store_undefined(
        &self,
        run: &mut Run,
        address: &Expr,
        e: &Expr,
        at: Int,
    ) -> Result<bool, Stop> {
        if !self.program.undefined_values || self.computed(e, run)?.is_some() {
            return Ok(false);
        }
        let a = self.value(address, run)?;
        let named = matches!(address, Expr::Const(_) | Expr::Local(_));
        self.put(run, a, &vec![OPEN; at.size.into()], named)?;
        Ok(true)
    }

    /// Returns the value of an expression. What is computed from an undefined value is one, and has
    /// none here; elsewhere a value has to be chosen first.
    pub(super) fn computed(&self, e: &Expr, run: &Run) -> Result<Option<i64>, Stop> {
        match self.value(e, run) {
            Err(Stop::Open(_)) if self.program.undefined_values => Ok(None),
            value => value.map(Some),
        }
    }

    fn put(&self, run: &mut Run, a: i64, bytes: &[u16], named: bool) -> Result<(), Stop> {
        self.write_bytes(run, a, bytes, named)?;
        self.touch(run, a, bytes.len() as u32, true);
        self.pass(run, a);
        Ok(())
    }
}
