//! Executes one statement on sets of values.

use throng_lang::bp::program::Effect;
use throng_lang::bp::program::expr::{Expr, ONE, Var, ZERO, mask};

use super::{Bits, ByHand, Common, OPEN, Thread};

/// The values that a statement reads and assigns.
#[derive(Clone, Copy)]
struct Values {
    shared: Bits,
    slots: Bits,
    new: Bits,
}

impl Values {
    fn get(&self, v: Var) -> u8 {
        match v {
            Var::Shared(i) => self.shared.get(i),
            Var::Local(i) => self.slots.get(i),
            Var::New(i) => self.new.get(i),
            Var::Other(_) | Var::OtherNew(_) => OPEN,
        }
    }

    fn with(mut self, v: Var, mask: u8) -> Values {
        match v {
            Var::Shared(i) => self.shared.set(i, mask),
            Var::Local(i) => self.slots.set(i, mask),
            Var::New(i) => self.new.set(i, mask),
            Var::Other(_) | Var::OtherNew(_) => {}
        }
        self
    }
}

/// What is known of a statement with these values.
enum Known {
    No,
    Yes(Values),
    /// It depends on this variable.
    Depends(Var),
}

/// Whether an expression can have this value.
pub(super) fn can(e: &Expr, value: bool, shared: Bits, slots: Bits) -> bool {
    let values = Values { shared, slots, new: Bits::default() };
    let found = e.eval(&|v| values.get(v));
    match e.find_free(&|v| values.get(v)) {
        _ if found.can & mask(value) == 0 => false,
        None => true,
        Some(v) => [ZERO, ONE].iter().any(|&m| {
            let half = values.with(v, m);
            can(e, value, half.shared, half.slots)
        }),
    }
}

/// Returns what has to be known before a condition is decided, or whether it can have the value.
fn decide(e: &Expr, value: bool, values: &Values) -> Result<bool, Var> {
    let found = e.eval(&|v| values.get(v));
    if found.can & mask(value) == 0 {
        return Ok(false);
    }
    match e.find_free(&|v| values.get(v)) {
        Some(v) if found.sure & mask(value) == 0 => Err(v),
        _ => Ok(true),
    }
}

fn run(effect: &Effect, faint: &[bool], mut values: Values) -> Known {
    for (e, value) in &effect.guards {
        match decide(e, *value, &values) {
            Ok(true) => {}
            Ok(false) => return Known::No,
            Err(v) => return Known::Depends(v),
        }
    }
    for (i, (_, e)) in effect.assigns.iter().enumerate() {
        let found = e.eval(&|v| values.get(v));
        if found.is_open()
            && !faint[i]
            && let Some(v) = e.find_free(&|v| values.get(v))
        {
            return Known::Depends(v);
        }
        let before = values.get(Var::New(i as u32));
        let now = if faint[i] { before } else { before & found.can };
        if now == 0 {
            return Known::No;
        }
        values = values.with(Var::New(i as u32), now);
    }
    for e in &effect.constraints {
        match decide(e, true, &values) {
            Ok(true) => {}
            Ok(false) => return Known::No,
            Err(v) => return Known::Depends(v),
        }
    }
    Known::Yes(values)
}

impl ByHand<'_> {
    /// Appends the shared variables and the thread, unless it ends, after each step of a thread.
    pub(super) fn successors(&self, common: Common, thread: Thread, out: &mut Vec<(Common, Option<Thread>)>) {
        let point = &self.program.points[thread.point as usize];
        if point.inside != common.inside {
            return;
        }
        for &id in &point.edges {
            let edge = &self.program.edges[id as usize];
            let new = Bits::of(edge.effect.assigns.iter().map(|_| OPEN));
            let mut todo = vec![Values { shared: common.variables, slots: thread.slots, new }];
            while let Some(values) = todo.pop() {
                match run(&edge.effect, &self.faint[id as usize], values) {
                    Known::No => {}
                    Known::Depends(v) => todo.extend([ZERO, ONE].map(|m| values.with(v, m))),
                    Known::Yes(values) => out.push(self.after(edge.to, &edge.effect, values)),
                }
            }
        }
    }

    fn after(&self, to: Option<u32>, effect: &Effect, values: Values) -> (Common, Option<Thread>) {
        let (mut variables, mut slots) = (values.shared, values.slots);
        for (i, (place, _)) in (0..).zip(&effect.assigns) {
            match *place {
                Var::Shared(v) => variables.set(v, values.new.get(i)),
                Var::Local(v) => slots.set(v, values.new.get(i)),
                Var::New(_) | Var::Other(_) | Var::OtherNew(_) => {}
            }
        }
        let inside = to.is_some_and(|to| self.program.points[to as usize].inside);
        let thread = to.map(|point| self.forgetful(Thread { point, slots }));
        (Common { inside, variables }, thread)
    }
}
