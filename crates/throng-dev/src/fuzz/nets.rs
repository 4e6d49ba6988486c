//! Petri nets with transfers, resets and tests: how they are made up, written, and executed
//! naively.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::naive::{State, Steps, product};
use crate::Rng;

/// A net with its question. A state is the number of tokens of each place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Net {
    /// Written as PNML rather than as mist's `.spec`.
    pub pnml: bool,
    /// Initial tokens of each place.
    pub start: Vec<Tokens>,
    /// The rules.
    pub rules: Vec<Rule>,
    /// Targets, each a conjunction over some places.
    pub targets: Vec<BTreeMap<u32, Tokens>>,
}

/// A number of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Tokens {
    /// Exactly this many.
    Exactly(u32),
    /// This many or more.
    AtLeast(u32),
    /// From the first number to the second.
    Between(u32, u32),
}

/// The effect of a rule on a place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Update {
    /// `x' = x + c` or `x' = x - c`.
    Add(i32),
    /// `x' = c`.
    Set(u32),
    /// `x' = x + y + z + c`, without `x` unless it is kept. The others are set by an update of
    /// their own.
    Gather {
        /// True if the place keeps its tokens.
        keep: bool,
        /// Whose tokens it gets.
        from: Vec<u32>,
        /// Number of tokens added.
        add: u32,
    },
}

/// A rule.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Rule {
    /// The condition under which it may fire.
    pub guard: BTreeMap<u32, Tokens>,
    /// Its effect; places that are not listed stay.
    pub update: BTreeMap<u32, Update>,
}

impl Tokens {
    /// Returns the minimum.
    pub fn least(self) -> u32 {
        match self {
            Tokens::Exactly(n) | Tokens::AtLeast(n) | Tokens::Between(n, _) => n,
        }
    }

    /// Returns the maximum, if there is one.
    pub fn most(self) -> Option<u32> {
        match self {
            Tokens::Exactly(n) | Tokens::Between(_, n) => Some(n),
            Tokens::AtLeast(_) => None,
        }
    }

    fn allows(self, n: u32) -> bool {
        self.least() <= n && self.most().is_none_or(|most| n <= most)
    }

    fn text(self, place: u32) -> String {
        match self {
            Tokens::Exactly(n) => format!("p{place} = {n}"),
            Tokens::AtLeast(n) => format!("p{place} >= {n}"),
            Tokens::Between(a, b) => format!("p{place} in [{a},{b}]"),
        }
    }
}

impl Rule {
    /// The state after it, if it can fire.
    pub fn fire(&self, state: &State) -> Option<State> {
        if !self.guard.iter().all(|(&p, tokens)| tokens.allows(state[p as usize])) {
            return None;
        }
        let mut after = state.clone();
        for (&p, update) in &self.update {
            let old = state[p as usize];
            after[p as usize] = match update {
                Update::Add(c) => old.checked_add_signed(*c)?,
                Update::Set(c) => *c,
                Update::Gather { keep, from, add } => {
                    let own = if *keep { old } else { 0 };
                    own + add + from.iter().map(|&q| state[q as usize]).sum::<u32>()
                }
            };
        }
        Some(after)
    }

    /// Returns whether it is an ordinary transition, which PNML can express.
    pub fn plain(&self) -> bool {
        self.guard.values().all(|g| matches!(g, Tokens::AtLeast(_)))
            && self.update.values().all(|u| matches!(u, Update::Add(_)))
    }

    fn text(&self) -> String {
        let guard: Vec<String> = self.guard.iter().map(|(&p, tokens)| tokens.text(p)).collect();
        let signed = |c: i64| match c {
            0 => String::new(),
            c if c < 0 => format!(" - {}", -c),
            c => format!(" + {c}"),
        };
        let update = self.update.iter().map(|(p, update)| match update {
            Update::Add(c) => format!("p{p}' = p{p}{}", signed((*c).into())),
            Update::Set(c) => format!("p{p}' = {c}"),
            Update::Gather { keep, from, add } => {
                let own = keep.then_some(p);
                let sum: Vec<String> = own.into_iter().chain(from).map(|q| format!("p{q}")).collect();
                format!("p{p}' = {}{}", sum.join(" + "), signed((*add).into()))
            }
        });
        let update: Vec<String> = update.collect();
        let guard = if guard.is_empty() { "true".to_string() } else { guard.join(", ") };
        format!("{guard} -> {};", update.join(", "))
    }
}

