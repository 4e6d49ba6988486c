//! The default: a portfolio of engines, one side proving, the other refuting; the first *checked*
//! answer wins.
//!
//! | side | engines |
//! | --- | --- |
//! | prove | `views` (pair views), then `localise` (of programs; it refutes, too), then `equations`, then `backward` pruned by the invariants of these two, then `views` (triple views) |
//! | refute | `explicit` with 1, 2, 3, … threads, `guided`, and `karp-miller` |
//!
//! Engines that may run for ever get shares of work (counted in steps, not seconds) that grow from
//! round to round, so none can starve the others. All take turns at first; with one job it stays
//! like this and everything is deterministic, with more the two sides run at the same time once the
//! first rounds have decided too little. A target that one engine has decided is not asked of the
//! next.
//!
//! A run found by going backward need not have the fewest threads: `explicit` then gets a share of
//! work to find a better one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::on_quotient::run_on;
use super::reachability::Reachability;
use super::{Algorithm, Answer, Attempt, Progress, Statistics, Watch};
use crate::quotient::Quotient;
use crate::registry::{self, Engine, Settings};
use throng_check::Checked;
use throng_check::rules::{Flaw, check, check_each};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::verdict::{Certificate, Unknown, Verdict};

/// The engine `auto`.
#[derive(Clone, Copy, Debug)]
pub struct Auto {
    /// How many cores to use; one is deterministic.
    pub jobs: usize,
    /// Give up hunting beyond this many threads.
    pub max_threads: Option<u32>,
    /// Stop when one target is hit and leave the others open.
    pub stop_at_first: bool,
    /// Partial-order reduction, where the model allows it.
    pub por: bool,
}

impl Default for Auto {
    fn default() -> Auto {
        Auto { jobs: 1, max_threads: None, stop_at_first: false, por: true }
    }
}

/// Ticks of the first round: a bug that is found at once does not wait for a proof attempt that
/// fails.
const FIRST_SHARE: u64 = 1 << 14;

/// Triple views, which seldom decide anything and look at many steps before their first tick, wait
/// for this one.
const FIRST_SHARE_OF_TRIPLES: u64 = 1 << 16;

/// Rounds with larger shares are late: what is found soon has been found. Only these are for two
/// threads: most inputs are decided before, and what the second thread does until then would be
/// thrown away.
const LAST_EARLY_SHARE: u64 = 1 << 18;

/// Weights are counted in this part of a share.
const SHARE: u64 = 4;

/// Pair views either prove soon or not at all, and resume where they stopped: how much they get at
/// once. With a bound `explicit` proves, too, and shares are equal.
const WEIGHT_OF_PAIRS: u64 = 16 * SHARE;

/// The same in early rounds.
const TURNS_OF_PAIRS: u64 = 4 * SHARE;

/// The same for `reachability`, if it is asked for what only it can answer.
const WEIGHT_OF_REACHABILITY: u64 = 64 * SHARE;

/// The same for `explicit` in late rounds, unless it can prove.
const WEIGHT_OF_EXPLICIT: u64 = 1;

/// A tick of `explicit` takes as long as about so many of another engine.
const SLOWNESS_OF_EXPLICIT: u64 = 16;

/// How much larger the next round is.
const GROWTH: u64 = 4;

/// Time for finding a run with fewer threads: so many times what has been given out until there was
/// one, between these two numbers of ticks.
const POLISH: u64 = 4;
const LEAST_POLISH: u64 = 1 << 16;
const MOST_POLISH: u64 = 1 << 22;

impl Auto {
    /// How each engine of the portfolio searches.
    fn settings(&self) -> Settings {
        Settings {
            max_threads: self.max_threads,
            stop_at_first: self.stop_at_first,
            partial_order: self.por,
            ..Settings::default()
        }
    }
}

