//! Levels: the initial configurations and the largest size of a search, one size after another.
//!
//! Counting threads, level k is the part of the state space in which no configuration has more than
//! k threads; so the first level that hits a target has the fewest threads, see
//! [`super::explicit`]. Counting tokens ([`Bound::Tokens`]), level k starts with at most k tokens
//! for each "any number" of a marking, and firing has no limit.

use throng_model::problem::{Bound, Initial, Problem};
use throng_model::verdict::Unknown;
use throng_model::{Config, UNCOUNTABLE};

/// How many threads there may be, by the problem and by the level.
#[derive(Clone, Copy, Debug)]
pub struct SizeLimit {
    /// The problem's bound: beyond it, no thread is created.
    pub bound: Option<u32>,
    /// The search's level: larger configurations are left for later levels.
    pub level: u32,
}

/// The levels of a problem.
#[derive(Clone, Copy)]
pub struct Levels<'p> {
    problem: &'p Problem,
}

impl<'p> Levels<'p> {
    /// Returns the levels of `problem`.
    pub fn new(problem: &'p Problem) -> Levels<'p> {
        Levels { problem }
    }

    /// Returns the smallest level after `level` (or of all) that differs from it, given the
    /// smallest configuration that was left out there. `None`: all later ones, up to the bound, are
    /// the same.
    pub fn next(&self, level: Option<u32>, pruned: Option<u32>) -> Option<u32> {
        let starts = self.problem.initial.iter().filter_map(|family| self.next_start(family, level));
        starts.chain(pruned).min().filter(|&next| self.last().is_none_or(|last| next <= last))
    }

    /// Returns the level at which the problem's bound is reached.
    pub fn last(&self) -> Option<u32> {
        match self.problem.bound {
            Bound::Any => None,
            Bound::Threads(n) | Bound::Tokens(n) => Some(n),
        }
    }

    /// Returns the limits on the number of threads at `level`.
    pub fn size_limit(&self, level: u32) -> SizeLimit {
        match self.problem.bound {
            Bound::Tokens(_) => SizeLimit { bound: None, level: UNCOUNTABLE - 1 },
            Bound::Any | Bound::Threads(_) => {
                SizeLimit { bound: self.problem.bound.threads(), level: level.min(UNCOUNTABLE - 1) }
            }
        }
    }

    /// Returns whether configurations left out at `level` have too many threads to count, so that
    /// the level may be incomplete.
    pub fn is_cut_off(&self, level: u32) -> bool {
        matches!(self.problem.bound, Bound::Tokens(_)) || level >= UNCOUNTABLE
    }

    /// Calls `found` with the initial configurations of the levels after `after` (or of all) and up
    /// to `level`.
    pub fn starts(
        &self,
        after: Option<u32>,
        level: u32,
        found: &mut impl FnMut(Config) -> Result<(), Unknown>,
    ) -> Result<(), Unknown> {
        for family in &self.problem.initial {
            let mut at = after;
            while let Some(next) = self.next_start(family, at).filter(|&next| next <= level) {
                match self.problem.bound {
                    Bound::Tokens(_) => family.each_of_tokens(next, found)?,
                    Bound::Any | Bound::Threads(_) => family.each_of_size(next, found)?,
                }
                at = Some(next);
            }
        }
        Ok(())
    }

    /// Returns a description of a level, for people.
    pub fn describe(&self, level: u32) -> String {
        let what = match self.problem.bound {
            Bound::Tokens(_) => "token",
            Bound::Any | Bound::Threads(_) => "thread",
        };
        format!("{level} {what}{}", if level == 1 { "" } else { "s" })
    }

    /// Returns the next level after `level` at which `family` has new members.
    fn next_start(&self, family: &Initial, level: Option<u32>) -> Option<u32> {
        match (self.problem.bound, level) {
            (Bound::Tokens(_), level) => family.next_of_tokens(level),
            (Bound::Any | Bound::Threads(_), level) => family.next_size(level),
        }
    }
}
