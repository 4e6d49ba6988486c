//! A slow and simple interpreter of Boolean programs, to compare the real one with.
//!
//! It is a second reading of the language reference: concrete values, one call stack per thread,
//! one breadth-first search. It shares the parser with the tool and nothing else: names are looked
//! up when they are read, calls push a frame, every `*` is tried both ways. A configuration is the
//! shared values and the sorted list of threads; whether it is inside an atomic section is part of
//! each thread. Only programs that the tool accepts may be given to it: it checks nothing.

mod asked;
mod code;
mod names;
pub mod refinement;
mod steps;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use self::code::{Code, Do, initial_values, initialisers};
use self::names::{Meaning, View};
use throng_lang::bp::ast::{DeclVar, Expr, ExprKind, Program, StmtKind};
use throng_lang::bp::parser;

/// A thread: its own variables, its calls (innermost last), and whether it is inside an atomic
/// section.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Thread {
    /// Values of the `thread_local` variables.
    own: Vec<bool>,
    stack: Vec<Frame>,
    inside: bool,
    /// True inside an `atomic {`, perhaps of a caller.
    block: bool,
    /// True for the thread that [`Naive::stuck_at`] follows.
    followed: bool,
}

/// An active call.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Frame {
    function: usize,
    /// Index into the code of the function. In a caller: the call.
    at: usize,
    /// Parameters, then locals.
    values: Vec<bool>,
    /// For each `atomic {` that is open: whether the thread was inside before, and inside another
    /// block.
    before: Vec<(bool, bool)>,
}

/// The whole system.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Config {
    shared: Vec<bool>,
    /// Sorted.
    threads: Vec<Thread>,
    /// Number of threads that have ended and keep their slot.
    ended: usize,
}

/// A thread state as plain data.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct State {
    /// The position of the thread.
    pub place: Place,
    /// Values of the shared variables, in order of declaration.
    pub shared: Vec<bool>,
    /// Thread-local variables, those of the innermost call, those of its caller, and so on.
    pub values: Vec<bool>,
}

/// The position of a thread.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Place {
    /// Line of the statement, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The functions on the stack, outermost first.
    pub functions: String,
    /// Distinguishes points that have one position.
    pub role: Role,
}

/// Points of one statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Role {
    /// The statement itself.
    Plain,
    /// Starting the thread that a label `ASYNC_` asks for.
    Async,
    /// Behind a started statement, about to end.
    Behind,
    /// A thread that has ended and keeps its slot.
    Ended,
}

/// The number of threads, and the treatment of those that end.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Maximum number of threads.
    pub bound: usize,
    /// Initial number of threads; `None`: any number up to the bound.
    pub initial: Option<usize>,
    /// A thread that has ended still counts.
    pub keep_ended: bool,
    /// Maximum number of configurations.
    pub limit: usize,
}

/// The result of a search. Distances are the fewest steps to a configuration where the event can
/// happen.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// Some assertion can be violated.
    pub violated: Option<usize>,
    /// Some thread can execute the statement with the error label.
    pub error_label: Option<usize>,
    /// Two threads are at the mutex label, no thread is inside an atomic section.
    pub mutex: Option<usize>,
    /// The invariant can be false, no thread being inside an atomic section.
    pub invariant: Option<usize>,
    /// No thread can move, and some thread has not ended.
    pub deadlock: Option<usize>,
    /// Pairs of labels that two threads are at, no thread being inside an atomic section.
    pub together: BTreeSet<(String, String)>,
    /// For each label, how many threads are there at most, no thread being inside an atomic
    /// section.
    pub most_at: BTreeMap<String, usize>,
    /// Thread states of configurations with no thread inside an atomic section.
    pub reached: BTreeSet<State>,
    /// Lines and columns at which threads are, also inside atomic sections.
    pub positions: BTreeSet<(u32, u32)>,
    /// Number of configurations.
    pub configurations: usize,
    /// True if a step was not taken because it would have left more threads than
    /// [`Naive::search_within`] allows.
    pub left_out: bool,
}

/// Observations at the end of a walk.
#[derive(Clone, Debug)]
pub struct Met {
    /// Largest number of threads that existed at once.
    pub threads: usize,
    /// Labels at which a thread is and can move.
    pub at: Vec<String>,
    /// Labels at which two threads are, no thread being inside an atomic section.
    pub twice: Vec<String>,
    /// The shared variables, unless a thread is inside an atomic section.
    pub shared: Option<Vec<(String, bool)>>,
}

