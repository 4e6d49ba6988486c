//! Threads that are stuck in no configuration, for any number of threads: whoever waits, some
//! thread that can move will change what it waits for.
//!
//! A *pair* is a shared state with the local state of a thread that is followed. It *gets on* if
//! from every reachable configuration with it there is a run in which the thread comes to move:
//!
//! - the thread can move, or it goes around its loop to a pair that gets on; or
//! - no reachable configuration with the pair lacks a helper, which views and vectors show. A
//!   thread *helps* if steps that it takes alone lead to a pair that gets on, or to a state in which
//!   it still helps.
//!
//! Both are least fixpoints over what views allow, so that a helper that waits itself has helpers
//! of its own, and no two wait for each other. A run of one thread does not depend on who else is
//! there, because no thread blocks steps by its presence.
//!
//! Where states are sets, pairs and helpers are members of sets, so that nothing is said about all
//! members of a set from a step of some of them. Views and vectors are about sets, and exclude a
//! pair only if they exclude every set that contains it.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::limits::Ticker;
use crate::stuck::{Own, Stuck, few_live_members, few_members_shared};
use crate::verdict::Unknown;
use crate::views::Views;
use crate::waiting::is_waiting;
use crate::{Bag, Bystanders, Incomplete, Local, Model, Shared, Step};

/// Maximum number of members of the states of views.
const MOST_MEMBERS: usize = 1 << 16;

/// Returns whether nothing reachable has this shared state, a thread at this local state, and all
/// its other threads at some of these.
pub type Excludes<'a> = dyn FnMut(Shared, Local, &[Local]) -> Result<bool, Unknown> + 'a;

/// A shared state, the followed thread, and perhaps one that may help it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Node {
    shared: Shared,
    thread: Local,
    helper: Option<Local>,
}

/// Returns a shared and a local state of views such that a thread there is not shown to come to
/// move; `None` if every thread that is asked for is, whatever the number of threads.
pub fn without_help(
    stuck: &Stuck<'_>,
    views: &Views,
    excludes: &mut Excludes<'_>,
    ticker: &mut Ticker,
) -> Result<Option<(Shared, Local)>, Unknown> {
    let states = States::new(stuck.model(), views)?;
    let mut search =
        Search { stuck, states, nodes: IndexSet::default(), gets_on: Vec::new(), back: Vec::new() };
    search.explore(ticker)?;
    while search.ask(excludes, ticker)? {}
    let left = |node: &&Node| node.helper.is_none() && stuck.is_there(node.thread);
    let failed = search.nodes.iter().enumerate().filter(|(n, _)| !search.gets_on[*n]).map(|e| e.1).find(left);
    Ok(failed.map(|node| (node.shared, node.thread)))
}

/// The states of views and their members.
struct States<'a> {
    views: &'a Views,
    /// The states of which these are members.
    of_shared: FxHashMap<Shared, Vec<Shared>>,
    of_local: FxHashMap<Local, Vec<Local>>,
    members: FxHashMap<Local, Vec<Local>>,
}

impl<'a> States<'a> {
    fn new(model: &dyn Model, views: &'a Views) -> Result<States<'a>, Unknown> {
        let mut of_shared: FxHashMap<Shared, Vec<Shared>> = FxHashMap::default();
        let mut of_local: FxHashMap<Local, Vec<Local>> = FxHashMap::default();
        let mut members: FxHashMap<Local, Vec<Local>> = FxHashMap::default();
        let mut left = MOST_MEMBERS;
        let too_many = || Unknown::Inconclusive("views stand for too many states".into());
        for (s, _) in views.groups() {
            let all = few_members_shared(model, s)?;
            left = left.checked_sub(all.len()).ok_or_else(too_many)?;
            all.into_iter().for_each(|member| of_shared.entry(member).or_default().push(s));
        }
        for l in views.locals() {
            let mut all = few_live_members(model, l)?;
            all.sort_unstable();
            all.dedup();
            left = left.checked_sub(all.len()).ok_or_else(too_many)?;
            all.iter().for_each(|&member| of_local.entry(member).or_default().push(l));
            members.insert(l, all);
        }
        Ok(States { views, of_shared, of_local, members })
    }

    /// Returns the states of views that contain a pair.
    fn holding(&self, s: Shared, l: Local) -> Vec<(Shared, Local)> {
        let (shared, locals) = (self.of_shared.get(&s), self.of_local.get(&l));
        let each =
            shared.into_iter().flatten().flat_map(|&s| locals.into_iter().flatten().map(move |&l| (s, l)));
        each.filter(|&(s, l)| self.is_single(s, l)).collect()
    }

    fn is_single(&self, s: Shared, l: Local) -> bool {
        let group = self.views.group(s);
        group.zip(self.views.number(l)).is_some_and(|(group, l)| group.all().contains(l))
    }

    /// Returns the local states that may occur together with a pair, all of views.
    fn with(&self, s: Shared, l: Local) -> impl Iterator<Item = Local> + '_ {
        let group = self.views.group(s).zip(self.views.number(l));
        group.into_iter().flat_map(move |(group, l)| {
            let beside = move |other: &Local| self.views.number(*other).is_some_and(|o| group.pair(l, o));
            self.views.singles(group).filter(beside)
        })
    }

    fn members(&self, l: Local) -> &[Local] {
        self.members.get(&l).map_or(&[], Vec::as_slice)
    }

    /// Returns the threads that may be there beside a followed one.
    fn beside(&self, s: Shared, l: Local) -> BTreeSet<Local> {
        let with = self.holding(s, l).into_iter().flat_map(|(s, l)| self.with(s, l).collect::<Vec<_>>());
        with.flat_map(|other| self.members(other).to_vec()).collect()
    }
}

