//! Races of whole programs: what a static analysis says about each shared object, as findings that
//! reports show, and the proof where no race is left.

mod directed;
mod distance;

use std::collections::BTreeSet;
use std::sync::Arc;

use throng_check::Checked;
use throng_engine::{Algorithm, Answer, Statistics, Watch};
use throng_goto::program::{Point, Program, Violation};
use throng_goto_check::documents;
use throng_goto_check::races::findings::{self as checked, Pair, Shared, Status, Touch};
use throng_goto_check::races::{Facts, check_facts, narrowed};
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::plural;
use throng_model::problem::Problem;
use throng_model::property::Property;
use throng_model::verdict::{SourceProof, Trace, Unknown, Verdict};

use self::directed::{Directed, Goal, racing, stores_number};
use self::distance::Graph;
use super::check::unsure_run;
use super::{Posed, locksets};
use crate::error::Error;
use crate::findings::{CallSite, Findings, ObjectStatus, PossibleRace, SharedAccess, SharedObject};
use crate::job::Job;
use crate::outcome::Outcome;

/// What answers of this kind are signed with.
pub(super) const NAME: &str = "races";

/// What the analysis of a program shows, limited to what is asked.
pub(super) struct Analysed {
    whole: Arc<Program>,
    /// Whether that is the program with functions in place of their calls.
    inlined: bool,
    facts: Facts,
    found: checked::Findings,
    /// That the facts behind it were checked.
    checked: Option<Checked>,
}

/// Analyses a program with its calls, if races are all that is asked and the limits allow it.
pub(super) fn analyse(posed: &Posed, limits: &Limits) -> Result<Option<Analysed>, Error> {
    let query = &posed.loaded.query;
    let Some(whole) = query.whole.clone().filter(|_| is_asked(posed)) else { return Ok(None) };
    let small = query.program.templates.iter().map(|t| t.code.len()).sum::<usize>() <= MOST_INLINED;
    let inlines = small && !whole.is_flat() && query.program.is_flat();
    // The search is left a quarter of the time: what the analysis finds is worth more.
    let share = limits.time_left().map_or(limits.part(), |time| limits.part().timeout(time / 4 * 3));
    let analysed = Analysed::of(whole, false, &share)?;
    if inlines && analysed.as_ref().is_some_and(|analysed| analysed.proof().is_none()) {
        // What a function does for different callers is told apart then.
        let inlined = Analysed::of(query.program.clone(), true, &share)?;
        if inlined.as_ref().is_some_and(|inlined| inlined.proof().is_some()) {
            return Ok(inlined);
        }
    }
    Ok(analysed)
}

/// Returns whether races are all that is asked.
fn is_asked(posed: &Posed) -> bool {
    let query = &posed.loaded.query;
    query.program.asked == [Violation::Race] && !query.question.deadlock
}

/// Adds to an answer that is not known that a limit ended the analysis.
pub(super) fn mention_limit(posed: &Posed, outcome: &mut Outcome) {
    if !is_asked(posed) || posed.loaded.query.whole.is_none() {
        return;
    }
    for verdict in &mut outcome.answer.verdicts {
        if let Verdict::Unknown(why) = verdict {
            *why = Unknown::Unsure(format!("a limit ended the analysis of the whole program; {why}"));
        }
    }
}

/// Maximum number of instructions of a program that is analysed with functions in place of their
/// calls.
const MOST_INLINED: usize = 30_000;

impl Analysed {
    /// Analyses a program, unless a limit is hit before that is done.
    fn of(whole: Arc<Program>, inlined: bool, limits: &Limits) -> Result<Option<Analysed>, Error> {
        let flawed = |why| Error::Flawed(format!("the facts about races do not stand: {why}"));
        let stop = || limits.check().is_err();
        let Some(facts) = throng_static::analyse_until(&whole, &stop) else { return Ok(None) };
        let (found, checked) = check_facts(&whole, &facts).map_err(flawed)?;
        let found = narrowed(&whole, found);
        Ok(Some(Analysed { whole, inlined, facts, found, checked: Some(checked) }))
    }

