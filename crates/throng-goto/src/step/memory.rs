//! Objects in memory: bounds, lifetimes, allocation, and where addresses of objects are.
//!
//! Every object is told apart from its neighbours, so that an access is either inside the object of
//! its pointer or a memory error. What no longer exists is not accessed unnoticed: the bytes of a
//! local variable are [`DEAD`] once its block is left, pointers to it in memory and in its thread
//! become such that no object has, and memory that was freed while other threads may know it is
//! kept apart.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::{Bytes, COPIED, DEAD, Effect, MOST_FREED, OPEN, Run, Slot, Stepper, Stop, Way};
use crate::floating;
use crate::program::{
    DANGLING, FUNCTION, Int, PRIVATE, PointerUse, Reg, Violation, address, is_private, object_of, offset_of,
};

impl Stepper<'_> {
    /// A write of a part of a word may make it an address, because pointers may be copied byte by
    /// byte. Returns whether it is that of a private variable, in memory that other threads can
    /// see.
    pub(super) fn completes_private_address(&self, run: &mut Run, a: i64, size: u8) -> bool {
        if is_private(a) {
            return false;
        }
        let mut private = false;
        for v in self.addresses_at(run, a, size) {
            self.publish(run, v);
            private |= self.is_private(run, v);
        }
        private
    }

    /// The addresses that words have of which these bytes are a part.
    pub(super) fn addresses_at(&self, run: &Run, a: i64, size: u8) -> Vec<i64> {
        let Ok(object) = self.object(run, object_of(a)) else { return Vec::new() };
        let from = usize::try_from(offset_of(a)).unwrap_or(usize::MAX / 2);
        let (low, high) = (from.saturating_sub(7), (from + usize::from(size) + 7).min(object.len()));
        let near = object.range(low..high).unwrap_or_default();
        let is_address = |v: i64| {
            let known = usize::try_from(object_of(v) - 1).is_ok_and(|o| o < self.program.objects.len());
            known || self.slot(run, v).is_some() || self.is_private(run, v)
        };
        pointers(&near, is_address).into_iter().map(|at| word(&near[at..at + 8])).collect()
    }

    /// The bytes of an access. A variable that is accessed by its `named` address is alive.
    pub(super) fn bytes<'r>(
        &self,
        run: &'r Run,
        a: i64,
        size: u8,
        named: bool,
    ) -> Result<Cow<'r, [u16]>, Stop> {
        let object = self.object(run, object_of(a)).map_err(|why| self.memory_error(why))?;
        let from = usize::try_from(offset_of(a)).unwrap_or(usize::MAX / 2);
        let Some(bytes) = object.range(from..from + usize::from(size)) else {
            let base = self.program.name_of(address(object_of(a), 0));
            let what = base.map_or("allocated memory".into(), |name| format!("`{name}`"));
            return Err(self.memory_error(&format!("an access is outside of {what}")));
        };
        match named || !bytes.contains(&DEAD) {
            true => Ok(bytes),
            false => Err(self.memory_error("a local variable is used after its lifetime")),
        }
    }

    /// Returns whether an access is to a part of a NaN whose bits are open.
    pub(super) fn cuts_open_nan(&self, run: &Run, a: i64, size: u8) -> bool {
        let (Ok(object), Ok(at)) = (self.object(run, object_of(a)), usize::try_from(offset_of(a))) else {
            return false;
        };
        let (low, high) = (at.saturating_sub(7), (at + usize::from(size) + 7).min(object.len()));
        let near = object.range(low..high).unwrap_or_default();
        floating::cuts_open_nan(&near, at - low, size.into())
    }

    /// The bytes of an object, or why there are none.
    pub(super) fn object<'r>(&self, run: &'r Run, object: i64) -> Result<Part<'r>, &'static str> {
        if object >= PRIVATE {
            let Some(place) = self.private_place(run, object) else {
                return Err("an access is where no object is");
            };
            return match place.end <= run.private.len() {
                true => Ok(Part { of: &run.private, place }),
                false => Err("an access is to another thread's variable"),
            };
        }
        match object {
            0 => return Err("a null pointer is dereferenced"),
            DANGLING => return Err("a pointer is used whose object no longer exists"),
            FUNCTION.. => return Err("a function is accessed like a variable"),
            _ => {}
        }
        let number = usize::try_from(object - 1).unwrap_or(usize::MAX);
        if let Some(o) = self.program.objects.get(number) {
            return Ok(Part { of: &run.memory.fixed, place: o.base..o.base + o.init.len() });
        }
        match run.memory.heap.get(number.wrapping_sub(self.program.objects.len())) {
            Some(Slot::Used(bytes, _) | Slot::Local(_, bytes, _)) => {
                Ok(Part { of: bytes, place: 0..bytes.len() })
            }
            Some(Slot::Empty | Slot::Freed) => Err("memory is used after it was freed"),
            Some(Slot::Gone) => Err("a local variable is used after its lifetime"),
            None => Err("an access is where no object is"),
        }
    }

    /// Changes the bytes of an object, by where they are and its place there.
    fn change(&self, run: &mut Run, object: i64, change: impl FnOnce(&mut Bytes, usize)) {
        if object >= PRIVATE {
            if let Some(place) = self.private_place(run, object).filter(|at| at.end <= run.private.len()) {
                change(&mut run.private, place.start);
            }
            return;
        }
        let Ok(number) = usize::try_from(object - 1) else { return };
        let memory = Arc::make_mut(&mut run.memory);
        if let Some(o) = self.program.objects.get(number) {
            return change(&mut memory.fixed, o.base);
        }
        memory.heap.update(number - self.program.objects.len(), |slot| {
            if let Slot::Used(bytes, _) | Slot::Local(_, bytes, _) = slot {
                change(bytes, 0);
            }
        });
    }

    /// What becomes of a thread that makes a memory error.
    fn memory_error(&self, why: &str) -> Stop {
        match self.program.memory_errors {
            true => Stop::Violated(Violation::Memory, why.into()),
            false => Stop::Undefined(why.into()),
        }
    }

    pub(super) fn write(&self, run: &mut Run, a: i64, v: i64, at: Int, named: bool) -> Result<(), Stop> {
        let bytes = v.to_le_bytes().map(u16::from);
        self.write_bytes(run, a, &bytes[..at.size.into()], named)
    }

    pub(super) fn write_bytes(&self, run: &mut Run, a: i64, new: &[u16], named: bool) -> Result<(), Stop> {
        let before = self.bytes(run, a, new.len() as u8, named)?;
        let same = *before == *new;
        if self.effects {
            run.overwritten = before.into_owned();
        }
        if self.program.object_at(a).is_some_and(|o| o.name.starts_with('"')) {
            return Err(self.memory_error("a string literal is written"));
        }
        if !same {
            let offset = offset_of(a) as usize;
            self.change(run, object_of(a), |bytes, base| bytes.write(base + offset, new));
        }
        Ok(())
    }

    /// Returns whether other threads may be running.
    pub(super) fn has_company(&self, run: &Run) -> bool {
        let ended = &run.memory.ended;
        match ended.is_empty() {
            true => self.program.concurrent,
            false => ended.others_run(self.thread.id as usize),
        }
    }

    /// A value goes where other threads can read it.
    pub(super) fn publish(&self, run: &mut Run, v: i64) {
        let Some(Slot::Used(_, false) | Slot::Local(_, _, false)) = self.slot(run, v) else { return };
        let Some(number) = self.slot_number(v) else { return };
        Arc::make_mut(&mut run.memory).heap.update(number, |slot| {
            if let Slot::Used(_, published) | Slot::Local(_, _, published) = slot {
                *published = true;
            }
        });
    }

    /// The place that a value is an address of, among those of allocated objects.
    pub(super) fn slot<'r>(&self, run: &'r Run, v: i64) -> Option<&'r Slot> {
        run.memory.heap.get(self.slot_number(v)?)
    }

    /// The number of the place that a value would be an address of.
    pub(super) fn slot_number(&self, v: i64) -> Option<usize> {
        let first = self.program.objects.len() as i64 + 1;
        usize::try_from(object_of(v) - first).ok().filter(|_| object_of(v) < DANGLING)
    }

    /// Allocates an object with these bytes: at a new address, or at one that was freed. Continues
    /// in `work`.
    pub(super) fn allocate(&mut self, run: &mut Run, r: Reg, bytes: Bytes) -> bool {
        let heap = &run.memory.heap;
        let mut slots: Vec<usize> = (0..heap.len()).filter(|&s| heap[s] == Slot::Freed).collect();
        if slots.len() < MOST_FREED {
            slots.push(heap.iter().position(|s| *s == Slot::Empty).unwrap_or(heap.len()));
        } else {
            self.missing(run, format!("only {MOST_FREED} freed objects are told apart from new ones"));
        }
        for slot in slots {
            let mut next = run.clone();
            let heap = &mut Arc::make_mut(&mut next.memory).heap;
            if slot == heap.len() {
                heap.push(Slot::Empty);
            }
            heap.write(slot, &[Slot::Used(bytes.clone(), false)]);
            let object = (self.program.objects.len() + 1 + slot) as i64;
            next.registers[r as usize] = Some(address(object, 0));
            self.affect(&mut next, Effect::Begins(object));
            next.pc += 1;
            self.work.push(Way::Run(Box::new(next)));
        }
        false
    }

    pub(super) fn free(&mut self, run: &mut Run, a: i64) -> Result<(), Stop> {
        if a == 0 {
            return Ok(());
        }
        let slot = self.freed(run, a)?;
        self.release(run, a, slot);
        Ok(())
    }

    /// Allocates an object that begins with the bytes of another one, and frees that. The new one
    /// has another address. Continues in `work`.
    pub(super) fn resize(&mut self, run: &mut Run, r: Reg, a: i64, size: usize) -> Result<bool, Stop> {
        if a == 0 {
            return Ok(self.allocate(run, r, Bytes::blank(size)));
        }
        let slot = self.freed(run, a)?;
        let Slot::Used(bytes, _) = &run.memory.heap[slot] else { return Ok(false) };
        let mut bytes = bytes.clone();
        if size < bytes.len() && self.cuts_open_nan(run, a + size as i64, 1) {
            return Err(Stop::Undefined("a number is cut in two of which not all bits are known".into()));
        }
        // What a byte without a value is depends on the original.
        let open: Vec<usize> = bytes.iter().enumerate().filter(|b| *b.1 == OPEN).map(|b| b.0).collect();
        open.into_iter().for_each(|at| bytes.write(at, &[COPIED]));
        bytes.resize(size, &OPEN);
        let before = self.work.len();
        self.allocate(run, r, bytes);
        for mut way in self.work.split_off(before) {
            if let Way::Run(next) = &mut way {
                self.release(next, a, slot);
            }
            self.work.push(way);
        }
        Ok(false)
    }

    /// Returns the place of allocated memory that is about to be freed. To free is to write, for
    /// races.
    fn freed(&mut self, run: &mut Run, a: i64) -> Result<usize, Stop> {
        let found = self.slot_number(a).and_then(|s| run.memory.heap.get(s).map(|slot| (s, slot)));
        let (slot, size) = match found {
            Some((slot, Slot::Used(bytes, _))) => (slot, bytes.len() as u32),
            Some((_, Slot::Empty | Slot::Freed)) => return Err(self.memory_error("memory is freed twice")),
            None | Some((_, Slot::Local(..) | Slot::Gone)) => {
                return Err(self.memory_error("something is freed that was not allocated"));
            }
        };
        if offset_of(a) != 0 {
            return Err(self.memory_error("a pointer into the middle of allocated memory is freed"));
        }
        self.touch(run, a, size, true);
        Ok(slot)
    }

    /// Frees the object in a place.
    fn release(&self, run: &mut Run, a: i64, slot: usize) {
        if matches!(run.memory.heap[slot], Slot::Used(_, true)) && self.has_company(run) {
            Arc::make_mut(&mut run.memory).heap.write(slot, &[Slot::Freed]);
            return;
        }
        self.clear_slot(run, slot);
        self.invalidate(run, object_of(a));
    }

    /// Nothing is in a place any more, and nothing points there.
    pub(super) fn clear_slot(&self, run: &mut Run, slot: usize) {
        let heap = &mut Arc::make_mut(&mut run.memory).heap;
        heap.write(slot, &[Slot::Empty]);
        let mut used = heap.len();
        while used > 0 && heap[used - 1] == Slot::Empty {
            used -= 1;
        }
        heap.resize(used, &Slot::Empty);
    }

    /// Says that memory which was never written has a value that is not tried. Engines that allow more
    /// than the program does come here, too.
    pub(super) fn unwritten(&self, a: i64) -> String {
        let name = self.program.name_of(a);
        let what = name.map_or("memory".into(), |name| format!("`{name}`"));
        format!("{what} may be read before it is written, and has more values than those that were tried")
    }

    /// A local variable is alive from here on, without a value.
    pub(super) fn begins(&mut self, run: &mut Run, a: i64, size: usize) {
        let object = object_of(a);
        let known = usize::try_from(object - 1).ok().and_then(|o| self.program.objects.get(o));
        let again = self.object(run, object).is_ok_and(|bytes| bytes.iter().any(|&b| b == DEAD));
        let leaves = match known {
            Some(o) => o.leaves,
            None => matches!(self.slot(run, a), Some(Slot::Local(_, _, true))),
        };
        if again && leaves && self.has_company(run) {
            self.missing(run, STALE);
        }
        self.fill(run, object, size, OPEN);
    }

    /// The lifetime of a local variable ends, and pointers to it have no value any more.
    pub(super) fn ends(&mut self, run: &mut Run, a: i64, size: usize) {
        self.fill(run, object_of(a), size, DEAD);
        self.invalidate(run, object_of(a));
    }

    /// The first bytes of an object become alike.
    fn fill(&self, run: &mut Run, object: i64, size: usize, byte: u16) {
        if self.object(run, object).is_ok_and(|bytes| bytes.iter().any(|&b| b != byte)) {
            self.change(run, object, |bytes, base| bytes.fill(base..base + size, &byte));
        }
    }

    /// Pointers to an object that is gone, in memory and in this thread, become such that no
    /// object has.
    pub(super) fn invalidate(&self, run: &mut Run, object: i64) {
        let gone = |v: i64| object_of(v) == object;
        let nowhere = address(DANGLING, 0);
        let (holders, known_as) = (&self.program.holders, self.known_as(run, object));
        for r in holders.registers(self.program, run.template, known_as) {
            if let Some(v) = run.registers[r as usize].as_mut().filter(|v| gone(**v)) {
                *v = nowhere;
            }
        }
        for frame in run.frames.iter_mut().filter(|f| f.registers.iter().flatten().any(|&v| gone(v))) {
            let registers = Arc::make_mut(frame).registers.iter_mut().flatten();
            registers.filter(|v| gone(**v)).for_each(|v| *v = nowhere);
        }
        if !holders.in_memory(self.program, known_as) {
            return;
        }
        let new = nowhere.to_le_bytes().map(u16::from);
        let clear = |bytes: &mut Bytes, found: Vec<usize>| {
            found.into_iter().for_each(|at| bytes.write(at, &new));
        };
        let found = pointers_in(&run.private, self.private_places(run).into_iter(), gone);
        clear(&mut run.private, found);
        if object >= PRIVATE {
            // It could not be stored anywhere else.
            return;
        }
        let fixed = pointers_in(&run.memory.fixed, self.fixed_places(&run.memory.fixed), gone);
        let in_slot = |slot: &Slot| match slot {
            Slot::Used(bytes, _) | Slot::Local(_, bytes, _) => {
                pointers_in(bytes, std::iter::once(0..bytes.len()), gone)
            }
            _ => Vec::new(),
        };
        let heap: Vec<_> =
            run.memory.heap.iter().map(in_slot).enumerate().filter(|f| !f.1.is_empty()).collect();
        if fixed.is_empty() && heap.is_empty() {
            return;
        }
        let memory = Arc::make_mut(&mut run.memory);
        clear(&mut memory.fixed, fixed);
        for (slot, found) in heap {
            memory.heap.update(slot, |slot| {
                if let Slot::Used(bytes, _) | Slot::Local(_, bytes, _) = slot {
                    clear(bytes, found);
                }
            });
        }
    }

    /// Returns the places of the fixed objects that were written.
    fn fixed_places(&self, fixed: &Bytes) -> impl Iterator<Item = Range<usize>> {
        let objects = &self.program.objects;
        let mut from = 0;
        fixed.written().into_iter().flat_map(move |range| {
            from = from.max(objects.partition_point(|o| o.base + o.init.len() <= range.start));
            let here = from;
            while objects.get(from).is_some_and(|o| o.base < range.end) {
                from += 1;
            }
            objects[here..from].iter().map(|o| o.base..o.base + o.init.len())
        })
    }

    /// A use of addresses that C defines only sometimes.
    pub(super) fn pointer(&mut self, run: &Run, using: &PointerUse, objects: &[i64]) -> Result<(), Stop> {
        match using {
            PointerUse::Moved(..) if objects[0] != objects[1] => {
                return Err(self.memory_error("a pointer is moved far away from its object"));
            }
            PointerUse::Ordered(..) if objects[0] != objects[1] => {
                self.missing(run, "addresses of different objects are ordered or subtracted");
            }
            PointerUse::Compared(..) if objects.contains(&DANGLING) && !objects.contains(&0) => {
                let why = "a pointer to an object that no longer exists is compared";
                return Err(Stop::Undefined(why.into()));
            }
            // What is computed from a number tells whether it matters which one it is.
            _ => {}
        }
        Ok(())
    }
}

