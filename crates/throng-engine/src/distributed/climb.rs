//! The search level after level, as in `explicit`: every worker runs this code, and all decide the
//! same because they decide on gathered data.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use timely::worker::Worker;

use super::explore::{Exploring, Hit, earliest, read_why, write_why};
use super::part::Part;
use super::rounds::{self, gather};
use super::saved::unusable;
use super::trace::Tracing;
use super::verify::Verifying;
use super::{Setup, prefer};
use crate::levels::Levels;
use crate::{Occupied, Statistics};
use throng_check::Checked;
use throng_check::rules::Flaw;
use throng_model::verdict::Unknown;
use throng_model::{Config, UNCOUNTABLE};

/// The result of a search, the same at every worker.
#[derive(Default)]
pub struct SearchResult {
    /// The configurations of the run to each target, if it was hit; an empty list if they could not
    /// be collected.
    pub runs: Vec<Option<Vec<Config>>>,
    /// Why the other targets are open; `None` if the set is closed.
    pub open: Option<Unknown>,
    /// Why some list of steps was incomplete, if one was.
    pub incomplete: Option<String>,
    /// Numbers about the search.
    pub statistics: Statistics,
    /// The number of configurations in the closed set.
    pub members: u64,
    /// The flaw of the closed set, or why it was not checked.
    pub flaw: Option<Flaw>,
    /// Says that the closed set was checked.
    pub checked: Option<Checked>,
    /// Time spent on checking.
    pub checking: Duration,
    /// The storage and traffic of each worker.
    pub traffic: Vec<Traffic>,
}

/// The progress of a climb, besides its configurations: the same at every worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    /// The present level.
    pub level: u32,
    /// The previous level.
    pub below: Option<u32>,
    /// Maximum number of configurations of a level so far.
    pub configurations: u64,
    /// See [`Statistics`].
    pub complete_up_to: Option<u32>,
    /// The configurations of each run that was found at earlier levels.
    pub runs: Vec<Option<Vec<Config>>>,
}

/// The storage and traffic of a worker.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Configurations stored at the end.
    pub stored: u64,
    /// Bytes of memory that they use.
    pub memory: u64,
    /// Configurations sent to other workers, over all levels.
    pub configs: u64,
    /// Bytes sent to other workers, over all levels.
    pub bytes: u64,
}

/// A worker's report on a level.
#[derive(Serialize, Deserialize)]
struct Summary {
    stopped: Option<Vec<u8>>,
    hits: Vec<Option<Hit>>,
    pruned: Option<u32>,
    layers: usize,
    counted: u64,
    fired: u64,
    occupied: [u64; 3],
    incomplete: Option<String>,
    traffic: Traffic,
}

