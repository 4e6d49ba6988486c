//! Predicate abstraction beside the engines that search real values: what proves programs for any
//! number of threads.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::text::Loaded;
use super::{Posed, line_facts, undecided};
use crate::error::Error;
use crate::job::Job;
use crate::outcome::{Outcome, Remark, Status};
use crate::report::facts::LineFacts;
use crate::report::plural;
use crate::undecided::{PROVER as NAME, Possible, stretches};
use throng_abstract::prove::{Ended, Round, is_violation};
use throng_abstract::readings::attempt;
use throng_check::Checked;
use throng_check::certify::Fault;
use throng_engine::hunt::Hunt;
use throng_engine::{Algorithm, Answer, Engine, Progress, Settings, Silent, Statistics, Watch};
use throng_goto::Program;
use throng_goto::model::{Concrete, Remarks};
use throng_goto::program::{BinOp, Expr, Instr};
use throng_goto_check::abstraction::certificate::{self, Document, Stated};
use throng_goto_check::abstraction::graph::is_proved;
use throng_goto_check::abstraction::heap::placed;
use throng_goto_check::abstraction::predicate::Predicate;
use throng_goto_check::abstraction::tallies::MOST_THREADS;
use throng_goto_check::abstraction::variables::Variables;
use throng_lang::load::Rejected;
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::Problem;
use throng_model::verdict::{Certificate, SourceProof, Unknown, Verdict};

/// How long it may take alone if there is no limit.
const ALONE: Duration = Duration::from_secs(60);

/// Ticks of work of the look for a violation before that, a fraction of a second of a search.
const LOOK: u64 = 1 << 16;

/// An attempt at a proof by abstraction, and what came of it.
pub(super) struct Attempt {
    loaded: Loaded,
    /// The predicates that the file offers.
    offered: Vec<Predicate>,
    /// It goes first, because its certificate is asked for or only one thread may work.
    first: bool,
    checks: bool,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    rounds: Vec<String>,
    last: Option<Round>,
    said: Option<String>,
    /// Why it gave up, and when.
    gave_up: Option<(Unknown, Duration)>,
    /// A run that exact values allow: threads and lines, and whether a violation is at its end.
    run: Option<(Vec<(u32, u32)>, bool)>,
    document: Option<Document>,
    /// That the proof was checked.
    checked: Option<Checked>,
    /// What the proof shows about lines.
    lines: Vec<LineFacts>,
    /// The same before lines, as C.
    #[cfg(feature = "c")]
    invariants: Vec<super::invariants::Invariant>,
    /// How long that took.
    checking: Duration,
    flaw: Option<String>,
    /// What the hunts came across that always take place.
    remarks: Remarks,
}

impl Found {
    /// Says how far it came, where a question stays open.
    fn explain(&self, posed: &Posed, outcome: &mut Outcome) {
        let Some((why, time)) = &self.gave_up else { return };
        let attempts = &mut outcome.answer.attempts;
        attempts.push(throng_engine::Attempt::gave_up(NAME, why, *time));
        if let Some((run, violates)) = &self.run {
            outcome.possible.push(possible(posed, run, *violates));
        } else if let Some((line, round)) = self.last.as_ref().and_then(|r| Some((r.stops?, r))) {
            let learned = round.then.split_once(": ").map_or("", |(_, what)| what);
            let why = match learned {
                "" => format!("a proof by abstraction is stuck here: {}", round.then),
                what => {
                    format!("round {} of a proof by abstraction still learned here: {what}", round.number)
                }
            };
            outcome.look.push(undecided::line(posed, line, why));
        }
    }
}

/// Returns the run that a proof cannot rule out.
fn possible(posed: &Posed, run: &[(u32, u32)], violates: bool) -> Possible {
    let end = match violates {
        true => "a solver finds values for each step, and no search has taken these steps",
        false => "what its last line does is undefined or not modelled; behind that nothing is known",
    };
    Possible {
        target: posed.problem.targets.first().map_or_else(String::new, |target| target.name.clone()),
        uncertain: vec![end.into()],
        trace: None,
        lines: stretches(run.iter().copied()),
    }
}

