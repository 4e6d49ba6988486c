//! The properties in certificates about programs, as configurations to cover.

use std::collections::{BTreeSet, HashSet};

use super::{Interpreter, Slot, To, Values, eval};
use throng_lang::bp;
use throng_lang::bp::function::{Kind, Name, Ref, Variable};
use throng_lang::bp::program::Cubes;
use throng_lang::bp::program::expr::{Cube, Expr, ONE, ZERO};
use throng_lang::bp::thread_state::{ThreadStates, choices, constrained, with_each};
use throng_lang::bp::types::bits_of;
use throng_lang::property::{Part, Pattern, Property, Together, no_such_place};
use throng_lang::source::Diagnostic;
use throng_model::components::natural_loop;
use throng_model::property::ANYWHERE;
use throng_model::{Bag, Config, Local};

/// Maximum number of configurations of one property.
const MOST: usize = 1 << 14;

impl Interpreter {
    /// Returns the smallest configurations that violate a property.
    pub fn bad(&self, property: &Property) -> Result<Vec<Config>, String> {
        let one = |spot: u32, values: &Values| {
            let inside = self.control.spots[spot as usize].inside;
            let thread = Bag::one(self.encode_local(spot, &values.local));
            Config::new(self.encode_shared(inside, &values.shared), thread)
        };
        let free = |spot: u32| Values {
            shared: self.free_shared(),
            local: self.free_local(spot),
            ..Values::default()
        };
        Ok(match property {
            Property::Assertions => {
                let spots = 0..self.control.spots.len() as u32;
                spots
                    .flat_map(|i| self.violating(i, free(i)).into_iter().map(move |v| (i, v)))
                    .map(|(i, v)| one(i, &v))
                    .collect()
            }
            Property::ErrorLabel(label) => {
                self.labelled(label)?.into_iter().map(|p| one(p, &free(p))).collect()
            }
            Property::Mutex(asked)
            | Property::AtMost(asked)
            | Property::Never(asked)
            | Property::Stuck(asked) => self.together(asked).map_err(|d| d.message)?,
            Property::Starvation(asked) => {
                let mut spots = BTreeSet::new();
                for place in asked.threads.iter().flat_map(|pattern| &pattern.places) {
                    spots.extend(self.at_place(place).map_err(|d| d.message)?);
                }
                self.with_what_is_inside(spots).into_iter().map(|s| one(s, &free(s))).collect()
            }
            Property::Race(Some(name)) => self.races(name)?,
            Property::Invariant(text) => {
                let e = bp::shared_expression(text, &self.program().shared, &self.program().globals)
                    .map_err(|d| d.message)?;
                let fails =
                    |v: &mut Values| Ok(eval(&e, &|i: &u32| v.read(Slot::Shared(*i as usize)))? & ZERO != 0);
                let values = Values { shared: self.free_shared(), ..Values::default() };
                let found = self.solve(values, &fails);
                found.iter().map(|v| Config::new(self.encode_shared(false, &v.shared), Bag::new())).collect()
            }
            Property::State(text) => self.in_states(text).map_err(|d| d.message)?,
            Property::Deadlock => return Err("a deadlock is a property of whole configurations".into()),
            Property::Race(None) | Property::MemorySafety => return Err("this is asked of C".into()),
        })
    }

    /// Returns places with those inside of them: in the loop of which one is the head, and in what
    /// is called there.
    fn with_what_is_inside(&self, mut spots: BTreeSet<u32>) -> BTreeSet<u32> {
        let control = &self.control;
        let ways = |s: usize| control.out[s].iter().map(|&m| &control.moves[m as usize]);
        let next = |s: usize| {
            let woken = control.spots[s].woken;
            ways(s).filter_map(|m| m.to).chain(woken).map(|to| to as usize).collect()
        };
        let edges: Vec<Vec<usize>> = (0..control.spots.len()).map(next).collect();
        let children = control.moves.iter().filter_map(|m| m.child).map(|child| child as usize);
        // The first place is the entry of `main`.
        let entries: Vec<usize> = children.chain([0]).collect();
        for header in spots.clone().into_iter().filter(|&s| control.out[s as usize].len() > 1) {
            let inside = natural_loop(&edges, &entries, header as usize);
            spots.extend(inside.into_iter().map(|s| s as u32));
        }
        let at: HashSet<&[(usize, usize)]> =
            spots.iter().map(|&s| &control.spots[s as usize].stack[..]).collect();
        let called = |s: &u32| {
            let stack = &control.spots[*s as usize].stack;
            (1..stack.len()).any(|depth| at.contains(&stack[..depth]))
        };
        let inside: Vec<u32> = (0..control.spots.len() as u32).filter(called).collect();
        drop(at);
        spots.extend(inside);
        spots
    }

