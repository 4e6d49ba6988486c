//! Checkpoints: how engines save and resume the state of a search, and the trait of the storage.
//!
//! An engine that can be resumed writes its whole state as numbers ([`Writer`]) when it is
//! consistent. A later process reads it ([`Reader`]) and continues as this one would have: same
//! verdicts, same runs. States are encoded by their model ([`throng_model::Persist`]).
//!
//! Engines do no input or output: a [`Keeper`], which they get from
//! [`Watch::keeper`](crate::Watch::keeper), decides when and where to save. It also guarantees that
//! the state read back is the one written, for the same question. A reader therefore meets only the
//! output of a writer; it still checks every number that is used as an index.

use throng_model::verdict::{Taken, Trace};
use throng_model::{Bag, Bystanders, Config, Edge, Local, Shared, Step};

/// Stores the state of a search for a later process.
pub trait Keeper: Sync {
    /// Returns whether the next state is due.
    fn is_due(&self) -> bool;

    /// Stores the output of `write` instead of the previous state.
    fn keep(&self, write: &dyn Fn(&mut Writer<'_>));

    /// Passes the state of an earlier process to `read`, and returns whether there was one. `Err`:
    /// it was damaged, which the keeper reports to the user; the search must not begin.
    fn recall(&self, read: &mut dyn FnMut(&mut Reader<'_>) -> Result<(), Damaged>) -> Result<bool, Damaged>;
}

/// The bytes are not the state of such a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged;

/// Writes a sequence of numbers.
pub struct Writer<'a> {
    put: &'a mut dyn FnMut(&[u8]),
}

impl<'a> Writer<'a> {
    /// Creates a writer to `put`.
    pub fn new(put: &'a mut dyn FnMut(&[u8])) -> Writer<'a> {
        Writer { put }
    }

    /// Writes a number: little-endian base 128.
    pub fn number(&mut self, n: impl Into<u64>) {
        let mut n: u64 = n.into();
        let (mut bytes, mut length) = ([0; 10], 0);
        loop {
            bytes[length] = n as u8 & 0x7f | if n >= 0x80 { 0x80 } else { 0 };
            length += 1;
            n >>= 7;
            if n == 0 {
                break;
            }
        }
        (self.put)(&bytes[..length]);
    }

    /// Writes the number of items that follow.
    pub fn count(&mut self, n: usize) {
        self.number(n as u64);
    }

    /// Writes an optional number.
    pub fn option(&mut self, n: Option<u32>) {
        self.number(n.map_or(0, |n| u64::from(n) + 1));
    }

    /// Writes bytes, after their number.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        (self.put)(bytes);
    }

    /// Writes pairs of numbers, after their number.
    pub fn pairs(&mut self, pairs: &[(u32, u32)]) {
        self.count(pairs.len());
        for &(a, b) in pairs {
            self.number(a);
            self.number(b);
        }
    }

    /// Writes the runs found so far.
    pub fn traces(&mut self, traces: &[Option<Trace>]) {
        self.count(traces.len());
        for trace in traces {
            self.number(trace.is_some());
            let Some(trace) = trace else { continue };
            self.config(&trace.start);
            self.count(trace.steps.len());
            for Taken { step, after } in &trace.steps {
                self.step(step);
                self.config(after);
            }
        }
    }

    fn config(&mut self, config: &Config) {
        self.number(config.shared.0);
        self.bag(&config.threads);
    }

    fn bag(&mut self, bag: &Bag) {
        self.count(bag.entries().len());
        for &(l, n) in bag.entries() {
            self.number(l.0);
            self.number(n);
        }
    }

    fn step(&mut self, step: &Step) {
        self.number(step.from.0);
        self.number(step.to.0);
        [&step.take, &step.put, &step.spawn].into_iter().for_each(|bag| self.bag(bag));
        self.number(match step.others {
            Bystanders::Stay => 0_u8,
            Bystanders::Transfer => 1,
            Bystanders::WakeOne => 2,
        });
        self.number(step.edge.0);
        self.number(step.choice);
    }
}

/// Reads the output of a [`Writer`].
pub struct Reader<'a> {
    /// Fills a block; returns whether there were enough bytes.
    fill: &'a mut dyn FnMut(&mut [u8]) -> bool,
    left: u64,
}

impl<'a> Reader<'a> {
    /// Creates a reader of `left` bytes from `fill`.
    pub fn new(left: u64, fill: &'a mut dyn FnMut(&mut [u8]) -> bool) -> Reader<'a> {
        Reader { fill, left }
    }

    /// Returns an error unless everything was read.
    pub fn finish(&self) -> Result<(), Damaged> {
        if self.left == 0 { Ok(()) } else { Err(Damaged) }
    }

    /// Reads a number.
    pub fn number(&mut self) -> Result<u64, Damaged> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.take(&mut byte)?;
            n |= u64::from(byte[0] & 0x7f) << shift;
            if byte[0] < 0x80 {
                return Ok(n);
            }
        }
        Err(Damaged)
    }

    /// Reads a number below 2³².
    pub fn small(&mut self) -> Result<u32, Damaged> {
        self.number()?.try_into().map_err(|_| Damaged)
    }

    /// Reads a number below `end`: an index.
    pub fn below(&mut self, end: usize) -> Result<u32, Damaged> {
        self.small().and_then(|n| if (n as usize) < end { Ok(n) } else { Err(Damaged) })
    }

    /// Reads the number of items that follow, each of at least one byte: so no list is longer than
    /// the remaining bytes.
    pub fn count(&mut self) -> Result<usize, Damaged> {
        let n = self.number()?;
        if n <= self.left { Ok(n as usize) } else { Err(Damaged) }
    }

    /// Reads a Boolean.
    pub fn flag(&mut self) -> Result<bool, Damaged> {
        Ok(self.below(2)? == 1)
    }

    /// Reads an optional number.
    pub fn option(&mut self) -> Result<Option<u32>, Damaged> {
        match self.number()?.checked_sub(1) {
            None => Ok(None),
            Some(n) => n.try_into().map(Some).map_err(|_| Damaged),
        }
    }

    /// Reads bytes.
    pub fn bytes(&mut self) -> Result<Vec<u8>, Damaged> {
        let mut bytes = vec![0; self.count()?];
        self.take(&mut bytes)?;
        Ok(bytes)
    }

    /// Reads pairs of numbers.
    pub fn pairs(&mut self) -> Result<Vec<(u32, u32)>, Damaged> {
        let count = self.count()?;
        (0..count).map(|_| Ok((self.small()?, self.small()?))).collect()
    }

    /// Reads as many runs as there are targets.
    pub fn traces(&mut self, targets: usize) -> Result<Vec<Option<Trace>>, Damaged> {
        if self.count()? != targets {
            return Err(Damaged);
        }
        (0..targets).map(|_| if self.flag()? { self.trace().map(Some) } else { Ok(None) }).collect()
    }

    fn trace(&mut self) -> Result<Trace, Damaged> {
        let start = self.config()?;
        let count = self.count()?;
        let steps = (0..count).map(|_| Ok(Taken { step: self.step()?, after: self.config()? }));
        Ok(Trace { start, steps: steps.collect::<Result<_, Damaged>>()? })
    }

    fn config(&mut self) -> Result<Config, Damaged> {
        Ok(Config::new(Shared(self.number()?), self.bag()?))
    }

    fn bag(&mut self) -> Result<Bag, Damaged> {
        let count = self.count()?;
        (0..count).map(|_| Ok((Local(self.number()?), self.small()?))).collect()
    }

    fn step(&mut self) -> Result<Step, Damaged> {
        Ok(Step {
            from: Shared(self.number()?),
            to: Shared(self.number()?),
            take: self.bag()?,
            put: self.bag()?,
            spawn: self.bag()?,
            others: [Bystanders::Stay, Bystanders::Transfer, Bystanders::WakeOne][self.below(3)? as usize],
            edge: Edge(self.small()?),
            choice: self.number()?,
        })
    }

    fn take(&mut self, block: &mut [u8]) -> Result<(), Damaged> {
        self.left = self.left.checked_sub(block.len() as u64).ok_or(Damaged)?;
        if (self.fill)(block) { Ok(()) } else { Err(Damaged) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Writer<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut Writer::new(&mut |part: &[u8]| bytes.extend_from_slice(part)));
        bytes
    }

    fn read<T>(bytes: &[u8], read: impl Fn(&mut Reader<'_>) -> Result<T, Damaged>) -> Result<T, Damaged> {
        let mut rest = bytes;
        let mut fill = |block: &mut [u8]| match rest.split_at_checked(block.len()) {
            Some((first, later)) => {
                block.copy_from_slice(first);
                rest = later;
                true
            }
            None => false,
        };
        let mut reader = Reader::new(bytes.len() as u64, &mut fill);
        let found = read(&mut reader)?;
        reader.finish().map(|()| found)
    }

    #[test]
    fn numbers_and_lists_come_back() {
        for n in [0, 1, 127, 128, 16_384, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(read(&written(|out| out.number(n)), |input| input.number()), Ok(n));
        }
        for n in [None, Some(0), Some(u32::MAX)] {
            assert_eq!(read(&written(|out| out.option(n)), |input| input.option()), Ok(n));
        }
        let pairs = vec![(1, 2), (u32::MAX, 0)];
        assert_eq!(read(&written(|out| out.pairs(&pairs)), |input| input.pairs()), Ok(pairs));
        assert_eq!(read(&written(|out| out.bytes(b"xyz")), |input| input.bytes()), Ok(b"xyz".to_vec()));
    }

    #[test]
    fn runs_come_back() {
        let bag: Bag = [(Local(7), 2), (Local(1 << 40), 1)].into_iter().collect();
        let config = Config::new(Shared(u64::MAX), bag.clone());
        let step = Step {
            from: Shared(1),
            to: Shared(2),
            take: bag.clone(),
            put: Bag::new(),
            spawn: bag,
            others: Bystanders::WakeOne,
            edge: Edge(9),
            choice: 1 << 63,
        };
        let trace = Trace { start: config.clone(), steps: vec![Taken { step, after: config }] };
        let traces = vec![None, Some(trace)];
        assert_eq!(read(&written(|out| out.traces(&traces)), |input| input.traces(2)), Ok(traces.clone()));
        assert_eq!(read(&written(|out| out.traces(&traces)), |input| input.traces(3)), Err(Damaged));
    }

    #[test]
    fn nonsense_is_no_number_and_no_reason_for_a_large_list() {
        assert_eq!(read(&[0x80; 12], |input| input.number()), Err(Damaged));
        assert_eq!(read(&[0x80], |input| input.number()), Err(Damaged));
        let huge = written(|out| out.number(u64::MAX));
        assert_eq!(read(&huge, |input| input.bytes()), Err(Damaged));
        assert_eq!(read(&huge, |input| input.small()), Err(Damaged));
        assert_eq!(read(&[5], |input| input.below(5)), Err(Damaged));
        assert_eq!(read(&[1, 2], |input| input.number()), Err(Damaged), "something is left");
    }
}