impl Attempt {
    pub(super) fn new(job: &Job<'_>, posed: &Posed) -> Result<Attempt, Error> {
        let first = job.certifiable || job.settings.jobs == 1;
        let (loaded, checks) = (posed.loaded.clone(), job.checks);
        let offered = offered(&loaded)?;
        Ok(Attempt { loaded, offered, first, checks, found: Mutex::default() })
    }

    /// Returns whether it can answer what is asked.
    pub(super) fn applies(&self) -> bool {
        let asked = &self.loaded.query.program.asked;
        !asked.is_empty() && asked.iter().all(is_proved)
    }

    fn note(&self, act: impl FnOnce(&mut Found)) {
        act(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Notes why it ended; a share of the time is nothing that anybody asked for.
    fn gives_up(&self, why: Unknown, began: Instant) {
        let why = match why {
            Unknown::Time(_) if self.first => {
                Unknown::Inconclusive("its share of the time is used up".into())
            }
            why => why,
        };
        self.note(|f| f.gave_up = Some((why, began.elapsed())));
    }

    /// Returns whether everything that is asked was proved.
    fn run(&self, limits: &Limits, listener: &dyn Watch) -> bool {
        let program = &*self.loaded.query.program;
        if let Ok(variables) = Variables::of(program) {
            for p in &self.offered {
                let text = format!("abstraction: the file offers {}", p.text(&variables));
                self.note(|f| f.rounds.push(text));
            }
        }
        let start = Instant::now();
        let say = |phase: String| {
            listener.progress(&Progress { engine: NAME, phase, configurations: 0, frontier: 0 });
        };
        say("proving facts".into());
        let mut watch = |round: &Round| {
            say(format!("proving by abstraction, behind round {}", round.number));
            self.note(|f| {
                f.rounds.push(line(round));
                if !round.run.is_empty() {
                    f.last = Some(round.clone());
                }
            });
        };
        match attempt(program, &self.offered, limits, &mut watch) {
            Ok((graph, Ended::Proved(proof))) => {
                let document = certificate::document(&self.loaded.query, &graph, &proof.evidence);
                let began = Instant::now();
                let check = || certificate::check(&self.loaded.query, &document, limits);
                let checked = match self.checks.then(check).transpose() {
                    Ok(certified) => certified.map(|certified| certified.checked),
                    Err(fault) => {
                        self.note(|f| match fault {
                            Fault::Limit(why) => f.gave_up = Some((why, start.elapsed())),
                            fault => f.flaw = Some(format!("a proof by abstraction does not stand: {fault}")),
                        });
                        return false;
                    }
                };
                let mut said = format!(
                    "proved by predicate abstraction: {}, {}",
                    plural(proof.evidence.predicates.len() as u64, "predicate"),
                    plural(proof.rounds as u64, "round")
                );
                if !proof.evidence.facts.predicates.is_empty() {
                    let facts = proof.evidence.facts.predicates.len() as u64;
                    said.push_str(&format!(", {} that hold at places", plural(facts, "comparison")));
                }
                // The places of the graph are those of the program with places for allocated memory.
                let placed = placed(program);
                let program = placed.as_ref().unwrap_or(program);
                let facts = &proof.evidence.facts;
                let lines = line_facts::of(program, &graph, facts);
                #[cfg(feature = "c")]
                let invariants =
                    super::invariants::of(program, &graph, facts, &self.loaded.query.source.text);
                self.note(|f| {
                    #[cfg(feature = "c")]
                    f.invariants.clone_from(&invariants);
                    (f.said, f.document, f.lines) = (Some(said), Some(document), lines);
                    (f.checked, f.checking) = (checked, began.elapsed());
                });
                true
            }
            Ok((graph, Ended::Found(moves, _))) => {
                let violates = is_violation(&graph, &moves);
                self.note(|f| {
                    let run = f.last.as_ref().map(|round| round.run.clone());
                    f.run = run.map(|run| (run, violates));
                });
                let why = "it cannot rule out a run, which is shown as possible";
                self.gives_up(Unknown::Inconclusive(why.into()), start);
                false
            }
            Err(Unknown::Cancelled) => false,
            Err(why) => {
                self.note(|f| f.rounds.extend(f.last.as_ref().map(where_stuck)));
                self.gives_up(why, start);
                false
            }
        }
    }

    /// Says what became of it, and what a proof takes for granted.
    pub(super) fn report(&self, posed: &Posed, outcome: &mut Outcome) {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        outcome.remarks.extend(found.rounds.iter().cloned().map(Remark::Round));
        let proved = found.document.is_some() && outcome.is_safe();
        if proved {
            for assumption in assumed(&self.loaded.query.program, found.document.as_ref()) {
                if !outcome.assumptions.contains(&assumption) {
                    outcome.assumptions.push(assumption);
                }
            }
        }
        outcome.remarks.extend(found.said.clone().filter(|_| proved).map(Remark::Abstraction));
        if outcome.status() == Status::Unknown {
            found.explain(posed, outcome);
        }
    }

    /// Returns the certificate of the proof, if there is one.
    pub(super) fn document(&self) -> Option<Document> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).document.clone()
    }