struct Search<'a> {
    stuck: &'a Stuck<'a>,
    states: States<'a>,
    nodes: IndexSet<Node, FxBuildHasher>,
    /// Whether the thread is known to come to move, by the number of the node.
    gets_on: Vec<bool>,
    /// The nodes that get on if this one does.
    back: Vec<Vec<usize>>,
}

impl Search<'_> {
    /// Visits every pair that is asked for and all that can follow from it.
    fn explore(&mut self, ticker: &mut Ticker) -> Result<(), Unknown> {
        let views = self.states.views;
        for (s, group) in views.groups() {
            for l in views.singles(group) {
                for shared in few_members_shared(self.stuck.model(), s)? {
                    ticker.tick()?;
                    let there = self.states.members(l).iter().filter(|&&l| self.stuck.is_there(l));
                    let pairs = there.map(|&thread| Node { shared, thread, helper: None });
                    self.nodes.extend(pairs.collect::<Vec<_>>());
                }
            }
        }
        let (mut next, mut open) = (0, Vec::new());
        while let Some(&node) = self.nodes.get_index(next) {
            ticker.ticks(16)?;
            match self.after(node)? {
                None => open.push(next),
                Some(after) => {
                    ticker.ticks(8 * after.len() as u32)?;
                    for to in after {
                        let to = self.number(to);
                        self.back[to].push(next);
                    }
                }
            }
            next += 1;
        }
        self.grow();
        self.mark(open);
        Ok(())
    }

    fn number(&mut self, node: Node) -> usize {
        let n = self.nodes.insert_full(node).0;
        self.grow();
        n
    }

    fn grow(&mut self) {
        self.gets_on.resize(self.nodes.len(), false);
        self.back.resize_with(self.nodes.len(), Vec::new);
    }

    fn mark(&mut self, mut open: Vec<usize>) {
        while let Some(n) = open.pop() {
            if !std::mem::replace(&mut self.gets_on[n], true) {
                open.extend(&self.back[n]);
            }
        }
    }

    /// Returns the nodes of which one suffices; `None` if this one gets on itself.
    fn after(&mut self, node: Node) -> Result<Option<Vec<Node>>, Incomplete> {
        match node.helper {
            Some(helper) => self.helps(node, helper),
            None => Ok(match self.stuck.own(node.shared, node.thread)? {
                Own::Moves => None,
                Own::Stays(to) => {
                    let beside = self.states.beside(node.shared, node.thread);
                    let helped = beside.into_iter().map(|l| Node { helper: Some(l), ..node });
                    self.nodes.extend(helped.collect::<Vec<_>>());
                    Some(to.into_iter().map(|thread| Node { thread, ..node }).collect())
                }
            }),
        }
    }

    /// Returns what follows a step of a thread that may help.
    fn helps(&self, node: Node, helper: Local) -> Result<Option<Vec<Node>>, Incomplete> {
        let (model, s) = (self.stuck.model(), node.shared);
        let mut steps = Vec::new();
        model.post(s, helper, &mut steps)?;
        if steps.is_empty() && !model.has_ended(helper) && !is_waiting(model, s, helper)? {
            // An assumption has stopped it, and such runs are not runs of the program.
            return Ok(None);
        }
        let mut found = Vec::new();
        for step in steps.iter().filter(|step| step.take == Bag::one(helper)) {
            let Some(fates) = self.fates(step, node.thread)? else { return Ok(None) };
            let mut next = Vec::new();
            for e in step.put.entries() {
                next.extend(few_live_members(model, e.0)?);
            }
            for shared in few_members_shared(model, step.to)? {
                for &thread in &fates {
                    found.push(Node { shared, thread, helper: None });
                    found.extend(next.iter().map(|&l| Node { shared, thread, helper: Some(l) }));
                }
            }
        }
        Ok(Some(found))
    }

    /// Returns where the followed thread can be after another one's step; `None` if it can be moved
    /// elsewhere.
    fn fates(&self, step: &Step, l: Local) -> Result<Option<Vec<Local>>, Incomplete> {
        let woken = self.stuck.model().woken_by(step, l);
        let fates = match (step.others, woken) {
            // There may be no other thread that is woken instead.
            (Bystanders::WakeOne, Some(to)) => self.stuck.stays_in_loop(l, to).then(|| vec![to]),
            _ => self.stuck.fates(step, l)?,
        };
        let Some(fates) = fates else { return Ok(None) };
        let mut members = Vec::new();
        for l in fates {
            members.extend(few_live_members(self.stuck.model(), l)?);
        }
        Ok(Some(members))
    }

    /// Marks the pairs of which some thread is shown to be there that helps. Returns whether there
    /// is one that was not known.
    fn ask(&mut self, excludes: &mut Excludes<'_>, ticker: &mut Ticker) -> Result<bool, Unknown> {
        let mut found = false;
        for n in 0..self.nodes.len() {
            let node = self.nodes[n];
            if self.gets_on[n] || node.helper.is_some() {
                continue;
            }
            ticker.ticks(16)?;
            let holding = self.states.holding(node.shared, node.thread);
            let mut excluded = !holding.is_empty();
            for (s, l) in holding {
                let others: Vec<Local> =
                    self.states.with(s, l).filter(|&other| !self.all_help(node, other)).collect();
                if !excludes(s, l, &others)? {
                    excluded = false;
                    break;
                }
            }
            if excluded {
                self.mark(vec![n]);
                found = true;
            }
        }
        Ok(found)
    }

    /// Returns whether each member of a state helps.
    fn all_help(&self, node: Node, l: Local) -> bool {
        let helps = |&l: &Local| {
            let n = self.nodes.get_index_of(&Node { helper: Some(l), ..node });
            n.is_some_and(|n| self.gets_on[n])
        };
        self.states.members(l).iter().all(helps)
    }
}
