//! Executes Boolean programs, slowly and simply, for the checker.
//!
//! A thread is a stack of (function, statement) and a value for each variable of each call.
//! Statements are executed on values: a read of a variable that may have either value fails, the
//! state is split in two, and the statement is executed again on each half (`Interpreter::solve`).
//! A variable that is not read stays open, so thirty unread variables are one state. Backward, the
//! same execution runs from the states that agree with the result on the variables that the
//! statement does not assign, and keeps those that lead there. Nothing here is compiled, and
//! nothing is shared with the model of the engines but the parser and the resolution of names
//! ([`Resolved`]).

mod control;
mod model;
mod properties;

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Mutex, OnceLock, PoisonError};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use self::control::{Control, Move};
use crate::certificate::Namer;
use crate::certificate::names::{
    LocalName, LocalValues, SharedName, SharedValues, known, local_variable, masks,
};
use throng_lang::bp;
use throng_lang::bp::function::{Kind, Name, Ref, Resolved};
use throng_lang::bp::program::Cubes;
use throng_lang::bp::program::expr::{Cube, Expr, FREE, ONE, ZERO, mask};
use throng_lang::bp::program::waiting::Nodes;
use throng_lang::source::LineIndex;
use throng_model::problem::Initial;
use throng_model::{Local, Shared};

/// Maximum number of case splits for one statement.
const MOST_SPLITS: u32 = 1 << 14;

/// A program, executed from its functions.
pub struct Interpreter {
    control: Control,
    /// The starts of lines in the text.
    lines: LineIndex,
    keep_ended: bool,
    shared: Numbering<(bool, Cube)>,
    local: Numbering<(u32, Cube)>,
    /// Edges of steps: the move, and the values that bystanders read.
    edges: Numbering<(u32, Values)>,
    index: model::Index,
    gave_up: OnceLock<String>,
    /// The statements at which a thread may wait in a loop.
    waiting: Nodes,
}

/// Values and their numbers.
struct Numbering<T>(Mutex<IndexSet<T, FxBuildHasher>>);

impl<T: Hash + Eq + Clone> Numbering<T> {
    fn new() -> Numbering<T> {
        Numbering(Mutex::new(IndexSet::default()))
    }

    fn number(&self, value: T) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert_full(value).0 as u64
    }

    fn value(&self, number: u64) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[number as usize].clone()
    }

    /// Compares two values.
    fn compare<R>(&self, a: u64, b: u64, how: impl Fn(&T, &T) -> R) -> R {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        how(&values[a as usize], &values[b as usize])
    }
}

/// The values of one step; each may be 0, 1, or either.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Values {
    shared: Cube,
    local: Cube,
    /// The values of the statement's assignments, one by one.
    new: Cube,
    /// The values of a bystander, and those that the statement assigns to it.
    other: Cube,
    other_new: Cube,
}

/// One of [`Values`].
#[derive(Clone, Copy, Debug)]
enum Slot {
    Shared(usize),
    Local(usize),
    New(usize),
    Other(usize),
    OtherNew(usize),
}

impl Values {
    fn at(&mut self, slot: Slot) -> &mut u8 {
        match slot {
            Slot::Shared(i) => &mut self.shared[i],
            Slot::Local(i) => &mut self.local[i],
            Slot::New(i) => &mut self.new[i],
            Slot::Other(i) => &mut self.other[i],
            Slot::OtherNew(i) => &mut self.other_new[i],
        }
    }

    /// Returns the value, or the slot if it may be either.
    fn read(&self, slot: Slot) -> Result<u8, Slot> {
        let value = match slot {
            Slot::Shared(i) => self.shared[i],
            Slot::Local(i) => self.local[i],
            Slot::New(i) => self.new[i],
            Slot::Other(i) => self.other[i],
            Slot::OtherNew(i) => self.other_new[i],
        };
        if value == FREE { Err(slot) } else { Ok(value) }
    }
}

