//! Targets of a program, as configurations to cover: assertions, labels, invariants, threads at
//! places, data races.

use super::expr::{Cube, Expr, ONE, Var};
use super::program::Variable;
use super::program::waiting::next;
use super::relation::solve_guard;
use super::thread_state::{ThreadStates, choices, constrained, visible, with_each};
use super::types::{Group, bits_of};
use super::{Jit, scoped_expression};
use crate::property::{self, Pattern, Property, Together};
use crate::similar::did_you_mean;
use crate::source::{Diagnostic, Span};
use std::collections::BTreeSet;
use throng_model::components::natural_loop;
use throng_model::problem::Target;
use throng_model::property::ANYWHERE;
use throng_model::{Bag, Config, Describe, Local};

/// Maximum number of configurations of one target.
pub const MOST_CONFIGURATIONS: usize = 1 << 14;

/// A thread that matches a pattern: its point, and values that make the condition true.
#[derive(Clone)]
struct Candidate {
    point: u32,
    shared: Cube,
    slots: Cube,
}

impl Jit {
    /// Returns the target "a thread can execute an `assert` whose condition can be false"; `None`
    /// if the program asserts nothing.
    pub fn assertions(&self) -> Option<Target> {
        let mut configs = Vec::new();
        let mut any = false;
        for (i, point) in self.program.points.iter().enumerate() {
            let Some(condition) = &point.assertion else { continue };
            any = true;
            let (free, slots) = (self.free_shared(), self.program.free_slots(i as u32));
            let mut found = Vec::new();
            self.note(solve_guard(condition, false, free, slots, &mut found), i as u32);
            configs.extend(found.into_iter().map(|env| {
                let l = Local(self.local.encode(i as u32, &env.local));
                Config::new(self.encode_shared(point.inside, &env.shared), Bag::one(l))
            }));
        }
        any.then(|| Target::of(Property::Assertions, configs))
    }

    /// Returns the target "a thread can execute the statement with this label" (as if an
    /// `assert(0)` preceded it).
    pub fn error_label(&self, label: &str) -> Result<Target, String> {
        let configs = self.labelled(label)?.into_iter().map(|p| {
            let inside = self.program.points[p as usize].inside;
            Config::new(self.encode_shared(inside, &self.free_shared()), Bag::one(self.free_local(p)))
        });
        Ok(Target::of(Property::ErrorLabel(label.into()), configs.collect()))
    }

    /// Returns the target "the shared variables can falsify the expression, and no thread is inside
    /// an atomic section".
    pub fn invariant(&self, name: &str, expression: &Expr<u32>) -> Target {
        let e = expression.map(&mut |i| Expr::Var(Var::Shared(*i)));
        let mut found = Vec::new();
        if !solve_guard(&e, false, self.free_shared(), Cube::new(), &mut found) {
            self.gave_up.get_or_init(|| format!("the invariant `{name}` has too many cases"));
        }
        let configs =
            found.into_iter().map(|env| Config::new(self.encode_shared(false, &env.shared), Bag::new()));
        Target::of(Property::Invariant(name.into()), configs.collect())
    }

