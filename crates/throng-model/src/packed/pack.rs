//! Encoding of configurations in a few bytes.
//!
//! A configuration is a dense shared id and entries `(dense local id, count)` sorted by id. The
//! packed form is one variable-length integer for the shared state, then one or two per entry:
//!
//! ```text
//! header  shared · 2 + (no entries?)
//! entry   gap · 4 + (count > 1?) · 2 + (last?)      gap: difference to the previous local id, less one
//!         count − 2                                 only if count > 1
//! ```
//!
//! Invariant: packing is a function of the configuration and prefix-free. So two configurations are
//! equal if and only if one packed form begins with the other, and a record needs no length.

/// A configuration over dense ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Dense id of the shared state.
    pub shared: u32,
    /// Dense local ids with counts, sorted by id; counts are never 0.
    pub entries: Vec<(u32, u32)>,
}

impl Unpacked {
    /// Returns the number of threads.
    pub fn size(&self) -> u64 {
        self.entries.iter().map(|e| u64::from(e.1)).sum()
    }

    /// Returns the number of threads at `l`.
    pub fn count(&self, l: u32) -> u32 {
        self.entries.iter().find(|e| e.0 == l).map_or(0, |e| e.1)
    }

    /// Reads the configuration at the start of `bytes` and returns its length in bytes.
    pub fn read(&mut self, bytes: &[u8]) -> usize {
        self.entries.clear();
        let mut at = 0;
        let header = get(bytes, &mut at);
        self.shared = (header >> 1) as u32;
        let (mut last, mut next) = (header & 1 == 1, 0);
        while !last {
            let code = get(bytes, &mut at);
            last = code & 1 == 1;
            let l = next + (code >> 2) as u32;
            let count = if code & 2 == 0 { 1 } else { get(bytes, &mut at) as u32 + 2 };
            self.entries.push((l, count));
            next = l.wrapping_add(1);
        }
        at
    }
}

/// Returns the length of the packed configuration at the start of `bytes`.
pub fn length(bytes: &[u8]) -> usize {
    let mut at = 0;
    let mut last = get(bytes, &mut at) & 1 == 1;
    while !last {
        let code = get(bytes, &mut at);
        last = code & 1 == 1;
        if code & 2 != 0 {
            get(bytes, &mut at);
        }
    }
    at
}

/// Returns the same for untrusted bytes: `None` if they are not a packed configuration of states
/// below `shared` and `locals`.
pub fn checked_length(bytes: &[u8], shared: usize, locals: usize) -> Option<usize> {
    let mut at = 0;
    let header = checked_get(bytes, &mut at)?;
    if header >> 1 >= shared as u64 {
        return None;
    }
    let (mut last, mut next) = (header & 1 == 1, 0);
    while !last {
        let code = checked_get(bytes, &mut at)?;
        last = code & 1 == 1;
        let l = (code >> 2).checked_add(next).filter(|&l| l < locals as u64)?;
        if code & 2 != 0 && checked_get(bytes, &mut at)? > u64::from(u32::MAX) - 2 {
            return None;
        }
        next = l + 1;
    }
    Some(at)
}

/// Packs a configuration entry by entry.
#[derive(Debug, Default)]
pub struct Packer {
    bytes: Vec<u8>,
    /// The position of the last entry's code, whose low bit is set at the end.
    last: usize,
    /// The smallest local id that may follow.
    next: u32,
}

impl Packer {
    /// Begins a new configuration.
    pub fn start(&mut self, shared: u32) {
        self.bytes.clear();
        self.last = 0;
        self.next = 0;
        put(&mut self.bytes, u64::from(shared) << 1);
    }

    /// Adds `count` > 0 threads at `l`, which must be larger than all before.
    pub fn entry(&mut self, l: u32, count: u32) {
        self.last = self.bytes.len();
        let gap = u64::from(l - self.next) << 2;
        self.next = l.wrapping_add(1);
        if count == 1 {
            put(&mut self.bytes, gap);
        } else {
            put(&mut self.bytes, gap | 2);
            put(&mut self.bytes, u64::from(count - 2));
        }
    }

