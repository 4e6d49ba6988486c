//! Several questions in one call. Each is searched on its own, because a violation of one ends a
//! run, and what lies behind it is not seen; then the answers are put side by side.

use std::sync::Arc;

use super::abstraction::Attempt;
use super::check::{Search, decide, searching};
use super::{Posed, deadlock};
use crate::error::Error;
use crate::job::Job;
use crate::outcome::{Outcome, Status};
use throng_check::Checked;
use throng_engine::Answer;
use throng_engine::gave_up::GaveUp;
use throng_goto::Question;
use throng_goto::model::Remarks;
use throng_goto::program::Violation;
use throng_model::assumption::Assumption;
use throng_model::limits::Limits;
use throng_model::problem::{Initial, Problem};
use throng_model::property::Property;
use throng_model::verdict::{Certificate, SourceProof, Taken, Trace, Unknown, Verdict};
use throng_model::waiting::Waits;
use throng_model::{
    Accessed, Bag, Config, Describe, Edge, Incomplete, Local, Model, Place, SetStates, Shared, Step, Traits,
    Transfers,
};

/// A question, alone, and its answer.
pub(super) struct Part {
    pub(super) posed: Posed,
    pub(super) outcome: Outcome,
    pub(super) abstraction: Arc<Attempt>,
    /// Whether the run is an execution of C11 that need not be one of sequential consistency, of
    /// another model than that of the program.
    pub(super) executions: bool,
    /// The proof that the program is robust and has no data race, if that is one as a file.
    pub(super) orders: Option<Arc<super::orders::Proof>>,
}

impl Part {
    /// Returns what to say beside the answer.
    pub(super) fn remarks(&self) -> Remarks {
        self.abstraction.remarks(&self.outcome).unwrap_or_else(|| self.posed.model.remarks())
    }
}

/// Returns each question of a program alone: those that are answered at once with others of the
/// kind, where none is violated, and the others.
pub(super) fn questions(posed: &Posed) -> (Vec<Question>, Vec<Question>) {
    let mut questions = posed.loaded.query.question.singles();
    if !posed.program().asked.contains(&Violation::Assertion) {
        questions.retain(|q| !q.violations().contains(&Violation::Assertion));
    }
    questions.into_iter().partition(is_plain)
}

/// Answers each thing that is asked.
pub(super) fn answer(
    job: &Job<'_>,
    search: Search<'_>,
    posed: Posed,
    limits: &Limits,
) -> Result<Vec<Part>, Error> {
    let (plain, others) = questions(&posed);
    if plain.len() + others.len() < 2 {
        return Ok(vec![part(job, search, posed, limits)?]);
    }
    let mut parts = Vec::new();
    let mut left = (plain.len() + others.len()) as u32 + 1;
    let mut share = |limits: &Limits| {
        let part = limits.time_left().map_or(limits.part(), |time| limits.part().timeout(time / left));
        left -= 1;
        part
    };
    let mut alone = plain.clone();
    if plain.len() > 1 {
        // Where none is violated, none hides another.
        let asked = posed.asking(&together(&posed.loaded.query.question))?;
        let mut found = part(job, search, asked, &share(limits))?;
        if found.outcome.is_safe() {
            alone.clear();
            parts.push(found);
        } else {
            keep_runs(&mut found.outcome);
            let targets = &found.outcome.problem.targets;
            let violated: Vec<&Property> = targets.iter().filter_map(|t| t.property.as_deref()).collect();
            let is_answered = |q: &Question, v| q.property(v).is_some_and(|p| violated.contains(&&p));
            alone.retain(|q| !q.violations().iter().any(|&v| is_answered(q, v)));
            if !targets.is_empty() {
                parts.push(found);
            }
        }
    }
    for question in alone.iter().chain(&others) {
        let asked = posed.asking(question)?;
        let found = match job.settings.stop_at_first && parts.iter().any(|p| p.outcome.is_unsafe()) {
            false => part(job, search, asked, &share(limits))?,
            true => left_open(job, asked, limits)?,
        };
        parts.push(found);
    }
    Ok(parts)
}