    /// Returns the values with which the statement at a place can violate an assertion, or leave a
    /// range or an array.
    pub(super) fn violating(&self, at: u32, values: Values) -> Vec<Values> {
        let spot = &self.control.spots[at as usize];
        let (function, node) = spot.top();
        let node = &self.program().functions[function].nodes[node];
        let mut conditions: Vec<&Expr<Ref>> = node.check.iter().collect();
        if let Kind::Assert { condition, .. } = &node.kind {
            conditions.push(condition);
        }
        if conditions.is_empty() {
            return Vec::new();
        }
        let slot = |r: &Ref| match r.name {
            Name::Shared(i) => Slot::Shared(i as usize),
            Name::ThreadLocal(i) => Slot::Local(i as usize),
            Name::Local(i) => Slot::Local(spot.base + i as usize),
            // These are refused in assertions.
            Name::OtherThreadLocal(i) | Name::OtherLocal(i) => Slot::Other(i as usize),
        };
        let fails = |values: &mut Values| {
            for condition in &conditions {
                if eval(condition, &|r| values.read(slot(r)))? & ZERO != 0 {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        self.solve(values, &fails)
    }

    /// Returns the configurations in which threads are in these states.
    fn in_states(&self, text: &str) -> Result<Vec<Config>, Diagnostic> {
        let asked = ThreadStates::parse(text)?;
        let names: Vec<&str> = self.program().shared.iter().map(|v| v.name.as_str()).collect();
        let groups: Vec<_> = self.program().groups.shared.iter().collect();
        let shared = constrained(&self.free_shared(), &asked.shared, &names, &groups, &|i| i)?;
        let mut places = Vec::new();
        for thread in &asked.threads {
            places.push(match (self.labelled(&thread.place), thread.line()) {
                (Ok(spots), _) => spots,
                (Err(_), Some(line)) if self.nodes().any(|(f, n)| self.line(f, n) == line) => {
                    let spots = 0..self.control.spots.len() as u32;
                    let here = |&s: &u32| {
                        let (f, n) = self.control.spots[s as usize].top();
                        self.line(f, n) == line
                    };
                    spots.filter(here).collect()
                }
                _ => return Err(thread.no_such_place([])),
            });
        }
        let all = choices(&places)
            .ok_or_else(|| Diagnostic::whole("E611", "there are too many ways to choose statements"))?;
        let mut found = Vec::new();
        for spots in all {
            let mut bags = vec![Bag::new()];
            for (thread, &s) in asked.threads.iter().zip(&spots) {
                let spot = &self.control.spots[s as usize];
                let own = &self.program().functions[spot.top().0].variables;
                let names: Vec<&str> =
                    own.iter().chain(&self.program().thread_locals).map(|v| v.name.as_str()).collect();
                let groups = self.program().groups.visible(spot.top().0);
                let slot = |i: usize| i.checked_sub(own.len()).unwrap_or(spot.base + i);
                let cubes = constrained(&self.free_local(s), &thread.values, &names, &groups, &slot)?;
                let locals: Vec<Local> = cubes.iter().map(|local| self.encode_local(s, local)).collect();
                bags = with_each(&bags, &locals);
            }
            let inside = spots.iter().filter(|&&s| self.control.spots[s as usize].inside).count();
            for shared in shared.iter().filter(|_| inside < 2) {
                let word = self.encode_shared(inside == 1, shared);
                found.extend(bags.iter().map(|bag| Config::new(word, bag.clone())));
            }
        }
        Ok(found)
    }

    /// Returns all statements, as function and number.
    fn nodes(&self) -> impl Iterator<Item = (usize, usize)> {
        let functions = self.program().functions.iter().enumerate();
        functions.flat_map(|(f, function)| (0..function.nodes.len()).map(move |n| (f, n)))
    }

    fn line(&self, function: usize, node: usize) -> u32 {
        self.lines.position(self.program().functions[function].nodes[node].span.start).0
    }

    fn labelled(&self, label: &str) -> Result<Vec<u32>, String> {
        let functions = &self.program().functions;
        let written = functions.iter().flat_map(|f| &f.nodes).flat_map(|n| &n.labels).any(|l| l == label);
        let has = |i: &usize| {
            let (function, node) = self.control.spots[*i].top();
            functions[function].nodes[node].labels.iter().any(|l| l == label)
        };
        let found = (0..self.control.spots.len()).filter(has).map(|i| i as u32).collect();
        if written { Ok(found) } else { Err(format!("there is no label `{label}`")) }
    }

    /// Returns the configurations in which distinct threads match these patterns.
    fn together(&self, asked: &Together) -> Result<Vec<Config>, Diagnostic> {
        let candidates: Result<Vec<_>, _> = asked.threads.iter().map(|p| self.matching(p)).collect();
        let found = self.at_once(&candidates?, asked);
        found.ok_or_else(|| Diagnostic::whole("E614", "there are too many ways to choose threads"))
    }

    /// Returns the configurations with one thread of each list; `None` if there are too many.
    fn at_once(&self, candidates: &[Vec<(u32, Values)>], asked: &Together) -> Option<Vec<Config>> {
        let mut configs = Vec::new();
        for chosen in asked.choices(candidates, MOST)? {
            let inside = chosen.iter().filter(|c| self.control.spots[c.0 as usize].inside).count();
            if inside > usize::from(!asked.outside_atomic) {
                continue;
            }
            let all = |i: usize| chosen.iter().fold(ZERO | ONE, |m, c| m & c.1.shared[i]);
            let shared: Cube = (0..self.program().shared.len()).map(all).collect();
            if !shared.contains(&0) {
                let threads = chosen.iter().map(|c| self.encode_local(c.0, &c.1.local)).collect();
                configs.push(Config::new(self.encode_shared(inside == 1, &shared), threads));
            }
        }
        Some(configs)
    }

    fn anything(&self, spot: u32) -> Values {
        Values { shared: self.free_shared(), local: self.free_local(spot), ..Values::default() }
    }

    /// Returns the places and values of threads that match a pattern.
    fn matching(&self, pattern: &Pattern) -> Result<Vec<(u32, Values)>, Diagnostic> {
        let mut spots = Vec::new();
        for place in &pattern.places {
            spots.extend(self.at_place(place)?);
        }
        spots.sort_unstable();
        spots.dedup();
        let mut found = Vec::new();
        for s in spots {
            let Some(condition) = &pattern.condition else {
                found.push((s, self.anything(s)));
                continue;
            };
            let spot = &self.control.spots[s as usize];
            let function = &self.program().functions[spot.top().0];
            let (own, global) = (function.variables.len(), self.program().thread_locals.len());
            let scope = function.variables.iter().chain(&self.program().thread_locals);
            let scope: Vec<Variable> = scope.chain(&self.program().shared).cloned().collect();
            let e = bp::scoped_expression(
                &condition.text,
                &scope,
                &self.program().globals,
                Some(&function.name),
            )?;
            let slot = |i: usize| match i {
                _ if i < own => Slot::Local(spot.base + i),
                _ if i < own + global => Slot::Local(i - own),
                _ => Slot::Shared(i - own - global),
            };
            let holds = |v: &mut Values| Ok(eval(&e, &|i: &u32| v.read(slot(*i as usize)))? & ONE != 0);
            found.extend(self.solve(self.anything(s), &holds).into_iter().map(|v| (s, v)));
        }
        Ok(found)
    }

    /// Returns the places at which a thread can wait.
    pub(super) fn waits(&self) -> Vec<u32> {
        let spots = 0..self.control.spots.len() as u32;
        spots.filter(|&w| self.control.spots[w as usize].woken.is_some()).collect()
    }

    /// Returns the places at a label, or in a line.
    fn at_place(&self, place: &Part) -> Result<Vec<u32>, Diagnostic> {
        match (self.labelled(&place.text), place.line()) {
            _ if place.text == "wait" => Ok(self.waits()),
            _ if place.text == ANYWHERE => Ok((0..self.control.spots.len() as u32).collect()),
            (Ok(spots), _) => Ok(spots),
            (Err(_), Some(line)) if self.nodes().any(|(f, n)| self.line(f, n) == line) => {
                let here = |&s: &u32| {
                    let (f, n) = self.control.spots[s as usize].top();
                    self.line(f, n) == line
                };
                Ok((0..self.control.spots.len() as u32).filter(here).collect())
            }
            _ => Err(no_such_place(place)),
        }
    }

    /// Returns the configurations in which two threads are about to access a variable, one of them
    /// to write it.
    fn races(&self, name: &str) -> Result<Vec<Config>, String> {
        let bits = bits_of(name, &self.program().shared, &self.program().groups.shared)
            .ok_or_else(|| format!("there is no shared variable `{name}`"))?;
        let outside =
            (0..self.control.spots.len() as u32).filter(|&s| !self.control.spots[s as usize].inside);
        let (mut any, mut writes) = (Vec::new(), Vec::new());
        for spot in outside {
            let (reads, writing) = self.accesses(spot, &bits);
            if reads || writing {
                any.push((spot, self.anything(spot)));
            }
            if writing {
                writes.push((spot, self.anything(spot)));
            }
        }
        let asked = Together { text: name.into(), threads: Vec::new(), outside_atomic: true };
        self.at_once(&[any, writes], &asked).ok_or_else(|| "there are too many accesses".into())
    }

    /// Returns whether the statement at a place reads one of these shared variables, and whether it
    /// writes one.
    fn accesses(&self, spot: u32, bits: &[u32]) -> (bool, bool) {
        let stack = &self.control.spots[spot as usize].stack;
        let node = |&(f, n): &(usize, usize)| &self.program().functions[f].nodes[n];
        let mut frames = stack.iter().rev().map(node);
        let mut read: Vec<u32> = Vec::new();
        if let Some(here) = frames.next() {
            read.extend(&here.reads);
            if let (Kind::Return { .. }, Some(call)) = (&here.kind, frames.next()) {
                read.extend(&call.reads_at_return);
            }
        }
        let moves = self.control.out[spot as usize].iter().map(|&id| &self.control.moves[id as usize]);
        let mut written = moves.flat_map(|m| self.plan(m).assigns).map(|a| a.0);
        (
            read.iter().any(|i| bits.contains(i)),
            written.any(|to| matches!(to, To::Shared(i) if bits.contains(&(i as u32)))),
        )
    }
}
