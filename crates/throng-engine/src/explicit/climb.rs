//! Search level after level, shortest runs where reduction found longer ones, and saving and
//! resuming all of it.

use super::Explicit;
use super::search::{Search, Stop};
use crate::checkpoint::{Damaged, Keeper, Reader, Writer};
use crate::{Quiet, Statistics, Watch};
use throng_model::Persist;
use throng_model::UNCOUNTABLE;
use throng_model::limits::Limits;
use throng_model::partial_order::Reduction;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Unknown, Verdict};

/// A search through levels.
pub struct Climb<'p> {
    problem: &'p Problem,
    options: &'p Explicit,
    limits: &'p Limits,
    watch: &'p dyn Watch,
    quiet: &'p Quiet<'p>,
    keeper: Option<&'p dyn Keeper>,
    /// The search itself.
    pub search: Search<'p>,
    position: Position,
    /// The search for shorter runs of this level, if an earlier process was interrupted during it.
    shorter: Option<Search<'p>>,
}

/// The progress of a climb, besides its search.
#[derive(Clone, Default)]
struct Position {
    /// The previous level.
    below: Option<u32>,
    /// The present level.
    level: Option<u32>,
    statistics: Statistics,
    /// For each target, whether its run has been searched again; `None` if that is not required.
    shortened: Option<Vec<bool>>,
}

impl<'p> Climb<'p> {
    /// Creates a climb that has not begun.
    pub fn new(
        problem: &'p Problem,
        options: &'p Explicit,
        limits: &'p Limits,
        quiet: &'p Quiet<'p>,
        reduction: Option<Reduction>,
    ) -> Climb<'p> {
        let watch = quiet.0;
        let shortens = reduction.is_some() && options.shortest;
        // Runs that a shorter one will soon replace are not reported.
        let reports: &dyn Watch = if shortens { quiet } else { watch };
        let shortened = shortens.then(|| vec![false; problem.targets.len()]);
        Climb {
            problem,
            options,
            limits,
            watch,
            quiet,
            keeper: watch.keeper().filter(|_| problem.model.persist().is_some()),
            search: Search::new(problem, options, reduction, limits, reports),
            position: Position { shortened, ..Position::default() },
            shorter: None,
        }
    }

    /// Returns the statistics of the search.
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.position.statistics.clone();
        statistics.steps = self.search.fired;
        statistics.occupied = Some(self.search.occupied);
        statistics.shared_states = self.search.steps.shared_states() as u64;
        statistics.local_states = self.search.steps.local_states() as u64;
        statistics
    }

    /// Searches level after level; returns `Ok` when there are no more.
    pub fn run(&mut self) -> Result<(), Stop> {
        if let Some(keeper) = self.keeper
            && keeper.recall(&mut |input| self.read(input)).is_err()
        {
            return Err(Stop::Limit(Unknown::Cancelled));
        }
        if self.search.levels.next(None, None).is_none() {
            self.position.statistics.complete_up_to = self.search.levels.last();
        }
        let mut pruned = self.search.pruned;
        while let Some(level) = self.position.level.or_else(|| self.next(pruned)) {
            if let Some(most) = self.options.max_threads.filter(|&most| level > most) {
                return self.stopped(Unknown::Bound(most));
            }
            if level >= UNCOUNTABLE {
                return self.stopped(Unknown::uncountable());
            }
            self.position.level = Some(level);
            let searched = self.search(level);
            let configurations = &mut self.position.statistics.configurations;
            *configurations = (*configurations).max(self.search.footprint().configurations);
            if let Err(Stop::Limit(_)) = &searched {
                self.keep(None);
                self.report(&self.to_shorten());
            } else {
                self.shorten(level)?;
            }
            pruned = searched?;
            (self.position.below, self.position.level) = (Some(level), None);
            // Levels up to the next one that differs equal this one.
            let next = self.next(pruned);
            self.position.statistics.complete_up_to =
                next.map(|next| next - 1).or(self.search.levels.last()).or(self.position.below);
        }
        Ok(())
    }

    /// Returns the next level that differs from the last one, if there is one.
    fn next(&self, pruned: Option<u32>) -> Option<u32> {
        let next = self.search.levels.next(self.position.below, pruned)?;
        Some(if self.position.below.is_none() {
            self.options.first.map_or(next, |first| next.max(first))
        } else {
            next
        })
    }

    /// Searches a level, or the rest of it.
    fn search(&mut self, level: u32) -> Result<Option<u32>, Stop> {
        let Climb { search, position, keeper, problem, .. } = self;
        let mut pause = |search: &Search<'_>| {
            if let Some(keeper) = keeper.filter(|keeper| keeper.is_due()) {
                keep(keeper, problem, position, search, None);
            }
        };
        if search.level == Some(level) {
            search.continue_level(level, &mut pause)
        } else {
            search.level(position.below, level, &mut pause)
        }
    }

    /// Searches again, without reduction, for the targets hit at `level`, and reports the runs. If
    /// a limit is hit meanwhile, runs without a shorter one stay as they are, and the climb stops
    /// here, where a later process resumes. An exceeded memory limit does not stop the climb if the
    /// memory is free again.
    fn shorten(&mut self, level: u32) -> Result<(), Stop> {
        let new = self.to_shorten();
        if new.is_empty() {
            return Ok(());
        }
        let mut shorter = self.shorter.take().unwrap_or_else(|| self.shorter(&new));
        let Climb { search: main, position, keeper, problem, .. } = &*self;
        let mut pause = |shorter: &Search<'_>| {
            if let Some(keeper) = keeper.filter(|keeper| keeper.is_due()) {
                keep(keeper, problem, position, main, Some(shorter));
            }
        };
        let searched = if shorter.level == Some(level) {
            shorter.continue_level(level, &mut pause)
        } else {
            shorter.level(None, level, &mut pause)
        };
        let stopped = match searched {
            Err(Stop::Limit(why)) => {
                self.keep(Some(&shorter));
                Err(Stop::Limit(why))
            }
            _ => Ok(()),
        };
        for (&i, found) in new.iter().zip(&mut shorter.traces) {
            if let Some(found) = found.take() {
                self.search.traces[i] = Some(found);
            }
            if let Some(shortened) = &mut self.position.shortened {
                shortened[i] = true;
            }
        }
        self.report(&new);
        drop(shorter);
        match stopped {
            Err(Stop::Limit(Unknown::Memory(_))) if self.limits.check().is_ok() => Ok(()),
            stopped => stopped,
        }
    }

    /// Returns a search for shorter runs to these targets.
    fn shorter(&self, new: &[usize]) -> Search<'p> {
        let targets: Vec<Target> = new.iter().map(|&i| self.problem.targets[i].clone()).collect();
        Search::for_targets(self.problem, &targets, self.options.jobs, None, self.limits, self.quiet)
    }

    /// Reports the runs to these targets.
    fn report(&self, found: &[usize]) {
        for &i in found {
            if let Some(trace) = &self.search.traces[i] {
                self.watch.found(i, &Verdict::Unsafe(trace.clone()));
            }
        }
    }

    /// Returns the targets whose runs may not be the shortest.
    fn to_shorten(&self) -> Vec<usize> {
        let Some(shortened) = &self.position.shortened else { return Vec::new() };
        (0..shortened.len()).filter(|&i| self.search.traces[i].is_some() && !shortened[i]).collect()
    }

    /// Stops, and saves the state first if that is possible.
    fn stopped(&mut self, why: Unknown) -> Result<(), Stop> {
        self.keep(None);
        Err(Stop::Limit(why))
    }

    fn keep(&self, shorter: Option<&Search<'_>>) {
        if let Some(keeper) = self.keeper {
            keep(keeper, self.problem, &self.position, &self.search, shorter);
        }
    }

    /// Resumes from the state that an earlier process saved.
    fn read(&mut self, input: &mut Reader<'_>) -> Result<(), Damaged> {
        let states = input.bytes()?;
        if !self.problem.model.persist().is_some_and(|p| p.import_states(&states)) {
            return Err(Damaged);
        }
        self.position.read(input)?;
        self.search.read(input)?;
        if input.flag()? {
            let mut shorter = self.shorter(&self.to_shorten());
            shorter.read(input)?;
            self.shorter = Some(shorter);
        }
        Ok(())
    }
}

