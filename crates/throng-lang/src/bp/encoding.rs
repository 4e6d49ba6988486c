//! The encoding of states as 64-bit codes: a head (program point, or the atomic flag) and a two-bit
//! mask per variable.
//!
//! Where everything fits into 64 bits the code *is* the state: nothing is stored or locked. A wider
//! state is kept in a table behind a lock, and the code is its number there.

use std::sync::RwLock;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::expr::{Cube, FREE};

/// Translates between codes and (head, masks) for states with a fixed number of variables.
#[derive(Debug)]
pub enum StateCodec {
    /// The code is the state: masks in the low bits, head above.
    Narrow {
        /// Number of variables.
        width: u32,
    },
    /// The code is an index.
    Wide(RwLock<States>),
}

/// Wide states in order of appearance.
type States = IndexSet<(u32, Box<[u8]>), FxBuildHasher>;

impl StateCodec {
    /// Creates a codec for heads below `heads` and `width` variables.
    pub fn new(heads: u64, width: usize) -> StateCodec {
        let head_bits = u64::BITS - heads.leading_zeros();
        if head_bits as usize + 2 * width <= 64 {
            StateCodec::Narrow { width: width as u32 }
        } else {
            StateCodec::Wide(RwLock::default())
        }
    }

    /// Returns the code of a state.
    pub fn encode(&self, head: u32, cube: &[u8]) -> u64 {
        match self {
            StateCodec::Narrow { width } => {
                let masks = cube.iter().rev().fold(0, |code, &m| code << 2 | u64::from(m));
                if *width == 32 { masks } else { u64::from(head) << (2 * width) | masks }
            }
            StateCodec::Wide(table) => {
                let key = (head, Box::from(cube));
                if let Some(i) = table.read().expect("no panic while locked").get_index_of(&key) {
                    return i as u64;
                }
                table.write().expect("no panic while locked").insert_full(key).0 as u64
            }
        }
    }

    /// Returns the state of a code.
    pub fn decode(&self, code: u64) -> (u32, Cube) {
        match self {
            StateCodec::Narrow { width } => {
                let cube = (0..*width).map(|i| (code >> (2 * i) & 3) as u8).collect();
                (self.head(code), cube)
            }
            StateCodec::Wide(table) => {
                let table = table.read().expect("no panic while locked");
                let (head, masks) = state(&table, code);
                (*head, masks.iter().copied().collect())
            }
        }
    }

    /// Returns the head of a code.
    pub fn head(&self, code: u64) -> u32 {
        match self {
            StateCodec::Narrow { width: 32 } => 0,
            StateCodec::Narrow { width } => (code >> (2 * width)) as u32,
            // Only the head is read: states may have hundreds of variables.
            StateCodec::Wide(table) => state(&table.read().expect("no panic while locked"), code).0,
        }
    }

    /// Returns whether some concrete state is in both.
    pub fn meets(&self, a: u64, b: u64) -> bool {
        if a == b {
            return true;
        }
        match self {
            StateCodec::Narrow { width } => {
                let (masks, ones) = Self::low(*width);
                let both = a & b & masks;
                self.head(a) == self.head(b) && (both | both >> 1) & ones == ones
            }
            StateCodec::Wide(table) => {
                let table = table.read().expect("no panic while locked");
                let ((ha, ca), (hb, cb)) = (state(&table, a), state(&table, b));
                ha == hb && ca.iter().zip(cb).all(|(x, y)| x & y != 0)
            }
        }
    }

    /// Returns the intersection of two states; `None` if it is empty.
    pub fn meet(&self, a: u64, b: u64) -> Option<u64> {
        if !self.meets(a, b) {
            return None;
        }
        let ((head, ca), (_, cb)) = (self.decode(a), self.decode(b));
        let both: Cube = ca.iter().zip(&cb).map(|(x, y)| x & y).collect();
        Some(self.encode(head, &both))
    }

    /// Returns whether every concrete state of `a` is in `b`.
    pub fn within(&self, a: u64, b: u64) -> bool {
        if a == b {
            return true;
        }
        match self {
            StateCodec::Narrow { width } => {
                let (masks, _) = Self::low(*width);
                self.head(a) == self.head(b) && a & b & masks == a & masks
            }
            StateCodec::Wide(table) => {
                let table = table.read().expect("no panic while locked");
                let ((ha, ca), (hb, cb)) = (state(&table, a), state(&table, b));
                ha == hb && ca.iter().zip(cb).all(|(x, y)| x & y == *x)
            }
        }
    }