    /// Returns the packed form.
    pub fn finish(&mut self) -> &[u8] {
        // Without entries this is the bit of the header, which then says that there are none.
        self.bytes[self.last] |= 1;
        &self.bytes
    }

    /// Packs a whole configuration.
    pub fn pack(&mut self, shared: u32, entries: &[(u32, u32)]) -> &[u8] {
        self.start(shared);
        for &(l, n) in entries {
            self.entry(l, n);
        }
        self.finish()
    }

    /// Packs `entries` with the sorted `changes` (local id, difference) applied.
    ///
    /// The caller guarantees that no count falls below 0.
    pub fn splice(&mut self, shared: u32, entries: &[(u32, u32)], changes: &[(u32, i64)]) -> &[u8] {
        self.start(shared);
        let mut rest = entries;
        for &(l, change) in changes {
            while let [(m, n), later @ ..] = rest
                && *m < l
            {
                self.entry(*m, *n);
                rest = later;
            }
            let mut count = change;
            if let [(m, n), later @ ..] = rest
                && *m == l
            {
                count += i64::from(*n);
                rest = later;
            }
            if count > 0 {
                self.entry(l, saturated(count));
            }
        }
        for &(l, n) in rest {
            self.entry(l, n);
        }
        self.finish()
    }
}

/// Converts a count as bags do: counting never reaches ω.
pub fn saturated(count: i64) -> u32 {
    count.min(i64::from(crate::OMEGA - 1)) as u32
}

/// Appends a number, little-endian in base 128. The low bits of its first byte are the low bits of
/// the number.
pub fn put(bytes: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
}

fn get(bytes: &[u8], at: &mut usize) -> u64 {
    let first = bytes[*at];
    *at += 1;
    if first < 0x80 {
        return u64::from(first);
    }
    let mut n = u64::from(first & 0x7f);
    let mut shift = 7;
    loop {
        let byte = bytes[*at];
        *at += 1;
        n |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return n;
        }
        shift += 7;
    }
}

/// Reads the number at `at`, if there is one, and moves `at` past it.
pub fn checked_get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let end = bytes[*at..].iter().take(9).position(|&b| b < 0x80)?;
    Some(get(&bytes[..=*at + end], at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(shared: u32, entries: &[(u32, u32)]) -> usize {
        let mut packer = Packer::default();
        let mut bytes = packer.pack(shared, entries).to_vec();
        let size = bytes.len();
        bytes.extend([0xff; 3]);
        let mut back = Unpacked::default();
        assert_eq!(back.read(&bytes), size);
        assert_eq!(length(&bytes), size);
        assert_eq!((back.shared, &back.entries[..]), (shared, entries));
        let most = u32::MAX as usize + 1;
        assert_eq!(checked_length(&bytes, most, most), Some(size));
        assert_eq!(checked_length(&bytes, shared as usize, most), None);
        let locals = entries.last().map_or(0, |e| e.0 as usize);
        assert!(entries.is_empty() || checked_length(&bytes, most, locals).is_none());
        assert!((0..size).all(|end| checked_length(&bytes[..end], most, most).is_none()));
        size
    }

    #[test]
    fn what_is_packed_comes_back() {
        assert_eq!(round_trip(0, &[]), 1);
        assert_eq!(round_trip(63, &[(31, 1), (32, 1), (64, 129)]), 5);
        round_trip(u32::MAX, &[(0, 1), (70_000, u32::MAX), (u32::MAX, 2)]);
    }

    #[test]
    fn splicing_is_packing_the_sum() {
        let entries = [(1, 2), (3, 1), (5, 1)];
        let spliced = Packer::default().splice(4, &entries, &[(0, 1), (3, -1), (5, 2), (9, 1)]).to_vec();
        assert_eq!(spliced, Packer::default().pack(4, &[(0, 1), (1, 2), (5, 3), (9, 1)]));
        assert_eq!(Packer::default().splice(0, &[(7, 1)], &[(7, -1)]), Packer::default().pack(0, &[]));
    }
}
