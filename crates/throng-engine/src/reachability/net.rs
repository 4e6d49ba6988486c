//! A net in dense form: places are numbers, a marking is a list of counts, and the needs and
//! changes of each transition are listed.

use rustc_hash::FxHashMap;

use throng_model::predicate::Predicate;
use throng_model::problem::{Asks, Bound, Problem};
use throng_model::verdict::{Taken, Trace};
use throng_model::{Bag, Bystanders, Config, Local, Shared, Step, UNCOUNTABLE};

/// Tokens by place.
pub type Marking = Box<[u32]>;

/// Maximum number of tokens on a place, so that sums of several still fit.
pub const MOST_TOKENS: u32 = UNCOUNTABLE >> 2;

/// Number of initial tokens on each place below which a byte mostly suffices for each.
pub const FEW: u32 = 64;

/// Maximum size of all markings of a run together, in numbers of tokens.
const MOST_STORED: usize = 80_000_000;

/// A net with one initial marking.
pub struct Net<'a> {
    /// The steps of the model, which are the transitions.
    pub steps: &'a [Step],
    /// The local states of the model that are the places, sorted.
    pub places: Vec<Local>,
    numbers: FxHashMap<Local, u32>,
    /// The tokens that each transition needs: place and number.
    pub needs: Vec<Vec<(u32, u32)>>,
    /// The effect of each transition: place and difference.
    pub changes: Vec<Vec<(u32, i64)>>,
    /// For each place, the transitions that need tokens of it, and how many.
    pub users: Vec<Vec<(u32, u32)>>,
    /// The initial marking.
    pub start: Marking,
    shared: Shared,
}

impl<'a> Net<'a> {
    /// Returns the net of a problem, or says why the problem is not about a net.
    pub fn new(problem: &'a Problem) -> Result<Net<'a>, String> {
        let model = &problem.model;
        let Some(steps) = model.listed().filter(|_| model.is_exact()) else {
            return Err("it searches nets whose transitions are listed; `explicit` takes others".into());
        };
        let [family] = &problem.initial[..] else {
            return Err("it searches nets with one initial marking; `explicit` takes others".into());
        };
        if !family.any.is_empty() || matches!(problem.bound, Bound::Threads(_)) {
            return Err("it searches nets with one initial marking; `explicit` takes others".into());
        }
        let plain =
            |s: &Step| s.others == Bystanders::Stay && (s.from, s.to) == (family.shared, family.shared);
        if !steps.iter().all(plain) {
            return Err(
                "it searches nets without transfers, resets and zero tests; `explicit` takes others".into()
            );
        }
        let here = |config: &Config| config.shared == family.shared;
        if !problem.targets.iter().all(|target| target.configs.iter().all(here)) {
            return Err("it searches nets, which have one shared state; `explicit` takes others".into());
        }
        let mut places: Vec<Local> = family.threads.entries().iter().map(|e| e.0).collect();
        for step in steps {
            let bags = [&step.take, &step.put, &step.spawn];
            places.extend(bags.into_iter().flat_map(|bag| bag.entries().iter().map(|e| e.0)));
        }
        for target in &problem.targets {
            target.predicate().each_local(&mut |l| places.push(l));
            if let Some(Asks::Largest(sum)) = target.asks() {
                places.extend(sum.iter().map(|t| t.0));
            }
        }
        places.sort_unstable();
        places.dedup();
        let numbers: FxHashMap<Local, u32> = places.iter().copied().zip(0..).collect();
        let dense = |bag: &Bag| bag.entries().iter().map(|&(l, n)| (numbers[&l], n)).collect::<Vec<_>>();
        let needs: Vec<Vec<(u32, u32)>> = steps.iter().map(|s| dense(&s.take)).collect();
        let change = |step: &Step| {
            let mut all: Vec<(u32, i64)> =
                dense(&step.take).into_iter().map(|(p, n)| (p, -i64::from(n))).collect();
            all.extend(
                dense(&step.put).into_iter().chain(dense(&step.spawn)).map(|(p, n)| (p, i64::from(n))),
            );
            all.sort_unstable();
            let mut sums: Vec<(u32, i64)> = Vec::new();
            for (p, n) in all {
                match sums.last_mut() {
                    Some(last) if last.0 == p => last.1 += n,
                    _ => sums.push((p, n)),
                }
            }
            sums.retain(|c| c.1 != 0);
            sums
        };
        let changes = steps.iter().map(change).collect();
        let mut users = vec![Vec::new(); places.len()];
        for (t, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|&(p, n)| users[p as usize].push((t as u32, n)));
        }
        let start = places.iter().map(|&l| family.threads.count(l)).collect();
        Ok(Net { steps, places, numbers, needs, changes, users, start, shared: family.shared })
    }

    /// Returns the number of a place.
    pub fn number(&self, l: Local) -> u32 {
        self.numbers[&l]
    }

    /// Returns whether a transition is enabled.
    pub fn enables(&self, marking: &[u32], t: u32) -> bool {
        self.needs[t as usize].iter().all(|&(p, n)| marking[p as usize] >= n)
    }