    /// Returns a number for the set of variables that are open. Of two different codes with the
    /// same head and the same number, neither is within the other.
    pub fn shape(&self, code: u64) -> u64 {
        match self {
            StateCodec::Narrow { width } => {
                let (masks, ones) = Self::low(*width);
                code & code >> 1 & masks & ones
            }
            StateCodec::Wide(table) => {
                let table = table.read().expect("no panic while locked");
                let (_, masks) = state(&table, code);
                if masks.len() > 64 {
                    return code;
                }
                masks.iter().fold(0, |bits, &m| bits << 1 | u64::from(m == FREE))
            }
        }
    }

    /// Writes the table of wide states, in order: their number, then the head and four masks per
    /// byte of each.
    pub fn write_table(&self, out: &mut Vec<u8>) {
        let StateCodec::Wide(table) = self else { return out.extend(0_u64.to_le_bytes()) };
        let table = table.read().expect("no panic while locked");
        out.extend((table.len() as u64).to_le_bytes());
        table.iter().for_each(|(head, masks)| write_state(*head, masks, out));
    }

    /// Returns a state as bytes that do not depend on the table.
    pub fn to_bytes(&self, code: u64) -> Vec<u8> {
        let StateCodec::Wide(table) = self else { return code.to_le_bytes().into() };
        let (table, mut bytes) = (table.read().expect("no panic while locked"), Vec::new());
        let (head, masks) = state(&table, code);
        write_state(*head, masks, &mut bytes);
        bytes
    }

    /// Returns the code of the state that these bytes encode; `None` if they do not encode one with
    /// a head below `heads` and `width` variables.
    pub fn of_bytes(&self, heads: u32, width: usize, mut bytes: &[u8]) -> Option<u64> {
        let code = match self {
            StateCodec::Narrow { .. } => {
                let code = u64::from_le_bytes(bytes.split_off(..8)?.try_into().ok()?);
                let (head, masks) = self.decode(code);
                (head < heads && masks.iter().all(|&m| m != 0)).then_some(code)?
            }
            StateCodec::Wide(_) => {
                let (head, masks) = read_state(heads, width, &mut bytes)?;
                self.encode(head, &masks)
            }
        };
        bytes.is_empty().then_some(code)
    }

    /// Reads a table of states with heads below `heads` and `width` variables from the start of
    /// `bytes` and makes this one equal to it. Returns `false` if the bytes are not such a table,
    /// or if a state has different numbers in the two.
    pub fn import_states(&self, heads: u32, width: usize, bytes: &mut &[u8]) -> bool {
        let Some(count) = bytes.split_off(..8).and_then(|n| n.try_into().ok()).map(u64::from_le_bytes) else {
            return false;
        };
        let StateCodec::Wide(table) = self else { return count == 0 };
        let mut table = table.write().expect("no panic while locked");
        let known = table.len() as u64;
        (0..count).all(|i| {
            let state = read_state(heads, width, bytes);
            state.is_some_and(|state| table.insert_full(state) == (i as usize, i >= known))
        }) && count >= known
    }

    /// Returns all mask bits, and the lower bit of every mask.
    fn low(width: u32) -> (u64, u64) {
        let masks = if width == 32 { u64::MAX } else { (1 << (2 * width)) - 1 };
        (masks, masks & 0x5555_5555_5555_5555)
    }
}

/// Returns the wide state with this code.
fn state(table: &States, code: u64) -> &(u32, Box<[u8]>) {
    table.get_index(code as usize).expect("codes come from encode")
}

/// Writes a wide state: its head, then four masks per byte.
fn write_state(head: u32, masks: &[u8], out: &mut Vec<u8>) {
    out.extend(head.to_le_bytes());
    out.extend(masks.chunks(4).map(|four| four.iter().rev().fold(0, |byte, m| byte << 2 | m)));
}