/// Why a local variable whose place is used again is not certain to be all that there is to it.
pub(super) const STALE: &str = "another thread may still have a pointer to an earlier local variable";

/// Why an address that becomes a number is not all that there is to it.
pub(super) const NUMBER: &str = "an address is used as a number, and only one value of it was tried";
/// An object among the bytes of others.
pub(super) struct Part<'r> {
    of: &'r Bytes,
    place: Range<usize>,
}

impl<'r> Part<'r> {
    fn len(&self) -> usize {
        self.place.len()
    }

    fn range(&self, range: Range<usize>) -> Option<Cow<'r, [u16]>> {
        let base = self.place.start;
        if range.end > self.len() {
            return None;
        }
        self.of.range(base + range.start..base + range.end)
    }

    fn iter(&self) -> impl Iterator<Item = &u16> {
        self.of.iter_in(self.place.clone())
    }
}

/// Where bytes of objects are an address with a property. What no thread has written is not one: it
/// is what variables hold before the program starts, and points to nothing whose lifetime ends.
fn pointers_in(
    bytes: &Bytes,
    objects: impl Iterator<Item = Range<usize>>,
    is: impl Fn(i64) -> bool + Copy,
) -> Vec<usize> {
    let written = bytes.written();
    let mut found = Vec::new();
    for object in objects {
        let first = written.partition_point(|range| range.end <= object.start);
        for range in written[first..].iter().take_while(|range| range.start < object.end) {
            // An address may begin before what was written.
            let from = range.start.saturating_sub(7).max(object.start);
            let part = bytes.range(from..(range.end + 7).min(object.end)).unwrap_or_default();
            found.extend(pointers(&part, is).into_iter().map(|at| from + at));
        }
    }
    found
}

/// Where bytes are an address with a property.
fn pointers(bytes: &[u16], is: impl Fn(i64) -> bool) -> Vec<usize> {
    let is_one = |w: &[u16]| w[7] != 0 && w.iter().all(|&b| b < OPEN) && is(word(w));
    let words = bytes.windows(8).enumerate();
    words.filter(|(_, w)| is_one(w)).map(|(n, _)| n).collect()
}

/// The number that eight bytes are.
fn word(bytes: &[u16]) -> i64 {
    bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b))
}