    /// Returns what the proof shows about lines.
    pub(super) fn lines(&self) -> Vec<LineFacts> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).lines.clone()
    }

    /// Returns what the proof shows before lines, as C: line, function, expression.
    #[cfg(feature = "c")]
    pub(super) fn invariants(&self) -> Vec<super::invariants::Invariant> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).invariants.clone()
    }

    /// Returns whether the proof takes for granted that accesses stay inside their objects.
    pub(super) fn trusts_bounds(&self) -> bool {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.document.as_ref().is_some_and(|d| d.trusts_bounds)
    }

    /// What to say beside a proof by abstraction: what the hunts came across, and not what the
    /// engine beside it may have met before it was stopped.
    pub(super) fn remarks(&self, outcome: &Outcome) -> Option<Remarks> {
        let found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        (found.document.is_some() && outcome.is_safe()).then(|| found.remarks.clone())
    }
}

/// The predicates that a file offers.
fn offered(loaded: &Loaded) -> Result<Vec<Predicate>, Error> {
    if !throng_abstract::offered::offers(&loaded.query.source) {
        return Ok(Vec::new());
    }
    let found = match Variables::of(&loaded.query.program) {
        Ok(variables) => throng_abstract::offered::offered(&loaded.query.source, &variables),
        // There is no abstraction that they could be of use for.
        Err(_) => Ok(Vec::new()),
    };
    found.map_err(|diagnostics| Rejected { source: loaded.query.source.clone(), diagnostics }.into())
}

/// The last run of the abstraction that the program does not have, by lines of the C file, and what
/// was tried.
fn where_stuck(round: &Round) -> String {
    let mut text = format!("abstraction: the last run, in round {}:", round.number);
    const MOST: usize = 40;
    let mut before = None;
    for &(thread, line) in round.run.iter().take(MOST) {
        match before == Some(thread) {
            true => text.push_str(&format!(", {line}")),
            false => text.push_str(&format!("\n    thread {thread}: line {line}")),
        }
        before = Some(thread);
    }
    if round.run.len() > MOST {
        text.push_str(&format!("\n    and {} more", plural((round.run.len() - MOST) as u64, "step")));
    }
    text.push_str(&format!("\n  {}", round.then));
    match round.tried.is_empty() {
        true => text.push_str("\n  no predicates were used"),
        false => text.push_str(&format!("\n  predicates: {}", round.tried.join("; "))),
    }
    text
}

/// Returns what a proof takes for granted.
pub(super) fn assumed(program: &Program, document: Option<&Document>) -> Vec<Assumption> {
    let bounds = document.is_some_and(|d| d.trusts_bounds);
    let counted = document.is_some_and(|d| !d.tallies.is_empty());
    let all = [
        (wraps(program), Assumption::Wraps),
        (bounds, Assumption::WithinArrays),
        (counted, Assumption::FewThreads(MOST_THREADS as u64)),
    ];
    let fit = document.filter(|d| !d.bounded.is_empty());
    let fit = fit.map(|d| Assumption::CountersFit(d.bounded.clone()));
    all.into_iter().filter(|a| a.0).map(|a| a.1).chain(fit).collect()
}

