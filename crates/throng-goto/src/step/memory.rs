//! Objects in memory: bounds, lifetimes, allocation, and where addresses of objects are.
//!
//! Every object is told apart from its neighbours, so that an access is either inside the object of
//! its pointer or a memory error. What no longer exists is not accessed unnoticed: the bytes of a
//! local variable are [`DEAD`] once its block is left, pointers to it in memory and in its thread
//! become such that no object has, and memory that was freed while other threads may know it is
//! kept apart.

use std::sync::Arc;

use super::{DEAD, MOST_FREED, OPEN, Run, Slot, Stepper, Stop};
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
        let near = object.get(low..high).unwrap_or_default();
        let is_address = |v: i64| {
            let known = usize::try_from(object_of(v) - 1).is_ok_and(|o| o < self.program.objects.len());
            known || self.slot(run, v).is_some() || self.is_private(run, v)
        };
        pointers(near, is_address).into_iter().map(|at| word(&near[at..at + 8])).collect()
    }

    /// The bytes of an access. A variable that is accessed by its `named` address is alive.
    pub(super) fn bytes<'r>(&self, run: &'r Run, a: i64, size: u8, named: bool) -> Result<&'r [u16], Stop> {
        let object = self.object(run, object_of(a)).map_err(|why| self.memory_error(why))?;
        let from = usize::try_from(offset_of(a)).unwrap_or(usize::MAX / 2);
        let Some(bytes) = object.get(from..from + usize::from(size)) else {
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
        let object = self.object(run, object_of(a)).unwrap_or_default();
        let at = usize::try_from(offset_of(a)).ok();
        at.is_some_and(|at| floating::cuts_open_nan(object, at, size.into()))
    }

    /// The bytes of an object, or why there are none.
    pub(super) fn object<'r>(&self, run: &'r Run, object: i64) -> Result<&'r [u16], &'static str> {
        if object >= PRIVATE {
            let Some(place) = self.private_place(run, object) else {
                return Err("an access is where no object is");
            };
            return run.private.get(place).ok_or("an access is to another thread's variable");
        }
        match object {
            0 => return Err("a null pointer is dereferenced"),
            DANGLING => return Err("a pointer is used whose object no longer exists"),
            FUNCTION.. => return Err("a function is accessed like a variable"),
            _ => {}
        }
        let number = usize::try_from(object - 1).unwrap_or(usize::MAX);
        if let Some(o) = self.program.objects.get(number) {
            return Ok(&run.memory.fixed[o.base..o.base + o.init.len()]);
        }
        match run.memory.heap.get(number.wrapping_sub(self.program.objects.len())) {
            Some(Slot::Used(bytes, _) | Slot::Local(_, bytes, _)) => Ok(bytes),
            Some(Slot::Empty | Slot::Freed) => Err("memory is used after it was freed"),
            Some(Slot::Gone) => Err("a local variable is used after its lifetime"),
            None => Err("an access is where no object is"),
        }
    }

    /// The same bytes, to be written.
    fn object_mut<'r>(&self, run: &'r mut Run, object: i64) -> Option<&'r mut [u16]> {
        if object >= PRIVATE {
            let place = self.private_place(run, object)?;
            return run.private.get_mut(place);
        }
        let number = usize::try_from(object - 1).ok()?;
        let memory = Arc::make_mut(&mut run.memory);
        if let Some(o) = self.program.objects.get(number) {
            return memory.fixed.get_mut(o.base..o.base + o.init.len());
        }
        match memory.heap.get_mut(number - self.program.objects.len()) {
            Some(Slot::Used(bytes, _) | Slot::Local(_, bytes, _)) => Some(bytes),
            _ => None,
        }
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
        self.bytes(run, a, new.len() as u8, named)?;
        if self.program.object_at(a).is_some_and(|o| o.name.starts_with('"')) {
            return Err(self.memory_error("a string literal is written"));
        }
        let from = offset_of(a) as usize;
        if let Some(bytes) = self.object_mut(run, object_of(a)) {
            bytes[from..from + new.len()].copy_from_slice(new);
        }
        Ok(())
    }

    /// Returns whether other threads may be running.
    pub(super) fn has_company(&self, run: &Run) -> bool {
        let ended = &run.memory.ended;
        match ended.is_empty() {
            true => self.program.concurrent,
            false => ended.iter().enumerate().any(|(i, e)| i != self.thread.id as usize && e.is_none()),
        }
    }

    /// A value goes where other threads can read it.
    pub(super) fn publish(&self, run: &mut Run, v: i64) {
        let Some(Slot::Used(_, false) | Slot::Local(_, _, false)) = self.slot(run, v) else { return };
        let slots = &mut Arc::make_mut(&mut run.memory).heap;
        if let Some(Slot::Used(_, published) | Slot::Local(_, _, published)) =
            self.slot_number(v).and_then(|n| slots.get_mut(n))
        {
            *published = true;
        }
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

    /// Allocates: at a new address, or at one that was freed. Continues in `work`.
    pub(super) fn allocate(&mut self, run: &mut Run, r: Reg, size: usize) -> bool {
        let heap = &run.memory.heap;
        let mut slots: Vec<usize> = (0..heap.len()).filter(|&s| heap[s] == Slot::Freed).collect();
        if slots.len() < MOST_FREED {
            slots.push(heap.iter().position(|s| *s == Slot::Empty).unwrap_or(heap.len()));
        } else {
            self.missing(format!("only {MOST_FREED} freed objects are told apart from new ones"));
        }
        for slot in slots {
            let mut next = run.clone();
            let heap = &mut Arc::make_mut(&mut next.memory).heap;
            if slot == heap.len() {
                heap.push(Slot::Empty);
            }
            heap[slot] = Slot::Used(vec![OPEN; size], false);
            let object = (self.program.objects.len() + 1 + slot) as i64;
            next.registers[r as usize] = Some(address(object, 0));
            next.pc += 1;
            self.work.push(next);
        }
        false
    }

    pub(super) fn free(&mut self, run: &mut Run, a: i64) -> Result<(), Stop> {
        if a == 0 {
            return Ok(());
        }
        let found = self.slot_number(a).and_then(|s| run.memory.heap.get(s).map(|slot| (s, slot)));
        let (slot, bytes, published) = match found {
            Some((slot, Slot::Used(bytes, published))) => (slot, bytes, published),
            Some((_, Slot::Empty | Slot::Freed)) => return Err(self.memory_error("memory is freed twice")),
            None | Some((_, Slot::Local(..) | Slot::Gone)) => {
                return Err(self.memory_error("something is freed that was not allocated"));
            }
        };
        if offset_of(a) != 0 {
            return Err(self.memory_error("a pointer into the middle of allocated memory is freed"));
        }
        let (size, published) = (bytes.len() as u32, *published);
        // To free is to write, for races.
        self.touch(run, a, size, true);
        if published && self.has_company(run) {
            Arc::make_mut(&mut run.memory).heap[slot] = Slot::Freed;
            return Ok(());
        }
        self.clear_slot(run, slot);
        self.invalidate(run, object_of(a));
        Ok(())
    }

    /// Nothing is in a place any more, and nothing points there.
    pub(super) fn clear_slot(&self, run: &mut Run, slot: usize) {
        let heap = &mut Arc::make_mut(&mut run.memory).heap;
        heap[slot] = Slot::Empty;
        while heap.last() == Some(&Slot::Empty) {
            heap.pop();
        }
    }

    /// A local variable is alive from here on, without a value.
    pub(super) fn begins(&mut self, run: &mut Run, a: i64, size: usize) {
        let object = object_of(a);
        let known = usize::try_from(object - 1).ok().and_then(|o| self.program.objects.get(o));
        let again = self.object(run, object).is_ok_and(|bytes| bytes.contains(&DEAD));
        let leaves = match known {
            Some(o) => o.leaves,
            None => matches!(self.slot(run, a), Some(Slot::Local(_, _, true))),
        };
        if again && leaves && self.has_company(run) {
            self.missing(STALE);
        }
        if self.object(run, object).is_ok_and(|bytes| bytes.iter().any(|&b| b != OPEN))
            && let Some(bytes) = self.object_mut(run, object)
        {
            bytes[..size].fill(OPEN);
        }
    }

    /// The lifetime of a local variable ends, and pointers to it have no value any more.
    pub(super) fn ends(&mut self, run: &mut Run, a: i64, size: usize) {
        if self.object(run, object_of(a)).is_ok_and(|bytes| bytes.iter().any(|&b| b != DEAD))
            && let Some(bytes) = self.object_mut(run, object_of(a))
        {
            bytes[..size].fill(DEAD);
        }
        self.invalidate(run, object_of(a));
    }

    /// Pointers to an object that is gone, in memory and in this thread, become such that no
    /// object has.
    pub(super) fn invalidate(&self, run: &mut Run, object: i64) {
        let gone = |v: i64| object_of(v) == object;
        let nowhere = address(DANGLING, 0);
        let (holders, known_as) = (&self.program.holders, self.known_as(run, object));
        for &r in holders.registers(self.program, run.template, known_as) {
            if let Some(v) = run.registers[r as usize].as_mut().filter(|v| gone(**v)) {
                *v = nowhere;
            }
        }
        let callers = run.frames.iter_mut().flat_map(|f| &mut f.registers).flatten();
        callers.filter(|v| gone(**v)).for_each(|v| *v = nowhere);
        if !holders.in_memory(self.program, known_as) {
            return;
        }
        let clear = |bytes: &mut [u16]| {
            for at in pointers(bytes, gone) {
                for (k, b) in bytes[at..at + 8].iter_mut().enumerate() {
                    *b = (nowhere >> (8 * k) & 255) as u16;
                }
            }
        };
        for place in self.private_places(run) {
            run.private.get_mut(place).into_iter().for_each(clear);
        }
        if object >= PRIVATE {
            // It could not be stored anywhere else.
            return;
        }
        let places = self.program.objects.iter().map(|o| o.base..o.base + o.init.len());
        let fixed: Vec<_> =
            places.filter(|at| !pointers(&run.memory.fixed[at.clone()], gone).is_empty()).collect();
        let used = |s: &Slot| matches!(s, Slot::Used(bytes, _) | Slot::Local(_, bytes, _) if !pointers(bytes, gone).is_empty());
        if fixed.is_empty() && !run.memory.heap.iter().any(used) {
            return;
        }
        let memory = Arc::make_mut(&mut run.memory);
        fixed.into_iter().for_each(|at| clear(&mut memory.fixed[at]));
        for slot in &mut memory.heap {
            if let Slot::Used(bytes, _) | Slot::Local(_, bytes, _) = slot {
                clear(bytes);
            }
        }
    }

    /// A use of addresses that C defines only sometimes.
    pub(super) fn pointer(&mut self, using: &PointerUse, objects: &[i64]) -> Result<(), Stop> {
        match using {
            PointerUse::Moved(..) if objects[0] != objects[1] => {
                return Err(self.memory_error("a pointer is moved far away from its object"));
            }
            PointerUse::Ordered(..) if objects[0] != objects[1] => {
                self.missing("addresses of different objects are ordered or subtracted");
            }
            PointerUse::Compared(..) if objects.contains(&DANGLING) && !objects.contains(&0) => {
                let why = "a pointer to an object that no longer exists is compared";
                return Err(Stop::Undefined(why.into()));
            }
            // What is computed from it tells whether it matters which number it is.
            PointerUse::Number(_) => {}
            _ => {}
        }
        Ok(())
    }
}

/// Why a local variable whose place is used again is not certain to be all that there is to it.
pub(super) const STALE: &str = "another thread may still have a pointer to an earlier local variable";

/// Why an address that becomes a number is not all that there is to it.
pub(super) const NUMBER: &str = "an address is used as a number, and only one value of it was tried";

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