/// Leaves a question behind the first violation open, where no more than that is wanted.
fn left_open(job: &Job<'_>, mut posed: Posed, limits: &Limits) -> Result<Part, Error> {
    let abstraction = Arc::new(Attempt::new(job, &posed)?);
    if posed.loaded.query.question.deadlock {
        deadlock::ask(&mut posed.problem);
    }
    deadlock::ask_stuck(&mut posed);
    let stopped = GaveUp(Unknown::Inconclusive("the search stopped at the first violation".into()));
    let outcome = searching(job, &posed, posed.problem.clone()).check_by(&stopped, limits)?;
    Ok(Part { posed, outcome, abstraction, executions: false, orders: None })
}

/// Returns whether a question is answered at once with others of the kind, where none is violated.
fn is_plain(question: &Question) -> bool {
    let plain = |v: &Violation| matches!(v, Violation::Assertion | Violation::Exclusion(_));
    !question.asks_who_waits() && question.violations().iter().all(plain)
}

/// Returns all plain questions at once.
pub(super) fn together(question: &Question) -> Question {
    let mut plain = question.clone();
    plain.assertions = question.violations().contains(&Violation::Assertion);
    (plain.race, plain.overflow, plain.locks) = (false, false, false);
    (plain.memory_safety, plain.deadlock, plain.only) = (false, false, true);
    plain.stuck.clear();
    plain.starvation.clear();
    plain
}

/// Answers one question.
fn part(job: &Job<'_>, search: Search<'_>, mut posed: Posed, limits: &Limits) -> Result<Part, Error> {
    let (mut outcome, abstraction) = decide(job, search, &mut posed, limits)?;
    abstraction.report(&posed, &mut outcome);
    Ok(Part { posed, outcome, abstraction, executions: false, orders: None })
}

/// Leaves only the runs into violations.
fn keep_runs(outcome: &mut Outcome) {
    let runs: Vec<bool> = outcome.answer.verdicts.iter().map(|v| matches!(v, Verdict::Unsafe(_))).collect();
    let mut kept = runs.iter();
    outcome.problem.targets.retain(|_| *kept.next().unwrap_or(&false));
    let Answer { verdicts, by, fewest, .. } = &mut outcome.answer;
    for n in (0..runs.len()).rev().filter(|&n| !runs[n]) {
        verdicts.remove(n);
        by.remove(n);
        fewest.remove(n);
    }
}