impl Algorithm for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let portfolio = Portfolio::new(problem, self, limits, watch);
        let (settings, facts) = (self.settings(), Arc::default());
        let provers = registry::provers(problem, &facts);
        let refuters = registry::refuters(&settings, problem.bound, &facts);
        let reachability = Reachability::default();
        let mut prove = participants(&provers, true);
        let mut refute = participants(&refuters, false);
        if problem.bound == Bound::Any {
            prove[0].weight = TURNS_OF_PAIRS;
            prove.last_mut().into_iter().for_each(|triples| triples.first = FIRST_SHARE_OF_TRIPLES);
            prove[0].late = WEIGHT_OF_PAIRS;
            refute[0].late = WEIGHT_OF_EXPLICIT;
            // It resumes, too, and decides soon; but what needs most variables is rather for the
            // others.
            let localise = prove.iter_mut().find(|p| p.engine.name() == Engine::Localise.name());
            localise.into_iter().for_each(|p| p.weight = WEIGHT_OF_PAIRS);
        }
        if Reachability::takes(problem) {
            // What asks about single markings is mostly decided by it, and soon.
            let first = problem.targets.iter().any(|t| t.formula().is_some());
            let weight = if first { WEIGHT_OF_REACHABILITY } else { SHARE };
            refute.insert(usize::from(!first), Participant::new(&reachability, false, weight));
        }
        let mut turns = Vec::new();
        for i in 0..prove.len().max(refute.len()) {
            turns.extend(refute.get(i).into_iter().chain(prove.get(i)).copied());
        }
        let late = LAST_EARLY_SHARE * GROWTH;
        portfolio.rounds(&mut turns, FIRST_SHARE, (self.jobs > 1).then_some(late));
        if self.jobs > 1 && !portfolio.is_decided() {
            let (mut prove, mut refute): (Vec<_>, Vec<_>) = turns.into_iter().partition(|p| p.proves);
            thread::scope(|scope| {
                // Engines hardly recurse, so the default stack size is enough.
                scope.spawn(|| portfolio.rounds(&mut prove, late, None));
                portfolio.rounds(&mut refute, late, None);
            });
        }
        portfolio.answer()
    }
}

/// An engine of the portfolio, and how large its part is, counted in [`SHARE`].
#[derive(Clone, Copy)]
struct Participant<'a> {
    engine: &'a dyn Algorithm,
    /// Its side.
    proves: bool,
    /// The smallest share with which it takes part.
    first: u64,
    /// In early rounds.
    weight: u64,
    /// In late rounds.
    late: u64,
    /// The ticks that it got last.
    had: u64,
}

impl<'a> Participant<'a> {
    fn new(engine: &'a dyn Algorithm, proves: bool, weight: u64) -> Participant<'a> {
        Participant { engine, proves, first: 0, weight, late: weight, had: 0 }
    }
}

fn participants(engines: &[Box<dyn Algorithm + Send>], proves: bool) -> Vec<Participant<'_>> {
    engines.iter().map(|engine| Participant::new(&**engine, proves, SHARE)).collect()
}

/// What is known so far, shared by all engines.
struct Portfolio<'a> {
    problem: &'a Problem,
    auto: &'a Auto,
    /// For all that is done here.
    whole: Limits,
    /// For engines and checks: these are stopped once everything is decided.
    limits: Limits,
    watch: &'a dyn Watch,
    /// The quotient of the problem, for engines that need not report every step of the shortest
    /// run.
    quotient: Option<Quotient>,
    /// Ticks that have been given out.
    given: AtomicU64,
    state: Mutex<State>,
}

/// What is known about a target.
struct Decided {
    verdict: Verdict,
    by: &'static str,
    /// Whether its run was looked for with fewer threads first.
    fewest: bool,
    checked: Option<Checked>,
}

struct State {
    verdicts: Vec<Option<Decided>>,
    attempts: Vec<Attempt>,
    /// Why the engines stopped, if they did: the most telling reason.
    why: Option<Unknown>,
    /// Evidence that did not stand: a bug of ours.
    flaw: Option<String>,
    /// Verdicts that could not be checked.
    withdrawn: Vec<Verdict>,
    /// How long checking took.
    checking: Duration,
}

impl State {
    /// Adds a share of work to what its engine has done so far: the time of all shares, and the
    /// numbers of the one that got furthest, because most engines start anew with each share.
    fn record(&mut self, share: Attempt) {
        let Some(known) = self.attempts.iter_mut().find(|a| a.engine == share.engine) else {
            return self.attempts.push(share);
        };
        known.outcome = share.outcome;
        known.decided += share.decided;
        known.seconds += share.seconds;
        let complete = known.statistics.complete_up_to.max(share.statistics.complete_up_to);
        if share.statistics.configurations >= known.statistics.configurations {
            known.statistics = share.statistics;
        }
        known.statistics.complete_up_to = complete;
    }
}

