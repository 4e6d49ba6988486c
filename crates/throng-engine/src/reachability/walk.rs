//! Walks: sequences of transitions, at random or towards a target. They find most reachable
//! targets, and prove nothing.

use super::net::{Formula, MOST_TOKENS, Marking, Net};
use throng_model::limits::Ticker;
use throng_model::random::Random;
use throng_model::verdict::{Trace, Unknown};

/// A marking and its enabled transitions.
#[derive(Clone)]
pub struct Walker<'n> {
    net: &'n Net<'n>,
    pub marking: Marking,
    /// The number of needs that each transition lacks.
    lacking: Vec<u32>,
    pub enabled: Vec<u32>,
    /// The position of each enabled transition in the list.
    place_of: Vec<u32>,
    pub fired: Vec<u32>,
}

impl<'n> Walker<'n> {
    pub fn new(net: &'n Net<'n>) -> Walker<'n> {
        let mut walker = Walker {
            net,
            marking: net.start.clone(),
            lacking: vec![0; net.needs.len()],
            enabled: Vec::new(),
            place_of: vec![u32::MAX; net.needs.len()],
            fired: Vec::new(),
        };
        for (t, needs) in net.needs.iter().enumerate() {
            let lacks = needs.iter().filter(|&&(p, n)| net.start[p as usize] < n).count();
            walker.lacking[t] = lacks as u32;
            if lacks == 0 {
                walker.enable(t as u32);
            }
        }
        walker
    }

    fn enable(&mut self, t: u32) {
        self.place_of[t as usize] = self.enabled.len() as u32;
        self.enabled.push(t);
    }

    fn disable(&mut self, t: u32) {
        let at = self.place_of[t as usize] as usize;
        self.enabled.swap_remove(at);
        if let Some(&moved) = self.enabled.get(at) {
            self.place_of[moved as usize] = at as u32;
        }
    }

    /// Fires an enabled transition; returns `false` if there are then too many tokens to count.
    pub fn fire(&mut self, t: u32) -> bool {
        self.fire_times(t, 1)
    }

    /// Fires it several times in a row.
    pub fn fire_times(&mut self, t: u32, times: u32) -> bool {
        let fits = self.apply(t, times.into());
        self.fired.extend(std::iter::repeat_n(t, times as usize));
        fits
    }

    /// Undoes the last transition, which fired this many times in a row.
    pub fn undo(&mut self, times: u32) {
        if let Some(&t) = self.fired.last() {
            self.fired.truncate(self.fired.len() - times as usize);
            self.apply(t, -i64::from(times));
        }
    }

    fn apply(&mut self, t: u32, times: i64) -> bool {
        let net = self.net;
        let mut countable = true;
        for &(p, change) in &net.changes[t as usize] {
            let before = self.marking[p as usize];
            let now = u32::try_from(i64::from(before) + times * change).unwrap_or(u32::MAX);
            countable &= now < MOST_TOKENS;
            self.marking[p as usize] = now;
            for &(user, need) in &net.users[p as usize] {
                let lacks = &mut self.lacking[user as usize];
                match (before >= need, now >= need) {
                    (false, true) => {
                        *lacks -= 1;
                        if *lacks == 0 {
                            self.enable(user);
                        }
                    }
                    (true, false) => {
                        *lacks += 1;
                        if *lacks == 1 {
                            self.disable(user);
                        }
                    }
                    _ => {}
                }
            }
        }
        countable
    }
}

/// A target that has not been reached yet.
pub struct Wanted {
    /// Its number.
    pub target: usize,
    /// The condition to reach.
    pub formula: Formula,
}

/// The wanted targets, with an index of those that depend on each place.
pub struct Lookout {
    pub wanted: Vec<Wanted>,
    by_place: Vec<Vec<u32>>,
    /// Those that may change with any step.
    always: Vec<u32>,
    /// The time at which each was last checked.
    seen: Vec<u64>,
    now: u64,
}

impl Lookout {
    pub fn new(net: &Net, wanted: Vec<Wanted>) -> Lookout {
        let mut by_place: Vec<Vec<u32>> = vec![Vec::new(); net.places.len()];
        let mut always = Vec::new();
        for (i, one) in wanted.iter().enumerate() {
            let i = i as u32;
            let see = &mut |p: u32| {
                if by_place[p as usize].last() != Some(&i) {
                    by_place[p as usize].push(i);
                }
            };
            if one.formula.each_place(see) {
                always.push(i);
            }
        }
        let seen = vec![0; wanted.len()];
        Lookout { wanted, by_place, always, seen, now: 0 }
    }