/// Returns whether some operation could overflow, if numbers are large enough.
fn wraps(program: &Program) -> bool {
    fn some(e: &Expr) -> bool {
        match e {
            Expr::Bin(op, a, b, at) => {
                let open =
                    at.signed && matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl | BinOp::Div);
                open || some(a) || some(b)
            }
            Expr::Float(_, a, b, _) => some(a) || some(b),
            Expr::Cast(e, _) | Expr::Convert(e, _) => some(e),
            Expr::Const(_) | Expr::Reg(_) | Expr::SelfId | Expr::Local(_) => false,
        }
    }
    program.templates.iter().flat_map(|t| &t.code).any(|i| match i {
        Instr::Let(_, e) | Instr::Branch(e, ..) | Instr::Assume(e) | Instr::Store(_, e, _) => some(e),
        Instr::Spawn(_, args, _) => args.iter().any(some),
        _ => false,
    })
}

fn line(round: &Round) -> String {
    let ms = |d: Duration| format!("{:.1} s", d.as_secs_f64());
    let mut text = format!(
        "abstraction: round {}, {} ({} of threads), {} by {}, {} + {}",
        round.number,
        plural(round.predicates.0 as u64, "predicate"),
        round.predicates.1,
        round.said,
        round.engine,
        ms(round.times.0),
        ms(round.times.1)
    );
    if !round.then.is_empty() {
        text.push_str(&format!("; {}", round.then));
    }
    text
}

/// Returns comparisons in words; those of values that have no name in the source are counted.
fn texts(list: &[Stated]) -> Vec<String> {
    let (named, nameless): (Vec<&Stated>, Vec<&Stated>) =
        list.iter().partition(|p| line_facts::is_readable(&p.text));
    let mut texts: Vec<String> = named.into_iter().map(|p| p.text.clone()).collect();
    if !nameless.is_empty() {
        let plural = if nameless.len() == 1 { "" } else { "s" };
        texts.push(format!("{} comparison{plural} of intermediate values", nameless.len()));
    }
    texts
}

/// What a proof by abstraction is.
fn words(predicates: &[String], facts: &[String]) -> String {
    let kept = match predicates {
        [] => "Only the places of threads are kept, and no values.".into(),
        list => format!("Only the truth of these comparisons is kept, for each thread: {}.", list.join("; ")),
    };
    let known = match facts {
        [] => String::new(),
        list => format!(" These were shown to hold at places of the program before: {}.", list.join("; ")),
    };
    format!(
        "{kept}{known} What is left is a Boolean program that can do all that the program can, and more; a proof for any number of threads shows that it does not fail."
    )
}

/// Abstraction beside short hunts and another engine, or before them. The hunts come to their end
/// also if there is a proof, so that what is said beside it does not depend on who was faster.
pub(super) struct WithAbstraction<'a> {
    pub(super) hunt: Option<Hunt>,
    pub(super) then: Box<dyn Algorithm + 'a>,
    pub(super) attempt: Arc<Attempt>,
    pub(super) model: Arc<Concrete>,
}

