//! The order of expansion of a breadth-first search: one layer after another, and in a layer a few
//! configurations of each part of the store in turn.
//!
//! Every part of a store has a part of the layer, in the order in which it was found. Taking turns
//! comes close to the order in which the whole layer was found. Configurations that were found
//! together have many successors in common, so look-ups hit the cache. The order depends on the
//! store alone, not on how many configurations are expanded before their successors are stored.

use std::ops::Range;

use super::pack;
use super::store::{Id, Store};
use throng_model::packed::shards::{Shards, TURN};

/// The progress of a search in its layer.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    /// For each part, the rest of the layer. Everything stored after it belongs to the next layer.
    left: Vec<Range<usize>>,
    /// The part whose turn it is; its rest is not empty unless all are.
    part: usize,
    /// The number of configurations taken in this turn.
    taken: usize,
}

/// Configurations of one part, as a range of positions.
pub struct Turn {
    /// The part.
    pub part: usize,
    /// Their positions in the part.
    pub places: Range<usize>,
}

impl Queue {
    /// Returns the first configuration, if there is one.
    pub fn front(&self) -> Option<Id> {
        let left = self.left.get(self.part).filter(|left| !left.is_empty())?;
        Some(Shards::id(self.part, left.start))
    }

    /// Removes the first configuration, whose packed form has `length` bytes.
    pub fn pop(&mut self, length: usize) {
        let left = &mut self.left[self.part];
        left.start = Store::after(left.start as Id, length);
        self.taken += 1;
        if self.taken >= TURN || left.start >= left.end {
            self.next_turn();
        }
    }

    /// Removes and returns the rest of the first turn, if there is one.
    pub fn pop_turn(&mut self, store: &Shards) -> Option<Turn> {
        let (part, start) = (self.part, self.left.get(self.part)?.start);
        let mut end = start;
        while self.part == part
            && let Some(id) = self.front()
        {
            let length = pack::length(store.packed(id));
            end = Store::after(end as Id, length);
            let last = self.taken + 1 >= TURN;
            self.pop(length);
            if last {
                break;
            }
        }
        (start < end).then_some(Turn { part, places: start..end })
    }

    /// Returns the size of the rest of the layer in units of the store.
    pub fn units_left(&self) -> usize {
        self.left.iter().map(Range::len).sum()
    }

    /// Returns the end of the layer in each part.
    pub fn ends(&self, parts: usize) -> Vec<usize> {
        if self.left.is_empty() { vec![0; parts] } else { self.left.iter().map(|left| left.end).collect() }
    }

    /// Begins the next layer: everything stored after these positions. Returns whether it has
    /// configurations.
    pub fn begin(&mut self, from: &[usize], store: &Shards) -> bool {
        let left = from.iter().zip(store.ends()).map(|(&start, end)| start..end).collect();
        *self = Queue { left, part: from.len() - 1, taken: 0 };
        self.next_turn();
        self.front().is_some()
    }

    /// Moves the turn to the next part with a rest.
    fn next_turn(&mut self) {
        self.taken = 0;
        for _ in 0..self.left.len() {
            self.part = (self.part + 1) % self.left.len();
            if !self.left[self.part].is_empty() {
                return;
            }
        }
    }

    /// Returns the state as numbers.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        let places = self.left.iter().flat_map(|left| [left.start, left.end]);
        [self.left.len(), self.part, self.taken].into_iter().chain(places).map(|n| n as u64)
    }

    /// Restores the queue from these numbers, if they fit the store.
    pub fn from_numbers<E>(
        store: &Shards,
        mut number: impl FnMut() -> Result<u64, E>,
    ) -> Result<Option<Queue>, E> {
        let (parts, part, taken) = (number()? as usize, number()? as usize, number()? as usize);
        // A search that has not begun has no layer.
        let ends = if parts == 0 { Vec::new() } else { store.ends() };
        let mut left = Vec::new();
        for &end in &ends {
            let range = number()? as usize..number()? as usize;
            if range.start > range.end || range.end > end {
                return Ok(None);
            }
            left.push(range);
        }
        let fits = parts == ends.len() && part < parts.max(1) && taken < TURN;
        Ok(fits.then_some(Queue { left, part, taken }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_model::packed::pack::Packer;
    use throng_model::packed::store::{ROOT, hash};

    fn filled(store: &mut Shards, numbers: Range<u32>) {
        let mut packer = Packer::default();
        for i in numbers {
            let packed = packer.pack(i % 5, &[(i / 5, i % 3 + 1)]);
            store.insert(packed, hash(packed), ROOT).expect("there is room");
        }
    }

    fn all(mut queue: Queue, store: &Shards) -> Vec<Id> {
        let mut ids = Vec::new();
        while let Some(id) = queue.front() {
            ids.push(id);
            queue.pop(pack::length(store.packed(id)));
        }
        ids
    }

    #[test]
    fn every_configuration_of_the_layer_comes_once_and_in_the_same_order() {
        let mut store = Shards::new(&None);
        filled(&mut store, 0..2000);
        let [from] = store.spread([0]).expect("there is room");
        let mut queue = Queue::default();
        assert!(queue.begin(&from, &store));
        // This is the next layer.
        filled(&mut store, 2000..3000);
        let ids = all(queue.clone(), &store);
        assert_eq!(ids.len(), 2000);
        // The same layer is taken by turns, some of which were begun one by one.
        let mut turns = queue.clone();
        let mut again = Vec::new();
        for round in 0.. {
            if round % 3 == 0
                && let Some(id) = turns.front()
            {
                again.push(id);
                turns.pop(pack::length(store.packed(id)));
            }
            let Some(turn) = turns.pop_turn(&store) else { break };
            let mut at = turn.places.start;
            let mut length = 0;
            while at < turn.places.end {
                again.push(Shards::id(turn.part, at));
                at = Store::after(at as Id, pack::length(store.packed(Shards::id(turn.part, at))));
                length += 1;
            }
            assert!((1..=TURN).contains(&length));
        }
        assert_eq!(again, ids);
        assert!(turns.front().is_none() && turns.units_left() == 0);
        // The rest is restored from its numbers.
        let mut numbers = queue.numbers();
        let back = Queue::from_numbers(&store, || numbers.next().ok_or(())).expect("enough numbers");
        assert_eq!(all(back.expect("it fits"), &store), ids);
        assert!(matches!(Queue::from_numbers::<()>(&store, || Ok(7)), Ok(None)));
        let from = turns.ends(store.parts());
        assert!(turns.begin(&from, &store));
        assert_eq!(all(turns.clone(), &store).len(), 1000);
    }

    #[test]
    fn one_part_is_in_its_order() {
        let mut store = Shards::new(&None);
        filled(&mut store, 0..300);
        let mut queue = Queue::default();
        assert!(queue.front().is_none() && queue.begin(&queue.ends(1), &store));
        assert!(all(queue.clone(), &store).into_iter().eq(store.ids()));
        let ends = queue.ends(1);
        assert!(!queue.begin(&ends, &store));
    }
}
