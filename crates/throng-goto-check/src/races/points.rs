//! Where addresses may be: inclusion constraints (Andersen), by object and offset, whatever the
//! order of instructions.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use throng_goto::program::Point;

/// Objects that the analysis does not tell apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Site {
    /// The object with this number, which is one object.
    Object(i64),
    /// All that an instruction allocates.
    Heap(Place),
    /// A variable in memory of a function, one for each call: its template and its number there.
    Local(u32, u32),
    /// The variable in private memory with this object number, one for each thread.
    Private(i64),
    /// The function with this number.
    Function(u32),
    /// The numbers of the threads that an instruction starts.
    Thread(Place),
    /// All that nobody knows: what a function that is not defined returns, for example.
    Unknown,
}

/// An instruction: template and place in its code.
pub type Place = (u32, u32);

/// Returns the place of a point.
pub fn place(at: Point) -> Place {
    (at.template, at.pc)
}

/// Offsets from the start of an object: `start` and, if `stride` is not 0, all that differ from it by
/// a multiple of `stride`, in both directions. `start` is less than `stride` and not negative then.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Offsets {
    /// One of them.
    pub start: i64,
    /// What they differ by; 0 if there is only one.
    pub stride: i64,
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

impl Offsets {
    /// Any offset.
    pub const ANY: Offsets = Offsets { start: 0, stride: 1 };

    /// One offset.
    pub fn one(start: i64) -> Offsets {
        Offsets { start, stride: 0 }
    }

    fn new(start: i64, stride: i64) -> Offsets {
        Offsets { start: if stride > 0 { start.rem_euclid(stride) } else { start }, stride }
    }

    /// Returns these, moved by a number, and by any multiple of another one.
    #[must_use]
    pub fn moved(self, by: i64, multiple: i64) -> Offsets {
        Offsets::new(self.start.wrapping_add(by), gcd(self.stride, multiple))
    }

    /// Returns offsets that both are among.
    #[must_use]
    pub fn joined(self, other: Offsets) -> Offsets {
        let apart = self.start.wrapping_sub(other.start);
        Offsets::new(self.start, gcd(gcd(self.stride, other.stride), apart))
    }

    /// Returns whether the others are among these.
    pub fn covers(self, other: Offsets) -> bool {
        self.joined(other) == self
    }

    /// Returns whether a load of an address from here finds the addresses at a place: as they are, or
    /// parts of them; `None`: neither.
    pub fn finds(self, place: Offsets) -> Option<bool> {
        if !self.overlaps(WORD, place, WORD) {
            return None;
        }
        let stride = gcd(self.stride, place.stride);
        let apart = self.start.wrapping_sub(place.start);
        Some(if stride == 0 { apart == 0 } else { apart % stride == 0 && stride >= WORD })
    }

    /// Returns whether an access to `size` bytes here may overlap one to `other_size` bytes there.
    pub fn overlaps(self, size: i64, other: Offsets, other_size: i64) -> bool {
        let (apart, stride) = (self.start.wrapping_sub(other.start), gcd(self.stride, other.stride));
        match stride {
            0 => apart < other_size && apart > -size,
            _ => {
                let behind = apart.rem_euclid(stride);
                behind < other_size || stride - behind < size
            }
        }
    }
}

/// The addresses that a value may be: by object, the offsets.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Pointers(#[serde(with = "pairs")] pub BTreeMap<Site, Vec<Offsets>>);

impl Pointers {
    /// One address.
    pub fn one(site: Site, at: Offsets) -> Pointers {
        Pointers(BTreeMap::from([(site, vec![at])]))
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The objects.
    pub fn sites(&self) -> impl Iterator<Item = Site> + '_ {
        self.0.keys().copied()
    }

