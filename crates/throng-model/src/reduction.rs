//! Structural reductions of nets (Berthelot 1986): smaller nets that reach the same numbers of
//! tokens on the places that a question is about.
//!
//! A net has one shared state, one initial marking, and steps that leave bystanders alone. Some of
//! its places are *visible*: the question is about them. A [`Reduction`] is applied only if its
//! conditions hold. Whatever the net reaches, the smaller net reaches with the same tokens on
//! visible places:
//!
//! - [`Reduction::Prune`]: transitions that can never fire, as a place that they need can never
//!   have a token, are removed. So are transitions that do not *matter*: one matters if it changes
//!   a visible place or adds tokens to a place that one that matters needs. Without the others,
//!   those that matter can still fire, as they have at least as many tokens. Then no remaining
//!   transition needs a place that does not matter, and such places are removed as well.
//! - [`Reduction::Drop`]: removing a place never disables a transition.
//! - [`Reduction::Post`], of a place p (post-agglomeration): every transition that needs p needs w
//!   tokens of it and nothing else, and adds tokens to no visible place; others add multiples of w.
//!   A transition that takes tokens from p can fire as soon as they are there, and more tokens
//!   elsewhere do no harm. So p is always emptied at once: each transition into p is followed by
//!   one out of p for every w tokens. If there are several out of p, each transition into p adds w
//!   tokens only. If there is one, initial tokens of p are moved at the start.
//! - [`Reduction::Pre`], of a place p (pre-agglomeration): p starts empty, every transition into p
//!   adds w tokens to it and nothing elsewhere, and takes tokens from no visible place; others take
//!   multiples of w. A transition into p can wait until its tokens are needed, and need not fire if
//!   they never are. So each transition out of p is preceded by one into p for every w tokens. If
//!   there are several into p, each transition out of p takes w tokens only.
//!
//! In both cases no transition both takes tokens from p and adds tokens to p. Of equal transitions
//! one is kept, and those that change nothing are removed.
//!
//! Conversely, each transition of the smaller net is a sequence of transitions of the original one,
//! so that runs can be lifted ([`ReducedNet::lift`]), unless a dropped place restricted the net.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

use super::problem::{Bound, Initial, Problem};
use super::table::{Names, Table};
use super::{Bag, Bystanders, Edge, Local, Place, Shared, Step};

/// One reduction of a net; see the module documentation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reduction {
    /// Removes transitions that cannot fire or do not matter, and places that do not matter.
    Prune,
    /// Removes a place.
    Drop(Local),
    /// Fires transitions into a place only right before transitions out of it.
    Pre(Local),
    /// Fires transitions out of a place right after transitions into it.
    Post(Local),
}

/// How a net was reduced.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reductions {
    /// The visible places: those of all questions that the smaller net answers.
    pub visible: Vec<Local>,
    /// The reductions, in this order.
    pub steps: Vec<Reduction>,
}

/// Maximum size of a net: entries of what transitions take and put, and transitions that they are
/// made of.
const MOST_ENTRIES: usize = 1 << 25;

/// Maximum number of transitions that a transition is made of.
const LONGEST: usize = 1 << 10;

/// A transition, and the transitions of the original net that it is made of.
#[derive(Clone)]
struct Transition {
    take: Bag,
    put: Bag,
    path: Vec<u32>,
}

impl Transition {
    /// Returns the sequence of this transition and `later`.
    fn then(&self, later: &Transition) -> Result<Transition, String> {
        let mut take = self.take.clone();
        take.add_all(&without(&later.take, &self.put));
        let mut put = later.put.clone();
        put.add_all(&without(&self.put, &later.take));
        let path = [&self.path[..], &later.path].concat();
        if path.len() > LONGEST || !take.is_countable() || !put.is_countable() {
            return Err("a transition becomes too large".into());
        }
        Ok(Transition { take, put, path })
    }

    fn entries(&self) -> usize {
        self.take.entries().len() + self.put.entries().len() + self.path.len()
    }
}

/// Returns the part of `a` that is not in `b`.
fn without(a: &Bag, b: &Bag) -> Bag {
    a.entries().iter().map(|&(l, n)| (l, n.saturating_sub(b.count(l)))).collect()
}

