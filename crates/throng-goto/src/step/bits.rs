//! Bytes of which some bits were never written: the neighbours of a bit-field.
//!
//! A bit-field is accessed with the bytes around it ([`crate::program::Template::bits`]). Writing it
//! gives a value to its own bits and to no others, and reading it chooses its own bits and no
//! others. The upper half of such a byte says which bits are open; these are 1 in the lower half, so
//! that no byte is [`OPEN`], [`DEAD`] or [`COPIED`].

use super::memory::NUMBER;
use super::{COPIED, DEAD, Event, OPEN, Run, Stepper, Stop, Way, escapes, values};
use crate::program::{Expr, Int, Reg};

/// Returns the bits of a byte that have a value, and which ones have none.
pub(super) fn parts(byte: u16) -> (u8, u8) {
    match byte {
        OPEN | DEAD | COPIED => (0, 255),
        b => {
            let open = (b >> 8) as u8;
            (b as u8 & !open, open)
        }
    }
}

/// Returns the byte with these bits, of which some are open.
fn byte(value: u8, open: u8) -> u16 {
    match open {
        255 => OPEN,
        open => u16::from(open) << 8 | u16::from(value | open),
    }
}

/// Returns whether a number is a byte in memory: it has a value, has none, or a part of it has none.
pub fn is_byte(b: u16) -> bool {
    let (value, open) = parts(b);
    matches!(b, OPEN | DEAD | COPIED) || open != 255 && byte(value, open) == b
}

/// Returns the number that bytes are, and the bits of it that have no value; those are 0.
fn word(bytes: &[u16]) -> (i64, i64) {
    bytes.iter().rev().fold((0, 0), |(v, o), &b| {
        let (value, open) = parts(b);
        (v << 8 | i64::from(value), o << 8 | i64::from(open))
    })
}

/// Returns the bytes of a number, of which some bits are open.
fn bytes_of(v: i64, open: i64, size: u8) -> Vec<u16> {
    (0..size).map(|k| byte((v >> (8 * k)) as u8, (open >> (8 * k)) as u8)).collect()
}

/// Returns a register that has bytes in which some bits are open, to be stored again: a number that
/// no such bytes and no address are.
pub(super) fn packed(bytes: &[u16]) -> i64 {
    !(0..4).rev().fold(0i64, |all, k| all << 16 | (i64::from(bytes.get(k).copied().unwrap_or(0)) + 1))
}

/// Returns the bytes that a register has which is no number.
pub(super) fn unpacked(v: i64, size: u8) -> Vec<u16> {
    (0..size).map(|k| ((!v >> (16 * k)) as u16).wrapping_sub(1)).collect()
}

/// Returns whether a register has [`packed`] bytes, where numbers have no sign and at most four
/// bytes.
pub(super) fn is_packed(v: i64) -> bool {
    v as u64 >> 32 != 0
}

impl Stepper<'_> {
    /// Reads bytes of which these bits matter. `Ok(false)`: this way goes on with each value that we
    /// try.
    pub(super) fn load_bits(
        &mut self,
        run: &mut Run,
        r: Reg,
        (a, named): (i64, bool),
        at: Int,
        mask: i64,
    ) -> Result<bool, Stop> {
        let bytes = self.bytes(run, a, at.size, named)?.to_vec();
        self.touch(run, a, at.size.into(), false);
        if self.program.holders.any && !self.addresses_at(run, a, at.size).is_empty() {
            self.missing(run, NUMBER);
        }
        let (v, open) = word(&bytes);
        let wanted = open & mask;
        if wanted == 0 {
            run.registers[r as usize] = Some(v);
            self.note(run, a, at, v, false);
            return Ok(true);
        }
        if !self.is_read_later(run, r) {
            run.registers[r as usize] = None;
            return Ok(true);
        }
        if bytes.iter().enumerate().any(|(k, &b)| b == COPIED && mask >> (8 * k) & 255 != 0) {
            return Err(Stop::Undefined("a copy of memory that was never written is read".into()));
        }
        for chosen in self.choices(run, a, wanted, at) {
            let mut next = run.clone();
            let v = v | chosen;
            self.write_bytes(&mut next, a, &bytes_of(v, open & !mask, at.size), named)?;
            next.registers[r as usize] = Some(v);
            next.record(Event::Found { at: run.point(), address: a, value: v });
            self.note(&mut next, a, at, v, false);
            next.pc += 1;
            self.work.push(Way::Run(Box::new(next)));
        }
        Ok(false)
    }

    /// Returns the values to try for these bits: all, if they are few.
    fn choices(&mut self, run: &Run, a: i64, wanted: i64, at: Int) -> Vec<i64> {
        let places: Vec<u32> = (0..64).filter(|k| wanted >> k & 1 != 0).collect();
        let spread = |v: i64| places.iter().enumerate().fold(0, |all, (n, k)| all | (v >> n & 1) << k);
        if places.len() <= 8 {
            return (0..1 << places.len()).rev().map(spread).collect();
        }
        self.missing(run, self.unwritten(a));
        let mut tried: Vec<i64> = Vec::new();
        for v in values(self.program, Int::new(at.size.max(2), true)).0.into_iter().rev().map(spread) {
            if !tried.contains(&v) {
                tried.push(v);
            }
        }
        tried
    }

    /// Writes these bits of a number. Others keep what they had when the number was read; those that
    /// had no value have none.
    pub(super) fn store_bits(
        &mut self,
        run: &mut Run,
        address: &Expr,
        e: &Expr,
        at: Int,
        mask: i64,
    ) -> Result<(), Stop> {
        let (a, v) = (self.value(address, run)?, self.value(e, run)?);
        let named = matches!(address, Expr::Const(_) | Expr::Local(_));
        let (before, open) = word(&self.bytes(run, a, at.size, named)?);
        let open = open & !mask;
        let all = if at.size == 8 { -1 } else { (1 << (8 * u32::from(at.size))) - 1 };
        if (before ^ v) & all & !mask & !open != 0 {
            // What another thread has written since the number was read is lost.
            self.missing(run, "bit-fields that share memory are written at the same time");
        }
        self.write_bytes(run, a, &bytes_of(v, open, at.size), named)?;
        if self.program.holders.any && self.completes_private_address(run, a, at.size) {
            return Err(escapes());
        }
        self.touch(run, a, at.size.into(), true);
        self.note(run, a, at, at.wrap(v), true);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_with_open_bits_are_told_apart() {
        let mut seen = std::collections::HashSet::from([OPEN, DEAD, COPIED]);
        for open in 0..=254u8 {
            for value in (0..=255u8).filter(|v| v & open == 0) {
                let b = byte(value, open);
                assert!(seen.insert(b), "{value} {open}");
                assert_eq!(parts(b), (value, open));
                assert!(is_byte(b));
            }
        }
        assert!(!is_byte(0x0200) && !is_byte(0xffff) && byte(0, 255) == OPEN);
        let bytes = [byte(2, 4), OPEN, 7, byte(1, 0xfe)];
        assert!(is_packed(packed(&bytes)) && is_packed(packed(&bytes[..1])));
        assert_eq!(
            (unpacked(packed(&bytes), 4), unpacked(packed(&bytes[..1]), 1)),
            (bytes.to_vec(), vec![bytes[0]])
        );
        assert_eq!(word(&bytes), (0x0107_0002, 0xfe00_ff04u32 as i64));
    }
}