    /// Fires an enabled transition; returns `false` if there are then too many tokens to count.
    pub fn fire(&self, marking: &mut [u32], t: u32) -> bool {
        let mut countable = true;
        for &(p, change) in &self.changes[t as usize] {
            let after = i64::from(marking[p as usize]) + change;
            marking[p as usize] = u32::try_from(after).unwrap_or(u32::MAX);
            countable &= marking[p as usize] < MOST_TOKENS;
        }
        countable
    }

    /// Returns how often an enabled transition can fire in a row, from 1 to `most` times.
    pub fn times(&self, marking: &[u32], t: u32, most: u32) -> u32 {
        let mut times = i64::from(most);
        for &(p, change) in &self.changes[t as usize] {
            let here = i64::from(marking[p as usize]);
            let need = || self.needs[t as usize].iter().find(|n| n.0 == p).map_or(0, |n| i64::from(n.1));
            times = times.min(match change {
                ..0 => (here - need()) / -change + 1,
                _ => (i64::from(MOST_TOKENS) - here) / change,
            });
        }
        times.max(1) as u32
    }

    /// Returns the maximum number of steps of a run, all of whose markings are stored.
    pub fn most_steps(&self) -> usize {
        (MOST_STORED / (self.places.len() + 16)).clamp(20_000, 1_000_000)
    }

    /// Returns the marking as a configuration.
    pub fn config(&self, marking: &[u32]) -> Config {
        let marked = self.places.iter().copied().zip(marking.iter().copied()).filter(|e| e.1 > 0);
        Config::new(self.shared, marked.collect())
    }

    /// Returns the net restricted to these places, which are sorted, and for each of its
    /// transitions the original ones: those that have the same nonempty effect there. It can do at
    /// least as much; its transitions are not steps of the model.
    pub fn project(&self, kept: &[u32]) -> (Net<'a>, Vec<Vec<u32>>) {
        let new: FxHashMap<u32, u32> = kept.iter().copied().zip(0..).collect();
        let places: Vec<Local> = kept.iter().map(|&p| self.places[p as usize]).collect();
        let mut found = FxHashMap::default();
        let (mut needs, mut changes, mut origins) = (Vec::new(), Vec::new(), Vec::<Vec<u32>>::new());
        for t in 0..self.needs.len() {
            let change: Vec<(u32, i64)> =
                self.changes[t].iter().filter_map(|&(p, n)| Some((*new.get(&p)?, n))).collect();
            if change.is_empty() {
                continue;
            }
            let need: Vec<(u32, u32)> =
                self.needs[t].iter().filter_map(|&(p, n)| Some((*new.get(&p)?, n))).collect();
            let at = *found.entry((need.clone(), change.clone())).or_insert(origins.len());
            if at == origins.len() {
                needs.push(need);
                changes.push(change);
                origins.push(Vec::new());
            }
            origins[at].push(t as u32);
        }
        let mut users = vec![Vec::new(); places.len()];
        for (t, needs) in needs.iter().enumerate() {
            needs.iter().for_each(|&(p, n)| users[p as usize].push((t as u32, n)));
        }
        let numbers = places.iter().copied().zip(0..).collect();
        let start = kept.iter().map(|&p| self.start[p as usize]).collect();
        (Net { steps: &[], places, numbers, needs, changes, users, start, shared: self.shared }, origins)
    }

    /// Returns the run that fires these transitions, without its cycles.
    pub fn run(&self, fired: &[u32]) -> Trace {
        let mut marking = self.start.clone();
        let mut path: Vec<(u32, Marking)> = Vec::new();
        let mut seen: FxHashMap<Marking, usize> = FxHashMap::default();
        seen.insert(marking.clone(), 0);
        for &t in fired {
            self.fire(&mut marking, t);
            if let Some(&earlier) = seen.get(&marking) {
                path.drain(earlier..).for_each(|(_, left)| _ = seen.remove(&left));
                seen.insert(marking.clone(), earlier);
                continue;
            }
            path.push((t, marking.clone()));
            seen.insert(marking.clone(), path.len());
        }
        drop(seen);
        let taken = |(t, marking): (u32, Marking)| Taken {
            step: self.steps[t as usize].clone(),
            after: self.config(&marking),
        };
        Trace { start: self.config(&self.start), steps: path.into_iter().map(taken).collect() }
    }
}

/// An index of transitions for finding the enabled ones.
pub struct Leads {
    /// Transitions by one place that each needs tokens of, chosen so that few share it.
    by_place: Vec<Vec<u32>>,
    /// Transitions that need no tokens.
    always: Vec<u32>,
}

impl Leads {
    pub fn new(net: &Net) -> Leads {
        let mut leads = Leads { by_place: vec![Vec::new(); net.places.len()], always: Vec::new() };
        for (t, needs) in net.needs.iter().enumerate() {
            match needs.iter().min_by_key(|(p, _)| net.users[*p as usize].len()) {
                Some((p, _)) => leads.by_place[*p as usize].push(t as u32),
                None => leads.always.push(t as u32),
            }
        }
        leads
    }

