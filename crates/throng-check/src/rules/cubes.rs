//! Where states are cubes ([`throng_lang::bp::program::Cubes`]), a configuration may be in a set
//! without being a member: within a member, or in parts within several. So the model may split
//! states differently from the one that found the evidence.

use rustc_hash::FxHashMap;
use std::cell::OnceCell;

use throng_lang::bp::program::Cubes;
use throng_lang::bp::program::expr::{FREE, ONE, ZERO};
use throng_model::{Config, Local, Model, OMEGA, Shared};

/// Maximum number of parts of one configuration that are tested.
const MOST_PARTS: u32 = 1 << 12;

/// Splits configurations at variables that are free in them but known in members of a set.
pub(super) struct Parts<'a> {
    cubes: Option<&'a dyn Cubes>,
    /// The states of the members.
    states: Box<dyn Fn() -> (Vec<Shared>, Vec<Local>) + 'a>,
    known: OnceCell<Known>,
}

/// The variables that are known in some member.
struct Known {
    shared: Vec<bool>,
    local: FxHashMap<u32, Vec<bool>>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(
        model: &'a dyn Model,
        states: impl Fn() -> (Vec<Shared>, Vec<Local>) + 'a,
    ) -> Parts<'a> {
        Parts {
            cubes: model.sets().map(|sets| sets.cubes()),
            states: Box::new(states),
            known: OnceCell::new(),
        }
    }

    /// Returns whether `config`, or else each of its parts, passes the test.
    pub(super) fn pass(&self, config: &Config, test: &mut dyn FnMut(&Config) -> bool) -> bool {
        self.go(config, test, &mut MOST_PARTS.clone())
    }

    fn go(&self, config: &Config, test: &mut dyn FnMut(&Config) -> bool, left: &mut u32) -> bool {
        if test(config) {
            return true;
        }
        let Some(parts) = self.cubes.and_then(|cubes| self.split(cubes, config)) else { return false };
        parts.iter().all(|part| {
            *left = left.saturating_sub(1);
            *left > 0 && self.go(part, test, left)
        })
    }

    fn split(&self, cubes: &dyn Cubes, config: &Config) -> Option<Vec<Config>> {
        let known = self.known.get_or_init(|| Known::new(cubes, (self.states)()));
        let (inside, masks) = cubes.shared_cube(config.shared);
        if let Some(i) = open(&masks, &known.shared) {
            let half = |value| {
                let mut masks = masks.clone();
                masks[i] = value;
                Config::new(cubes.encode_shared(inside, &masks), config.threads.clone())
            };
            return Some(vec![half(ZERO), half(ONE)]);
        }
        config.threads.entries().iter().find_map(|&(l, n)| {
            let [zero, one] = self.halves(l)?;
            Some(shares(config, l, n, zero, one))
        })
    }

    /// Splits a local state in two at a variable that is free in it but known in some member, if
    /// there is one.
    pub(super) fn halves(&self, l: Local) -> Option<[Local; 2]> {
        let cubes = self.cubes?;
        let known = self.known.get_or_init(|| Known::new(cubes, (self.states)()));
        let (point, masks) = cubes.local_cube(l);
        let i = open(&masks, known.local.get(&point)?)?;
        let half = |value| {
            let mut masks = masks.clone();
            masks[i] = value;
            cubes.encode_local(point, &masks)
        };
        Some([half(ZERO), half(ONE)])
    }
}

impl Known {
    fn new(cubes: &dyn Cubes, (mut shared, mut locals): (Vec<Shared>, Vec<Local>)) -> Known {
        let mut known = Known { shared: Vec::new(), local: FxHashMap::default() };
        let see = |seen: &mut Vec<bool>, masks: &[u8]| {
            seen.resize(masks.len().max(seen.len()), false);
            masks.iter().zip(seen).for_each(|(&m, seen)| *seen |= m != FREE);
        };
        shared.sort_unstable();
        shared.dedup();
        locals.sort_unstable();
        locals.dedup();
        shared.into_iter().for_each(|s| see(&mut known.shared, &cubes.shared_cube(s).1));
        for l in locals {
            let (point, masks) = cubes.local_cube(l);
            see(known.local.entry(point).or_default(), &masks);
        }
        known
    }
}

/// Returns a variable that is free in `masks` and known in some member.
fn open(masks: &[u8], known: &[bool]) -> Option<usize> {
    masks.iter().zip(known).position(|(&m, &known)| m == FREE && known)
}

/// Returns all ways to split `n` threads at `l` between the two halves.
fn shares(config: &Config, l: Local, n: u32, zero: Local, one: Local) -> Vec<Config> {
    let mut rest = config.threads.clone();
    rest.remove(l, OMEGA);
    let with = |zeros: u32, ones: u32| {
        let mut threads = rest.clone();
        threads.insert(zero, zeros);
        threads.insert(one, ones);
        Config::new(config.shared, threads)
    };
    if n == OMEGA { vec![with(OMEGA, OMEGA)] } else { (0..=n).map(|zeros| with(zeros, n - zeros)).collect() }
}
