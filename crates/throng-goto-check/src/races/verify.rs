//! Facts are checked, in one pass over the program, and findings computed from them.

use throng_goto::program::{Instr, PRIVATE, Program, Reg, Split, Template};

use super::accesses::{Accesses, collect};
use super::arrivals::Stepped;
use super::cells;
use super::facts::{Facts, State, Sum};
use super::findings::Findings;
use super::inclusion::{Index, SOME_THREAD, Values};
use super::locks::Changed;
use super::naming::Report;
use super::pairs::{Pairs, Starts};
use super::points::{Place, Pointers, Points, Site};
use super::transfer::{Flow, RESULT};
use super::waits::{Circle, Ordered, Waits, ordered};

/// Checks that facts are right, and returns what they show about races. `Err`: they are not.
pub fn check(program: &Program, facts: &Facts) -> Result<Findings, String> {
    checked(program, facts, |split, pairs, Seen { accesses, open, .. }| {
        Report { split, pairs, accesses: &accesses, open }.findings()
    })
}

/// Checks that facts are right, and returns what they say about each access, with the program that
/// they are about: executions can be compared with that.
pub fn accesses(program: &Program, facts: &Facts) -> Result<(Split, Accesses), String> {
    let (mut split, mut found) = (None, None);
    checked(program, facts, |of, _, seen| (split, found) = (Some(of.clone()), Some(seen.accesses)))?;
    split.zip(found).ok_or_else(|| "nothing was seen".into())
}

/// Checks that facts are right, and returns what they show about deadlocks. `Err`: they are not.
pub fn order_of_waits(program: &Program, facts: &Facts) -> Result<Ordered, String> {
    if !facts.holds {
        return Err("the facts do not say which locks may be held".into());
    }
    let found = checked(program, facts, |_, pairs, seen| match seen.open.first() {
        Some(why) => Ordered::No(why.clone()),
        None => ordered(pairs.flow.program, pairs, seen.waits, facts),
    })?;
    let original = |circle: Circle| {
        let split = program.split();
        circle.into_iter().map(|(t, pc)| (split.original[t as usize] as u32, pc)).collect()
    };
    Ok(match found {
        Ordered::Circle(circle) => Ordered::Circle(original(circle)),
        other => other,
    })
}

fn checked<T>(
    program: &Program,
    facts: &Facts,
    show: impl FnOnce(&Split, &Pairs<'_>, Seen) -> T,
) -> Result<T, String> {
    let split = program.split();
    let index = Index::of(&split.program);
    let values = Values { program: &split.program, index: &index, points: &facts.points };
    has_shape(&split.program, facts)?;
    points_hold(&values)?;
    escapes_hold(&values, facts)?;
    let flow = Flow::new(values, &facts.escaped, facts.holds);
    let mut walk = Walk { flow: &flow, facts, seen: Seen::default() };
    walk.program()?;
    let mut seen = walk.seen;
    let starts = std::mem::take(&mut seen.starts);
    let pairs = Pairs::new(&flow, facts, seen.changed.by_site(), starts, &seen.stepped);
    Ok(show(&split, &pairs, seen))
}

fn has_shape(program: &Program, facts: &Facts) -> Result<(), String> {
    let n = program.templates.len();
    let registers = |(t, known): (&Template, &Vec<_>)| t.registers.len() == known.len();
    let points = &facts.points;
    let right = points.registers.len() == n
        && program.templates.iter().zip(&points.registers).all(registers)
        && points.returned.len() == n
        && facts.at.len() == n
        && facts.exits.len() == n;
    let names = Names { program, cells: cells::count(program) };
    let right = right && names.points(points) && facts.escaped.iter().all(|site| names.site(*site));
    let right = right
        && program.templates.iter().enumerate().all(|(t, template)| {
            let exit = facts.exits[t].iter().all(|s| names.state(template, s, true));
            exit && facts.at[t].values().flatten().all(|s| names.state(template, s, false))
        });
    if right { Ok(()) } else { Err("the facts are about another program".into()) }
}

/// What facts may name: what is in the program.
struct Names<'p> {
    program: &'p Program,
    cells: usize,
}