/// Searches level after level, together with all other workers.
pub fn climb(worker: &mut Worker, setup: &Arc<Setup>) -> SearchResult {
    let mut part = Part::new(setup.problem.clone(), worker.index(), worker.peers(), setup.limits.clone());
    let levels = Levels::new(&setup.problem);
    let mut hits: Vec<Option<Hit>> = vec![None; setup.problem.targets.len()];
    let traffic = vec![Traffic::default(); worker.peers()];
    let mut found = SearchResult { runs: vec![None; hits.len()], traffic, ..SearchResult::default() };
    if levels.next(None, None).is_none() {
        found.statistics.complete_up_to = levels.last();
        found.statistics.occupied = Some(Occupied::default());
    }
    let (mut below, mut pruned, mut base) = (None, None, 0);
    let mut resumed = match found.resume(worker, &mut part, setup) {
        Ok(resumed) => resumed,
        Err(why) => {
            found.open = Some(why);
            return found;
        }
    };
    if let Some((position, _)) = &resumed {
        below = position.below;
        for (target, run) in position.runs.iter().enumerate().filter(|(_, run)| run.is_some()) {
            found.runs[target] = run.clone();
            hits[target] = Some(Hit { target, layer: 0, link: 0, worker: 0, id: 0 });
        }
    }
    while let Some(level) =
        resumed.as_ref().map(|(position, _)| position.level).or_else(|| levels.next(below, pruned))
    {
        if let Some(most) = setup.max_threads.filter(|&most| level > most) {
            found.open = Some(Unknown::Bound(most));
            break;
        }
        if level >= UNCOUNTABLE {
            found.open = Some(Unknown::uncountable());
            break;
        }
        setup.begin(levels.describe(level));
        // If the level below left something out, runs may become shorter, so this level restarts.
        let kept = below.filter(|_| pruned.is_none());
        let failed = match resumed.take() {
            Some((_, layer)) => {
                base = layer;
                None
            }
            None => {
                if kept.is_none() {
                    part.clear();
                    base = 0;
                }
                part.start(kept, level, base).err()
            }
        };
        let size_limit = levels.size_limit(level);
        let position = Position {
            level,
            below,
            configurations: found.statistics.configurations,
            complete_up_to: found.statistics.complete_up_to,
            runs: found.runs.clone(),
        };
        let exploring = Exploring::new(part, hits, setup.clone(), position, size_limit, base, failed);
        let mut explored = rounds::run(worker, exploring);
        explored.settle(u64::MAX);
        let all = summaries(worker, &mut explored);
        (part, hits) = (explored.part, explored.hits);
        let stopped = found.add(&all, &mut hits);
        base = all.iter().map(|s| s.layers).max().unwrap_or(0);
        pruned = all.iter().filter_map(|s| s.pruned).min();
        part = found.collect(worker, part, &hits);
        if setup.is_decided(&hits) {
            found.open = Some(Unknown::Cancelled);
            break;
        }
        if let Some(why) = stopped {
            found.open = Some(why);
            break;
        }
        if pruned.is_some() && levels.is_cut_off(level) {
            found.open = Some(Unknown::uncountable());
            break;
        }
        below = Some(level);
        let next = levels.next(below, pruned);
        found.statistics.complete_up_to = next.map(|next| next - 1).or(levels.last()).or(below);
    }
    if found.open.is_none() && found.incomplete.is_none() && found.runs.iter().any(Option::is_none) {
        found.members = found.traffic.iter().map(|t| t.stored).sum();
        part = found.verify(worker, part, setup);
    }
    found.count_states(worker, &part);
    found
}

/// Returns every worker's report on the level.
fn summaries(worker: &mut Worker, explored: &mut Exploring) -> Vec<Summary> {
    let part = &explored.part;
    let counted = match explored.decided {
        true => part.counts.get(explored.last + 1).copied(),
        false => None,
    };
    let footprint = part.store.footprint();
    let summary = Summary {
        stopped: explored.stopped.as_ref().map(|why| {
            let mut bytes = Vec::new();
            write_why(why, &mut bytes);
            bytes
        }),
        hits: explored.hits.clone(),
        pruned: part.pruned,
        layers: part.layers.len(),
        counted: counted.unwrap_or(part.store.len() as u64),
        fired: part.fired,
        occupied: [part.occupied.sum, part.occupied.configurations, part.occupied.most],
        incomplete: part.steps.complete().err().map(|why| why.to_string()),
        traffic: Traffic {
            stored: footprint.configurations,
            memory: footprint.packed + footprint.bookkeeping,
            configs: part.configs_sent,
            bytes: part.bytes_sent,
        },
    };
    let all = gather(worker, serde_json::to_vec(&summary).expect("a summary is JSON"));
    all.iter().map(|bytes| serde_json::from_slice(bytes).expect("what another worker wrote")).collect()
}

impl SearchResult {
    /// Resumes from the state that earlier processes saved, if there is one: either all workers
    /// from the same state, or none.
    fn resume(
        &mut self,
        worker: &mut Worker,
        part: &mut Part,
        setup: &Setup,
    ) -> Result<Option<(Position, usize)>, Unknown> {
        let Some(parts) = &setup.parts else { return Ok(None) };
        let latest = parts.latest();
        let seen = gather(worker, serde_json::to_vec(&latest).expect("numbers are JSON"));
        if seen.iter().any(|other| *other != seen[0]) {
            return Err(unusable());
        }
        let Some((state, count)) = latest else { return Ok(None) };
        let resumed = part.resume(&**parts, state, count);
        let mine = resumed.as_ref().err().map_or(Vec::new(), |why| {
            let mut bytes = Vec::new();
            write_why(why, &mut bytes);
            bytes
        });
        let failed = gather(worker, mine).into_iter().find(|bytes| !bytes.is_empty());
        if let Some(why) = failed {
            return Err(read_why(&why));
        }
        let (position, layer) = resumed?;
        if position.runs.len() != self.runs.len() {
            return Err(unusable());
        }
        self.statistics.configurations = position.configurations;
        self.statistics.complete_up_to = position.complete_up_to;
        Ok(Some((position, layer)))
    }