/// A net that is being reduced.
pub struct ReducedNet {
    /// `None` where a transition was removed.
    transitions: Vec<Option<Transition>>,
    /// The effects of all transitions: what they take and put.
    known: HashSet<(Bag, Bag)>,
    /// For each place, the transitions that put tokens there and those that take tokens from there.
    links: HashMap<Local, (BTreeSet<u32>, BTreeSet<u32>)>,
    start: Bag,
    /// Transitions of the original net that fire first.
    first: Vec<u32>,
    visible: HashSet<Local>,
    shared: Shared,
    entries: usize,
}

impl ReducedNet {
    /// Returns the net of a problem, with these places visible, or says why the problem is not
    /// about a net.
    pub fn new(problem: &Problem, visible: impl IntoIterator<Item = Local>) -> Result<ReducedNet, String> {
        let none = || "only nets with one initial marking are reduced".to_string();
        let listed = problem.model.listed().filter(|_| problem.model.is_exact()).ok_or_else(none)?;
        let [family] = &problem.initial[..] else { return Err(none()) };
        let plain =
            |s: &Step| s.others == Bystanders::Stay && (s.from, s.to) == (family.shared, family.shared);
        if !family.any.is_empty() || problem.bound != Bound::Any || !listed.iter().all(plain) {
            return Err(none());
        }
        let mut net = ReducedNet {
            transitions: Vec::new(),
            known: HashSet::default(),
            links: HashMap::default(),
            start: family.threads.clone(),
            first: Vec::new(),
            visible: visible.into_iter().collect(),
            shared: family.shared,
            entries: 0,
        };
        for (i, step) in (0..).zip(listed) {
            let mut put = step.put.clone();
            put.add_all(&step.spawn);
            net.add(Transition { take: step.take.clone(), put, path: vec![i] });
        }
        Ok(net)
    }

    fn add(&mut self, new: Transition) {
        if new.take == new.put || !self.known.insert((new.take.clone(), new.put.clone())) {
            return;
        }
        let i = self.transitions.len() as u32;
        new.put.entries().iter().for_each(|e| _ = self.links.entry(e.0).or_default().0.insert(i));
        new.take.entries().iter().for_each(|e| _ = self.links.entry(e.0).or_default().1.insert(i));
        self.entries += new.entries();
        self.transitions.push(Some(new));
    }

    fn remove(&mut self, i: u32) -> Option<Transition> {
        let old = self.transitions[i as usize].take()?;
        for (l, _) in old.put.entries().iter().chain(old.take.entries()) {
            if let Some((into, from)) = self.links.get_mut(l) {
                into.remove(&i);
                from.remove(&i);
            }
        }
        self.known.remove(&(old.take.clone(), old.put.clone()));
        self.entries -= old.entries();
        Some(old)
    }

    fn each(&self) -> impl Iterator<Item = (u32, &Transition)> {
        (0..).zip(&self.transitions).filter_map(|(i, t)| Some((i, t.as_ref()?)))
    }

    /// Returns the number of transitions.
    pub fn len(&self) -> usize {
        self.each().count()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.each().next().is_none()
    }

    /// Returns the places that are not visible and that transitions change or need, in order.
    pub fn places(&self) -> Vec<Local> {
        let used = self
            .links
            .iter()
            .filter(|(l, (a, b))| !(a.is_empty() && b.is_empty() || self.visible.contains(l)));
        let mut places: Vec<Local> = used.map(|e| *e.0).collect();
        places.sort_unstable();
        places
    }

    /// Returns, for each transition that puts tokens to a place or takes tokens from it, its number
    /// and how many it puts and takes.
    pub fn around(&self, l: Local) -> Vec<(u32, u32, u32)> {
        let Some((into, from)) = self.links.get(&l) else { return Vec::new() };
        let both = into.union(from).filter_map(|&i| Some((i, self.transitions[i as usize].as_ref()?)));
        both.map(|(i, t)| (i, t.put.count(l), t.take.count(l))).collect()
    }

    /// Returns the initial number of tokens of a place.
    pub fn at_start(&self, l: Local) -> u32 {
        self.start.count(l)
    }