    /// Returns the targets that hold after a step.
    fn hits(&mut self, walker: &Walker, t: u32) -> Vec<usize> {
        self.now += 1;
        let mut hits = Vec::new();
        let touched = walker.net.changes[t as usize].iter().flat_map(|c| &self.by_place[c.0 as usize]);
        for &i in touched.chain(&self.always) {
            if self.seen[i as usize] == self.now {
                continue;
            }
            self.seen[i as usize] = self.now;
            if self.wanted[i as usize].formula.holds(&walker.marking, walker.enabled.len()) {
                hits.push(i as usize);
            }
        }
        hits
    }
}

/// How a walk chooses its transitions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Any enabled transition.
    Random,
    /// Mostly a transition that comes closest to this wanted target.
    Towards(usize),
}

/// Maximum number of enabled transitions that are compared for a choice.
const COMPARED: usize = 48;

/// Performs one walk of at most `most` steps, in each of which a transition fires once or several
/// times in a row. Returns the indices of wanted targets that it hits for the first time, with runs
/// to them.
pub fn walk(
    net: &Net,
    first: &Walker,
    lookout: &mut Lookout,
    choice: Choice,
    most: usize,
    random: &mut Random,
    ticker: &mut Ticker,
) -> Result<Vec<(usize, Trace)>, Unknown> {
    let mut walker = first.clone();
    let mut found: Vec<(usize, Trace)> = Vec::new();
    // Towards a target, a certain fraction of the steps are random.
    let stray = 3 + random.below(30);
    let mut cost: u32 = 0;
    let leaps = random.below(2) == 0;
    for _ in 0..most {
        if walker.enabled.is_empty() {
            break;
        }
        let aim = match choice {
            Choice::Towards(i) if random.below(stray) != 0 => Some(i),
            _ => None,
        };
        let t = match aim {
            Some(i) => {
                cost += walker.enabled.len().min(COMPARED) as u32;
                closest(net, &mut walker, &lookout.wanted[i].formula, random)
            }
            None => walker.enabled[random.below(walker.enabled.len())],
        };
        let room = net.most_steps().saturating_sub(walker.fired.len()) as u32;
        let times = if leaps { net.times(&walker.marking, t, room) } else { 1 };
        let times = match aim {
            _ if times < 2 => times,
            Some(i) => best_times(net, &mut walker, t, times, &lookout.wanted[i].formula),
            None => 1 + random.below(times as usize) as u32,
        };
        if room == 0 || !walker.fire_times(t, times) {
            break;
        }
        ticker.ticks(1 + std::mem::take(&mut cost) / 2)?;
        for hit in lookout.hits(&walker, t) {
            if found.iter().all(|f| f.0 != hit) {
                found.push((hit, net.run(&walker.fired)));
                if choice == Choice::Towards(hit) {
                    return Ok(found);
                }
            }
        }
        if found.len() == lookout.wanted.len() {
            break;
        }
    }
    Ok(found)
}

/// Returns an enabled transition after which the formula is closest to holding; any of the best
/// ones.
fn closest(net: &Net, walker: &mut Walker, formula: &Formula, random: &mut Random) -> u32 {
    let enabled = walker.enabled.len();
    let from = random.below(enabled);
    let (mut best, mut chosen) = (u64::MAX, walker.enabled[from]);
    for i in 0..enabled.min(COMPARED) {
        let t = walker.enabled[(from + i) % enabled];
        let distance = after(net, &mut walker.marking, t, 1, |marking| formula.distance(marking, enabled));
        if distance < best {
            (best, chosen) = (distance, t);
        }
    }
    chosen
}

/// Returns how often to fire a transition, of half, a quarter, … of what is possible: the most that
/// brings the formula closest to holding.
fn best_times(net: &Net, walker: &mut Walker, t: u32, most: u32, formula: &Formula) -> u32 {
    let (mut best, mut chosen, mut times) = (u64::MAX, 1, most);
    while times > 0 {
        let enabled = walker.enabled.len();
        let distance =
            after(net, &mut walker.marking, t, times, |marking| formula.distance(marking, enabled));
        if distance < best {
            (best, chosen) = (distance, times);
        }
        times /= 2;
    }
    chosen
}

/// Evaluates `ask` after several firings of a transition, which are undone.
fn after<T>(net: &Net, marking: &mut [u32], t: u32, times: u32, ask: impl FnOnce(&[u32]) -> T) -> T {
    let each = |change: i64| (change as i32).wrapping_mul(times as i32);
    for &(p, change) in &net.changes[t as usize] {
        marking[p as usize] = marking[p as usize].wrapping_add_signed(each(change));
    }
    let answer = ask(marking);
    for &(p, change) in &net.changes[t as usize] {
        marking[p as usize] = marking[p as usize].wrapping_sub(each(change) as u32);
    }
    answer
}
