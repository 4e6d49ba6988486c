//! Local states that the quotient merges: bisimilar ones, those whose only step leads to another
//! state, and dead ones.
//!
//! - A state that can always become another, and has no other steps, is merged with that one:
//!   straight-line local code.
//! - Two states are merged if they are bisimilar (partition refinement: classes are split until
//!   they are stable). A step between two states of one class that changes nothing else is ignored.
//! - Dead threads, in a state that has no steps and that no target names, are removed.
//!
//! States that targets name, and states that a step takes several of at once, stay as they are.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rustc_hash::{FxHashMap as HashMap, FxHashSet};

use throng_model::limits::Limits;
use throng_model::verdict::Unknown;
use throng_model::{Local, Shared, Step};

/// Maximum average number of times that a step is examined; beyond it, nothing is merged.
const EFFORT: usize = 64;

/// Number of steps between two checks of the limits.
const LOOK: usize = 1 << 14;

/// The images of local states; those not listed stay.
#[derive(Default)]
pub struct Equivalent {
    /// Local states with their image, or `None` for dead threads.
    pub merged: Vec<(Local, Option<Local>)>,
    /// States that threads always leave by themselves, with the next state.
    pub alias: HashMap<Local, Local>,
}

/// The steps of a state, sorted: shared states before and after, and the classes of the threads
/// that are put.
type Signature = Vec<(Shared, Shared, Put)>;

/// The threads that a step puts: nearly always one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Put {
    One(usize),
    /// Classes with their numbers of threads.
    Several(Vec<(usize, u64)>),
}

/// Finds equivalent states; `keep` are those that targets name, `starts` the initial shared states.
/// No step moves bystanders.
pub fn equivalent(
    steps: &[Step],
    keep: &HashSet<Local>,
    starts: &[Shared],
    limits: &Limits,
) -> Result<Equivalent, Unknown> {
    let mut fixed = keep.clone();
    let mut led: HashMap<Local, Vec<&Step>> = HashMap::default();
    let mut locals = BTreeSet::new();
    let mut shared: FxHashSet<Shared> = starts.iter().copied().collect();
    for (n, step) in steps.iter().enumerate() {
        if n.is_multiple_of(LOOK) {
            limits.check()?;
        }
        shared.extend([step.from, step.to]);
        for bag in [&step.take, &step.put, &step.spawn] {
            locals.extend(bag.entries().iter().map(|e| e.0));
        }
        match step.take.entries() {
            [(l, 1)] => led.entry(*l).or_default().push(step),
            several => fixed.extend(several.iter().map(|e| e.0)),
        }
    }
    let (alias, goal) = aliases(&led, &fixed, shared.len());
    let mut classes = Classes::new(&locals, &fixed, &led, &goal);
    if !classes.split_until_stable(EFFORT * (steps.len() + locals.len()), limits)? {
        return Ok(Equivalent::default());
    }
    Ok(Equivalent { merged: classes.merged(&locals), alias })
}

/// Returns states that can only become another state, in every shared state: the next state, and
/// the last.
fn aliases(
    led: &HashMap<Local, Vec<&Step>>,
    fixed: &HashSet<Local>,
    shared: usize,
) -> (HashMap<Local, Local>, HashMap<Local, Local>) {
    let (mut alias, mut goal) = (HashMap::default(), HashMap::default());
    let mut leaders: Vec<Local> = led.keys().copied().filter(|l| !fixed.contains(l)).collect();
    leaders.sort_unstable();
    for l in leaders {
        let mut next = None;
        let alone = led[&l].iter().all(|step| match (step.put.entries(), step.spawn.is_empty()) {
            ([(m, 1)], true) => step.from == step.to && *next.get_or_insert(*m) == *m,
            _ => false,
        });
        let everywhere = || led[&l].iter().map(|step| step.from).collect::<FxHashSet<_>>().len() == shared;
        if let Some(next) = next
            && alone
            && everywhere()
            && find(&mut goal, next) != l
        {
            alias.insert(l, next);
            goal.insert(l, next);
        }
    }
    for &l in alias.keys() {
        find(&mut goal, l);
    }
    (alias, goal)
}

/// Returns the last state that a state becomes by itself, and shortens the path for later calls.
fn find(goal: &mut HashMap<Local, Local>, l: Local) -> Local {
    let mut end = l;
    while let Some(&next) = goal.get(&end) {
        end = next;
    }
    let mut now = l;
    while let Some(&next) = goal.get(&now).filter(|&&next| next != end) {
        goal.insert(now, end);
        now = next;
    }
    end
}

/// Does the same when all last states are known.
fn resolve(goal: &HashMap<Local, Local>, l: Local) -> Local {
    goal.get(&l).copied().unwrap_or(l)
}