    /// Adds the workers' reports on a level. Returns why it stopped early, if it did.
    fn add(&mut self, all: &[Summary], hits: &mut [Option<Hit>]) -> Option<Unknown> {
        let mut stopped = None;
        let mut occupied = Occupied::default();
        for summary in all {
            if let Some(why) = &summary.stopped {
                prefer(&mut stopped, read_why(why));
            }
            for (known, hit) in hits.iter_mut().zip(&summary.hits) {
                hit.iter().for_each(|&hit| earliest(known, hit));
            }
            let [sum, configurations, most] = summary.occupied;
            occupied.add(Occupied { sum, configurations, most });
            self.incomplete = self.incomplete.take().or_else(|| summary.incomplete.clone());
        }
        let stored = all.iter().map(|s| s.counted).sum();
        let statistics = &mut self.statistics;
        statistics.configurations = statistics.configurations.max(stored);
        statistics.steps = all.iter().map(|s| s.fired).sum();
        statistics.occupied = Some(occupied);
        self.traffic = all.iter().map(|s| s.traffic).collect();
        stopped
    }

    /// Collects the runs to targets that were hit on this level.
    fn collect(&mut self, worker: &mut Worker, part: Part, hits: &[Option<Hit>]) -> Part {
        let new = hits.iter().flatten().filter(|hit| self.runs[hit.target].is_none());
        let new: Vec<Hit> = new.copied().collect();
        if new.is_empty() {
            return part;
        }
        new.iter().for_each(|hit| self.runs[hit.target] = Some(Vec::new()));
        let traced = rounds::run(worker, Tracing::new(part, new));
        for (target, configs) in traced.found {
            self.runs[target] = Some(configs.unwrap_or_default());
        }
        traced.part
    }

    /// Checks the closed set, each part at its worker.
    fn verify(&mut self, worker: &mut Worker, part: Part, setup: &Setup) -> Part {
        let began = Instant::now();
        let open = (0..self.runs.len()).filter(|&i| self.runs[i].is_none()).collect();
        let verified = rounds::run(worker, Verifying::new(part, open, setup.limits.clone()));
        let mine = match &verified.flaw {
            None => Vec::new(),
            Some(Flaw::Limit(why)) => {
                let mut bytes = vec![0];
                write_why(why, &mut bytes);
                bytes
            }
            Some(flaw) => [&[1], flaw.to_string().as_bytes()].concat(),
        };
        let flaws = gather(worker, mine).into_iter().filter_map(|bytes| {
            let (kind, text) = bytes.split_first()?;
            Some(match kind {
                0 => Flaw::Limit(read_why(text)),
                _ => Flaw::Malformed(String::from_utf8_lossy(text).into()),
            })
        });
        // A flaw counts more than parts that were not checked.
        self.flaw = flaws.max_by_key(|flaw| !matches!(flaw, Flaw::Limit(_)));
        self.checked = verified.rule.stands().filter(|_| self.flaw.is_none());
        self.checking = began.elapsed();
        verified.part
    }

    /// Counts the states that occur; several workers may have met the same state.
    fn count_states(&mut self, worker: &mut Worker, part: &Part) {
        let mine = serde_json::to_vec(&part.states_met()).expect("numbers are JSON");
        let mut all = [Vec::new(), Vec::new()];
        for bytes in gather(worker, mine) {
            let met: [Vec<u64>; 2] = serde_json::from_slice(&bytes).expect("what another worker wrote");
            all.iter_mut().zip(met).for_each(|(all, met)| all.extend(met));
        }
        let [shared, locals] = all.map(|mut hashes| {
            hashes.sort_unstable();
            hashes.dedup();
            hashes.len() as u64
        });
        (self.statistics.shared_states, self.statistics.local_states) = (shared, locals);
    }
}
