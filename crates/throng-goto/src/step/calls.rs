//! Calls: frames, parameters and results, and the local variables of functions that are called.
//!
//! Of the local variables in memory, those that other threads may come to know are allocated in
//! shared memory for as long as the call lasts, without a choice; the others follow one another in
//! the private memory of the thread. Their objects have the numbers after [`Program::locals`].

use std::ops::Range;
use std::sync::Arc;

use super::memory::STALE;
use super::{Bytes, DEAD, Event, Frame, OPEN, Run, Slot, Stepper, Stop, Thread, Variable};
use crate::program::{
    DANGLING, Expr, Instr, Int, LocalPlace, PRIVATE, Program, Reg, address, object_of, offset_of, writes,
};

/// The registers of a function at its start, and which of them are open registers of the caller.
type Parameters = (Vec<Option<i64>>, Vec<(Reg, Reg)>);

/// Maximum number of calls that have not returned. Every frame is a part of the state of a thread,
/// and a program that recurs without end has to come to one.
pub const MOST_CALLS: usize = 200;

/// Where the local variables of a function begin: in private memory, among the private objects of
/// the thread, and among its places in shared memory.
#[derive(Clone, Copy, Default)]
pub(super) struct Bases {
    bytes: usize,
    objects: usize,
    slots: usize,
}

impl Bases {
    /// Those of the function that a thread is in.
    pub(super) fn of(program: &Program, thread: &Thread) -> Bases {
        let first = thread.frames.first().map_or(thread.template, |f| f.at.template);
        let mut bases = Bases::at_start(program, first);
        for frame in &thread.frames {
            bases = bases.after(program, frame.at.template);
        }
        bases
    }

    /// Those of the first function of a thread.
    fn at_start(program: &Program, template: u32) -> Bases {
        let frame = program.templates[template as usize].frame as usize;
        Bases { bytes: program.private.len() + frame, objects: 0, slots: 0 }
    }

    /// Those behind the variables of a function.
    fn after(self, program: &Program, template: u32) -> Bases {
        let of = Bases::taken(program, template);
        Bases {
            bytes: self.bytes + of.bytes,
            objects: self.objects + of.objects,
            slots: self.slots + of.slots,
        }
    }

    /// Those of a function, by those behind its variables.
    fn before(self, program: &Program, template: u32) -> Bases {
        let of = Bases::taken(program, template);
        Bases {
            bytes: self.bytes - of.bytes,
            objects: self.objects - of.objects,
            slots: self.slots - of.slots,
        }
    }

    /// How much the variables of a function take.
    fn taken(program: &Program, template: u32) -> Bases {
        let t = &program.templates[template as usize];
        let slots = t.locals.iter().filter(|l| l.place.is_shared()).count();
        Bases { bytes: t.own_bytes() as usize, objects: t.locals.len() - slots, slots }
    }
}

