//! The default: a portfolio of engines, one side proving, the other refuting; the first *checked*
//! answer wins.
//!
//! | side | engines |
//! | --- | --- |
//! | prove | `views` (pair views), then `localise` (of programs; it refutes, too), then `equations`, then `backward` pruned by the invariants of `views` and `equations` |
//! | refute | `explicit` with 1, 2, 3, … threads, `guided`, and `karp-miller` |
//!
//! Engines that may run for ever get shares of work (counted in steps, not seconds) that grow from
//! round to round, so none can starve the others. All take turns at first. With one job that stays
//! so, and everything is deterministic; with more, the two sides run in parallel if the first
//! rounds have not decided everything. A target that one engine has decided is not given to the
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
    /// Number of cores to use; with one, the answer is deterministic.
    pub jobs: usize,
    /// Maximum number of threads of the search for runs.
    pub max_threads: Option<u32>,
    /// True to stop when one target is hit and leave the others open.
    pub stop_at_first: bool,
    /// Enables partial-order reduction, where the model allows it.
    pub por: bool,
}

impl Default for Auto {
    fn default() -> Auto {
        Auto { jobs: 1, max_threads: None, stop_at_first: false, por: true }
    }
}

/// Ticks of the first round: a bug that is found at once must not wait for a proof attempt that
/// fails.
const FIRST_SHARE: u64 = 1 << 14;

/// Rounds with larger shares are late, and only late rounds use two threads: most inputs are
/// decided earlier, and the second thread's work until then would be wasted.
const LAST_EARLY_SHARE: u64 = 1 << 18;

/// The unit of weights: the ratio of a weight to it is the engine's part of a share.
const SHARE: u64 = 4;

/// Weight of pair views in late rounds: they either prove soon or not at all, and resume where they
/// stopped. With a bound, `explicit` proves, too, and shares are equal.
const WEIGHT_OF_PAIRS: u64 = 16 * SHARE;

/// Weight of pair views in early rounds.
const TURNS_OF_PAIRS: u64 = 4 * SHARE;

/// Weight of `reachability` for questions that only it can answer.
const WEIGHT_OF_REACHABILITY: u64 = 64 * SHARE;

/// Weight of `explicit` in late rounds, unless it can prove.
const WEIGHT_OF_EXPLICIT: u64 = 1;

/// One tick of `explicit` costs about as much time as this many of another engine.
const SLOWNESS_OF_EXPLICIT: u64 = 16;

/// Ratio of the shares of two consecutive rounds.
const GROWTH: u64 = 4;

/// The budget for finding a run with fewer threads: this multiple of the ticks spent until there
/// was a run, between the two following limits.
const POLISH: u64 = 4;
const LEAST_POLISH: u64 = 1 << 16;
const MOST_POLISH: u64 = 1 << 22;

impl Auto {
    /// Returns the settings of the portfolio's engines.
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
            prove[0].late = WEIGHT_OF_PAIRS;
            refute[0].late = WEIGHT_OF_EXPLICIT;
            // It resumes, too, and decides soon; but inputs that need most of their variables are
            // left to other engines.
            let localise = prove.iter_mut().find(|p| p.engine.name() == Engine::Localise.name());
            localise.into_iter().for_each(|p| p.weight = WEIGHT_OF_PAIRS);
        }
        if Reachability::takes(problem) {
            // Questions about single markings are mostly decided by it, and soon.
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

/// An engine of the portfolio, and its part of a share in units of [`SHARE`].
#[derive(Clone, Copy)]
struct Participant<'a> {
    engine: &'a dyn Algorithm,
    /// True on the proving side.
    proves: bool,
    /// Weight in early rounds.
    weight: u64,
    /// Weight in late rounds.
    late: u64,
    /// The ticks of its last share.
    last_share: u64,
}

impl<'a> Participant<'a> {
    fn new(engine: &'a dyn Algorithm, proves: bool, weight: u64) -> Participant<'a> {
        Participant { engine, proves, weight, late: weight, last_share: 0 }
    }
}

fn participants(engines: &[Box<dyn Algorithm + Send>], proves: bool) -> Vec<Participant<'_>> {
    engines.iter().map(|engine| Participant::new(&**engine, proves, SHARE)).collect()
}

/// The state of the portfolio, shared by all engines.
struct Portfolio<'a> {
    problem: &'a Problem,
    auto: &'a Auto,
    /// The limits of the whole run.
    whole: Limits,
    /// The limits of engines and checks, which are stopped once everything is decided.
    limits: Limits,
    watch: &'a dyn Watch,
    /// The quotient of the problem, for engines that need not report every step of the shortest
    /// run.
    quotient: Option<Quotient>,
    /// Ticks spent so far.
    given: AtomicU64,
    state: Mutex<State>,
}

/// The answer about a target.
struct Decided {
    verdict: Verdict,
    by: &'static str,
    /// True if runs with fewer threads were searched first.
    fewest: bool,
    checked: Option<Checked>,
}