/// Saves the state of a climb.
fn keep(
    keeper: &dyn Keeper,
    problem: &Problem,
    position: &Position,
    search: &Search<'_>,
    shorter: Option<&Search<'_>>,
) {
    let Some(states) = problem.model.persist().map(Persist::export_states) else { return };
    keeper.keep(&|out| {
        out.bytes(&states);
        position.write(out);
        search.write(out);
        out.number(shorter.is_some());
        if let Some(shorter) = shorter {
            shorter.write(out);
        }
    });
}

impl Position {
    fn write(&self, out: &mut Writer<'_>) {
        out.option(self.below);
        out.option(self.level);
        out.number(self.statistics.configurations);
        out.option(self.statistics.complete_up_to);
        let shortened = self.shortened.as_deref().unwrap_or_default();
        out.count(shortened.len());
        shortened.iter().for_each(|&done| out.number(done));
    }

    fn read(&mut self, input: &mut Reader<'_>) -> Result<(), Damaged> {
        self.below = input.option()?;
        self.level = input.option()?;
        self.statistics.configurations = input.number()?;
        self.statistics.complete_up_to = input.option()?;
        let shortened = self.shortened.as_deref_mut().unwrap_or_default();
        if input.count()? != shortened.len() {
            return Err(Damaged);
        }
        shortened.iter_mut().try_for_each(|done| input.flag().map(|read| *done = read))
    }
}