/// Reads a wide state with a head below `heads` and `width` variables from the start of `bytes`.
fn read_state(heads: u32, width: usize, bytes: &mut &[u8]) -> Option<(u32, Box<[u8]>)> {
    let head = u32::from_le_bytes(bytes.split_off(..4)?.try_into().ok()?);
    let packed = bytes.split_off(..width.div_ceil(4))?;
    let masks: Box<[u8]> = (0..width).map(|v| packed[v / 4] >> (2 * (v % 4)) & 3).collect();
    (head < heads && masks.iter().all(|&m| m != 0)).then_some((head, masks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(heads: u64, width: usize) -> StateCodec {
        let codec = StateCodec::new(heads, width);
        let cubes: Vec<Cube> = (0..40u64)
            .map(|k| (0..width).map(|i| ((k * 7 + i as u64 * k) % 3) as u8 + 1).collect())
            .collect();
        for head in [0, 1, heads.saturating_sub(1) as u32] {
            for a in &cubes {
                let code = codec.encode(head, a);
                assert_eq!(codec.decode(code), (head, a.clone()));
                assert_eq!(codec.head(code), head);
                for b in &cubes {
                    let other = codec.encode(head, b);
                    assert_eq!(codec.meets(code, other), a.iter().zip(b).all(|(x, y)| x & y != 0));
                    let meet = codec.meet(code, other);
                    assert_eq!(meet.is_some(), codec.meets(code, other));
                    if let Some(meet) = meet {
                        assert!(codec.within(meet, code) && codec.within(meet, other));
                    }
                    assert_eq!(codec.within(code, other), a.iter().zip(b).all(|(x, y)| x & y == *x));
                    let same_shape = codec.shape(code) == codec.shape(other);
                    assert!(code == other || !same_shape || !codec.within(code, other));
                    assert!(
                        width > 64
                            || same_shape == a.iter().zip(b).all(|(x, y)| (*x == FREE) == (*y == FREE))
                    );
                    if head > 0 {
                        assert!(!codec.meets(code, codec.encode(0, b)));
                    }
                }
            }
        }
        codec
    }

    #[test]
    fn a_table_is_imported_by_another_process() {
        let (heads, width) = (1000, 30);
        let before = check(heads, width);
        let mut bytes = Vec::new();
        before.write_table(&mut bytes);
        let decoded = |codec: &StateCodec, n: u64| (0..n).map(|w| codec.decode(w)).collect::<Vec<_>>();
        let take = |codec: &StateCodec, mut bytes: &[u8]| {
            codec.import_states(heads as u32, width, &mut bytes) && bytes.is_empty()
        };
        let StateCodec::Wide(table) = &before else { panic!("wide") };
        let all = table.read().expect("no panic").len() as u64;
        for begun in [0, 1, 7] {
            // Before the search, both processes encode the same states.
            let after = StateCodec::new(heads, width);
            (0..begun).for_each(|w| _ = after.encode(before.decode(w).0, &before.decode(w).1));
            assert!(take(&after, &bytes) && decoded(&after, all) == decoded(&before, all));
        }
        let other = StateCodec::new(heads, width);
        other.encode(before.decode(3).0, &before.decode(3).1);
        assert!(!take(&other, &bytes), "a code means something else");
        for end in [0, 7, 8, 100, bytes.len() - 1] {
            assert!(!take(&StateCodec::new(heads, width), &bytes[..end]), "{end}");
        }
        assert!(
            !StateCodec::new(2, width).import_states(2, width, &mut &bytes[..]),
            "heads that do not exist"
        );
        assert!(!take(&StateCodec::new(2, 5), &bytes), "narrow codes have no table");
    }

    #[test]
    fn a_state_is_the_same_in_another_process_whatever_its_code_there() {
        for (heads, width) in [(1000, 27), (1000, 30), (2, 100), (2, 0)] {
            let (here, there) = (check(heads, width), StateCodec::new(heads, width));
            let heads = heads as u32;
            let states: Vec<u64> = (0..20).map(|k| here.encode(k % heads, &cube(width, k))).collect();
            for &code in states.iter().rev() {
                let bytes = here.to_bytes(code);
                let read = there.of_bytes(heads, width, &bytes).expect("a state");
                assert_eq!(there.decode(read), here.decode(code));
                for end in 0..bytes.len() {
                    assert_eq!(there.of_bytes(heads, width, &bytes[..end]), None);
                }
                assert_eq!(there.of_bytes(heads, width, &[&bytes[..], &[0]].concat()), None);
            }
        }
    }

    fn cube(width: usize, k: u32) -> Cube {
        (0..width).map(|i| ((k as usize * 5 + i) % 3) as u8 + 1).collect()
    }

    #[test]
    fn narrow_and_wide_states_behave_alike() {
        assert!(matches!(check(2, 5), StateCodec::Narrow { .. }));
        assert!(matches!(check(1000, 27), StateCodec::Narrow { .. }));
        assert!(matches!(check(1000, 28), StateCodec::Wide(_)));
        assert!(matches!(check(2, 100), StateCodec::Wide(_)));
        assert!(matches!(check(2, 0), StateCodec::Narrow { .. }));
    }
}