impl Net {
    /// A net without rules: its places, its start and a target.
    pub fn empty(rng: &mut Rng, size: usize) -> Net {
        let pnml = rng.one_in(3);
        let places = 1 + rng.index(2 + size);
        let start = |rng: &mut Rng| match rng.index(8) {
            0..=3 => Tokens::Exactly(0),
            4 | 5 => Tokens::Exactly(1 + rng.index(2) as u32),
            _ if pnml => Tokens::Exactly(1),
            6 => Tokens::AtLeast(rng.index(2) as u32),
            _ => {
                let least = rng.index(2) as u32;
                Tokens::Between(least, least + 1 + rng.index(2) as u32)
            }
        };
        let start = (0..places).map(|_| start(rng)).collect();
        let mut net = Net { pnml, start, rules: Vec::new(), targets: Vec::new() };
        for _ in 0..1 + rng.index(2) {
            let wanted = 1 + rng.index(2);
            let part = (0..wanted).map(|_| (net.place(rng), Tokens::AtLeast(1 + rng.index(2) as u32)));
            let mut part: BTreeMap<u32, Tokens> = part.collect();
            if !pnml && rng.one_in(10) {
                let n = rng.index(2) as u32;
                part.insert(net.place(rng), Tokens::Exactly(n));
            }
            net.targets.push(part);
        }
        net
    }

    fn place(&self, rng: &mut Rng) -> u32 {
        rng.index(self.start.len()) as u32
    }

    /// Some rule.
    pub fn rule(&self, rng: &mut Rng) -> Rule {
        let mut rule = Rule::default();
        for _ in 0..rng.index(3) {
            let (p, least) = (self.place(rng), 1 + rng.index(2) as u32);
            if rule.guard.insert(p, Tokens::AtLeast(least)).is_some() {
                rule.update.remove(&p);
                continue;
            }
            if !rng.one_in(5) {
                rule.update.insert(p, Update::Add(-(1 + rng.index(least as usize) as i32)));
            }
        }
        for _ in 0..rng.index(3) {
            let more = 1 + rng.index(2) as i32;
            rule.update.entry(self.place(rng)).or_insert(Update::Add(more));
        }
        if !self.pnml {
            self.special(rng, &mut rule);
        }
        rule
    }

    /// Tests, resets and transfers.
    fn special(&self, rng: &mut Rng, rule: &mut Rule) {
        let p = self.place(rng);
        match rng.index(14) {
            0 => {
                let n = rng.index(2) as u32;
                let test = if rng.one_in(2) { Tokens::Exactly(n) } else { Tokens::Between(n, n + 1) };
                // A decrement needs tokens to be there for sure.
                if !matches!(rule.update.get(&p), Some(Update::Add(c)) if *c < 0) {
                    rule.guard.insert(p, test);
                }
            }
            1 => _ = rule.update.insert(p, Update::Set(rng.index(2) as u32)),
            2 => {
                let (to, add, keep) = (self.place(rng), rng.index(2) as u32, !rng.one_in(3));
                if to != p {
                    rule.update.insert(p, Update::Set(rng.index(3) as u32 / 2));
                    rule.update.insert(to, Update::Gather { keep, from: vec![p], add });
                }
            }
            _ => {}
        }
    }

    /// Returns whether tokens can be counted: a target with an upper bound is read as a rule of its
    /// own with a place of its own.
    pub fn counts(&self) -> bool {
        self.targets.iter().flat_map(BTreeMap::values).all(|t| t.most().is_none())
    }

    /// The net with every number multiplied, as a `.spec`: what can be reached is the same, so many
    /// times as often. Not with intervals, which would hold more, nor with targets that have an
    /// upper bound.
    pub fn scaled(&self, by: u32) -> Option<Net> {
        let tokens = |tokens: &Tokens| match *tokens {
            Tokens::Exactly(n) => Some(Tokens::Exactly(n.checked_mul(by)?)),
            Tokens::AtLeast(n) => Some(Tokens::AtLeast(n.checked_mul(by)?)),
            Tokens::Between(..) => None,
        };
        let update = |update: &Update| {
            Some(match update {
                Update::Add(c) => Update::Add(c.checked_mul(by as i32)?),
                Update::Set(c) => Update::Set(c.checked_mul(by)?),
                Update::Gather { keep, from, add } => {
                    Update::Gather { keep: *keep, from: from.clone(), add: add.checked_mul(by)? }
                }
            })
        };
        let all = |part: &BTreeMap<u32, Tokens>| part.iter().map(|(&p, t)| Some((p, tokens(t)?))).collect();
        let rule = |rule: &Rule| {
            let update = rule.update.iter().map(|(&p, u)| Some((p, update(u)?))).collect::<Option<_>>()?;
            Some(Rule { guard: all(&rule.guard)?, update })
        };
        Some(Net {
            pnml: false,
            start: self.start.iter().map(tokens).collect::<Option<_>>()?,
            rules: self.rules.iter().map(rule).collect::<Option<_>>()?,
            targets: self.targets.iter().map(all).collect::<Option<_>>()?,
        })
        .filter(Net::counts)
    }