    /// Applies a reduction, or says why it does not apply and changes nothing.
    pub fn apply(&mut self, reduction: Reduction) -> Result<(), String> {
        if let Reduction::Drop(l) | Reduction::Pre(l) | Reduction::Post(l) = reduction
            && self.visible.contains(&l)
        {
            return Err("a place that the question is about cannot be removed".into());
        }
        match reduction {
            Reduction::Prune => self.prune(),
            Reduction::Drop(l) => self.forget(l),
            Reduction::Pre(l) => self.pre(l)?,
            Reduction::Post(l) => self.post(l)?,
        }
        Ok(())
    }

    fn prune(&mut self) {
        // Determines which places can ever have tokens.
        let mut lacking: Vec<usize> =
            self.transitions.iter().map(|t| t.as_ref().map_or(0, |t| t.take.entries().len())).collect();
        let mut marked: HashSet<Local> = self.start.entries().iter().map(|e| e.0).collect();
        let mut waiting: Vec<Local> = marked.iter().copied().collect();
        let fed = self.each().filter(|(_, t)| t.take.is_empty()).flat_map(|(_, t)| t.put.entries());
        waiting.extend(fed.map(|e| e.0).filter(|&l| marked.insert(l)));
        while let Some(l) = waiting.pop() {
            for &i in self.links.get(&l).into_iter().flat_map(|l| &l.1) {
                lacking[i as usize] -= 1;
                let Some(t) = self.transitions[i as usize].as_ref().filter(|_| lacking[i as usize] == 0)
                else {
                    continue;
                };
                waiting.extend(t.put.entries().iter().map(|e| e.0).filter(|&l| marked.insert(l)));
            }
        }
        let dead: Vec<u32> = self.each().map(|e| e.0).filter(|&i| lacking[i as usize] > 0).collect();
        dead.into_iter().for_each(|i| _ = self.remove(i));
        // Determines which places and transitions matter.
        let mut places = self.visible.clone();
        let mut waiting: Vec<Local> = places.iter().copied().collect();
        let mut matters: HashSet<u32> = HashSet::default();
        while let Some(l) = waiting.pop() {
            for (i, put, take) in self.around(l) {
                let does = put > take || put < take && self.visible.contains(&l);
                let Some(t) = self.transitions[i as usize].as_ref().filter(|_| does && matters.insert(i))
                else {
                    continue;
                };
                waiting.extend(t.take.entries().iter().map(|e| e.0).filter(|&l| places.insert(l)));
            }
        }
        let useless: Vec<u32> = self.each().map(|e| e.0).filter(|i| !matters.contains(i)).collect();
        useless.into_iter().for_each(|i| _ = self.remove(i));
        let mut others: Vec<Local> =
            self.links.keys().copied().chain(self.start.entries().iter().map(|e| e.0)).collect();
        others.retain(|l| !places.contains(l));
        others.into_iter().for_each(|l| self.forget(l));
    }

    fn forget(&mut self, l: Local) {
        let (into, from) = self.links.remove(&l).unwrap_or_default();
        for i in into.union(&from) {
            let Some(mut old) = self.remove(*i) else { continue };
            let (take, put) = (old.take.count(l), old.put.count(l));
            old.take.remove(l, take);
            old.put.remove(l, put);
            self.add(old);
        }
        let count = self.start.count(l);
        self.start.remove(l, count);
    }

    /// Returns the transitions into a place and out of it, provided that there are some of both and
    /// none is both.
    fn ends(&self, l: Local) -> Result<[Vec<(u32, &Transition)>; 2], String> {
        let Some((into, from)) = self.links.get(&l) else {
            return Err("no transition uses the place".into());
        };
        if into.is_empty() || from.is_empty() || !into.is_disjoint(from) {
            return Err("the place is not passed through".into());
        }
        let find = |of: &BTreeSet<u32>| {
            of.iter().filter_map(|&i| Some((i, self.transitions[i as usize].as_ref()?))).collect()
        };
        Ok([find(into), find(from)])
    }

    fn shows(&self, bag: &Bag) -> bool {
        bag.entries().iter().any(|e| self.visible.contains(&e.0))
    }