/// The answers side by side, as one outcome: its model is the disjoint sum of the models of the
/// parts.
pub(super) fn merge(parts: &[Part]) -> Outcome {
    let mut merged = parts[0].outcome.clone();
    if parts.len() == 1 {
        return merged;
    }
    let sum = Arc::new(Sum(parts.iter().map(|p| p.outcome.problem.model.clone()).collect()));
    let first = &parts[0].outcome.problem;
    let mut problem =
        Problem { targets: Vec::new(), initial: Vec::new(), model: sum.clone(), ..first.clone() };
    let mut answer = Answer::new(Vec::new(), Default::default());
    for (n, Part { outcome, .. }) in parts.iter().enumerate() {
        let lift = |c: &Config| sum.config(n, c);
        for family in &outcome.problem.initial {
            let Initial { shared, threads, any } = family;
            let any = any.iter().map(|&l| sum.local(n, l)).collect();
            problem.initial.push(Initial {
                shared: sum.shared(n, *shared),
                threads: sum.bag(n, threads),
                any,
            });
        }
        for target in &outcome.problem.targets {
            let configs = target.configs.iter().map(lift).collect();
            problem.targets.push(target.with_configs(configs));
        }
        let found = &outcome.answer;
        answer.verdicts.extend(found.verdicts.iter().map(|v| sum.verdict(n, v)));
        answer.fewest.extend(&found.fewest);
        let by = found.by.iter().map(|by| by.or(Some(outcome.engine)));
        answer.by.extend(by);
        answer.checking += found.checking;
        answer.statistics.configurations += found.statistics.configurations;
        answer.statistics.steps += found.statistics.steps;
        merged.most_threads = merged.most_threads.max(outcome.most_threads);
        if n > 0 {
            merged.phases.searching += outcome.phases.searching;
            merged.phases.checking += outcome.phases.checking;
            merged.remarks.extend(outcome.remarks.iter().cloned());
        }
    }
    let open = |p: &Part| matches!(p.outcome.status(), Status::Unknown);
    merged.possible = parts.iter().flat_map(|p| p.outcome.possible.iter().cloned()).collect();
    merged.look = parts.iter().filter(|p| open(p)).flat_map(|p| p.outcome.look.iter().cloned()).collect();
    merged.look.dedup();
    merged.findings = parts.iter().find_map(|p| p.outcome.findings.clone());
    merged.assumptions = assumed(parts);
    merged.memory_model = parts.iter().find_map(|p| p.outcome.memory_model);
    let words = parts.iter().filter(|p| p.outcome.is_unsafe()).chain(parts);
    merged.memory_words = words.into_iter().find_map(|p| p.outcome.memory_words.clone());
    answer.checked = Checked::all(parts.iter().map(|p| p.outcome.answer.checked));
    (merged.answer, merged.problem) = (answer, problem);
    merged
}

/// Returns what all answers take for granted, without what one of them has shown.
fn assumed(parts: &[Part]) -> Vec<Assumption> {
    let shows_memory = |p: &Part| p.posed.loaded.query.question.memory_safety && p.outcome.is_safe();
    let memory_safe = parts.iter().any(shows_memory);
    let mut all: Vec<Assumption> = Vec::new();
    for assumption in parts.iter().flat_map(|p| &p.outcome.assumptions) {
        if !(all.contains(assumption) || memory_safe && *assumption == Assumption::MemorySafe) {
            all.push(assumption.clone());
        }
    }
    let made = all.clone();
    all.retain(|a| !made.iter().any(|b| b.explains(a)));
    all
}

/// The disjoint sum of models: a state of model `n` of `k` is `k` times its number plus `n`.
struct Sum(Vec<Arc<dyn Model>>);

impl Sum {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn shared(&self, n: usize, s: Shared) -> Shared {
        Shared(s.0 * self.len() + n as u64)
    }

    fn local(&self, n: usize, l: Local) -> Local {
        Local(l.0 * self.len() + n as u64)
    }

    fn bag(&self, n: usize, bag: &Bag) -> Bag {
        bag.entries().iter().flat_map(|e| (0..e.1).map(|_| self.local(n, e.0))).collect()
    }

    fn config(&self, n: usize, c: &Config) -> Config {
        Config::new(self.shared(n, c.shared), self.bag(n, &c.threads))
    }

    fn step(&self, n: usize, step: &Step) -> Step {
        Step {
            from: self.shared(n, step.from),
            to: self.shared(n, step.to),
            take: self.bag(n, &step.take),
            put: self.bag(n, &step.put),
            spawn: self.bag(n, &step.spawn),
            edge: Edge(step.edge.0 * self.0.len() as u32 + n as u32),
            ..step.clone()
        }
    }

    fn verdict(&self, n: usize, verdict: &Verdict) -> Verdict {
        match verdict {
            Verdict::Unsafe(trace) => {
                let taken =
                    |t: &Taken| Taken { step: self.step(n, &t.step), after: self.config(n, &t.after) };
                let start = self.config(n, &trace.start);
                Verdict::Unsafe(Trace { start, steps: trace.steps.iter().map(taken).collect() })
            }
            Verdict::Safe(proof @ Certificate::OfSource(_)) => Verdict::Safe(proof.clone()),
            Verdict::Safe(proof) => Verdict::Safe(summary(proof)),
            Verdict::Unknown(why) => Verdict::Unknown(why.clone()),
        }
    }