/// An interpreter of one program.
pub struct Naive<'a> {
    text: &'a str,
    shared: Vec<&'a str>,
    own: Vec<&'a str>,
    shared_initial: Vec<Vec<bool>>,
    own_initial: Vec<Vec<bool>>,
    codes: Vec<Code<'a>>,
    main: usize,
}

const BOTH: [bool; 2] = [false, true];

/// Every way to take one element of each.
fn product(sets: &[Vec<bool>]) -> Vec<Vec<bool>> {
    sets.iter().fold(vec![Vec::new()], |rows, set| {
        rows.iter().flat_map(|row| set.iter().map(move |&v| [&row[..], &[v]].concat())).collect()
    })
}

fn unique<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort();
    items.dedup();
    items
}

/// Message of panics about parts of trees that cannot occur.
const PLAIN: &str = "this reads plain programs, without numbers";

impl<'a> Naive<'a> {
    /// An interpreter. `text` is what `tree` was parsed from.
    pub fn new(text: &'a str, tree: &'a Program) -> Naive<'a> {
        let globals = |wanted: bool| -> Vec<&'a DeclVar> {
            tree.globals.iter().filter(|d| d.thread_local == wanted).flat_map(|d| &d.variables).collect()
        };
        let main = tree.functions.iter().position(|f| f.name.name == "main").expect("a main");
        let first = initialisers(&tree.functions[main]);
        let codes = tree.functions.iter().map(|f| {
            let body = f.body.iter().filter(|s| !first.iter().any(|i| std::ptr::eq(*i, *s)));
            Code::new(tree, f, &body.collect::<Vec<_>>())
        });
        let mut naive = Naive {
            text,
            shared: globals(false).iter().map(|v| v.name.name.as_str()).collect(),
            own: globals(true).iter().map(|v| v.name.name.as_str()).collect(),
            shared_initial: globals(false).into_iter().map(initial_values).collect(),
            own_initial: globals(true).into_iter().map(initial_values).collect(),
            codes: codes.collect(),
            main,
        };
        for s in first {
            let StmtKind::Assign { targets, values, .. } = &s.kind else { continue };
            for (target, value) in targets.iter().zip(values) {
                let values = match value.kind {
                    ExprKind::Const(v) => vec![v],
                    _ => BOTH.to_vec(),
                };
                match naive.meaning(main, &target.ident.name) {
                    Meaning::Shared(i) => naive.shared_initial[i] = values,
                    Meaning::Own(i) => naive.own_initial[i] = values,
                    Meaning::Local(i) => naive.codes[main].initial[i] = values,
                    Meaning::OtherOwn(_) | Meaning::OtherLocal(_) => {}
                }
            }
        }
        naive
    }

    // ── search ──

    fn initial(&self, question: &Question, within: usize) -> Vec<Config> {
        let mut starts = Vec::new();
        for own in product(&self.own_initial) {
            for call in self.calls(self.main, &[]) {
                starts.push(Thread {
                    own: own.clone(),
                    stack: vec![call],
                    inside: false,
                    block: false,
                    followed: false,
                });
            }
        }
        let mut lists: Vec<Vec<Thread>> = vec![Vec::new()];
        // Any number may be none.
        let mut all = if question.initial.is_none() { lists.clone() } else { Vec::new() };
        let most = question.initial.unwrap_or(question.bound.min(within));
        if most > within {
            return Vec::new();
        }
        for size in 1..=most {
            lists = lists
                .iter()
                .flat_map(|l| {
                    starts.iter().map(move |t| {
                        let mut l = [&l[..], std::slice::from_ref(t)].concat();
                        l.sort();
                        l
                    })
                })
                .collect();
            lists = unique(lists);
            if question.initial.is_none() || size == most {
                all.extend(lists.clone());
            }
        }
        let mut configs = Vec::new();
        for shared in product(&self.shared_initial) {
            configs.extend(all.iter().map(|threads| Config {
                shared: shared.clone(),
                threads: threads.clone(),
                ended: 0,
            }));
        }
        configs
    }

    /// Searches all configurations; `None` if there are too many. The label serves as error label
    /// and for mutual exclusion, the invariant is an expression over the shared variables.
    pub fn search(
        &self,
        question: &Question,
        label: Option<&str>,
        invariant: Option<&str>,
    ) -> Option<Answer> {
        self.search_within(question, usize::MAX, label, invariant)
    }

    /// The same over runs in which at most `within` threads exist at once: steps that would leave
    /// more are not taken.
    pub fn search_within(
        &self,
        question: &Question,
        within: usize,
        label: Option<&str>,
        invariant: Option<&str>,
    ) -> Option<Answer> {
        let invariant = invariant.map(|text| {
            let (tree, _) = parser::parse(&format!("void main() begin assume ({text}); end"));
            match &tree.functions[0].body[0].kind {
                StmtKind::Assume(e) => e.clone(),
                _ => unreachable!("written so"),
            }
        });
        let mut answer = Answer::default();
        let mut states: HashSet<(Vec<bool>, Option<Thread>)> = HashSet::new();
        let mut offsets = BTreeSet::new();
        let mut seen: HashSet<Config> = HashSet::new();
        let mut level = self.initial(question, within);
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            for config in level {
                if seen.contains(&config) {
                    continue;
                }
                self.look(&config, depth, label, invariant.as_ref(), &mut answer);
                offsets.extend(config.threads.iter().map(|t| self.point(t).offset));
                if !config.threads.iter().any(|t| self.holds(t)) {
                    for thread in &config.threads {
                        states.insert((config.shared.clone(), Some(thread.clone())));
                    }
                    if config.ended > 0 {
                        states.insert((config.shared.clone(), None));
                    }
                }
                let successors = self.successors(&config, question);
                let mut moving = config.threads.iter().filter(|t| self.may_move(&config, t));
                if successors.is_empty()
                    && !config.threads.is_empty()
                    && !moving.any(|t| self.violates(&config, t))
                {
                    answer.deadlock.get_or_insert(depth);
                }
                for after in successors {
                    if after.threads.len() + after.ended <= within {
                        next.push(after);
                    } else {
                        answer.left_out = true;
                    }
                }
                seen.insert(config);
                if seen.len() > question.limit {
                    return None;
                }
            }
            level = next;
            depth += 1;
        }
        answer.reached = states.into_iter().map(|(shared, thread)| self.state(shared, thread)).collect();
        answer.positions = offsets.into_iter().map(|offset| self.position(offset)).collect();
        answer.configurations = seen.len();
        Some(answer)
    }

    /// Takes random steps, `choose(n)` being a number below `n`, and says what can be seen where
    /// the walk ends (or gets stuck).
    pub fn walk(
        &self,
        question: &Question,
        within: usize,
        steps: usize,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Option<Met> {
        let mut starts = self.initial(question, within);
        if starts.is_empty() {
            return None;
        }
        let mut now = starts.swap_remove(choose(starts.len()));
        let mut most = now.threads.len() + now.ended;
        for _ in 0..steps {
            let mut after = self.successors(&now, question);
            after.retain(|c| c.threads.len() + c.ended <= within);
            if after.is_empty() {
                break;
            }
            now = after.swap_remove(choose(after.len()));
            most = most.max(now.threads.len() + now.ended);
        }
        let label_of = |t: &Thread| self.labels_of(t);
        let moving = now.threads.iter().filter(|t| self.may_move(&now, t));
        let inside = now.threads.iter().any(|t| self.holds(t));
        let all: Vec<String> = unique(now.threads.iter().flat_map(label_of).collect());
        let count = |label: &String| now.threads.iter().filter(|t| label_of(t).contains(label)).count();
        Some(Met {
            threads: most,
            at: unique(moving.flat_map(label_of).collect()),
            twice: all.into_iter().filter(|l| !inside && count(l) > 1).collect(),
            shared: (!inside)
                .then(|| self.shared.iter().map(|n| n.to_string()).zip(now.shared.clone()).collect()),
        })
    }

    /// The labels that a thread is at.
    fn labels_of(&self, t: &Thread) -> Vec<String> {
        let frame = t.stack.last().expect("a call");
        let code = &self.codes[frame.function];
        let here = code.labels.iter().filter(|(_, at)| code.settled(**at) == frame.at);
        here.map(|(name, _)| name.to_string()).collect()
    }

    /// Takes note of which labels threads are at together.
    fn look_at_labels(&self, config: &Config, answer: &mut Answer) {
        let labels: Vec<Vec<String>> = config.threads.iter().map(|t| self.labels_of(t)).collect();
        for (i, here) in labels.iter().enumerate() {
            for label in here {
                let count = labels.iter().filter(|l| l.contains(label)).count();
                let most = answer.most_at.entry(label.clone()).or_default();
                *most = count.max(*most);
                for (_, there) in labels.iter().enumerate().filter(|(j, _)| *j != i) {
                    answer.together.extend(there.iter().map(|other| (label.clone(), other.clone())));
                }
            }
        }
    }

    fn look(
        &self,
        config: &Config,
        depth: usize,
        label: Option<&str>,
        invariant: Option<&Expr>,
        answer: &mut Answer,
    ) {
        let labelled = |t: &Thread| {
            let frame = t.stack.last().expect("a call");
            let code = &self.codes[frame.function];
            label.is_some_and(|l| code.labels.get(l).is_some_and(|&at| code.settled(at) == frame.at))
        };
        let moving = || config.threads.iter().filter(|t| self.may_move(config, t));
        if moving().any(|t| self.violates(config, t)) {
            answer.violated.get_or_insert(depth);
        }
        if moving().any(labelled) {
            answer.error_label.get_or_insert(depth);
        }
        if config.threads.iter().any(|t| self.holds(t)) {
            return;
        }
        self.look_at_labels(config, answer);
        if config.threads.iter().filter(|t| labelled(t)).count() > 1 {
            answer.mutex.get_or_insert(depth);
        }
        if let Some(e) = invariant {
            // Any thread will do: only shared variables are read, and no local can hide one outside
            // functions.
            let thread = Thread {
                own: vec![false; self.own.len()],
                stack: vec![Frame { function: usize::MAX, at: 0, values: Vec::new(), before: Vec::new() }],
                inside: false,
                block: false,
                followed: false,
            };
            if self.eval_shared(e, &config.shared, &thread).contains(&false) {
                answer.invariant.get_or_insert(depth);
            }
        }
    }

    /// Evaluates an expression over shared variables by writing their values into it.
    fn eval_shared(&self, e: &Expr, shared: &[bool], thread: &Thread) -> Vec<bool> {
        fn fill(e: &mut Expr, names: &[&str], shared: &[bool]) {
            match &mut e.kind {
                ExprKind::Name { name, .. } => {
                    let i = names.iter().position(|n| n == name).expect("shared");
                    e.kind = ExprKind::Const(shared[i]);
                }
                ExprKind::Number(_) | ExprKind::Index { .. } => unreachable!("{PLAIN}"),
                ExprKind::Const(_) | ExprKind::Any => {}
                ExprKind::Not(e) => fill(e, names, shared),
                ExprKind::Chain(_, es) => es.iter_mut().for_each(|e| fill(e, names, shared)),
                ExprKind::Series(first, rest) => {
                    fill(first, names, shared);
                    rest.iter_mut().for_each(|(_, e)| fill(e, names, shared));
                }
                ExprKind::Binary(_, a, b) | ExprKind::Schoose(a, b) => {
                    fill(a, names, shared);
                    fill(b, names, shared);
                }
                ExprKind::Conditional(c, a, b) => {
                    fill(c, names, shared);
                    fill(a, names, shared);
                    fill(b, names, shared);
                }
            }
        }
        let mut e = e.clone();
        fill(&mut e, &self.shared, shared);
        self.eval(&e, &View { shared, thread, after: None, other: None, primed: false })
    }

    /// Line and column.
    fn position(&self, offset: u32) -> (u32, u32) {
        let before = &self.text[..offset as usize];
        let line = before.matches('\n').count() as u32 + 1;
        (line, (before.len() - before.rfind('\n').map_or(0, |i| i + 1)) as u32 + 1)
    }

    /// A thread state as plain data.
    fn state(&self, shared: Vec<bool>, thread: Option<Thread>) -> State {
        let Some(thread) = thread else {
            let place = Place { line: 0, column: 0, functions: String::new(), role: Role::Ended };
            return State { place, shared, values: Vec::new() };
        };
        let point = self.point(&thread);
        let (line, column) = self.position(point.offset);
        let functions: Vec<&str> =
            thread.stack.iter().map(|f| self.codes[f.function].tree.name.name.as_str()).collect();
        let mut values = thread.own.clone();
        thread.stack.iter().rev().for_each(|f| values.extend(&f.values));
        let place = Place { line, column, functions: functions.join(" > "), role: point.role };
        State { place, shared, values }
    }
}