    fn post(&mut self, l: Local) -> Result<(), String> {
        let [into, from] = self.ends(l)?;
        let w = from[0].1.take.count(l);
        if from.iter().any(|(_, t)| t.take.entries() != [(l, w)] || self.shows(&t.put)) {
            return Err("a transition out of the place needs others or can be seen".into());
        }
        let fits = |n: u32| n.is_multiple_of(w) && (n == w || from.len() == 1);
        let waiting = self.start.count(l);
        if !into.iter().all(|(_, t)| fits(t.put.count(l)))
            || waiting > 0 && !(from.len() == 1 && fits(waiting))
        {
            return Err("the numbers of tokens do not fit".into());
        }
        let (mut new, mut room) = (Vec::new(), MOST_ENTRIES.saturating_sub(self.entries));
        for (_, first) in &into {
            for (_, later) in &from {
                let mut whole = (*first).clone();
                for _ in 0..first.put.count(l) / w {
                    whole = whole.then(later)?;
                }
                room = room.checked_sub(whole.entries()).ok_or("the net becomes too large")?;
                new.push(whole);
            }
        }
        let mut start = Transition { take: Bag::new(), put: self.start.clone(), path: Vec::new() };
        for _ in 0..waiting / w {
            start = start.then(from[0].1)?;
        }
        self.start = start.put;
        self.first.extend(start.path);
        self.replace(l, new);
        Ok(())
    }

    fn pre(&mut self, l: Local) -> Result<(), String> {
        let [into, from] = self.ends(l)?;
        let w = into[0].1.put.count(l);
        if into.iter().any(|(_, t)| t.put.entries() != [(l, w)] || self.shows(&t.take)) {
            return Err("a transition into the place puts tokens elsewhere or can be seen".into());
        }
        let fits = |n: u32| n.is_multiple_of(w) && (n == w || into.len() == 1);
        if self.start.count(l) > 0 || !from.iter().all(|(_, t)| fits(t.take.count(l))) {
            return Err("the numbers of tokens do not fit".into());
        }
        let (mut new, mut room) = (Vec::new(), MOST_ENTRIES.saturating_sub(self.entries));
        for (_, later) in &from {
            for (_, first) in &into {
                let mut whole = (*later).clone();
                for _ in 0..later.take.count(l) / w {
                    whole = first.then(&whole)?;
                }
                room = room.checked_sub(whole.entries()).ok_or("the net becomes too large")?;
                new.push(whole);
            }
        }
        self.replace(l, new);
        Ok(())
    }

    /// Replaces the transitions into and out of `l`.
    fn replace(&mut self, l: Local, new: Vec<Transition>) {
        let (into, from) = self.links.remove(&l).unwrap_or_default();
        into.into_iter().chain(from).for_each(|i| _ = self.remove(i));
        new.into_iter().for_each(|t| self.add(t));
    }

    /// Returns the problem of the reduced net, with the targets of `problem`.
    pub fn problem(&self, problem: &Problem) -> Problem {
        let mut table = Table::new(Names::Numbers(0), Names::Numbers(0));
        for (_, t) in self.each() {
            let step = Step {
                from: self.shared,
                to: self.shared,
                take: t.take.clone(),
                put: t.put.clone(),
                spawn: Bag::new(),
                others: Bystanders::Stay,
                edge: Edge(0),
                choice: 0,
            };
            table.add(step, Vec::new(), Place::default());
        }
        let initial = vec![Initial { shared: self.shared, threads: self.start.clone(), any: Vec::new() }];
        Problem { model: Arc::new(table), initial, ..problem.clone() }
    }