    /// Returns the engine whose answer is that no race is possible, if that is shown.
    pub(super) fn proof(&self) -> Option<Proved> {
        let checked = self.checked.filter(|_| self.found.open.is_empty() && self.pairs().next().is_none())?;
        Some(Proved { objects: self.found.objects.len(), checked })
    }

    fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.found.objects.iter().flat_map(|shared| match &shared.status {
            Status::Possible(pairs) => &pairs[..],
            _ => &[],
        })
    }

    /// Returns the pairs to look for, one of each object first; those that a baseline accepts come
    /// last.
    fn in_turn(&self, job: &Job<'_>) -> Vec<[Point; 2]> {
        let mut turns: Vec<((bool, usize), [Point; 2])> = Vec::new();
        let known = |pair: &Pair| job.baseline.as_ref().is_some_and(|b| b.knows(&identity(pair)));
        for shared in &self.found.objects {
            let Status::Possible(pairs) = &shared.status else { continue };
            let each = pairs.iter().enumerate();
            turns.extend(each.map(|(n, p)| ((known(p), n), [p.first.at, p.second.at])));
        }
        turns.sort_by_key(|turn| turn.0);
        turns.into_iter().map(|turn| turn.1).collect()
    }
}

/// An engine whose answer is that no race is possible.
pub(super) struct Proved {
    objects: usize,
    checked: Checked,
}

impl Algorithm for Proved {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&self, problem: &Problem, _: &Limits, _: &dyn Watch) -> Answer {
        let proof = SourceProof {
            kind: "findings",
            size: self.objects,
            member: "object",
            words: "Of two accesses to the same object, one of them writing, the facts show that they are not made at the same time: a lock is held at both, one \
                    thread makes both, or one is made before the other's thread exists or after it has ended."
                .into(),
            obligations: [
                "the facts hold at the start, and every instruction keeps them",
                "every address that an instruction accesses is among those that the facts name",
                "of two accesses that conflict, the facts keep one from the other",
            ],
        };
        locksets::answer(problem, NAME, proof, self.checked)
    }
}

/// Maximum numbers of configurations of the search for one pair, and for all.
const BUDGETS: (usize, usize) = (20_000, 200_000);

/// An engine that looks for runs that show possible races, before another one.
pub(super) struct Confirming<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) posed: Posed,
    pub(super) analysed: Arc<Analysed>,
    pub(super) then: Box<dyn Algorithm + 'a>,
}

impl Confirming<'_> {
    /// Returns a run that the program bears out.
    fn confirm(&self, problem: &Problem, limits: &Limits, statistics: &mut Statistics) -> Option<Trace> {
        let program = self.posed.program();
        let pairs = self.analysed.in_turn(self.job);
        let graph = Graph::of(program);
        let mut tried: BTreeSet<[Vec<Point>; 2]> = BTreeSet::new();
        let mut left = BUDGETS.1;
        for (n, pair) in pairs.iter().enumerate() {
            let share = match limits.time_left() {
                Some(time) => limits.part().timeout(time / (pairs.len() - n).min(8) as u32 / 2),
                None => limits.part(),
            };
            let goal = Goal::within(program, &self.analysed.whole, *pair);
            if left == 0 || share.check().is_err() || !tried.insert(goal.points()) {
                continue;
            }
            let before = statistics.configurations;
            let mut search = Directed::new(&self.posed.model, problem, &graph, &goal);
            let found = search.run(BUDGETS.0.min(left), &share, statistics);
            left = left.saturating_sub((statistics.configurations - before) as usize);
            if let Some(run) = found.filter(|run| unsure_run(&self.posed, 0, run).is_none()) {
                return Some(run);
            }
        }
        None
    }
}

impl Algorithm for Confirming<'_> {
    fn name(&self) -> &'static str {
        self.then.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let mut statistics = Statistics::default();
        if let Some(run) = self.confirm(problem, limits, &mut statistics) {
            let mut answer = Answer::new(vec![Verdict::Unsafe(run)], statistics);
            answer.by = vec![Some("directed")];
            return answer;
        }
        // An exhaustive search of any number of threads does not end by itself.
        let ends = self.posed.program().most_threads().is_some() || problem.bound.threads().is_some();
        match limits.time_left().is_some() || ends && self.posed.program().is_flat() {
            true => self.then.run(problem, limits, watch),
            false => self.then.run(problem, &limits.part().work(WORK), watch),
        }
    }
}

