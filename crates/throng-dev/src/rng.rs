//! Choices at random for tests. Those of a seed never change, because known cases are found again
//! by their seeds.

use throng_model::random::Random;
use throng_model::{Bag, Local};

/// Random choices: the same seed gives the same ones everywhere.
#[derive(Clone, Debug)]
pub struct Rng(Random);

impl Rng {
    /// A generator that starts from `seed`.
    pub fn new(seed: u64) -> Rng {
        Rng(Random::new(seed))
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { self.bits() % n }
    }

    /// True in `percent` of 100 cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A bag of up to `most` threads in `locals` states.
    pub fn bag(&mut self, locals: u64, most: u64) -> Bag {
        (0..self.below(most + 1)).map(|_| Local(self.below(locals))).collect()
    }

    /// An index below `n`, which is not 0. Not the numbers of [`Rng::below`]: the seeds of programs
    /// are older.
    pub fn index(&mut self, n: usize) -> usize {
        (self.bits() >> 16) as usize % n
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.index(n) == 0
    }

    /// Some element.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.index(from.len())]
    }
}