/// Returns all values that an expression can have, given the values of its variables: every `*` is
/// chosen independently.
fn eval<V>(e: &Expr<V>, read: &dyn Fn(&V) -> Result<u8, Slot>) -> Result<u8, Slot> {
    let swap = |m: u8| (m & ZERO) << 1 | (m & ONE) >> 1;
    // One operand that can only be `stop` decides, regardless of the others.
    let chain = |es: &[Expr<V>], stop: u8| {
        let values: Vec<Result<u8, Slot>> = es.iter().map(|e| eval(e, read)).collect();
        if values.iter().any(|v| matches!(v, Ok(v) if *v == stop)) {
            return Ok(stop);
        }
        let mut all = swap(stop);
        for value in values {
            let value = value?;
            all = (all & value & swap(stop)) | ((all | value) & stop);
        }
        Ok(all)
    };
    match e {
        Expr::Const(v) => Ok(mask(*v)),
        Expr::Any => Ok(FREE),
        Expr::Var(v) => read(v),
        Expr::Not(e) => Ok(swap(eval(e, read)?)),
        Expr::And(es) => chain(es, ZERO),
        Expr::Or(es) => chain(es, ONE),
        Expr::Xor(es) => es.iter().try_fold(ZERO, |all, e| {
            let value = eval(e, read)?;
            Ok(if all == FREE || value == FREE {
                FREE
            } else if value == ONE {
                swap(all)
            } else {
                all
            })
        }),
        Expr::Conditional(cab) => {
            let condition = eval(&cab[0], read)?;
            let yes = if condition & ONE == 0 { 0 } else { eval(&cab[1], read)? };
            let no = if condition & ZERO == 0 { 0 } else { eval(&cab[2], read)? };
            Ok(yes | no)
        }
    }
}

/// The target of an assignment, in the thread after the step.
#[derive(Clone, Copy, PartialEq, Debug)]
enum To {
    Shared(usize),
    Local(usize),
}

/// The assigned value.
enum Source<'a> {
    Expr(&'a Expr<Ref>),
    Mask(u8),
}