    /// Returns the target "these threads are in these states, in this shared state, and no other
    /// thread is inside an atomic section"; spans of diagnostics are into `text`. Where variables
    /// of threads are mentioned, the program must have been read with
    /// [`super::Options::exact_copies`].
    pub fn thread_states(&self, text: &str) -> Result<Target, Diagnostic> {
        let whole = Span::new(0, text.len());
        let asked = ThreadStates::parse(text)?;
        if asked.mentions_locals() && !self.exact_copies {
            let message = "the program was read in a way that forgets variables of threads";
            return Err(Diagnostic::error("E613", whole, message).hint("read it as `Question::reading` says"));
        }
        let names: Vec<&str> = self.program.shared.iter().map(|v| v.name.as_str()).collect();
        let groups: Vec<&Group> = self.program.groups.shared.iter().collect();
        let shared = constrained(&self.free_shared(), &asked.shared, &names, &groups, &|i| i)?;
        let mut places = Vec::new();
        for thread in &asked.threads {
            places.push(match (self.labelled(&thread.place), thread.line()) {
                (Ok(points), _) => points,
                (Err(_), Some(line)) if self.places().iter().any(|p| p.line == line) => {
                    (0..self.program.points.len() as u32)
                        .filter(|&p| self.program.info(p).line == line)
                        .collect()
                }
                _ => return Err(thread.no_such_place(self.labels())),
            });
        }
        let all = choices(&places).ok_or_else(|| {
            Diagnostic::error("E611", whole, "there are too many ways to choose statements for these threads")
        })?;
        let mut configs = Vec::new();
        for points in all {
            let mut bags = vec![Bag::new()];
            for (thread, &point) in asked.threads.iter().zip(&points) {
                let visible = visible(&self.program, point);
                let names: Vec<&str> = visible.iter().map(|v| v.0).collect();
                let groups = self.program.groups.visible(self.program.points[point as usize].function);
                let slots = self.program.free_slots(point);
                let cubes = constrained(&slots, &thread.values, &names, &groups, &|i| visible[i].1)?;
                let locals: Vec<Local> =
                    cubes.iter().map(|slots| Local(self.local.encode(point, slots))).collect();
                bags = with_each(&bags, &locals);
            }
            let inside = points.iter().filter(|&&p| self.program.points[p as usize].inside).count();
            for shared in shared.iter().filter(|_| inside < 2) {
                let word = self.encode_shared(inside == 1, shared);
                configs.extend(bags.iter().map(|bag| Config::new(word, bag.clone())));
            }
        }
        configs.sort_unstable();
        configs.dedup();
        let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Target::of(Property::State(name), configs))
    }

    /// Returns the points at this label: none if it is only in unreachable code.
    fn labelled(&self, label: &str) -> Result<Vec<u32>, String> {
        let has = |p: &u32| self.program.info(*p).labels.iter().any(|l| l == label);
        let mut written = self.program.functions.iter().flat_map(|f| &f.nodes).flat_map(|n| &n.labels);
        if written.clone().any(|l| l == label) {
            return Ok((0..self.program.points.len() as u32).filter(has).collect());
        }
        let mut names: Vec<&str> = Vec::new();
        while names.len() < 12
            && let Some(name) = written.next()
        {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let known = if names.is_empty() { "none".into() } else { names.join(", ") };
        let meant = did_you_mean(label, self.labels().map(String::as_str));
        let meant = meant.map_or_else(String::new, |meant| format!("; {meant}"));
        Err(format!("no label `{label}` in the program{meant}; its labels: {known}"))
    }

    fn labels(&self) -> impl Iterator<Item = &String> {
        self.program.functions.iter().flat_map(|f| &f.nodes).flat_map(|n| &n.labels)
    }

    /// Returns the target "distinct threads match these patterns at once". Where variables of
    /// threads are mentioned, the program must have been read with
    /// [`Options::exact_copies`](super::Options::exact_copies). Spans of diagnostics are into the
    /// text that the property was read from.
    pub fn together(&self, property: Property) -> Result<Target, Diagnostic> {
        let Some(asked) = property.together() else {
            return Err(Diagnostic::whole("E614", "this is not about threads at places"));
        };
        let mut candidates = Vec::new();
        for pattern in &asked.threads {
            let mut found = self.matching(&asked.text, pattern)?;
            if matches!(property, Property::Starvation(_)) {
                self.with_what_is_inside(&mut found);
            }
            candidates.push(found);
        }
        let configs = self.at_once(&candidates, asked).ok_or_else(|| too_many(&asked.text))?;
        Ok(Target::of(property, configs))
    }

    /// Returns the target "two threads are at these labels, and no thread is inside an atomic
    /// section": see [`property::mutex`].
    pub fn mutex(&self, text: &str) -> Result<Target, Diagnostic> {
        self.together(property::mutex(text)?)
    }

    /// Returns the target "two threads are about to access this shared variable, one of them to
    /// write it, and no thread is inside an atomic section".
    pub fn race(&self, name: &str) -> Result<Target, Diagnostic> {
        let bits = bits_of(name, &self.program.shared, &self.program.groups.shared).ok_or_else(|| {
            let message = format!("no shared variable `{name}`");
            Diagnostic::error("E608", Span::new(0, name.len()), message)
        })?;
        let candidates = |writes: bool| {
            let points = 0..self.program.points.len() as u32;
            let outside = |p: &u32| !self.program.points[*p as usize].inside;
            points
                .filter(|p| outside(p) && self.accesses(*p, &bits, writes))
                .map(|point| Candidate {
                    point,
                    shared: self.free_shared(),
                    slots: self.program.free_slots(point),
                })
                .collect()
        };
        let asked = Together { text: name.into(), threads: Vec::new(), outside_atomic: true };
        let configs =
            self.at_once(&[candidates(false), candidates(true)], &asked).ok_or_else(|| too_many(name))?;
        Ok(Target::of(Property::Race(Some(name.into())), configs))
    }

    /// Returns whether the statement at a point writes one of these shared variables; without
    /// `only_writes`, whether it reads or writes one.
    fn accesses(&self, point: u32, bits: &[u32], only_writes: bool) -> bool {
        let point = &self.program.points[point as usize];
        let effects = point.edges.iter().map(|&id| &self.program.edges[id as usize].effect);
        let mut written = effects.flat_map(|effect| &effect.assigns).map(|a| &a.0);
        written.any(|v| matches!(v, Var::Shared(i) if bits.contains(i)))
            || !only_writes && point.reads.iter().any(|i| bits.contains(i))
    }

    /// Adds the points inside of the statements at points: the loop that begins there, and the bodies
    /// of the functions that are called.
    fn with_what_is_inside(&self, found: &mut Vec<Candidate>) {
        let program = &self.program;
        let edges: Vec<Vec<usize>> = (0..program.points.len() as u32)
            .map(|p| next(program, p).map(|to| to as usize).collect())
            .collect();
        let children = program.edges.iter().filter_map(|e| e.child);
        let entries: Vec<usize> = children.chain([program.entry]).map(|p| p as usize).collect();
        let mut points: BTreeSet<u32> = found.iter().map(|c| c.point).collect();
        // A jump back to a statement without a branch is not a part of it.
        let branches = |p: &u32| program.points[*p as usize].edges.len() > 1;
        for header in points.clone().into_iter().filter(branches) {
            let inside = natural_loop(&edges, &entries, header as usize);
            points.extend(inside.into_iter().map(|p| p as u32));
        }
        let at: BTreeSet<(usize, usize)> = points
            .iter()
            .map(|&p| (program.points[p as usize].instance, program.points[p as usize].node))
            .collect();
        let called = |p: &u32| {
            let mut instance = program.points[*p as usize].instance;
            while let Some(caller) = program.instances[instance].caller {
                if at.contains(&caller) {
                    return true;
                }
                instance = caller.0;
            }
            false
        };
        points.extend((0..program.points.len() as u32).filter(called));
        found.clear();
        found.extend(points.into_iter().map(|point| {
            let (shared, slots) = (self.free_shared(), program.free_slots(point));
            Candidate { point, shared, slots }
        }));
    }

    /// Returns the points and values of threads that match a pattern.
    fn matching(&self, text: &str, pattern: &Pattern) -> Result<Vec<Candidate>, Diagnostic> {
        let mut points = Vec::new();
        for place in &pattern.places {
            points.extend(match (self.labelled(&place.text), place.line()) {
                _ if place.text == "wait" => self.waits().to_vec(),
                _ if place.text == ANYWHERE => (0..self.program.points.len() as u32).collect(),
                (Ok(points), _) => points,
                (Err(_), Some(line)) if self.places().iter().any(|p| p.line == line) => {
                    let all = 0..self.program.points.len() as u32;
                    all.filter(|&p| self.program.info(p).line == line).collect()
                }
                (Err(why), None) => return Err(Diagnostic::error("E606", place.into(), why)),
                _ => return Err(property::no_such_place(place)),
            });
        }
        points.sort_unstable();
        points.dedup();
        let mut found = Vec::new();
        for point in points {
            let (shared, slots) = (self.free_shared(), self.program.free_slots(point));
            let Some(condition) = &pattern.condition else {
                found.push(Candidate { point, shared, slots });
                continue;
            };
            let visible = visible(&self.program, point);
            let name = |(name, _): &(&str, usize)| Variable { name: name.to_string(), initial: ONE };
            let scope: Vec<Variable> =
                visible.iter().map(name).chain(self.program.shared.iter().cloned()).collect();
            let instance = &self.program.instances[self.program.points[point as usize].instance];
            let function = &self.program.functions[instance.function].name;
            let e = scoped_expression(&condition.text, &scope, &self.program.globals, Some(function));
            let e = e.map_err(|d| d.moved(condition.start as u32))?;
            let mut local = false;
            let e = e.map(&mut |i| {
                let own = visible.get(*i as usize).map(|v| v.1 as u32);
                local |= own.is_some();
                Expr::Var(own.map_or(Var::Shared(*i - visible.len().min(*i as usize) as u32), Var::Local))
            });
            if local && !self.exact_copies {
                let message = "the program was read in a way that forgets variables of threads";
                let why = Diagnostic::error("E613", condition.into(), message);
                return Err(why.hint("read it as `Question::reading` says"));
            }
            let mut solutions = Vec::new();
            if !solve_guard(&e, true, shared, slots, &mut solutions) {
                return Err(too_many(text));
            }
            found.extend(solutions.into_iter().map(|env| Candidate {
                point,
                shared: env.shared,
                slots: env.local,
            }));
        }
        Ok(found)
    }

    /// Returns the configurations with one candidate of each list; `None` if there are too many.
    fn at_once(&self, candidates: &[Vec<Candidate>], asked: &Together) -> Option<Vec<Config>> {
        let mut configs = Vec::new();
        for chosen in asked.choices(candidates, MOST_CONFIGURATIONS)? {
            let inside = chosen.iter().filter(|c| self.program.points[c.point as usize].inside).count();
            let mut shared = self.free_shared();
            chosen.iter().for_each(|c| shared.iter_mut().zip(&c.shared).for_each(|(m, n)| *m &= n));
            if shared.contains(&0) || inside > usize::from(!asked.outside_atomic) {
                continue;
            }
            let threads = chosen.iter().map(|c| Local(self.local.encode(c.point, &c.slots))).collect();
            configs.push(Config::new(self.encode_shared(inside == 1, &shared), threads));
        }
        configs.sort_unstable();
        configs.dedup();
        Some(configs)
    }
}

fn too_many(text: &str) -> Diagnostic {
    Diagnostic::error("E614", Span::new(0, text.len()), "there are too many ways to choose threads for this")
}