/// A partition of local states that is split until it is stable.
struct Classes<'a> {
    led: &'a HashMap<Local, Vec<&'a Step>>,
    goal: &'a HashMap<Local, Local>,
    fixed: &'a HashSet<Local>,
    class: HashMap<Local, usize>,
    members: Vec<Vec<Local>>,
    /// The position of each state among the members of its class.
    at: HashMap<Local, usize>,
    /// For each state, the leaders of steps that put a thread there.
    before: HashMap<Local, Vec<Local>>,
}

impl<'a> Classes<'a> {
    fn new(
        locals: &BTreeSet<Local>,
        fixed: &'a HashSet<Local>,
        led: &'a HashMap<Local, Vec<&'a Step>>,
        goal: &'a HashMap<Local, Local>,
    ) -> Classes<'a> {
        let mut classes = Classes {
            led,
            goal,
            fixed,
            class: HashMap::default(),
            members: vec![Vec::new()],
            at: HashMap::default(),
            before: HashMap::default(),
        };
        for &l in locals.iter().filter(|l| !goal.contains_key(l)) {
            let class = if fixed.contains(&l) { classes.members.len() } else { 0 };
            if class > 0 {
                classes.members.push(Vec::new());
            }
            classes.at.insert(l, classes.members[class].len());
            classes.members[class].push(l);
            classes.class.insert(l, class);
        }
        for (&l, steps) in led.iter().filter(|(l, _)| !fixed.contains(l)) {
            for &(m, _) in steps.iter().flat_map(|s| s.put.entries().iter().chain(s.spawn.entries())) {
                classes.before.entry(resolve(goal, m)).or_default().push(l);
            }
        }
        classes.before.values_mut().for_each(|ls| {
            ls.sort_unstable();
            ls.dedup();
        });
        classes
    }

    fn signature(&self, l: Local) -> Signature {
        let own = self.class[&l];
        let steps = self.led.get(&l).into_iter().flatten();
        let class = |l: Local| self.class[&resolve(self.goal, l)];
        let does = steps.map(|step| {
            let left = match (step.put.entries(), step.spawn.is_empty()) {
                (&[(l, 1)], true) => Put::One(class(l)),
                (put, _) => {
                    let mut all: BTreeMap<usize, u64> = BTreeMap::new();
                    for &(l, n) in put.iter().chain(step.spawn.entries()) {
                        *all.entry(class(l)).or_default() += u64::from(n);
                    }
                    Put::Several(all.into_iter().collect())
                }
            };
            (step.from, step.to, left)
        });
        let mut does: Signature =
            does.filter(|(from, to, left)| from != to || *left != Put::One(own)).collect();
        does.sort_unstable();
        does.dedup();
        does
    }

    /// Splits classes until all members of each have the same steps. Returns whether that took
    /// little enough work.
    ///
    /// Invariant: apart from dirty members, all members of a class have the same signature.
    fn split_until_stable(&mut self, mut work: usize, limits: &Limits) -> Result<bool, Unknown> {
        let mut signatures: HashMap<Local, Signature> = HashMap::default();
        let mut dirty: BTreeSet<Local> = self.members[0].iter().copied().collect();
        while !dirty.is_empty() {
            let mut touched: BTreeMap<usize, Vec<Local>> = BTreeMap::new();
            for l in std::mem::take(&mut dirty) {
                let cost = 1 + self.led.get(&l).map_or(0, Vec::len);
                let Some(left) = work.checked_sub(cost) else { return Ok(false) };
                if left / LOOK != work / LOOK {
                    limits.check()?;
                }
                work = left;
                signatures.insert(l, self.signature(l));
                touched.entry(self.class[&l]).or_default().push(l);
            }
            for (class, looked_at) in touched {
                // A member that was not examined has the signature of the class; if there is none,
                // the largest part keeps the number.
                let known: FxHashSet<Local> = looked_at.iter().copied().collect();
                let stays = self.members[class].iter().find(|l| !known.contains(l)).copied();
                let mut parts: BTreeMap<&Signature, Vec<Local>> = BTreeMap::new();
                for &l in &looked_at {
                    parts.entry(&signatures[&l]).or_default().push(l);
                }
                match stays {
                    Some(l) => _ = parts.remove(&signatures[&l]),
                    None => {
                        let largest = parts.iter().max_by_key(|part| part.1.len()).map(|part| *part.0);
                        largest.map(|signature| parts.remove(signature));
                    }
                }
                for part in parts.into_values() {
                    let new = self.members.len();
                    self.members.push(Vec::new());
                    for l in part {
                        self.move_to(l, new);
                        dirty.insert(l);
                        dirty.extend(self.before.get(&l).into_iter().flatten());
                    }
                }
            }
            dirty.retain(|l| !self.fixed.contains(l) && !self.goal.contains_key(l));
        }
        Ok(true)
    }

    fn move_to(&mut self, l: Local, new: usize) {
        let old = self.class.insert(l, new).expect("every state has a class");
        let at = self.at[&l];
        self.members[old].swap_remove(at);
        if let Some(&moved) = self.members[old].get(at) {
            self.at.insert(moved, at);
        }
        self.at.insert(l, self.members[new].len());
        self.members[new].push(l);
    }

    fn merged(&self, locals: &BTreeSet<Local>) -> Vec<(Local, Option<Local>)> {
        let stands_for = |l: Local| {
            let l = resolve(self.goal, l);
            let class = &self.members[self.class[&l]];
            let idle = !self.fixed.contains(&l) && self.signature(l).is_empty();
            (!idle).then(|| *class.iter().min().expect("a class has members"))
        };
        let all = locals.iter().map(|&l| (l, stands_for(l)));
        all.filter(|&(l, to)| to != Some(l)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_model::table::thread_step;

    fn merged(steps: &[(u64, u64, u64, u64)], keep: &[u64]) -> Vec<(u64, Option<u64>)> {
        let steps: Vec<Step> = steps.iter().map(|&(s, l, t, m)| thread_step(s, l, t, m)).collect();
        let keep = keep.iter().map(|&l| Local(l)).collect();
        let found = equivalent(&steps, &keep, &[Shared(0)], &Limits::none()).unwrap().merged;
        found.into_iter().map(|(l, to)| (l.0, to.map(|l| l.0))).collect()
    }

    #[test]
    fn limits_are_obeyed() {
        let limits = Limits::none();
        limits.stopper().stop();
        let found = equivalent(&[thread_step(0, 1, 1, 9)], &HashSet::new(), &[], &limits);
        assert_eq!(found.err(), Some(Unknown::Cancelled));
    }

    #[test]
    fn those_that_can_do_the_same_are_one() {
        // 1 and 2 have the same steps to the target 9; 3 has its step in another shared state.
        assert_eq!(merged(&[(0, 1, 1, 9), (0, 2, 1, 9), (1, 3, 1, 9)], &[9]), [(2, Some(1))]);
    }

    #[test]
    fn chains_are_equal_step_by_step() {
        let steps = [(0, 1, 1, 2), (1, 2, 0, 9), (0, 3, 1, 4), (1, 4, 0, 9)];
        assert_eq!(merged(&steps, &[9]), [(3, Some(1)), (4, Some(2))]);
    }

    #[test]
    fn local_code_is_passed_over_only_where_it_can_always_run() {
        let code = [(0, 1, 0, 2), (1, 1, 1, 2), (0, 2, 1, 9)];
        assert_eq!(merged(&code, &[9]), [(1, Some(2))]);
        let stuck_in_1 = [(0, 1, 0, 2), (0, 2, 1, 9)];
        assert_eq!(merged(&stuck_in_1, &[9]), []);
        let stuck_at_the_start = [(1, 1, 1, 2), (1, 2, 1, 9)];
        assert_eq!(merged(&stuck_at_the_start, &[9]), []);
    }

    #[test]
    fn a_loop_of_local_code_is_gone() {
        // 1 and 2 become each other forever, and 3 becomes 1.
        let steps = [(0, 1, 0, 2), (0, 2, 0, 1), (0, 3, 0, 1), (0, 4, 0, 9)];
        assert_eq!(merged(&steps, &[9]), [(1, None), (2, None), (3, None), (4, Some(9))]);
    }

    #[test]
    fn a_long_chain_is_split_in_linear_time() {
        // Every state of the chain differs from all others, and each round splits off only one.
        let chain: Vec<(u64, u64, u64, u64)> = (10..100_000).map(|l| (l % 2, l, 1 - l % 2, l + 1)).collect();
        assert_eq!(merged(&chain, &[100_000]), []);
        // This is local code, written from the end to the beginning.
        let code: Vec<(u64, u64, u64, u64)> = (10..100_000).map(|l| (0, l + 1, 0, l)).collect();
        assert_eq!(merged(&code, &[10]).len(), 99_990);
    }

    #[test]
    fn what_is_taken_together_stays() {
        let mut steps = vec![thread_step(0, 1, 0, 9), thread_step(0, 2, 0, 9), thread_step(0, 3, 1, 4)];
        steps[2].take.insert(Local(1), 1);
        let found = equivalent(&steps, &HashSet::from([Local(9)]), &[], &Limits::none()).unwrap().merged;
        assert_eq!(found, [(Local(4), None)]);
    }
}