    /// The text of a `.spec` or `.pnml` file.
    pub fn text(&self) -> String {
        if self.pnml { self.xml() } else { self.spec() }
    }

    fn spec(&self) -> String {
        let places: Vec<String> = (0..self.start.len()).map(|p| format!("p{p}")).collect();
        let mut text = format!("vars\n  {}\nrules\n", places.join(" "));
        self.rules.iter().for_each(|rule| text += &format!("  {}\n", rule.text()));
        let start: Vec<String> = (0..).zip(&self.start).map(|(p, tokens)| tokens.text(p)).collect();
        let _ = write!(text, "init\n  {}\ntarget\n", start.join(", "));
        for part in &self.targets {
            let part: Vec<String> = part.iter().map(|(&p, tokens)| tokens.text(p)).collect();
            let _ = writeln!(text, "  {}", part.join(", "));
        }
        text
    }

    fn xml(&self) -> String {
        let mut text =
            "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\n"
                .to_string();
        for (p, tokens) in self.start.iter().enumerate() {
            let marking = format!("<initialMarking><text>{}</text></initialMarking>", tokens.least());
            let _ = writeln!(text, "<place id=\"p{p}\">{marking}</place>");
        }
        let mut arcs = 0;
        for (t, rule) in self.rules.iter().enumerate() {
            let _ = writeln!(text, "<transition id=\"t{t}\"/>");
            let mut arc = |from: String, to: String, weight: i64| {
                if weight > 0 {
                    let _ = writeln!(
                        text,
                        "<arc id=\"a{arcs}\" source=\"{from}\" target=\"{to}\"><inscription><text>{weight}</text></inscription></arc>"
                    );
                    arcs += 1;
                }
            };
            for p in 0..self.start.len() as u32 {
                let taken = rule.guard.get(&p).map_or(0, |g| i64::from(g.least()));
                let change = match rule.update.get(&p) {
                    Some(Update::Add(c)) => i64::from(*c),
                    _ => 0,
                };
                arc(format!("p{p}"), format!("t{t}"), taken);
                arc(format!("t{t}"), format!("p{p}"), taken + change);
            }
        }
        text + "</page></net></pnml>\n"
    }

    /// The targets as `--target` takes them; none if the text has them.
    pub fn asked(&self) -> Vec<String> {
        if !self.pnml {
            return Vec::new();
        }
        let part = |part: &BTreeMap<u32, Tokens>| {
            let tokens = part.iter().flat_map(|(p, t)| vec![format!("p{p}"); t.least() as usize]);
            format!("0|{}", tokens.collect::<Vec<_>>().join(","))
        };
        self.targets.iter().map(part).collect()
    }
}

impl Steps for Net {
    fn starts(&self, size: u32) -> Vec<State> {
        let each: Vec<Vec<u32>> = self
            .start
            .iter()
            .map(|tokens| (tokens.least()..=tokens.most().unwrap_or(size)).collect())
            .collect();
        product(&each).into_iter().filter(|state| self.size(state) == size).collect()
    }

    fn starts_of_tokens(&self, most: u32) -> Vec<State> {
        let each: Vec<Vec<u32>> = self
            .start
            .iter()
            .map(|tokens| (tokens.least()..=tokens.most().unwrap_or(most.max(tokens.least()))).collect())
            .collect();
        product(&each)
    }

    fn largest_start(&self) -> Option<u32> {
        self.start.iter().map(|tokens| tokens.most()).sum()
    }

    fn after(&self, state: &State, _bound: Option<u32>) -> Vec<State> {
        let mut found: Vec<State> = self.rules.iter().filter_map(|rule| rule.fire(state)).collect();
        found.sort();
        found.dedup();
        found
    }

    fn size(&self, state: &State) -> u32 {
        state.iter().sum()
    }

    fn targets(&self) -> usize {
        self.targets.len()
    }

    fn hits(&self, state: &State, target: usize) -> bool {
        self.targets[target].iter().all(|(&p, tokens)| tokens.allows(state[p as usize]))
    }
}