impl Names<'_> {
    fn site(&self, site: Site) -> bool {
        let place = |(t, pc): Place| {
            self.program.templates.get(t as usize).is_some_and(|t| (pc as usize) < t.code.len())
        };
        match site {
            Site::Object(o) => (1..=self.program.objects.len() as i64).contains(&o),
            Site::Private(o) => (PRIVATE..PRIVATE + self.program.locals.len() as i64).contains(&o),
            Site::Function(n) => (n as usize) < self.program.functions.len(),
            Site::Local(t, k) => {
                self.program.templates.get(t as usize).is_some_and(|t| (k as usize) < t.locals.len())
            }
            Site::Heap(at) => place(at),
            Site::Thread(at) => site == SOME_THREAD || place(at),
            Site::Unknown => true,
        }
    }

    fn points(&self, points: &Points) -> bool {
        let pointers = |p: &Pointers| p.sites().all(|site| self.site(site));
        points.registers.iter().flatten().all(pointers)
            && points.returned.iter().all(pointers)
            && points
                .memory
                .iter()
                .all(|(site, list)| self.site(*site) && list.iter().all(|(_, content)| pointers(content)))
    }

    fn state(&self, template: &Template, state: &State, exit: bool) -> bool {
        let cell = |r: Reg| r.checked_sub(cells::FIRST).is_some_and(|n| (n as usize) < self.cells);
        let register = |r: &Reg| (*r as usize) < template.registers.len() || cell(*r);
        let sum =
            |s: &Sum| s.base.is_none_or(|site| self.site(site)) && s.terms.iter().all(|t| register(&t.0));
        let thread = |t: &u32| (*t as usize) < self.program.templates.len();
        state.locks.iter().all(|l| sum(&l.address))
            && state.held.iter().all(|h| h.address.iter().all(sum) && self.site(h.site))
            && state.equal.iter().all(|(r, s)| register(r) && sum(s))
            && state.known.keys().all(register)
            && state.owned.keys().all(|r| *r < cells::FIRST && register(r) || exit && *r == RESULT)
            && state.alive.keys().chain(state.crowds.keys()).all(&thread)
            && state.less.iter().all(|(r, b)| register(r) && sum(&b.sum))
            && state.elements.iter().all(|(r, (t, index))| register(r) && thread(t) && sum(index))
            && state.crowds.values().all(|crowd| crowd.sums().all(sum))
            && state.counts.values().all(|count| count.sums().all(sum))
    }
}

fn points_hold(values: &Values<'_>) -> Result<(), String> {
    let mut wrong = None;
    values.at_start(&mut |holder, required| {
        if !values.holds(holder, &required) {
            wrong = Some("an address is in memory at the start, and not in the facts".to_string());
        }
    });
    for (t, template) in values.program.templates.iter().enumerate() {
        for pc in 0..template.code.len() {
            values.requires(t, pc, &mut |holder, required| {
                if !values.holds(holder, &required) && wrong.is_none() {
                    wrong =
                        Some(format!("{}: an address goes where the facts have none", line(values, t, pc)));
                }
            });
        }
    }
    wrong.map_or(Ok(()), Err)
}

fn line(values: &Values<'_>, t: usize, pc: usize) -> String {
    format!("line {}", values.program.origin(t, pc).line)
}

/// Checks that what can be reached from what all threads know is said to escape.
fn escapes_hold(values: &Values<'_>, facts: &Facts) -> Result<(), String> {
    let mut wrong = None;
    escaping(values, &|site| facts.escaped.contains(&site), &mut |site| {
        if !facts.escaped.contains(&site) {
            wrong = Some("an object escapes of which the facts do not say so".to_string());
        }
    });
    wrong.map_or(Ok(()), Err)
}

/// Calls `add` on the objects that other threads may come to know: those that threads are handed or
/// end with, and those in variables and in objects that `escaped` names.
pub fn escaping(values: &Values<'_>, escaped: &dyn Fn(Site) -> bool, add: &mut dyn FnMut(Site)) {
    for (site, entries) in &values.points.memory {
        if matches!(site, Site::Object(_) | Site::Unknown) || escaped(*site) {
            entries.iter().flat_map(|(_, content)| content.sites()).for_each(&mut *add);
        }
    }
    for &t in &values.index.starts {
        values.points.returned[t].sites().for_each(&mut *add);
    }
    for (t, template) in values.program.templates.iter().enumerate() {
        for i in &template.code {
            if let Instr::Spawn(_, arguments, _) = i {
                arguments.iter().for_each(|e| values.of(t, e).sites().for_each(&mut *add));
            }
        }
    }
}

/// What was seen on the way.
#[derive(Default)]
struct Seen {
    accesses: Accesses,
    changed: Changed,
    starts: Starts,
    stepped: Stepped,
    waits: Waits,
    open: Vec<String>,
}

struct Walk<'a> {
    flow: &'a Flow<'a>,
    facts: &'a Facts,
    seen: Seen,
}

