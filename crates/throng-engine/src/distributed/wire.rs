//! The encoding of states in messages between workers.
//!
//! Every worker numbers the states that it meets, as `explicit` does, and packs configurations over
//! its own numbers. Messages are packed with the numbers of the sender; a message begins with the
//! meaning of those that are new to the receiver. Messages from one worker to another arrive in the
//! order in which they were sent; that is checked, because a wrong meaning of a number would result
//! in a wrong configuration.
//!
//! The owner of a configuration depends on what its states mean, not on numbers, so all workers
//! agree on it: it is a hash of the states, summed over all threads.

use crate::explicit::pack::{self, Unpacked, checked_get, put};
use crate::explicit::steps::Steps;
use crate::explicit::store::{Id, ROOT};
use throng_model::{Config, Local, Model, Shared};

/// A configuration's *link*: the upper half of its hash. It determines the worker that the
/// configuration belongs to, and successors store it.
pub type Link = Id;

/// Returns the worker that stores a configuration with this link.
pub fn owner(link: Link, workers: usize) -> usize {
    ((u64::from(link) * workers as u64) >> 32) as usize
}

/// A message or a file is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// Hashes of all states met so far, by their numbers.
#[derive(Default)]
pub struct Hashes {
    shared: Vec<u64>,
    locals: Vec<u64>,
}

impl Hashes {
    /// Hashes the new states.
    pub fn extend(&mut self, model: &dyn Model, steps: &Steps) {
        let (shared, locals) = (steps.listing.shared.values(), steps.listing.locals.values());
        if self.shared.len() < shared.len() {
            let new = &shared[self.shared.len()..];
            self.shared.extend(new.iter().map(|&s| hash(1, &shared_bytes(model, s))));
        }
        if self.locals.len() < locals.len() {
            let new = &locals[self.locals.len()..];
            self.locals.extend(new.iter().map(|&l| hash(2, &local_bytes(model, l))));
        }
    }

    /// Returns the link of a configuration, whose states are known here.
    pub fn link(&self, config: &Unpacked) -> Link {
        let threads = config.entries.iter().map(|&(l, n)| self.locals[l as usize].wrapping_mul(n.into()));
        let sum = threads.fold(self.shared[config.shared as usize], u64::wrapping_add);
        ((mixed(sum) >> 32) as Link).min(ROOT - 1)
    }

    /// Returns the hashes of the shared and the local states with these numbers.
    pub fn of(&self, shared: impl Iterator<Item = u32>, locals: impl Iterator<Item = u32>) -> [Vec<u64>; 2] {
        [shared.map(|s| self.shared[s as usize]).collect(), locals.map(|l| self.locals[l as usize]).collect()]
    }
}

/// Hashes by FNV-1a with a final mix: the same on every machine.
fn hash(kind: u64, bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ kind;
    mixed(bytes.iter().fold(start, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)))
}

/// Applies the finaliser of SplitMix64: every bit depends on all others.
fn mixed(mut h: u64) -> u64 {
    h = (h ^ h >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ h >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ h >> 31
}

/// Returns a shared state as bytes that every process reads alike. Models without such bytes are
/// only searched in one process.
fn shared_bytes(model: &dyn Model, s: Shared) -> Vec<u8> {
    model.persist().map_or_else(|| s.0.to_le_bytes().into(), |p| p.shared_bytes(s))
}

fn local_bytes(model: &dyn Model, l: Local) -> Vec<u8> {
    model.persist().map_or_else(|| l.0.to_le_bytes().into(), |p| p.local_bytes(l))
}

fn shared_of(model: &dyn Model, bytes: &[u8]) -> Option<Shared> {
    let word = || bytes.try_into().ok().map(|word| Shared(u64::from_le_bytes(word)));
    model.persist().map_or_else(word, |p| p.shared_of(bytes))
}

fn local_of(model: &dyn Model, bytes: &[u8]) -> Option<Local> {
    let word = || bytes.try_into().ok().map(|word| Local(u64::from_le_bytes(word)));
    model.persist().map_or_else(word, |p| p.local_of(bytes))
}

/// The number of this worker's state numbers that another worker knows.
#[derive(Clone, Copy, Default)]
pub struct Known {
    shared: usize,
    locals: usize,
}

impl Known {
    /// Writes the meaning of the numbers that are new since the last time.
    pub fn write_new(&mut self, model: &dyn Model, steps: &Steps, out: &mut Vec<u8>) {
        let (shared, locals) = (steps.listing.shared.values(), steps.listing.locals.values());
        let new = shared[self.shared..].iter().map(|&s| shared_bytes(model, s));
        write_list(self.shared, shared.len() - self.shared, new, out);
        let new = locals[self.locals..].iter().map(|&l| local_bytes(model, l));
        write_list(self.locals, locals.len() - self.locals, new, out);
        (self.shared, self.locals) = (shared.len(), locals.len());
    }
}

fn write_list(first: usize, count: usize, items: impl Iterator<Item = Vec<u8>>, out: &mut Vec<u8>) {
    put(out, first as u64);
    put(out, count as u64);
    items.for_each(|item| write_bytes(&item, out));
}

/// Writes bytes after their number.
pub fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads the output of [`write_bytes`].
pub fn read_bytes<'a>(bytes: &'a [u8], at: &mut usize) -> Result<&'a [u8], Damaged> {
    let length = number(bytes, at)?;
    let end = at.checked_add(length as usize).filter(|&end| end <= bytes.len()).ok_or(Damaged)?;
    let found = &bytes[*at..end];
    *at = end;
    Ok(found)
}