impl Stepper<'_> {
    /// The functions that have not returned, the last one first, with their bases.
    fn running(&self, run: &Run) -> impl Iterator<Item = (u32, Bases)> {
        let callers = run.frames.iter().rev().map(|f| f.at.template);
        let program = self.program;
        let first = (run.template as u32, run.bases);
        let rest = callers.scan(run.bases, move |bases, template| {
            *bases = bases.before(program, template);
            Some((template, *bases))
        });
        std::iter::once(first).chain(rest)
    }

    /// Returns the address of a local variable of the running function.
    pub(super) fn local(&self, run: &Run, k: u32) -> i64 {
        let objects = self.program.objects.len() as i64;
        let object = match self.template(run).locals.get(k as usize).map(|l| l.place) {
            Some(LocalPlace::Private { number, .. }) => {
                PRIVATE + (self.program.locals.len() + run.bases.objects) as i64 + i64::from(number)
            }
            Some(LocalPlace::Shared(number)) => match run.slots.get(run.bases.slots + number as usize) {
                Some(&slot) => objects + 1 + i64::from(slot),
                None => DANGLING,
            },
            None => DANGLING,
        };
        address(object, 0)
    }

    /// Returns the private local variable of a running function that is an object, and its place in
    /// private memory.
    fn own_variable(&self, run: &Run, object: i64) -> Option<(Variable, Range<usize>)> {
        let n = usize::try_from(object - PRIVATE).ok()?.checked_sub(self.program.locals.len())?;
        let (template, bases) = self.running(run).find(|(_, bases)| bases.objects <= n)?;
        let locals = &self.program.templates[template as usize].locals;
        locals.iter().enumerate().find_map(|(k, local)| match local.place {
            LocalPlace::Private { number, offset } if number as usize == n - bases.objects => {
                let from = bases.bytes + offset as usize;
                Some((Variable { template, local: k as u32 }, from..from + local.size as usize))
            }
            _ => None,
        })
    }

    /// Returns the alignment of a private variable.
    pub(super) fn private_alignment(&self, run: &Run, v: i64) -> u32 {
        let object = object_of(v);
        let fixed = usize::try_from(object - PRIVATE).ok().and_then(|n| self.program.locals.get(n));
        match fixed {
            Some(local) => local.align,
            None => self.own_variable(run, object).map_or(1, |(of, _)| {
                self.program.templates[of.template as usize].locals[of.local as usize].align
            }),
        }
    }

    /// Returns the place of an object in private memory.
    pub(super) fn private_place(&self, run: &Run, object: i64) -> Option<Range<usize>> {
        match self.program.locals.get(usize::try_from(object - PRIVATE).ok()?) {
            Some(local) => Some(local.base as usize..(local.base + local.size) as usize),
            None => self.own_variable(run, object).map(|(_, place)| place),
        }
    }

    /// Returns the places of all objects in private memory.
    pub(super) fn private_places(&self, run: &Run) -> Vec<Range<usize>> {
        let fixed = self.program.locals.iter();
        let mut places: Vec<_> = fixed.map(|l| l.base as usize..(l.base + l.size) as usize).collect();
        for (template, bases) in self.running(run) {
            for local in &self.program.templates[template as usize].locals {
                if let LocalPlace::Private { offset, .. } = local.place {
                    let from = bases.bytes + offset as usize;
                    places.push(from..from + local.size as usize);
                }
            }
        }
        places
    }

    /// Returns whether a value is the address of a private variable of this thread.
    pub(super) fn is_private(&self, run: &Run, v: i64) -> bool {
        let own = || self.own_variable(run, object_of(v)).map(|(_, place)| place.len() as i64);
        self.program.is_private(v)
            || crate::program::is_private(v) && own().is_some_and(|size| (0..=size).contains(&offset_of(v)))
    }

    /// Returns what the analysis of addresses calls an object.
    pub(super) fn known_as(&self, run: &Run, object: i64) -> i64 {
        match self.own_variable(run, object) {
            Some((of, _)) => crate::program::local_key(of.template as usize, of.local as usize),
            None => object,
        }
    }

    /// Returns the function that a pointer points to.
    pub(super) fn called(&self, run: &Run, address: &Expr, given: &[(Expr, Int)]) -> Result<usize, Stop> {
        let v = self.value(address, run)?;
        let Some(function) = self.program.function_at(v) else {
            return Err(Stop::Undefined("a pointer is called that is not a known function".into()));
        };
        let types: Vec<Int> = given.iter().map(|(_, at)| *at).collect();
        match self.program.templates[function].takes(&types) {
            true => Ok(function),
            false => {
                let name = &self.program.templates[function].name;
                let why = format!("`{name}` is called through a pointer with other arguments than it takes");
                Err(Stop::Undefined(why))
            }
        }
    }

    /// Goes on with the code of a function.
    pub(super) fn call(&mut self, run: &mut Run, function: usize, arguments: &[Expr]) -> Result<(), Stop> {
        if run.frames.len() >= MOST_CALLS {
            return Err(Stop::Undefined(format!("calls are nested more than {MOST_CALLS} deep")));
        }
        let (registers, open) = self.parameters(run, function, arguments)?;
        let mut kept = self.live(run, run.pc + 1);
        let t = self.template(run);
        if let Some(r) = writes(&t.code[run.pc])
            && let Ok(n) = t.live[run.pc + 1].binary_search(&r)
        {
            kept[n] = None;
        }
        let frame = Arc::new(Frame { at: run.point(), registers: kept });
        run.bases = run.bases.after(self.program, run.template as u32);
        run.frames.push(frame);
        (run.template, run.pc, run.registers) = (function, 0, registers);
        run.record(Event::Called(open));
        self.enter_function(run);
        Ok(())
    }

    /// Returns the registers of a function at its start, and which parameters are open registers of
    /// the caller.
    fn parameters(&self, run: &Run, function: usize, arguments: &[Expr]) -> Result<Parameters, Stop> {
        let types = &self.program.templates[function].registers;
        let (mut registers, mut open) = (vec![None; types.len()], Vec::new());
        for (k, (e, at)) in arguments.iter().zip(types).enumerate() {
            match e {
                Expr::Reg(from) if self.stays_open(run, *from, *at, arguments) => {
                    open.push((*from, k as Reg));
                }
                e => registers[k] = self.computed(e, run)?.map(|v| at.wrap(v)),
            }
        }
        Ok((registers, open))
    }

    /// Returns whether an argument may stay open: nothing else reads the register.
    fn stays_open(&self, run: &Run, r: Reg, at: Int, arguments: &[Expr]) -> bool {
        let mut reads = 0;
        arguments.iter().for_each(|e| e.registers(&mut |other| reads += u32::from(other == r)));
        run.registers[r as usize].is_none()
            && !(self.program.undefined_values && self.is_input(run, r))
            && reads == 1
            && self.template(run).registers[r as usize] == at
            && (self.ends_function(run) || !self.is_read_later(run, r))
    }

    /// Returns whether the next instruction is the last one of its function.
    fn ends_function(&self, run: &Run) -> bool {
        matches!(self.template(run).code[run.pc], Instr::Return(_))
    }

    /// The local variables of a function that begins get their places. Their lifetimes have not
    /// begun.
    pub(super) fn enter_function(&mut self, run: &mut Run) {
        let template = run.template as u32;
        let t = self.template(run);
        run.private.resize(run.bases.bytes + t.own_bytes() as usize, &OPEN);
        for (k, local) in t.locals.iter().enumerate().filter(|(_, l)| l.place.is_shared()) {
            let heap = &mut Arc::make_mut(&mut run.memory).heap;
            let slot = heap.iter().position(|s| matches!(s, Slot::Empty | Slot::Gone)).unwrap_or(heap.len());
            let variable = Variable { template, local: k as u32 };
            let new = Slot::Local(variable, Bytes::filled(local.size as usize, &DEAD), false);
            let stale = heap.get(slot) == Some(&Slot::Gone);
            if slot == heap.len() {
                heap.push(new);
            } else {
                heap.write(slot, &[new]);
            }
            if stale && self.has_company(run) {
                self.missing(run, STALE);
            }
            run.slots.push(slot as u32);
        }
    }

    /// Goes on in the caller, behind the call.
    pub(super) fn return_to_caller(&mut self, run: &mut Run, e: Option<&Expr>) -> Result<(), Stop> {
        let Some(at) = run.frames.last().map(|f| f.at) else { return Ok(()) };
        let result = writes(self.program.instruction_at(at));
        let (mut value, mut open) = (None, None);
        if let (Some(to), Some(e)) = (result, e) {
            let at = self.program.templates[at.template as usize].registers[to as usize];
            match e {
                Expr::Reg(from) if self.stays_open(run, *from, at, std::slice::from_ref(e)) => {
                    open = Some((*from, to));
                }
                e => value = self.computed(e, run)?.map(|v| at.wrap(v)),
            }
        }
        let gone = self.leave_function(run);
        let value = value.map(|v| if gone.contains(&object_of(v)) { address(DANGLING, 0) } else { v });
        self.resume(run, result, value);
        run.record(Event::Returned(open));
        if let (Some(to), None) = (result, e) {
            run.record(Event::Opened(at, to));
        }
        Ok(())
    }

    /// The registers are those of the caller again.
    fn resume(&self, run: &mut Run, result: Option<Reg>, value: Option<i64>) {
        let Some(frame) = run.frames.pop() else { return };
        let t = &self.program.templates[frame.at.template as usize];
        let mut registers = vec![None; t.registers.len()];
        for (&r, v) in t.live[frame.at.pc as usize + 1].iter().zip(&frame.registers) {
            registers[r as usize] = *v;
        }
        if let Some(to) = result {
            registers[to as usize] = value;
        }
        run.bases = run.bases.before(self.program, frame.at.template);
        (run.template, run.pc) = (frame.at.template as usize, frame.at.pc as usize + 1);
        run.registers = registers;
    }

    /// The local variables of the running function are no more. Returns their objects.
    fn leave_function(&mut self, run: &mut Run) -> Vec<i64> {
        let t = self.template(run);
        let objects = (0..t.locals.len() as u32).map(|k| object_of(self.local(run, k)));
        let objects: Vec<i64> = objects.collect();
        for (&object, local) in objects.iter().zip(&t.locals) {
            match local.place {
                LocalPlace::Private { .. } => self.invalidate(run, object),
                LocalPlace::Shared(_) => self.leave_slot(run, object),
            }
        }
        if !t.locals.is_empty() {
            run.private.resize(run.private.len().min(run.bases.bytes), &OPEN);
            run.slots.truncate(run.bases.slots);
        }
        objects
    }

    /// A local variable that other threads may know is no more.
    fn leave_slot(&mut self, run: &mut Run, object: i64) {
        let Some(slot) = self.slot_number(address(object, 0)) else { return };
        if matches!(run.memory.heap.get(slot), Some(Slot::Local(_, _, true))) && self.has_company(run) {
            Arc::make_mut(&mut run.memory).heap.write(slot, &[Slot::Gone]);
        } else {
            self.clear_slot(run, slot);
        }
        self.invalidate(run, object);
    }

    /// The thread ends in the middle of functions. Returns the objects that end with it.
    pub(super) fn leave_functions(&mut self, run: &mut Run) -> Vec<i64> {
        let mut gone = self.leave_function(run);
        while !run.frames.is_empty() {
            self.resume(run, None, None);
            gone.extend(self.leave_function(run));
        }
        gone
    }
}