impl Walk<'_> {
    fn program(&mut self) -> Result<(), String> {
        let program = self.flow.program;
        for t in program.first_templates() {
            self.claimed(t, 0, &self.flow.at_start(t))?;
        }
        for t in 0..program.templates.len() {
            for (&pc, states) in &self.facts.at[t] {
                let pc = pc as usize;
                if pc >= program.templates[t].code.len() || !self.flow.code[t].is_head(pc) {
                    return Err("a fact is about an instruction where no ways meet".into());
                }
                states.iter().try_for_each(|state| self.block(t, pc, state))?;
            }
        }
        Ok(())
    }

    fn claimed(&self, t: usize, pc: usize, state: &State) -> Result<(), String> {
        let known = self.facts.at[t].get(&(pc as u32));
        match known.is_some_and(|list| list.iter().any(|claimed| claimed.covers(state))) {
            true => Ok(()),
            false => Err(format!("{}: what is claimed does not follow", line(&self.flow.values, t, pc))),
        }
    }

    /// Follows the code from an instruction to where facts are claimed again.
    fn block(&mut self, t: usize, pc: usize, state: &State) -> Result<(), String> {
        let mut work = vec![(pc, state.clone())];
        while let Some((pc, state)) = work.pop() {
            self.instruction((t, pc), &state)?;
            for (to, then) in self.flow.after((t, pc), &state, self.facts) {
                if self.flow.code[t].is_head(to) {
                    self.claimed(t, to, &then)?;
                } else {
                    work.push((to, then));
                }
            }
        }
        Ok(())
    }

    fn instruction(&mut self, at: (usize, usize), state: &State) -> Result<(), String> {
        let (t, pc) = at;
        for (to, then) in self.flow.enters(at, state) {
            self.claimed(to, 0, &then)?;
        }
        if let Some(left) = self.flow.leaves(at, state)
            && !self.facts.exits[t].as_ref().is_some_and(|claimed| claimed.covers(&left))
        {
            return Err(format!(
                "{}: what is claimed where it returns does not follow",
                line(&self.flow.values, t, pc)
            ));
        }
        if matches!(self.flow.code[t].t.code[pc], Instr::Spawn(..)) {
            let started = &mut self.seen.starts.states;
            let joined = started.get(&Flow::place(at)).map_or(state.clone(), |known| known.join(state));
            started.insert(Flow::place(at), joined);
            let step = self.flow.step_of_arguments(at, state, self.facts);
            let known = self.seen.starts.steps.entry(Flow::place(at)).or_insert(step);
            *known = (*known).min(step);
        }
        self.seen.changed.look(self.flow, at, state);
        self.seen.stepped.look(self.flow, at, state);
        if self.flow.holds {
            self.seen.waits.look(self.flow, at, state);
        }
        if let Some(why) = self.open(at, state) {
            let why = format!("{}: {why}", line(&self.flow.values, t, pc));
            if !self.seen.open.contains(&why) {
                self.seen.open.push(why);
            }
        }
        Ok(())
    }

    /// Looks at what an instruction accesses; returns what is not known about it.
    fn open(&mut self, (t, pc): (usize, usize), state: &State) -> Option<String> {
        let values = &self.flow.values;
        match &self.flow.code[t].t.code[pc] {
            Instr::Unmodelled(_) if self.is_other_function(t, pc) => None,
            Instr::Unmodelled(what) => Some(what.clone()),
            Instr::CallPointer { address, arguments, .. } => {
                let types: Vec<_> = arguments.iter().map(|(_, at)| *at).collect();
                let other = values.called(t, address, &types).1;
                other.then(|| "a call through a pointer that may not point to a known function".into())
            }
            _ => collect(self.flow, (t, pc), state, &mut self.seen.accesses),
        }
    }

    /// Returns whether an instruction is only come to if a pointer points to none of the functions
    /// that it may point to, because it was compared with all of them before.
    fn is_other_function(&self, t: usize, pc: usize) -> bool {
        use throng_goto::program::{BinOp, Expr};
        let code = &self.flow.code[t];
        let (mut at, mut compared, mut register) = (pc, Vec::new(), None);
        while let [before] = code.before[at][..] {
            let Instr::Branch(Expr::Bin(BinOp::Eq, x, y, _), yes, no) = &code.t.code[before] else { break };
            let (Expr::Reg(r), Expr::Const(f)) = (&**x, &**y) else { break };
            if *no != at || yes == no || register.is_some_and(|q| q != *r) {
                break;
            }
            register = Some(*r);
            compared.extend(self.flow.values.constant(*f).sites());
            at = before;
        }
        let Some(r) = register else { return false };
        let pointers = self.flow.values.points.register(t, r);
        let function = |site: &Site| matches!(site, Site::Function(_));
        !pointers.is_empty()
            && compared.iter().all(function)
            && pointers.sites().all(|site| compared.contains(&site))
    }
}

/// Returns the original of an instruction of a program with copies.
pub(super) fn original(split: &Split, place: Place) -> throng_goto::program::Point {
    throng_goto::program::Point { template: split.original[place.0 as usize] as u32, pc: place.1 }
}