    /// The model of a state, and its number there.
    fn part(&self, number: u64) -> (&dyn Model, u64) {
        (&*self.0[(number % self.len()) as usize], number / self.len())
    }
}

/// Describes evidence about one of the models, which was checked there unless `--no-check` was
/// given.
fn summary(proof: &Certificate) -> Certificate {
    let (kind, size) = proof.measure();
    Certificate::OfSource(Arc::new(SourceProof {
        kind,
        size,
        member: "member",
        words: "The evidence is about this question alone, and stays with its search.".into(),
        obligations: ["the start is covered", "what the steps lead to is covered", "no violation is covered"],
    }))
}

impl Model for Sum {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let n = (s.0 % self.len()) as usize;
        if l.0 % self.len() != n as u64 {
            return Ok(());
        }
        let mut steps = Vec::new();
        let listed = self.0[n].post(Shared(s.0 / self.len()), Local(l.0 / self.len()), &mut steps);
        out.extend(steps.iter().map(|step| self.step(n, step)));
        listed
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        Ok(())
    }

    fn traits(&self) -> Traits {
        Traits { blocking: None, spawns: self.0.iter().any(|m| m.traits().spawns) }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        None
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }

    fn has_ended(&self, l: Local) -> bool {
        let (model, l) = self.part(l.0);
        model.has_ended(Local(l))
    }

    fn waits(&self) -> Option<&dyn Waits> {
        Some(self)
    }
}

impl Waits for Sum {
    fn loop_of(&self, l: Local) -> Option<u32> {
        let (model, l) = self.part(l.0);
        model.waits()?.loop_of(Local(l))
    }

    fn possible_loop_of(&self, l: Local) -> Option<u32> {
        let (model, l) = self.part(l.0);
        model.waits()?.possible_loop_of(Local(l))
    }

    fn is_inside(&self, place: Local, l: Local) -> bool {
        let ((model, place), (_, l)) = (self.part(place.0), self.part(l.0));
        model.waits().is_some_and(|waits| waits.is_inside(Local(place), Local(l)))
    }

    fn is_waiting(&self, s: Shared, l: Local) -> Result<bool, Incomplete> {
        let ((model, s), (_, l)) = (self.part(s.0), self.part(l.0));
        model.waits().map_or(Ok(true), |waits| waits.is_waiting(Shared(s), Local(l)))
    }

    fn is_alone(&self, s: Shared) -> bool {
        let (model, s) = self.part(s.0);
        model.waits().is_some_and(|waits| waits.is_alone(Shared(s)))
    }

    fn is_asked(&self, l: Local) -> Option<bool> {
        let (model, l) = self.part(l.0);
        model.waits()?.is_asked(Local(l))
    }
}

impl Describe for Sum {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        let (model, s) = self.part(s.0);
        model.shared_values(Shared(s))
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        let (model, l) = self.part(l.0);
        model.local_values(Local(l))
    }

    fn place(&self, l: Local) -> Option<Place> {
        let (model, l) = self.part(l.0);
        model.place(Local(l))
    }

    fn edge_place(&self, edge: Edge) -> Place {
        let (model, edge) = self.part(edge.0.into());
        model.edge_place(Edge(edge as u32))
    }

    fn accesses(&self, step: &Step) -> Vec<Accessed> {
        let n = (step.from.0 % self.len()) as usize;
        let down = |bag: &Bag| bag.entries().iter().map(|e| Local(e.0.0 / self.len())).collect();
        let step = Step {
            from: Shared(step.from.0 / self.len()),
            to: Shared(step.to.0 / self.len()),
            take: down(&step.take),
            put: down(&step.put),
            spawn: down(&step.spawn),
            edge: Edge(step.edge.0 / self.0.len() as u32),
            ..step.clone()
        };
        self.0[n].accesses(&step)
    }
}
