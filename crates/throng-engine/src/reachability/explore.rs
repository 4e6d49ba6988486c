//! Exhaustive breadth-first search: finds the shortest runs, and if it ends, it has seen all
//! reachable markings.

use std::hash::Hasher;

use rustc_hash::FxHasher;

use super::net::{Leads, Marking, Net};
use super::walk::Wanted;
use throng_model::Config;
use throng_model::limits::Ticker;
use throng_model::verdict::Unknown;

/// Markings, each stored once, with a fixed number of bytes for every place.
pub(super) struct Store {
    width: usize,
    places: usize,
    bytes: Vec<u8>,
    /// The hash table: numbers of markings; `u32::MAX` marks a free slot.
    slots: Vec<u32>,
    count: usize,
}

/// The number of tokens of this place does not fit.
pub struct TooNarrow(pub usize);

impl Store {
    pub fn new(places: usize, width: usize) -> Store {
        Store { width, places, bytes: Vec::new(), slots: vec![u32::MAX; 1 << 10], count: 0 }
    }

    fn stride(&self) -> usize {
        self.width * self.places
    }

    fn packed(&self, marking: &[u32], into: &mut Vec<u8>) -> Result<(), TooNarrow> {
        into.clear();
        if self.width == 1 {
            for (p, &n) in marking.iter().enumerate() {
                into.push(u8::try_from(n).map_err(|_| TooNarrow(p))?);
            }
        } else {
            marking.iter().for_each(|n| into.extend_from_slice(&n.to_le_bytes()));
        }
        Ok(())
    }

    pub fn unpack(&self, i: usize, marking: &mut [u32]) {
        let bytes = &self.bytes[i * self.stride()..(i + 1) * self.stride()];
        if self.width == 1 {
            marking.iter_mut().zip(bytes).for_each(|(n, &b)| *n = u32::from(b));
        } else {
            let each = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            marking.iter_mut().zip(each).for_each(|(n, value)| *n = value);
        }
    }

    /// Returns the number of markings.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds a marking, if it is new and fits. Returns whether it was added. `packed` is a buffer.
    pub fn add(&mut self, marking: &[u32], packed: &mut Vec<u8>) -> bool {
        self.packed(marking, packed).is_ok() && self.insert(packed)
    }

    /// Adds a packed marking. Returns whether it is new.
    fn insert(&mut self, packed: &[u8]) -> bool {
        if self.count * 2 >= self.slots.len() {
            let slots = std::mem::take(&mut self.slots);
            self.slots = vec![u32::MAX; slots.len() * 2];
            for i in slots.into_iter().filter(|&i| i != u32::MAX) {
                let at = i as usize * self.stride();
                let mut slot = self.slot(&self.bytes[at..at + self.stride()]);
                while self.slots[slot] != u32::MAX {
                    slot = (slot + 1) % self.slots.len();
                }
                self.slots[slot] = i;
            }
        }
        let mut slot = self.slot(packed);
        while self.slots[slot] != u32::MAX {
            let at = self.slots[slot] as usize * self.stride();
            if self.bytes[at..at + self.stride()] == *packed {
                return false;
            }
            slot = (slot + 1) % self.slots.len();
        }
        self.slots[slot] = self.count as u32;
        self.bytes.extend_from_slice(packed);
        self.count += 1;
        true
    }

    fn slot(&self, packed: &[u8]) -> usize {
        let mut hasher = FxHasher::default();
        hasher.write(packed);
        let hash = hasher.finish();
        (hash ^ (hash >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 20 & (self.slots.len() - 1)
    }
}

/// The result of a search.
pub struct Explored {
    /// Indices of the wanted targets that can be reached, with the transitions of a shortest run to
    /// each.
    pub reached: Vec<(usize, Vec<u32>)>,
    /// All reachable markings, if all were found and they are few enough to be evidence.
    pub all: Option<Vec<Config>>,
    /// The number of markings found.
    pub markings: usize,
    /// True if these are all reachable markings.
    pub complete: bool,
    /// Maximum number of tokens found on each place.
    pub largest: Marking,
}

/// Maximum number of entries (places with tokens, of all markings) of a set that is used as
/// evidence.
const MOST_ENTRIES: usize = 40_000_000;

/// Searches until every wanted target is reached, all markings are found, or `most` markings are
/// stored.
pub fn explore(net: &Net, wanted: &[Wanted], most: usize, ticker: &mut Ticker) -> Result<Explored, Unknown> {
    match search(net, wanted, most, 1, ticker)? {
        Ok(found) => Ok(found),
        Err(_) => search(net, wanted, most, 4, ticker)?.map_err(|_| Unknown::uncountable()),
    }
}

/// Does the same with a given number of bytes for each place.
pub fn search(
    net: &Net,
    wanted: &[Wanted],
    most: usize,
    width: usize,
    ticker: &mut Ticker,
) -> Result<Result<Explored, TooNarrow>, Unknown> {
    let leads = Leads::new(net);
    let mut store = Store::new(net.places.len(), width);
    let (mut origins, mut entries): (Vec<(u32, u32)>, usize) = (vec![(0, 0)], 0);
    let mut packed = Vec::new();
    let mut now: Marking = net.start.clone();
    if let Err(narrow) = store.packed(&now, &mut packed) {
        return Ok(Err(narrow));
    }
    store.insert(&packed);
    let mut after = now.clone();
    let mut enabled: Vec<u32> = Vec::new();
    let largest = now.clone();
    let mut found = Explored { reached: Vec::new(), all: None, markings: 0, complete: false, largest };
    let mut next = 0;
    while next < store.count && store.count < most {
        store.unpack(next, &mut now);
        entries += leads.enabled(net, &now, &mut enabled);
        found.largest.iter_mut().zip(&now).for_each(|(most, &n)| *most = n.max(*most));
        ticker.ticks(1 + (net.places.len() / 16 + enabled.len()) as u32)?;
        for (i, one) in wanted.iter().enumerate() {
            if found.reached.iter().all(|r| r.0 != i) && one.formula.holds(&now, enabled.len()) {
                found.reached.push((i, path(&origins, next)));
            }
        }
        if found.reached.len() == wanted.len() {
            break;
        }
        for &t in &enabled {
            after.copy_from_slice(&now);
            if !net.fire(&mut after, t) {
                return Err(Unknown::uncountable());
            }
            if let Err(narrow) = store.packed(&after, &mut packed) {
                return Ok(Err(narrow));
            }
            if store.insert(&packed) {
                origins.push((next as u32, t));
            }
        }
        next += 1;
    }
    found.markings = store.count;
    found.complete = next == store.count;
    if found.complete && entries <= MOST_ENTRIES {
        let config = |i| {
            store.unpack(i, &mut now);
            net.config(&now)
        };
        found.all = Some((0..store.count).map(config).collect());
    }
    Ok(Ok(found))
}

fn path(origins: &[(u32, u32)], end: usize) -> Vec<u32> {
    let mut fired = Vec::new();
    let mut at = end;
    while at != 0 {
        fired.push(origins[at].1);
        at = origins[at].0 as usize;
    }
    fired.reverse();
    fired
}