/// Steps of an exhaustive search that need not end by itself, where no time limit is given.
const WORK: u64 = 300_000;

/// What a race for the number of a thread rests on: POSIX does not say that it is stored before the
/// thread begins, so the stricter reading is that it may be stored after that.
const NUMBER: &str =
    "pthread_create may store the number of a thread after that has begun, which POSIX leaves open";

/// Adds the findings to an outcome, as the verdict allows.
pub(super) fn conclude(job: &Job<'_>, posed: &Posed, outcome: &mut Outcome, analysed: &Analysed) {
    let mut findings = report(&analysed.whole, &analysed.found);
    let is_race = |p: Option<&Property>| matches!(p, Some(Property::Race(_)));
    let Some(n) = outcome.problem.targets.iter().position(|t| is_race(t.property.as_deref())) else { return };
    match &outcome.answer.verdicts[n] {
        Verdict::Unsafe(run) => {
            if let Some(points) = racing(&posed.model, run) {
                let program = posed.program();
                analysed.mark(&points.map(|at| program.origin_at(at).span).into(), &mut findings);
                if points.iter().any(|at| stores_number(program, *at)) {
                    outcome.assumptions.push(Assumption::Reader(NUMBER));
                }
            }
        }
        Verdict::Safe(_) => findings.rule_out(),
        Verdict::Unknown(_) => {}
    }
    if let Some(baseline) = &job.baseline {
        baseline.accept(&mut findings);
    }
    if let Verdict::Unknown(why) = &mut outcome.answer.verdicts[n]
        && analysed.proof().is_none()
    {
        *why = Unknown::Possible(possible(&findings, why));
    }
    outcome.findings = Some(Arc::new(findings));
}

/// Returns why there is no verdict, in words.
fn possible(findings: &Findings, why: &Unknown) -> String {
    let (races, objects) = findings.unconfirmed();
    let mut text = match races {
        0 => format!("no race is found, but not all is known: {}", findings.open.join("; ")),
        1 => "1 possible race, not confirmed".into(),
        n => format!("{n} possible races on {}, not confirmed", plural(objects as u64, "object")),
    };
    if !findings.has_new() {
        text.push_str("; the baseline accepts all of it");
    }
    match why {
        Unknown::Unsure(_) | Unknown::Time(_) | Unknown::Memory(_) | Unknown::Cancelled => {
            format!("{text}; {why}")
        }
        _ => text,
    }
}

impl Analysed {
    /// Marks the races between the accesses of these passages.
    fn mark(&self, spans: &BTreeSet<(usize, usize)>, findings: &mut Findings) {
        let races = findings.objects.iter_mut().flat_map(|o| &mut o.races);
        for (pair, race) in self.pairs().zip(races) {
            let span = |at: Point| self.whole.origin_at(at).span;
            race.confirmed =
                [pair.first.at, pair.second.at].into_iter().map(span).collect::<BTreeSet<_>>() == *spans;
        }
    }
}

fn identity(pair: &Pair) -> String {
    format!("{:016x}", pair.identity)
}

/// Returns the facts behind an answer as a certificate.
pub(super) fn document(posed: &Posed) -> Result<String, String> {
    match analyse(posed, &Limits::none()) {
        Ok(Some(Analysed { facts, inlined, .. })) => {
            documents::write_races(&posed.loaded.query, &facts, inlined).map_err(|why| why.to_string())
        }
        _ => Err("the program is not analysed any more".into()),
    }
}

/// Returns what reports show.
pub(super) fn report(program: &Program, found: &checked::Findings) -> Findings {
    Findings {
        objects: found.objects.iter().map(|shared| object(program, shared)).collect(),
        open: found.open.clone(),
        ..Findings::default()
    }
}

