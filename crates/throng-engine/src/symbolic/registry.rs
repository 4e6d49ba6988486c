//! Numbers for sets: every set is stored once, so states are short lists of numbers.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use crate::bdd::{Full, Set};

/// Threads by number of their point and set of local states, with counts; sorted, counts positive.
pub type Threads = SmallVec<[(u32, u32); 4]>;

/// ⟨S, {(L₁, n₁), …}⟩: all configurations with a shared state in S and, for each i, nᵢ threads in
/// Lᵢ (Boom, section 6.1).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Number of the set of shared states.
    pub shared: u32,
    /// Numbers of sets of local states, with counts.
    pub threads: Threads,
}

/// All sets met so far.
#[derive(Default)]
pub struct Registry {
    shared: IndexSet<Set, FxBuildHasher>,
    locals: IndexSet<(u32, Set), FxBuildHasher>,
    shared_within: FxHashMap<(u32, u32), bool>,
    local_within: FxHashMap<(u32, u32), bool>,
}

impl Registry {
    /// Returns the number of a set of shared states.
    pub fn shared_id(&mut self, set: Set) -> u32 {
        self.shared.insert_full(set).0 as u32
    }

    /// Returns the number of a set of local states at a point.
    pub fn local_id(&mut self, point: u32, set: Set) -> u32 {
        self.locals.insert_full((point, set)).0 as u32
    }

    /// Returns the set of shared states with this number.
    pub fn shared(&self, id: u32) -> &Set {
        &self.shared[id as usize]
    }

    /// Returns the point and the set of local states with this number.
    pub fn local(&self, id: u32) -> (u32, &Set) {
        let (point, set) = &self.locals[id as usize];
        (*point, set)
    }

    /// Returns the point of a number.
    pub fn point(&self, id: u32) -> u32 {
        self.locals[id as usize].0
    }

    /// Returns the number of sets of shared states.
    pub fn shared_len(&self) -> usize {
        self.shared.len()
    }

    /// Returns the number of sets of local states.
    pub fn locals_len(&self) -> usize {
        self.locals.len()
    }

    /// Returns whether every local state of `a` is in `b`.
    pub fn local_within(&mut self, a: u32, b: u32) -> Result<bool, Full> {
        if a == b {
            return Ok(true);
        }
        if let Some(&known) = self.local_within.get(&(a, b)) {
            return Ok(known);
        }
        let ((p, x), (q, y)) = (self.local(a), self.local(b));
        let within = p == q && x.within(y)?;
        self.local_within.insert((a, b), within);
        Ok(within)
    }

    /// Returns whether every shared state of `a` is in `b`.
    pub fn shared_within(&mut self, a: u32, b: u32) -> Result<bool, Full> {
        if a == b {
            return Ok(true);
        }
        if let Some(&known) = self.shared_within.get(&(a, b)) {
            return Ok(known);
        }
        let within = self.shared(a).within(self.shared(b))?;
        self.shared_within.insert((a, b), within);
        Ok(within)
    }

    /// Returns the points of a state with counts, sorted: states of different skeletons are
    /// disjoint.
    pub fn skeleton(&self, threads: &Threads) -> Threads {
        let mut points = Threads::new();
        for &(l, n) in threads {
            add(&mut points, self.point(l), n);
        }
        points
    }

    /// Returns whether every configuration of `a` is in `b`, thread by thread; their skeletons must
    /// be the same.
    pub fn state_within(&mut self, a: &State, b: &State) -> Result<bool, Full> {
        if !self.shared_within(a.shared, b.shared)? {
            return Ok(false);
        }
        if a.threads == b.threads {
            return Ok(true);
        }
        let mut fits = Vec::with_capacity(a.threads.len());
        for &(l, _) in &a.threads {
            let row: Result<Vec<bool>, Full> =
                b.threads.iter().map(|&(m, _)| self.local_within(l, m)).collect();
            let row = row?;
            if !row.contains(&true) {
                return Ok(false);
            }
            fits.push(row);
        }
        Ok(matches(&a.threads, &b.threads, &fits))
    }
}

/// Adds `n` threads at `l`.
pub fn add(threads: &mut Threads, l: u32, n: u32) {
    match threads.binary_search_by_key(&l, |e| e.0) {
        Ok(i) => threads[i].1 += n,
        Err(i) => threads.insert(i, (l, n)),
    }
}

/// Removes one thread at `l`, if there is one.
pub fn remove_one(threads: &mut Threads, l: u32) {
    if let Ok(i) = threads.binary_search_by_key(&l, |e| e.0) {
        threads[i].1 -= 1;
        if threads[i].1 == 0 {
            threads.remove(i);
        }
    }
}

/// Returns the number of threads.
pub fn size(threads: &Threads) -> u32 {
    threads.iter().map(|e| e.1).sum()
}

/// Returns whether the threads of `from` can be matched to different threads of `to` that they fit:
/// `fits[i][j]`.
pub fn matches(from: &Threads, to: &Threads, fits: &[Vec<bool>]) -> bool {
    let people: Vec<usize> = (0..from.len()).flat_map(|i| (0..from[i].1).map(move |_| i)).collect();
    let mut given: Vec<Vec<usize>> = vec![Vec::new(); to.len()];
    (0..people.len()).all(|p| seat(p, &people, to, fits, &mut given, &mut vec![false; to.len()]))
}

fn seat(
    person: usize,
    people: &[usize],
    to: &Threads,
    fits: &[Vec<bool>],
    given: &mut [Vec<usize>],
    seen: &mut [bool],
) -> bool {
    for j in 0..to.len() {
        if seen[j] || !fits[people[person]][j] {
            continue;
        }
        seen[j] = true;
        if given[j].len() < to[j].1 as usize {
            given[j].push(person);
            return true;
        }
        for k in 0..given[j].len() {
            if seat(given[j][k], people, to, fits, given, seen) {
                given[j][k] = person;
                return true;
            }
        }
    }
    false
}