impl WithAbstraction<'_> {
    fn hunt(&self, problem: &Problem, limits: &Limits) -> Option<Answer> {
        let met = self.hunt.as_ref().and_then(|hunt| hunt.run(problem, limits));
        self.attempt.note(|found| found.remarks = self.model.remarks());
        met
    }

    /// Where any number of threads begins there is no hunt of its own: `explicit` looks for a violation
    /// for a moment, with the fewest threads.
    fn look(&self, problem: &Problem, limits: &Limits) -> Option<Answer> {
        if self.hunt.is_some() {
            return None;
        }
        let explicit = Engine::Explicit.build(&Settings::default());
        let part = limits.part().work(LOOK);
        let part = limits.time_left().map_or(part.clone(), |left| part.timeout(left / 4));
        let mut answer = explicit.run(problem, &part, &Silent);
        answer.by = vec![Some(explicit.name()); problem.targets.len()];
        let met = answer.verdicts.iter().any(|v| matches!(v, Verdict::Unsafe(_)));
        let decided = answer.verdicts.iter().all(|v| !matches!(v, Verdict::Unknown(_)));
        self.attempt.note(|found| found.remarks = self.model.remarks());
        (met && decided).then_some(answer)
    }

    fn proved(&self, problem: &Problem) -> Answer {
        let mut proof = SourceProof {
            kind: "predicate abstraction",
            size: 0,
            member: "predicate",
            words: String::new(),
            obligations: [
                "no step of the program does what a fact about its path excludes",
                "the Boolean program allows everything that the facts do not exclude",
                "no run of the Boolean program fails, for any number of threads",
            ],
        };
        let (mut checked, mut checking) = (None, Duration::ZERO);
        self.attempt.note(|found| {
            (checked, checking) = (found.checked, found.checking);
            if let Some(document) = &found.document {
                let (kept, facts) = (&document.predicates, &document.facts.predicates);
                proof.size = kept.len() + facts.len();
                proof.words = words(&texts(kept), &texts(facts));
            }
        });
        let safe = Verdict::Safe(Certificate::OfSource(Arc::new(proof)));
        let mut answer = Answer::new(vec![safe; problem.targets.len()], Statistics::default());
        answer.by = vec![Some(NAME); problem.targets.len()];
        (answer.checked, answer.checking) = (checked, checking);
        answer
    }
}

impl Algorithm for WithAbstraction<'_> {
    fn name(&self) -> &'static str {
        self.then.name()
    }

    fn run(&self, problem: &Problem, limits: &Limits, watch: &dyn Watch) -> Answer {
        let (mine, theirs) = (limits.part(), limits.part());
        let mut answer = if self.attempt.first {
            let prove = || {
                let share = limits.time_left().map_or(ALONE, |left| left / 2);
                self.attempt.run(&mine.timeout(share), watch)
            };
            match self.hunt(problem, limits).or_else(|| self.look(problem, limits)) {
                Some(answer) => answer,
                None if prove() => self.proved(problem),
                None => self.then.run(problem, &theirs, watch),
            }
        } else {
            let (stop_mine, stop_theirs) = (mine.stopper(), theirs.stopper());
            std::thread::scope(|scope| {
                let prover = scope.spawn(|| {
                    let proved = self.attempt.run(&mine, watch);
                    if proved {
                        stop_theirs.stop();
                    }
                    proved
                });
                let answer = self.hunt(problem, limits).or_else(|| self.look(problem, limits));
                let answer = answer.unwrap_or_else(|| self.then.run(problem, &theirs, watch));
                if answer.verdicts.iter().all(|v| !matches!(v, Verdict::Unknown(_))) {
                    stop_mine.stop();
                }
                let proved = prover.join().unwrap_or(false);
                let contradicts = answer.verdicts.iter().any(|v| matches!(v, Verdict::Unsafe(_)));
                match proved && !contradicts {
                    true => self.proved(problem),
                    false => answer,
                }
            })
        };
        self.attempt.note(|found| answer.flaw = answer.flaw.take().or(found.flaw.take()));
        answer
    }
}

/// Returns the abstract program at the end of the loop; `round` hears of each round.
pub(super) fn program(
    loaded: &Loaded,
    limits: &Limits,
    round: &mut dyn FnMut(&str),
) -> Result<String, Error> {
    let offered = offered(loaded)?;
    let mut last = String::new();
    let mut watch = |r: &Round| {
        round(&line(r));
        last = r.program.text();
    };
    let done = attempt(&loaded.query.program, &offered, limits, &mut watch);
    match (done, last.is_empty()) {
        (Err(why), true) => Err(Error::Impossible(why)),
        (Ok(_), true) => Err(Error::Unsuitable("no abstraction was finished".into())),
        (Err(why), false) => {
            round(&format!("note: {why}"));
            Ok(last)
        }
        (Ok(_), false) => Ok(last),
    }
}