/// Reads a number.
pub fn number(bytes: &[u8], at: &mut usize) -> Result<u64, Damaged> {
    checked_get(bytes, at).ok_or(Damaged)
}

/// Another worker's numbers, translated to those of this worker.
#[derive(Default)]
pub struct Translation {
    shared: Vec<u32>,
    locals: Vec<u32>,
}

impl Translation {
    /// Reads the meaning of new numbers.
    pub fn read_new(
        &mut self,
        model: &dyn Model,
        steps: &mut Steps,
        bytes: &[u8],
        at: &mut usize,
    ) -> Result<(), Damaged> {
        for _ in 0..begin_list(self.shared.len(), bytes, at)? {
            let state = shared_of(model, read_bytes(bytes, at)?).ok_or(Damaged)?;
            self.shared.push(steps.shared_id(state));
        }
        for _ in 0..begin_list(self.locals.len(), bytes, at)? {
            let state = local_of(model, read_bytes(bytes, at)?).ok_or(Damaged)?;
            self.locals.push(steps.local_id(state));
        }
        Ok(())
    }

    /// Reads a packed configuration, translated to the numbers of this worker.
    pub fn read(&self, bytes: &[u8], at: &mut usize, config: &mut Unpacked) -> Result<(), Damaged> {
        let rest = bytes.get(*at..).ok_or(Damaged)?;
        let length = pack::checked_length(rest, self.shared.len(), self.locals.len());
        *at += length.ok_or(Damaged)?;
        config.read(rest);
        config.shared = self.shared[config.shared as usize];
        config.entries.iter_mut().for_each(|e| e.0 = self.locals[e.0 as usize]);
        config.entries.sort_unstable();
        Ok(())
    }
}

fn begin_list(expected: usize, bytes: &[u8], at: &mut usize) -> Result<u64, Damaged> {
    if number(bytes, at)? != expected as u64 {
        return Err(Damaged);
    }
    number(bytes, at)
}

/// Writes a configuration without reference to numbers.
pub fn write_config(model: &dyn Model, config: &Config, out: &mut Vec<u8>) {
    write_bytes(&shared_bytes(model, config.shared), out);
    put(out, config.threads.entries().len() as u64);
    for &(l, n) in config.threads.entries() {
        write_bytes(&local_bytes(model, l), out);
        put(out, n.into());
    }
}

/// Reads the output of [`write_config`].
pub fn read_config(model: &dyn Model, bytes: &[u8], at: &mut usize) -> Result<Config, Damaged> {
    let shared = shared_of(model, read_bytes(bytes, at)?).ok_or(Damaged)?;
    let entries = (0..number(bytes, at)?).map(|_| {
        let local = local_of(model, read_bytes(bytes, at)?).ok_or(Damaged)?;
        Ok((local, u32::try_from(number(bytes, at)?).map_err(|_| Damaged)?))
    });
    Ok(Config::new(shared, entries.collect::<Result<_, Damaged>>()?))
}
