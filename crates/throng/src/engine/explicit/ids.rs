//! Small numbers for the words that a search meets.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Words of one kind and their ids: 0, 1, … in the order in which they are met.
#[derive(Debug)]
pub struct Ids<W> {
    words: Vec<W>,
    ids: FxHashMap<W, u32>,
}

impl<W> Default for Ids<W> {
    fn default() -> Ids<W> {
        Ids { words: Vec::new(), ids: FxHashMap::default() }
    }
}

impl<W: Copy + Eq + Hash> Ids<W> {
    /// The id of `word`, and whether it is new.
    pub fn intern(&mut self, word: W) -> (u32, bool) {
        let next = self.words.len() as u32;
        let id = *self.ids.entry(word).or_insert(next);
        if id == next {
            self.words.push(word);
        }
        (id, id == next)
    }

    /// All words, by their ids.
    pub fn words(&self) -> &[W] {
        &self.words
    }

    /// The word of an id.
    pub fn word(&self, id: u32) -> W {
        self.words[id as usize]
    }
}