impl<'a> Portfolio<'a> {
    fn new(problem: &'a Problem, auto: &'a Auto, limits: &Limits, watch: &'a dyn Watch) -> Portfolio<'a> {
        let nothing_bad = Verdict::Safe(Certificate::Upward(Arc::default()));
        // Checked as everything is; if that fails no engine can prove it either, and there is
        // nothing to find.
        let trivial = |t: &Target| {
            let decided = || {
                let (verdict, checked) = match check(problem, t, &nothing_bad) {
                    Ok(checked) => (nothing_bad.clone(), Some(checked)),
                    Err(flaw) => (Verdict::Unknown(Unknown::Inconclusive(flaw.to_string())), None),
                };
                Decided { verdict, by: Engine::Auto.name(), fewest: false, checked }
            };
            t.configs.is_empty().then(decided)
        };
        let state = State {
            verdicts: problem.targets.iter().map(trivial).collect(),
            attempts: Vec::new(),
            why: None,
            flaw: None,
            withdrawn: Vec::new(),
            checking: Duration::ZERO,
        };
        let quotient = Quotient::of(problem, limits);
        let (whole, limits, given) = (limits.clone(), limits.part(), AtomicU64::new(0));
        Portfolio { problem, auto, whole, limits, watch, quotient, given, state: Mutex::new(state) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().expect("no engine panics while it holds the lock")
    }

    /// Lets engines take turns, with growing shares below `until`, until everything is decided or
    /// none of them can make progress. Those that cannot are removed.
    fn rounds(&self, running: &mut Vec<Participant>, mut share: u64, until: Option<u64>) {
        while until.is_none_or(|until| share < until)
            && !running.is_empty()
            && !self.is_decided()
            && self.limits.check().is_ok()
        {
            let last = running.len() == 1;
            running.retain_mut(|participant| {
                let weight = if share > LAST_EARLY_SHARE { participant.late } else { participant.weight };
                let (limits, work) = (self.limits.part(), share.saturating_mul(weight) / SHARE);
                // Most engines start anew: the same again would find the same.
                let waits = share < participant.first || work <= participant.had && share < u64::MAX;
                if waits && !last {
                    return true;
                }
                participant.had = work;
                self.given.fetch_add(work, Ordering::Relaxed);
                // The last engine of a side need not share.
                let limits = if last { limits } else { limits.work(work) };
                self.ask(participant.engine, &limits)
            });
            share = share.saturating_mul(GROWTH);
        }
        if let Err(why) = self.limits.check() {
            self.state().why.get_or_insert(why);
        }
    }

    /// Asks one engine about what is still open; whether more work might help it.
    fn ask(&self, engine: &dyn Algorithm, limits: &Limits) -> bool {
        // Only one of them knows formulas.
        let exact = engine.name() == Engine::Reachability.name();
        let mut open = self.open();
        open.retain(|&i| exact || self.problem.targets[i].is_upward_closed());
        if open.is_empty() {
            return false;
        }
        let targets = open.iter().map(|&i| self.problem.targets[i].clone()).collect();
        let problem = Problem { targets, ..self.problem.clone() };
        let began = Instant::now();
        let polishing = AtomicU64::new(0);
        let listener =
            Listener { portfolio: self, open: &open, engine: engine.name(), polishing: &polishing };
        let quotient = self.quotient.as_ref().filter(|_| !exact && engine.name() != Engine::Explicit.name());
        let answer = run_on(quotient, engine, &problem, limits, &listener);
        let mut again = false;
        let mut outcome = "decided".to_string();
        let mut offers = Vec::new();
        for (&i, verdict) in open.iter().zip(&answer.verdicts) {
            match verdict {
                Verdict::Unknown(why) => {
                    again |= *why == Unknown::Work;
                    outcome = why.to_string();
                    if matches!(why, Unknown::Bound(_) | Unknown::Memory(_)) {
                        self.state().why.get_or_insert(why.clone());
                    }
                }
                verdict => offers.push((i, verdict)),
            }
        }
        self.offer(&offers, engine.name(), &polishing);
        // Looking for a better run is the work of another engine.
        let elsewhere = Duration::from_nanos(polishing.into_inner());
        let seconds = began.elapsed().saturating_sub(elsewhere).as_secs_f64();
        let attempt =
            Attempt { engine: engine.name(), outcome, decided: 0, seconds, statistics: answer.statistics };
        self.state().record(attempt);
        again
    }

    fn open(&self) -> Vec<usize> {
        let state = self.state();
        (0..state.verdicts.len()).filter(|&i| state.verdicts[i].is_none()).collect()
    }

    fn is_decided(&self) -> bool {
        let state = self.state();
        let found = |d: &Option<Decided>| matches!(d, Some(Decided { verdict: Verdict::Unsafe(_), .. }));
        state.verdicts.iter().all(|v| v.is_some())
            || self.auto.stop_at_first && state.verdicts.iter().any(found)
    }

    /// Accepts verdicts if they pass the check; stops all engines when no target is open any more.
    /// Nanoseconds for finding better runs are added to `polishing`.
    fn offer(&self, verdicts: &[(usize, &Verdict)], engine: &'static str, polishing: &AtomicU64) {
        let open = self.open();
        let offers: Vec<(usize, &Verdict)> = verdicts
            .iter()
            .filter(|(i, v)| !matches!(v, Verdict::Unknown(_)) && open.binary_search(i).is_ok())
            .copied()
            .collect();
        let began = Instant::now();
        let found = check_each(self.problem, &offers, &self.limits);
        self.state().checking += began.elapsed();
        for ((i, _), flaw) in
            offers.iter().zip(&found).filter_map(|(of, one)| Some((of, one.as_ref().err()?)))
        {
            if let Flaw::Limit(why) = flaw {
                self.state().why.get_or_insert(why.clone());
                continue;
            }
            // It was found or checked while statements were cut short.
            if let (Err(_), Err(why)) = (self.problem.complete(), self.limits.check()) {
                self.state().why.get_or_insert(why);
                continue;
            }
            let target = &self.problem.targets[*i].name;
            let flaw = format!("the evidence of `{engine}` for target `{target}` does not stand: {flaw}");
            self.state().flaw.get_or_insert(flaw);
            return self.limits.stopper().stop();
        }
        let mut new = Vec::new();
        for ((i, verdict), checked) in offers.into_iter().zip(found) {
            let Ok(checked) = checked else {
                self.state().withdrawn.push(verdict.clone());
                continue;
            };
            let fewest = engine == Engine::Explicit.name() && matches!(verdict, Verdict::Unsafe(_));
            let decided = Decided { verdict: verdict.clone(), by: engine, fewest, checked: Some(checked) };
            let known = &mut self.state().verdicts[i];
            if known.is_none() {
                *known = Some(decided);
                new.push((i, verdict));
            }
        }
        // What others do from now on would be thrown away.
        if self.is_decided() {
            self.limits.stopper().stop();
        }
        for (i, verdict) in new {
            if let Some(better) = self.polish(i, verdict, engine, polishing)
                && let Some(decided) = &mut self.state().verdicts[i]
            {
                (decided.verdict, decided.checked) = (better.0, Some(better.1));
                decided.fewest = true;
            }
        }
    }

    /// A run with the fewest threads instead of just any, if that is quickly found.
    fn polish(
        &self,
        target: usize,
        verdict: &Verdict,
        engine: &'static str,
        polishing: &AtomicU64,
    ) -> Option<(Verdict, Checked)> {
        let Verdict::Unsafe(trace) = verdict else { return None };
        if engine == Engine::Explicit.name() || self.problem.targets[target].formula().is_some() {
            return None;
        }
        let settings =
            Settings { max_threads: Some(trace.threads()), stop_at_first: true, ..self.auto.settings() };
        let explicit = Engine::Explicit.build(&settings);
        let targets = vec![self.problem.targets[target].clone()];
        let problem = Problem { targets, ..self.problem.clone() };
        let given = self.given.load(Ordering::Relaxed).saturating_mul(POLISH) / SLOWNESS_OF_EXPLICIT;
        let work = given.clamp(LEAST_POLISH, MOST_POLISH);
        let began = Instant::now();
        let better = explicit.run(&problem, &self.whole.part().work(work), &super::Silent);
        let (outcome, took) = ("looked for a run with fewer threads".to_string(), began.elapsed());
        polishing.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
        // It was about one target only.
        let statistics = Statistics { complete_up_to: None, ..better.statistics };
        let run = better.verdicts.into_iter().next().filter(|better| matches!(better, Verdict::Unsafe(_)));
        let better = run.and_then(|run| {
            let checked = check(&problem, &problem.targets[0], &run).ok()?;
            Some((run, checked))
        });
        self.state().record(Attempt {
            engine: Engine::Explicit.name(),
            outcome,
            decided: better.is_some().into(),
            seconds: took.as_secs_f64(),
            statistics,
        });
        better
    }

    fn answer(self) -> Answer {
        let mut state = self.state.into_inner().expect("no engine panics while it holds the lock");
        let why = state.why.unwrap_or_else(|| {
            let outcomes: Vec<String> =
                state.attempts.iter().map(|a| format!("{}: {}", a.engine, a.outcome)).collect();
            Unknown::Inconclusive(outcomes.join("; "))
        });
        let by: Vec<Option<&'static str>> = state.verdicts.iter().map(|d| d.as_ref().map(|d| d.by)).collect();
        for attempt in &mut state.attempts {
            attempt.decided += by.iter().flatten().filter(|&&by| by == attempt.engine).count() as u64;
        }
        let fewest = state.verdicts.iter().map(|d| d.as_ref().is_some_and(|d| d.fewest)).collect();
        let decided = state.verdicts.iter().flatten();
        let claims = decided.filter(|d| !matches!(d.verdict, Verdict::Unknown(_)));
        let checked = Checked::all(claims.map(|d| d.checked));
        let verdicts = state
            .verdicts
            .into_iter()
            .map(|d| d.map_or_else(|| Verdict::Unknown(why.clone()), |d| d.verdict))
            .collect();
        let decisive = by.iter().flatten().next().copied().unwrap_or(Engine::Explicit.name());
        let of = |name: &str| state.attempts.iter().find(|a| a.engine == name);
        let mut statistics = of(decisive).map_or_else(Statistics::default, |a| a.statistics.clone());
        let complete = state.attempts.iter().filter_map(|a| a.statistics.complete_up_to).max();
        statistics.complete_up_to = statistics.complete_up_to.max(complete);
        state.withdrawn.iter().for_each(|verdict| statistics.withdraw(verdict));
        Answer {
            verdicts,
            statistics,
            by,
            fewest,
            attempts: state.attempts,
            checked,
            checking: state.checking,
            flaw: state.flaw,
        }
    }
}

/// Receives what an engine finds before it ends.
struct Listener<'b, 'a> {
    portfolio: &'b Portfolio<'a>,
    open: &'b [usize],
    engine: &'static str,
    polishing: &'b AtomicU64,
}

impl Watch for Listener<'_, '_> {
    fn progress(&self, now: &Progress) {
        self.portfolio.watch.progress(now);
    }

    fn found(&self, target: usize, verdict: &Verdict) {
        if let Some(&target) = self.open.get(target) {
            self.portfolio.offer(&[(target, verdict)], self.engine, self.polishing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;
    use throng_lang::tts;

    /// A lock: 1 is inside. Two threads are never inside, and three reach 4 together only one after
    /// another.
    const LOCK: &str = "2 5\n0 0 -> 1 1\n1 1 -> 0 2\n0 2 -> 0 3\n0 3 -> 0 4\n";

    fn answer(jobs: usize) -> Answer {
        let system = tts::read(LOCK).0.expect("it is right");
        let (shared, locals) = (system.table.shared().clone(), system.table.locals().clone());
        let target = |text: &str| tts::parse_target(text, &shared, &locals).expect("it is right");
        let problem = Problem {
            initial: vec![tts::parse_config("0/0", &shared, &locals).expect("it is right")],
            initial_text: "0/0".into(),
            targets: vec![target("1|1,1"), target("0|4,4,4")],
            bound: Bound::Any,
            model: system.table.clone(),
        };
        Auto { jobs, ..Auto::default() }.run(&problem, &Limits::none(), &Silent)
    }

    #[test]
    fn a_second_thread_does_nothing_while_the_first_rounds_decide() {
        let [one, two] = [1, 2].map(answer);
        let did = |answer: &Answer| -> Vec<_> {
            let each = answer.attempts.iter();
            each.map(|a| (a.engine, a.outcome.clone(), a.decided, a.statistics.clone())).collect()
        };
        assert_eq!(did(&one), did(&two));
        assert_eq!(one.by, two.by);
        assert!(matches!(one.verdicts[..], [Verdict::Safe(_), Verdict::Unsafe(_)]), "{:?}", one.verdicts);
    }

    #[test]
    fn an_engine_has_decided_what_was_decided_by_it() {
        let answer = answer(1);
        for attempt in &answer.attempts {
            let by = answer.by.iter().filter(|by| **by == Some(attempt.engine)).count() as u64;
            assert_eq!(attempt.decided, by, "{attempt:?}");
        }
        assert_eq!(answer.attempts.iter().map(|a| a.decided).sum::<u64>(), 2);
    }
}