/// Returns why there is no answer: what the first engine said that could have given one.
fn reason(attempts: &[Attempt]) -> String {
    let refused = Unknown::NotForThisModel(String::new()).cause();
    let suitable = attempts.iter().find(|a| a.cause.is_some_and(|cause| cause != refused));
    suitable.or(attempts.first()).map_or_else(String::new, |a| a.outcome.clone())
}

struct State {
    verdicts: Vec<Option<Decided>>,
    attempts: Vec<Attempt>,
    /// Why the engines stopped, if a limit stopped them.
    why: Option<Unknown>,
    /// The flaw of evidence that failed its check, which is a bug in Throng.
    flaw: Option<String>,
    /// Verdicts that could not be checked.
    withdrawn: Vec<Verdict>,
    /// Time spent on checking.
    checking: Duration,
}

impl State {
    /// Adds a share of work to its engine's record: the time of all shares, and the numbers of the
    /// one that got furthest, because most engines restart with each share.
    fn record(&mut self, share: Attempt) {
        let Some(known) = self.attempts.iter_mut().find(|a| a.engine == share.engine) else {
            return self.attempts.push(share);
        };
        (known.outcome, known.cause) = (share.outcome, share.cause);
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
        // It is checked like every verdict. If the check fails, no engine can prove the target
        // safe, and there is no run to find.
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
    /// none of them can make progress. Removes those that cannot.
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
                // Most engines restart, so the same share again would have the same result.
                let waits = work <= participant.last_share && share < u64::MAX;
                if waits && !last {
                    return true;
                }
                participant.last_share = work;
                self.given.fetch_add(work, Ordering::Relaxed);
                // The last engine of a side gets everything.
                let limits = if last { limits } else { limits.work(work) };
                self.ask(participant.engine, &limits)
            });
            share = share.saturating_mul(GROWTH);
        }
        if let Err(why) = self.limits.check() {
            self.state().why.get_or_insert(why);
        }
    }

    /// Runs one engine on the open targets. Returns whether more work might help it.
    fn ask(&self, engine: &dyn Algorithm, limits: &Limits) -> bool {
        // Only `reachability` knows formulas.
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
        let (mut outcome, mut cause) = ("decided".to_string(), None);
        let mut offers = Vec::new();
        for (&i, verdict) in open.iter().zip(&answer.verdicts) {
            match verdict {
                Verdict::Unknown(why) => {
                    again |= *why == Unknown::Work;
                    (outcome, cause) = (why.to_string(), Some(why.cause()));
                    if matches!(why, Unknown::Bound(_) | Unknown::Memory(_)) {
                        self.state().why.get_or_insert(why.clone());
                    }
                }
                verdict => offers.push((i, verdict)),
            }
        }
        self.offer(&offers, engine.name(), &polishing);
        // The search for a better run is another engine's work.
        let elsewhere = Duration::from_nanos(polishing.into_inner());
        let seconds = began.elapsed().saturating_sub(elsewhere).as_secs_f64();
        let (engine, statistics) = (engine.name(), answer.statistics);
        let attempt = Attempt { engine, outcome, cause, decided: 0, seconds, statistics };
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

    /// Accepts verdicts that pass the check, and stops all engines when no target is open any more.
    /// Adds the nanoseconds spent on better runs to `polishing`.
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
            // A limit cut off the list of steps while the verdict was found or checked, so it is
            // not a flaw.
            if let (Err(_), Err(why)) = (self.problem.complete(), self.limits.check()) {
                self.state().why.get_or_insert(why);
                continue;
            }
            let target = &self.problem.targets[*i].name;
            let flaw = format!("the evidence of `{engine}` for target `{target}` is invalid: {flaw}");
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
        // Further work of other engines would be wasted.
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

    /// Returns a run with the fewest threads instead of an arbitrary one, if it is found within a
    /// budget.
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
        let (outcome, took) = ("searched for a run with fewer threads".to_string(), began.elapsed());
        polishing.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
        // The search was for one target only.
        let statistics = Statistics { complete_up_to: None, ..better.statistics };
        let run = better.verdicts.into_iter().next().filter(|better| matches!(better, Verdict::Unsafe(_)));
        let better = run.and_then(|run| {
            let checked = check(&problem, &problem.targets[0], &run).ok()?;
            Some((run, checked))
        });
        self.state().record(Attempt {
            engine: Engine::Explicit.name(),
            outcome,
            cause: None,
            decided: better.is_some().into(),
            seconds: took.as_secs_f64(),
            statistics,
        });
        better
    }

    fn answer(self) -> Answer {
        let mut state = self.state.into_inner().expect("no engine panics while it holds the lock");
        let why = state.why.unwrap_or_else(|| Unknown::Inconclusive(reason(&state.attempts)));
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

/// Receives what an engine reports before it ends.
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

    /// A lock: 1 is inside. Two threads are never inside at once, and three reach 4 together only
    /// one after another.
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