fn object(program: &Program, shared: &Shared) -> SharedObject {
    let (status, reasons, races) = match &shared.status {
        Status::Possible(pairs) => {
            let races = pairs.iter().map(|pair| race(program, pair)).collect();
            (ObjectStatus::PossibleRace, Vec::new(), races)
        }
        Status::Protected(locks) => (ObjectStatus::Protected, locks.clone(), Vec::new()),
        Status::Apart(reasons) => (ObjectStatus::Apart, reasons.clone(), Vec::new()),
        Status::Atomic => (ObjectStatus::Atomic, Vec::new(), Vec::new()),
        Status::Owned(owner) => (ObjectStatus::Owned, vec![owner.clone()], Vec::new()),
        Status::NotWritten => (ObjectStatus::NotWritten, Vec::new(), Vec::new()),
    };
    let reasons = reasons.iter().map(|reason| short(reason)).collect();
    let (name, line, accesses) = (short(&shared.name), shared.line, shared.accesses);
    SharedObject { name, line, accesses, status, reasons, races }
}

fn race(program: &Program, pair: &Pair) -> PossibleRace {
    PossibleRace {
        identity: identity(pair),
        confirmed: false,
        accepted: false,
        first: access(program, &pair.first),
        second: access(program, &pair.second),
        why: pair.why.clone(),
    }
}

fn access(program: &Program, touch: &Touch) -> SharedAccess {
    let origin = program.origin_at(touch.at);
    let call = |(function, line): &(String, u32)| CallSite { function: short(function), line: *line };
    SharedAccess {
        file: origin.file.clone().unwrap_or_else(|| program.user.clone()),
        line: origin.line,
        column: origin.column,
        text: origin.text.clone(),
        writes: touch.writes,
        atomic: touch.atomic,
        thread: short(&touch.thread),
        calls: touch.calls.iter().map(call).collect(),
        locks: touch.locks.iter().map(|lock| short(lock)).collect(),
    }
}