    /// Lists the enabled transitions. Returns the number of places with tokens.
    pub fn enabled(&self, net: &Net, marking: &[u32], into: &mut Vec<u32>) -> usize {
        into.clear();
        into.extend(&self.always);
        let mut marked = 0;
        for (leads, _) in self.by_place.iter().zip(marking).filter(|(_, n)| **n > 0) {
            marked += 1;
            into.extend(leads.iter().filter(|&&t| net.enables(marking, t)));
        }
        marked
    }
}

/// A predicate over places by number.
#[derive(Clone, Debug)]
pub enum Formula {
    /// The sum is at least this.
    AtLeast(Vec<(u32, i64)>, i64),
    /// All of these hold.
    All(Vec<Formula>),
    /// One of these holds.
    Any(Vec<Formula>),
    /// No transition is enabled.
    Dead,
    /// Some transition is enabled.
    Live,
}

impl Formula {
    /// Compiles a predicate.
    pub fn new(net: &Net, predicate: &Predicate) -> Formula {
        let each = |parts: &[Predicate]| parts.iter().map(|p| Formula::new(net, p)).collect();
        match predicate {
            Predicate::AtLeast(sum, least) => {
                Formula::AtLeast(sum.iter().map(|&(l, n)| (net.number(l), n)).collect(), *least)
            }
            Predicate::All(parts) => Formula::All(each(parts)),
            Predicate::Any(parts) => Formula::Any(each(parts)),
            Predicate::Dead => Formula::Dead,
            Predicate::Live => Formula::Live,
        }
    }

    /// Returns whether it holds, given the number of enabled transitions.
    pub fn holds(&self, marking: &[u32], enabled: usize) -> bool {
        match self {
            Formula::AtLeast(sum, least) => missing(sum, *least, marking) <= 0,
            Formula::All(parts) => parts.iter().all(|p| p.holds(marking, enabled)),
            Formula::Any(parts) => parts.iter().any(|p| p.holds(marking, enabled)),
            Formula::Dead => enabled == 0,
            Formula::Live => enabled > 0,
        }
    }

    /// Returns an estimate of how far it is from holding: 0 if it holds.
    pub fn distance(&self, marking: &[u32], enabled: usize) -> u64 {
        match self {
            Formula::AtLeast(sum, least) => {
                u64::try_from(missing(sum, *least, marking)).unwrap_or(0).min(1 << 32)
            }
            Formula::All(parts) => parts.iter().map(|p| p.distance(marking, enabled)).sum(),
            Formula::Any(parts) => {
                parts.iter().map(|p| p.distance(marking, enabled)).min().unwrap_or(1 << 32)
            }
            Formula::Dead => enabled as u64,
            Formula::Live => u64::from(enabled == 0),
        }
    }

    /// Calls `see` with every place that it mentions. Returns whether it depends on more than
    /// these.
    pub fn each_place(&self, see: &mut impl FnMut(u32)) -> bool {
        match self {
            Formula::AtLeast(sum, _) => {
                sum.iter().for_each(|t| see(t.0));
                false
            }
            Formula::All(parts) | Formula::Any(parts) => {
                parts.iter().fold(false, |more, p| p.each_place(see) | more)
            }
            Formula::Dead | Formula::Live => true,
        }
    }
}

/// Returns by how much a sum is below its least value. Sums of formulas have small coefficients;
/// beyond 64 bits they saturate.
fn missing(sum: &[(u32, i64)], least: i64, marking: &[u32]) -> i64 {
    let value = sum.iter().map(|&(p, n)| i128::from(n) * i128::from(marking[p as usize])).sum::<i128>();
    (i128::from(least) - value).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use throng_model::problem::{Bound, Initial, Problem};
    use throng_model::random::Random;
    use throng_model::table::{Names, Table};
    use throng_model::{Bag, Bystanders, Edge, Local, Place, Shared, Step};

    /// Returns a net with this many places and six tokens, in which no transition increases the
    /// number of tokens.
    pub fn random_net(random: &mut Random, places: usize) -> Problem {
        let mut table = Table::new(Names::Numbers(1), Names::Numbers(places as u64));
        let mut bag = |size: usize| (0..size).map(|_| Local(random.below(places) as u64)).collect::<Bag>();
        for i in 0..places + 2 {
            let step = Step {
                from: Shared(0),
                to: Shared(0),
                take: bag(1 + i % 3),
                put: bag(1 + i % 3 - usize::from(i == 2)),
                spawn: Bag::new(),
                others: Bystanders::Stay,
                edge: Edge(0),
                choice: 0,
            };
            table.add(step, Vec::new(), Place::default());
        }
        Problem {
            initial: vec![Initial { shared: Shared(0), threads: bag(6), any: Vec::new() }],
            model: Arc::new(table),
            initial_text: "random".into(),
            targets: Vec::new(),
            bound: Bound::Any,
        }
    }
}
