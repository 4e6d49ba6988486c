//! Relations between the events of a graph, as matrices of bits.

/// The most events that a graph may have, initial writes included.
pub const MOST_EVENTS: usize = 128;

/// A relation between numbered events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation(Vec<u128>);

/// The numbers in a set.
pub fn members(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let least = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(least)
    })
}

impl Relation {
    /// The empty relation between so many events.
    pub fn new(events: usize) -> Relation {
        debug_assert!(events <= MOST_EVENTS);
        Relation(vec![0; events])
    }

    /// Adds a pair.
    pub fn add(&mut self, from: usize, to: usize) {
        self.0[from] |= 1 << to;
    }

    /// Adds pairs with all members of a set.
    pub fn add_all(&mut self, from: usize, to: u128) {
        self.0[from] |= to;
    }

    /// Returns whether it has a pair.
    pub fn has(&self, from: usize, to: usize) -> bool {
        self.0[from] >> to & 1 == 1
    }

    /// All that an event is related to.
    pub fn after(&self, from: usize) -> u128 {
        self.0[from]
    }

    /// The union.
    #[must_use]
    pub fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// The composition: first this one, then the other.
    #[must_use]
    pub fn then(&self, other: &Relation) -> Relation {
        let row = |&set: &u128| members(set).fold(0, |found, middle| found | other.0[middle]);
        Relation(self.0.iter().map(row).collect())
    }

    /// The pairs whose ends are in these sets.
    #[must_use]
    pub fn between(&self, from: u128, to: u128) -> Relation {
        let row = |(i, set): (usize, &u128)| if from >> i & 1 == 1 { set & to } else { 0 };
        Relation(self.0.iter().enumerate().map(row).collect())
    }

    /// The same with all pairs of equals.
    #[must_use]
    pub fn reflexive(&self) -> Relation {
        Relation(self.0.iter().enumerate().map(|(i, set)| set | 1 << i).collect())
    }

    /// The transitive closure (Warshall).
    #[must_use]
    pub fn closed(mut self) -> Relation {
        for k in 0..self.0.len() {
            let beyond = self.0[k];
            for set in &mut self.0 {
                if *set >> k & 1 == 1 {
                    *set |= beyond;
                }
            }
        }
        self
    }

    /// Returns whether no event is related to itself.
    pub fn is_irreflexive(&self) -> bool {
        self.0.iter().enumerate().all(|(i, set)| set >> i & 1 == 0)
    }

    /// Returns whether it has no cycle.
    pub fn is_acyclic(&self) -> bool {
        self.clone().closed().is_irreflexive()
    }
}