/// Returns a text with the functions and variables of files, `src/q.c:push`, named without the
/// folders.
fn short(text: &str) -> String {
    let word = |word: &str| match word.split_once(".c:") {
        Some((file, function)) => format!("{}.c:{function}", file.rsplit('/').next().unwrap_or(file)),
        None => word.to_string(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Engine, Input};
    use throng_goto::program::{Instr, address};
    use throng_goto_check::races::points::Site;

    const LATE: &str = "
#include <pthread.h>
int ready, data, noise;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
void *worker(void *arg) {
  for (int i = 0; i < 50; i++) { pthread_mutex_lock(&m); noise++; pthread_mutex_unlock(&m); }
  data = 1;
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, worker, 0);
  pthread_create(&b, 0, worker, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return data;
}
";

    /// The question whether the program has a race, and what an analysis that knows nothing would
    /// say of a variable: all its accesses may race.
    fn posed(text: &str, variable: &str) -> (Posed, Analysed) {
        let source = throng_lang::source::Source::new("late.c", text);
        let input = Input::edited_within(
            Path::new("late.c"),
            source,
            throng_lang::load::Reading::default(),
            &Limits::none(),
        );
        let input = input.expect("a program");
        let job = Job::new(&input).no_data_race();
        let posed = Posed::clone(job.prepare().expect("a question").posed.as_ref().expect("C"));
        let whole = posed.loaded.query.whole.clone().expect("with its calls");
        let number = 1 + whole.objects.iter().position(|o| o.name == variable).expect("a variable") as i64;
        let mut touches = Vec::new();
        for (t, template) in whole.templates.iter().enumerate() {
            for (pc, i) in template.code.iter().enumerate() {
                let (is, writes) = match i {
                    Instr::Load(_, a, _) => (a.constant() == Some(address(number, 0)), false),
                    Instr::Store(a, ..) => (a.constant() == Some(address(number, 0)), true),
                    _ => (false, false),
                };
                let at = Point { template: t as u32, pc: pc as u32 };
                if is {
                    let thread = template.name.clone();
                    let calls = vec![(template.name.clone(), whole.origin_at(at).line)];
                    touches.push(Touch { at, writes, atomic: false, thread, calls, locks: Vec::new() });
                }
            }
        }
        let pairs = touches.iter().filter(|t| t.writes).flat_map(|first| {
            let pair = |second: &Touch| Pair {
                first: first.clone(),
                second: second.clone(),
                why: "nothing is known".into(),
                identity: u64::from(first.at.pc) << 32 | u64::from(second.at.pc),
            };
            touches.iter().map(pair).collect::<Vec<_>>()
        });
        let shared = Shared {
            site: Site::Object(number),
            name: variable.into(),
            line: Some(3),
            accesses: touches.len(),
            status: Status::Possible(pairs.collect()),
        };
        let found = checked::Findings { objects: vec![shared], open: Vec::new() };
        (posed, Analysed { whole, inlined: false, facts: Facts::default(), found, checked: None })
    }

    fn search(posed: &Posed, analysed: &Analysed) -> (Option<Trace>, u64) {
        let mut statistics = Statistics::default();
        let program = posed.program();
        let graph = Graph::of(program);
        let pairs: Vec<[Point; 2]> = analysed.pairs().map(|p| [p.first.at, p.second.at]).collect();
        for pair in pairs {
            let goal = Goal::within(program, &analysed.whole, pair);
            let mut search = Directed::new(&posed.model, &posed.problem, &graph, &goal);
            if let Some(run) = search.run(5000, &Limits::none(), &mut statistics) {
                return (Some(run), statistics.configurations);
            }
        }
        (None, statistics.configurations)
    }

    #[test]
    fn a_race_behind_a_long_loop_is_met_in_few_steps() {
        let (posed, analysed) = posed(LATE, "data");
        let (run, configurations) = search(&posed, &analysed);
        let run = run.expect("a run");
        assert!(configurations < 2000, "{configurations}");
        let points = racing(&posed.model, &run).expect("two accesses");
        let spans = points.map(|at| posed.program().origin_at(at).span).into();
        let mut findings = report(&analysed.whole, &analysed.found);
        analysed.mark(&spans, &mut findings);
        let confirmed: Vec<(u32, u32)> =
            findings.races().filter(|r| r.confirmed).map(|r| (r.first.line, r.second.line)).collect();
        assert_eq!(confirmed, [(7, 7)], "the write of one worker and that of the other");
    }

    #[test]
    fn what_is_found_is_passed_on_before_a_search() {
        let source = throng_lang::source::Source::new("late.c", LATE);
        let reading = throng_lang::load::Reading::default();
        let input = Input::edited_within(Path::new("late.c"), source, reading, &Limits::none());
        let input = input.expect("a program");
        let known = std::sync::Mutex::new(Vec::new());
        let keep = |outcome: &Outcome| {
            let findings = outcome.findings.as_deref().cloned().unwrap_or_default();
            known.lock().expect("no panic").push((outcome.is_safe(), findings, outcome.json()));
        };
        let job = Job::new(&input).no_data_race().so_far(&keep);
        let outcome = job.check(Engine::Auto, &Limits::none().timeout(std::time::Duration::from_secs(60)));
        assert!(outcome.expect("an outcome").is_unsafe());
        let known = known.into_inner().expect("no panic");
        let [(false, findings, json)] = &known[..] else { panic!("{known:?}") };
        let lines: Vec<(u32, u32)> = findings.races().map(|r| (r.first.line, r.second.line)).collect();
        assert_eq!(lines, [(7, 7)]);
        assert!(findings.races().all(|r| !r.confirmed));
        assert!(json.contains("1 possible race, not confirmed"), "{json}");
    }

    #[test]
    fn what_a_lock_protects_is_not_met() {
        let (posed, analysed) = posed(LATE, "noise");
        assert!(search(&posed, &analysed).0.is_none());
    }

    #[test]
    fn engines_agree_that_there_is_a_race() {
        let (posed, _) = posed(LATE, "data");
        let outcome =
            Job::of(posed.problem.clone()).check(Engine::Auto, &Limits::none().work(1)).expect("an outcome");
        assert!(!outcome.is_safe());
    }
}