    /// Returns the run of the original net that a run of the reduced net stands for, as numbers of
    /// steps; `None` if it has more than `most`.
    pub fn lift(&self, fired: impl Iterator<Item = u32>, most: usize) -> Option<Vec<u32>> {
        let paths: Vec<&[u32]> = self.each().map(|(_, t)| &t.path[..]).collect();
        let mut run = self.first.clone();
        for t in fired {
            run.extend_from_slice(paths.get(t as usize)?);
            if run.len() > most {
                return None;
            }
        }
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a net with these transitions, given by what each takes and puts.
    fn net(start: &[u64], transitions: &[(&[u64], &[u64])]) -> Problem {
        let bag = |ls: &[u64]| ls.iter().map(|&l| Local(l)).collect::<Bag>();
        let mut table = Table::new(Names::Numbers(1), Names::Numbers(9));
        for (take, put) in transitions {
            let step = Step {
                from: Shared(0),
                to: Shared(0),
                take: bag(take),
                put: bag(put),
                spawn: Bag::new(),
                others: Bystanders::Stay,
                edge: Edge(0),
                choice: 0,
            };
            table.add(step, Vec::new(), Place::default());
        }
        Problem {
            model: Arc::new(table),
            initial: vec![Initial { shared: Shared(0), threads: bag(start), any: Vec::new() }],
            initial_text: String::new(),
            targets: Vec::new(),
            bound: Bound::Any,
        }
    }

    /// The effects of transitions: what they take and put.
    type Transitions = Vec<(Bag, Bag)>;

    /// Returns the transitions after these reductions, with place 9 visible, and the initial tokens
    /// of the reduced net.
    fn reduced(
        problem: &Problem,
        reductions: &[Reduction],
    ) -> Result<(Transitions, Bag, ReducedNet), String> {
        let mut net = ReducedNet::new(problem, [Local(9)])?;
        reductions.iter().try_for_each(|&r| net.apply(r))?;
        let smaller = net.problem(problem);
        let steps = smaller.model.listed().unwrap().iter().map(|s| (s.take.clone(), s.put.clone())).collect();
        Ok((steps, smaller.initial[0].threads.clone(), net))
    }

    fn bag(entries: &[(u64, u32)]) -> Bag {
        entries.iter().map(|&(l, n)| (Local(l), n)).collect()
    }

    #[test]
    fn what_can_be_seen_is_not_moved_to_another_time() {
        let chain = net(&[0], &[(&[0], &[1]), (&[1], &[9])]);
        assert!(reduced(&chain, &[Reduction::Post(Local(1))]).is_err(), "9 would get its token earlier");
        let (steps, _, net) = reduced(&chain, &[Reduction::Pre(Local(1))]).unwrap();
        assert_eq!(steps, [(bag(&[(0, 1)]), bag(&[(9, 1)]))]);
        assert_eq!(net.lift([0].into_iter(), 10), Some(vec![0, 1]));
        assert!(reduced(&chain, &[Reduction::Drop(Local(9))]).is_err());
        let taken = net_that_takes();
        assert!(reduced(&taken, &[Reduction::Pre(Local(1))]).is_err(), "9 would lose its token later");
    }

    fn net_that_takes() -> Problem {
        net(&[9], &[(&[9], &[1]), (&[1], &[2])])
    }

    #[test]
    fn weights_and_initial_tokens() {
        let problem = net(&[1, 1, 1], &[(&[0], &[1, 1]), (&[1], &[2]), (&[2, 2], &[9])]);
        let (steps, start, net) = reduced(&problem, &[Reduction::Post(Local(1))]).unwrap();
        assert_eq!(start, bag(&[(2, 3)]));
        assert!(steps.contains(&(bag(&[(0, 1)]), bag(&[(2, 2)]))), "{steps:?}");
        assert_eq!(net.lift([].into_iter(), 10), Some(vec![1, 1, 1]));
        let two_ways = net_of_two_ways();
        assert!(
            reduced(&two_ways, &[Reduction::Post(Local(1))]).is_err(),
            "two tokens may go different ways"
        );
    }

    fn net_of_two_ways() -> Problem {
        net(&[0], &[(&[0], &[1, 1]), (&[1], &[2]), (&[1], &[3]), (&[2, 3], &[9])])
    }

    #[test]
    fn a_transition_that_waits_for_something_else_is_not_fired_at_once() {
        let problem = net(&[0, 3], &[(&[0], &[1]), (&[1, 3], &[2]), (&[2], &[9])]);
        assert!(reduced(&problem, &[Reduction::Post(Local(1))]).is_err());
        assert!(reduced(&problem, &[Reduction::Pre(Local(1))]).is_ok());
    }

    #[test]
    fn what_cannot_fire_or_does_not_matter_is_removed() {
        let problem = net(&[0], &[(&[0], &[9]), (&[5], &[9]), (&[0], &[6]), (&[9], &[9, 7]), (&[6], &[0])]);
        let (steps, start, _) = reduced(&problem, &[Reduction::Prune]).unwrap();
        // 6 → 0 gives back a token that 0 → 9 needs, and 6 gets it from 0 → 6.
        let kept = [
            (bag(&[(0, 1)]), bag(&[(9, 1)])),
            (bag(&[(0, 1)]), bag(&[(6, 1)])),
            (bag(&[(6, 1)]), bag(&[(0, 1)])),
        ];
        assert_eq!(steps, kept);
        assert_eq!(start, bag(&[(0, 1)]));
    }
}