/// The effect of one move.
struct Plan<'a> {
    guard: Option<(&'a Expr<Ref>, bool)>,
    /// The condition that keeps the statement within ranges and arrays, in the scope of the
    /// assigned expressions.
    check: Option<&'a Expr<Ref>>,
    assigns: Vec<(To, Source<'a>)>,
    /// The names of the first of them in constraints.
    names: Vec<Name>,
    /// The assignments to every bystander.
    theirs: Vec<(Name, &'a Expr<Ref>)>,
    constraints: &'a [Expr<Ref>],
    /// The function in whose scope guard and constraints are, and the slot of its first variable.
    function: usize,
    base: usize,
    /// The first slot of the scope of the assigned expressions.
    source_base: usize,
    /// Number of variables of the thread that stay.
    keep: usize,
    /// Number of variables afterwards.
    width: usize,
}

fn is_other(e: &Expr<Ref>) -> bool {
    e.mentions(|r| r.name.is_other())
}

impl Plan<'_> {
    /// Returns the expressions that read bystanders' variables, or are assigned to them.
    fn passive(&self) -> impl Iterator<Item = &Expr<Ref>> {
        let guard = self.guard.iter().map(|g| g.0).filter(|e| is_other(e));
        let constraints = self.constraints.iter().filter(|e| is_other(e));
        guard.chain(constraints).chain(self.theirs.iter().map(|t| t.1))
    }

    fn is_passive(&self) -> bool {
        !self.theirs.is_empty() || self.passive().next().is_some()
    }

    /// Returns whether only threads with an activation of the function take part.
    fn needs_frame(&self) -> bool {
        let local = |n: Name| matches!(n, Name::OtherLocal(_));
        self.theirs.iter().any(|t| local(t.0)) || self.passive().any(|e| e.mentions(|r| local(r.name)))
    }

    fn constrains(&self, name: Name) -> bool {
        self.constraints.iter().any(|e| e.mentions(|r| r.primed && r.name == name))
    }
}

impl Interpreter {
    /// Creates an interpreter of a program text; `None` if it is refused. With `exact` copies,
    /// parent and child agree even on variables that one of them never reads: thread states are
    /// then exact.
    pub fn new(text: &str, keep_ended: bool, exact: bool) -> Option<Interpreter> {
        Interpreter::of(bp::resolved(text)?, text, keep_ended, exact)
    }

    /// Of a tree; spans in it are into `text`.
    pub(super) fn of_tree(
        tree: &bp::ast::Program,
        text: &str,
        keep_ended: bool,
        exact: bool,
    ) -> Option<Interpreter> {
        Interpreter::of(bp::resolved_tree(tree, text)?, text, keep_ended, exact)
    }

    fn of(program: Resolved, text: &str, keep_ended: bool, exact: bool) -> Option<Interpreter> {
        let mut interpreter = Interpreter {
            waiting: bp::waiting_nodes(&program, text)?,
            control: Control::new(program, exact),
            index: model::Index::default(),
            lines: LineIndex::new(text),
            keep_ended,
            shared: Numbering::new(),
            local: Numbering::new(),
            edges: Numbering::new(),
            gave_up: OnceLock::new(),
        };
        interpreter.index = model::Index::new(&interpreter);
        Some(interpreter)
    }

    fn program(&self) -> &Resolved {
        &self.control.program
    }

    /// Splits `values` until `run` can decide, and returns those for which it returns `true`.
    fn solve(&self, values: Values, run: &dyn Fn(&mut Values) -> Result<bool, Slot>) -> Vec<Values> {
        let (mut todo, mut found, mut left) = (vec![values], Vec::new(), MOST_SPLITS);
        while let Some(values) = todo.pop() {
            let mut now = values.clone();
            match run(&mut now) {
                Ok(true) => found.push(now),
                Ok(false) => {}
                Err(slot) if left > 0 => {
                    left -= 1;
                    for value in [ONE, ZERO] {
                        let mut half = values.clone();
                        *half.at(slot) = value;
                        todo.push(half);
                    }
                }
                Err(_) => {
                    self.gave_up.get_or_init(|| "a statement has too many cases".into());
                    return found;
                }
            }
        }
        found
    }

    fn plan(&self, m: &Move) -> Plan<'_> {
        let spot = &self.control.spots[m.from as usize];
        let (function, node) = spot.top();
        let width = spot.width;
        let mut plan = Plan {
            guard: None,
            check: self.program().functions[function].nodes[node].check.as_ref(),
            assigns: Vec::new(),
            names: Vec::new(),
            theirs: Vec::new(),
            constraints: &[],
            function,
            base: spot.base,
            source_base: spot.base,
            keep: width,
            width,
        };
        match &self.program().functions[function].nodes[node].kind {
            Kind::Assume { condition, .. }
            | Kind::Branch { condition, .. }
            | Kind::Assert { condition, .. } => {
                plan.guard = Some((condition, m.branch));
            }
            Kind::Assign { assigns, constraints, .. } => {
                for (name, e) in assigns {
                    match self.destination(*name, plan.base) {
                        Some(to) => {
                            plan.names.push(*name);
                            plan.assigns.push((to, Source::Expr(e)));
                        }
                        None => plan.theirs.push((*name, e)),
                    }
                }
                plan.constraints = constraints;
            }
            Kind::Call { callee, arguments, .. } => self.enter(&mut plan, width, *callee, arguments),
            Kind::TailCall { callee, arguments } => {
                self.enter(&mut plan, self.program().thread_locals.len(), *callee, arguments);
            }
            Kind::Return { results } if spot.stack.len() > 1 => {
                let (caller, call) = spot.stack[spot.stack.len() - 2];
                let outer = &self.program().functions[caller];
                (plan.function, plan.base) = (caller, spot.base - outer.variables.len());
                (plan.keep, plan.width) = (spot.base, spot.base);
                if let Kind::Call { targets, constraints, .. } = &outer.nodes[call].kind {
                    plan.constraints = constraints;
                    for (i, name) in targets.iter().enumerate() {
                        let Some(to) = name.and_then(|n| self.destination(n, plan.base)) else { continue };
                        let result = results.as_ref().and_then(|r| r.get(i));
                        plan.names.extend(*name);
                        plan.assigns.push((to, result.map_or(Source::Mask(FREE), Source::Expr)));
                    }
                }
            }
            _ => {}
        }
        plan
    }

    /// Adds the assignments of a call: parameters get the arguments, locals their initial values.
    fn enter<'a>(&'a self, plan: &mut Plan<'a>, base: usize, callee: usize, arguments: &'a [Expr<Ref>]) {
        let variables = &self.program().functions[callee].variables;
        (plan.keep, plan.width) = (base, base + variables.len());
        for (i, variable) in variables.iter().enumerate() {
            let source = arguments.get(i).map_or(Source::Mask(variable.initial), Source::Expr);
            plan.assigns.push((To::Local(base + i), source));
        }
    }

    /// Returns the target of an assignment to a variable; `None` for one of a bystander.
    fn destination(&self, name: Name, base: usize) -> Option<To> {
        match name {
            Name::Shared(i) => Some(To::Shared(i as usize)),
            Name::ThreadLocal(i) => Some(To::Local(i as usize)),
            Name::Local(i) => Some(To::Local(base + i as usize)),
            Name::OtherThreadLocal(_) | Name::OtherLocal(_) => None,
        }
    }

    /// Returns the slot of a variable; `other` is the first slot of the bystander's call.
    fn slot(plan: &Plan, r: &Ref, base: usize, other: usize) -> Slot {
        if r.primed {
            if let Some(k) = plan.names.iter().position(|n| *n == r.name) {
                return Slot::New(k);
            }
            if let Some(k) = plan.theirs.iter().position(|t| t.0 == r.name) {
                return Slot::OtherNew(k);
            }
        }
        match r.name {
            Name::Shared(i) => Slot::Shared(i as usize),
            Name::ThreadLocal(i) => Slot::Local(i as usize),
            Name::Local(i) => Slot::Local(base + i as usize),
            Name::OtherThreadLocal(i) => Slot::Other(i as usize),
            Name::OtherLocal(i) => Slot::Other(other + i as usize),
        }
    }

    /// Reads a variable; without a bystander, its variables are free.
    fn read(plan: &Plan, values: &Values, r: &Ref, base: usize, other: Option<usize>) -> Result<u8, Slot> {
        match other {
            None if r.name.is_other() => Ok(FREE),
            other => values.read(Self::slot(plan, r, base, other.unwrap_or(0))),
        }
    }

    /// Returns the values of the acting thread that bystanders read: only these distinguish steps
    /// of a move for them.
    fn seen(plan: &Plan, values: &Values) -> Values {
        let free = |cube: &Cube| std::iter::repeat_n(FREE, cube.len()).collect::<Cube>();
        let mut seen = Values {
            shared: free(&values.shared),
            local: free(&values.local),
            new: free(&values.new),
            ..Values::default()
        };
        for e in plan.passive() {
            e.each_var(&mut |r| {
                if !r.name.is_other() {
                    let slot = Self::slot(plan, r, plan.base, 0);
                    *seen.at(slot) = values.read(slot).unwrap_or(FREE);
                }
            });
        }
        seen
    }

    /// Executes the acting thread's part. Backward, a new value that is free and never read need
    /// not be computed.
    fn execute_active(
        &self,
        m: &Move,
        plan: &Plan,
        values: &mut Values,
        backward: bool,
    ) -> Result<bool, Slot> {
        if let Some((e, value)) = plan.guard
            && eval(e, &|r| Self::read(plan, values, r, plan.base, None))? & mask(value) == 0
        {
            return Ok(false);
        }
        if let Some(e) = plan.check
            && eval(e, &|r| Self::read(plan, values, r, plan.source_base, None))? & ONE == 0
        {
            return Ok(false);
        }
        for (k, (_, source)) in plan.assigns.iter().enumerate() {
            let unread = plan.names.get(k).is_none_or(|n| !plan.constrains(*n));
            if backward && values.new[k] == FREE && unread {
                continue;
            }
            values.new[k] &= match source {
                Source::Mask(m) => *m,
                Source::Expr(e) => eval(e, &|r| Self::read(plan, values, r, plan.source_base, None))?,
            };
            if values.new[k] == 0 {
                return Ok(false);
            }
        }
        for e in plan.constraints.iter().filter(|e| !is_other(e)) {
            if eval(e, &|r| Self::read(plan, values, r, plan.base, None))? & ONE == 0 {
                return Ok(false);
            }
        }
        // A value that bystanders read is the same for all of them.
        for e in plan.passive() {
            let mut open = Ok(ZERO);
            e.each_var(&mut |r| {
                if open.is_ok() && !r.name.is_other() {
                    open = Self::read(plan, values, r, plan.base, None);
                }
            });
            open?;
        }
        // A new thread has a copy of the variables that it may read.
        if !backward && m.child.is_some() {
            for &slot in &m.copied {
                values.read(Slot::Local(slot))?;
            }
        }
        Ok(true)
    }

    /// Executes a bystander's part; `base` is the first slot of its call.
    fn execute_bystander(
        plan: &Plan,
        values: &mut Values,
        base: usize,
        backward: bool,
    ) -> Result<bool, Slot> {
        let read = |values: &Values, r: &Ref| Self::read(plan, values, r, plan.base, Some(base));
        if let Some((e, value)) = plan.guard
            && is_other(e)
            && eval(e, &|r| read(values, r))? & mask(value) == 0
        {
            return Ok(false);
        }
        for (k, (name, e)) in plan.theirs.iter().enumerate() {
            if backward && values.other_new[k] == FREE && !plan.constrains(*name) {
                continue;
            }
            values.other_new[k] &= eval(e, &|r| read(values, r))?;
            if values.other_new[k] == 0 {
                return Ok(false);
            }
        }
        for e in plan.constraints.iter().filter(|e| is_other(e)) {
            if eval(e, &|r| read(values, r))? & ONE == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the variables after the step.
    fn after(plan: &Plan, values: &Values) -> (Cube, Cube) {
        let (mut shared, mut local) = (values.shared.clone(), values.local.clone());
        local.truncate(plan.keep);
        local.resize(plan.width, FREE);
        for ((to, _), &new) in plan.assigns.iter().zip(&values.new) {
            match *to {
                To::Shared(i) => shared[i] = new,
                To::Local(i) => local[i] = new,
            }
        }
        (shared, local)
    }

    fn free_shared(&self) -> Cube {
        std::iter::repeat_n(FREE, self.program().shared.len()).collect()
    }

    fn free_local(&self, spot: u32) -> Cube {
        std::iter::repeat_n(FREE, self.control.spots[spot as usize].width).collect()
    }

    /// Returns the initial configurations with this many threads at the entry of `main`, or any
    /// number.
    pub fn initial(&self, threads: Option<u32>) -> Initial {
        let program = self.program();
        let shared: Cube = program.shared.iter().map(|v| v.initial).collect();
        let own = program.thread_locals.iter().chain(&program.functions[program.main].variables);
        let start = self.encode_local(0, &own.map(|v| v.initial).collect::<Cube>());
        Initial {
            shared: self.encode_shared(false, &shared),
            threads: [(start, threads.unwrap_or(0))].into_iter().collect(),
            any: if threads.is_none() { vec![start] } else { Vec::new() },
        }
    }

    /// Returns the shared state with this name.
    pub fn shared_named(&self, name: &SharedName) -> Result<Shared, String> {
        let SharedName::Values(state) = name else { return Err("a shared state without values".into()) };
        let names = self.program().shared.iter().map(|v| v.name.clone());
        let masks = masks(names, &state.values)?;
        Ok(self.encode_shared(state.atomic, &masks))
    }

    /// Returns the local state with this name.
    pub fn local_named(&self, name: &LocalName) -> Result<Local, String> {
        let LocalName::Values(state) = name else { return Err("a local state without a place".into()) };
        if state.at.is_empty() {
            return match self.keep_ended && state.values.is_empty() {
                true => Ok(self.encode_local(self.control.spots.len() as u32, &[])),
                false => Err("threads that have ended are gone".into()),
            };
        }
        let Some(&spot) = self.control.named.get(&state.at) else {
            return Err(format!("the program has no place `{}`", state.at));
        };
        Ok(self.encode_local(spot, &masks(self.variables(spot).into_iter(), &state.values)?))
    }

    /// Returns the names of the variables of a thread at a place.
    fn variables(&self, spot: u32) -> Vec<String> {
        let mut names: Vec<String> = self.program().thread_locals.iter().map(|v| v.name.clone()).collect();
        for &(function, _) in &self.control.spots[spot as usize].stack {
            let function = &self.program().functions[function];
            names.extend(function.variables.iter().map(|v| local_variable(&function.name, v)));
        }
        names
    }
}

impl Namer for Interpreter {
    fn shared(&self, s: Shared) -> SharedName {
        let (atomic, masks) = self.shared_cube(s);
        let names = self.program().shared.iter().map(|v| v.name.clone());
        SharedName::Values(SharedValues { atomic, values: known(names, &masks) })
    }

    fn local(&self, l: Local) -> LocalName {
        let (spot, masks) = self.local_cube(l);
        LocalName::Values(match self.control.spots.get(spot as usize) {
            None => LocalValues { at: String::new(), values: BTreeMap::new() },
            Some(place) => LocalValues {
                at: place.name.clone(),
                values: known(self.variables(spot).into_iter(), &masks),
            },
        })
    }
}