    /// Each object with each of its offsets.
    pub fn all(&self) -> impl Iterator<Item = (Site, Offsets)> + '_ {
        self.0.iter().flat_map(|(site, list)| list.iter().map(|at| (*site, *at)))
    }

    /// Returns the address, if it is only one.
    pub fn single(&self) -> Option<(Site, i64)> {
        let mut all = self.all();
        match (all.next(), all.next()) {
            (Some((site, Offsets { start, stride: 0 })), None) => Some((site, start)),
            _ => None,
        }
    }

    /// Returns whether the others are among these.
    pub fn covers(&self, other: &Pointers) -> bool {
        other.all().all(|(site, at)| self.has(site, at))
    }

    /// Returns whether the others are among these, as [`Pointers::covers`] does, by a walk through
    /// both: faster where the others are many.
    pub fn includes(&self, other: &Pointers) -> bool {
        let mut own = self.0.iter();
        other.0.iter().all(|(site, list)| {
            let known = own.by_ref().find(|(known, _)| *known >= site);
            let Some((_, known)) = known.filter(|(known, _)| *known == site) else { return false };
            known == list || list.iter().all(|at| known.iter().any(|k| k.covers(*at)))
        })
    }

    fn has(&self, site: Site, at: Offsets) -> bool {
        self.0.get(&site).is_some_and(|list| list.iter().any(|known| known.covers(at)))
    }

    /// Adds addresses; at more than `most` offsets in an object, they are described by one stride.
    /// Returns whether there are more now.
    pub fn add(&mut self, site: Site, at: Offsets, most: usize) -> bool {
        if self.has(site, at) {
            return false;
        }
        let list = self.0.entry(site).or_default();
        list.retain(|known| !at.covers(*known));
        list.push(at);
        if list.len() > most {
            let all = list.iter().copied().reduce(Offsets::joined);
            *list = all.into_iter().collect();
        }
        list.sort_unstable();
        true
    }

    /// Adds all of the others.
    pub fn extend(&mut self, other: &Pointers) {
        if self.includes(other) {
            return;
        }
        for (site, at) in other.all() {
            self.add(site, at, usize::MAX);
        }
    }

    /// Returns these, moved.
    #[must_use]
    pub fn moved(&self, by: i64, multiple: i64) -> Pointers {
        let mut found = Pointers::default();
        for (site, at) in self.all() {
            // A function, and the number of a thread, are no objects with parts.
            let at = if site == Site::Unknown { at } else { at.moved(by, multiple) };
            found.add(site, at, usize::MAX);
        }
        found
    }

    /// Returns any addresses in the same objects.
    #[must_use]
    pub fn anywhere(&self) -> Pointers {
        Pointers(self.0.keys().map(|site| (*site, vec![Offsets::ANY])).collect())
    }
}

/// Bytes of an address.
pub const WORD: i64 = 8;

impl Points {
    /// Returns what a load from these places may find.
    pub fn loaded(&self, from: &Pointers) -> Pointers {
        let mut found = Pointers::default();
        for (site, at) in from.all() {
            if site == Site::Unknown {
                found.add(Site::Unknown, Offsets::ANY, usize::MAX);
            }
            for (place, content) in self.memory.get(&site).into_iter().flatten() {
                match at.finds(*place) {
                    Some(true) => found.extend(content),
                    Some(false) => found.extend(&content.anywhere()),
                    None => {}
                }
            }
        }
        found
    }

    /// The pointers in a register.
    pub fn register(&self, template: usize, r: u32) -> &Pointers {
        &self.registers[template][r as usize]
    }

    /// Returns the objects whose addresses are in one.
    pub fn inside(&self, site: Site) -> BTreeSet<Site> {
        self.memory.get(&site).into_iter().flatten().flat_map(|(_, content)| content.sites()).collect()
    }
}

/// Where addresses may be.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Points {
    /// By template and register.
    pub registers: Vec<Vec<Pointers>>,
    /// By object, what is at which offsets.
    #[serde(with = "pairs")]
    pub memory: BTreeMap<Site, Vec<(Offsets, Pointers)>>,
    /// By template, what a call of it returns, or a thread that starts in it ends with.
    pub returned: Vec<Pointers>,
}

/// Maps as lists of pairs: their keys are no strings.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(from: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(from)?.into_iter().collect())
    }
}
