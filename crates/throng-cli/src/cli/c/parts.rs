//! Several questions in one call. Each is searched on its own, because a violation of one ends a
//! run, and what lies behind it is not seen; then the answers are put side by side.

use std::path::Path;
use std::sync::Arc;

use super::abstraction::Attempt;
use super::{CheckArgs, Console, Failure, Outcome, Read, deadlock, decide, locksets};
use throng_check::Checked;
use throng_engine::Answer;
use throng_goto::model::Remarks;
use throng_goto::program::Violation;
use throng_goto::{Concrete, Question};
use throng_model::limits::Limits;
use throng_model::problem::{Initial, Problem};
use throng_model::property::Property;
use throng_model::verdict::{Certificate, SourceProof, Taken, Trace, Verdict};
use throng_model::{
    Accessed, Bag, Config, Describe, Edge, Incomplete, Local, Model, Place, SetStates, Shared, Step, Traits,
    Transfers,
};

/// A question, alone, and its answer.
pub(super) struct Part {
    pub(super) read: Read,
    pub(super) outcome: Outcome,
    abstraction: Arc<Attempt>,
}

impl Part {
    /// What to say beside the answer.
    pub(super) fn remarks(&self) -> Remarks {
        self.abstraction.remarks(&self.outcome).unwrap_or_else(|| self.read.model.remarks())
    }
}

/// Answers each thing that is asked.
pub(super) fn answer(
    args: &CheckArgs,
    read: Read,
    console: &Console,
    limits: &Limits,
) -> Result<Vec<Part>, Failure> {
    let mut questions = read.loaded.query.question.singles();
    if !read.loaded.query.program.asked.contains(&Violation::Assertion) {
        questions.retain(|q| !q.violations().contains(&Violation::Assertion));
    }
    if questions.len() < 2 {
        return Ok(vec![part(args, read, console, limits)?]);
    }
    let mut parts = Vec::new();
    let (plain, others): (Vec<Question>, Vec<Question>) = questions.into_iter().partition(is_plain);
    let mut left = (plain.len() + others.len()) as u32 + 1;
    let mut share = |limits: &Limits| {
        let part = limits.time_left().map_or(limits.part(), |time| limits.part().timeout(time / left));
        left -= 1;
        part
    };
    let mut alone = plain.clone();
    if plain.len() > 1 {
        // Where none is violated, none hides another.
        let asked = asking(&read, &together(&read.loaded.query.question))?;
        let mut found = part(args, asked, console, &share(limits))?;
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
        let asked = asking(&read, question)?;
        parts.push(part(args, asked, console, &share(limits))?);
    }
    Ok(parts)
}

/// Returns whether a question is answered at once with others of the kind, where none is violated.
fn is_plain(question: &Question) -> bool {
    let plain = |v: &Violation| matches!(v, Violation::Assertion | Violation::Exclusion(_));
    !question.deadlock && question.violations().iter().all(plain)
}

/// All plain questions at once.
fn together(question: &Question) -> Question {
    let mut plain = question.clone();
    plain.assertions = question.violations().contains(&Violation::Assertion);
    (plain.race, plain.overflow, plain.locks) = (false, false, false);
    (plain.memory_safety, plain.deadlock, plain.only) = (false, false, true);
    plain
}

fn asking(read: &Read, question: &Question) -> Result<Read, Failure> {
    let loaded = read.loaded.asking(question)?;
    let model = loaded.query.model();
    let mut problem = loaded.query.problem_of(model.clone());
    problem.bound = read.problem.bound;
    Ok(Read { loaded, model, problem })
}

/// Answers one question.
fn part(args: &CheckArgs, mut read: Read, console: &Console, limits: &Limits) -> Result<Part, Failure> {
    let (mut outcome, abstraction) = decide(args, &mut read, console, limits)?;
    abstraction.report(&mut outcome, console);
    Ok(Part { read, outcome, abstraction })
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

/// Writes the certificate of a proof.
pub(super) fn write_certificate(path: &Path, parts: &[Part], console: &Console) -> Result<(), Failure> {
    let [part] = parts else {
        console.note("note: no certificate was written: several questions were asked; ask one at a time");
        return Ok(());
    };
    match deadlock::ordered(&part.read.loaded).filter(|_| part.outcome.is_safe()) {
        Some((order, _)) => deadlock::write(path, &part.read.loaded, &order),
        None => part.abstraction.write(path, &part.outcome, console),
    }
}

/// The answers side by side, as one outcome: its model is the disjoint sum of the models of the
/// parts.
pub(super) fn merge(parts: &[Part]) -> Outcome {
    let mut merged = parts[0].outcome.clone();
    if parts.len() == 1 {
        return merged;
    }
    let sum = Arc::new(Sum(parts.iter().map(|p| p.read.model.clone()).collect()));
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
    }
    merged.assumptions = assumed(parts);
    merged.memory_model = parts.iter().find_map(|p| p.outcome.memory_model);
    answer.checked = Checked::all(parts.iter().map(|p| p.outcome.answer.checked));
    (merged.answer, merged.problem) = (answer, problem);
    merged
}

/// What all answers take for granted, without what one of them has shown.
fn assumed(parts: &[Part]) -> Vec<String> {
    let shows_memory = |p: &Part| p.read.loaded.query.question.memory_safety && p.outcome.is_safe();
    let memory_safe = parts.iter().any(shows_memory);
    let mut all: Vec<String> = Vec::new();
    for assumption in parts.iter().flat_map(|p| &p.outcome.assumptions) {
        if !(all.contains(assumption) || memory_safe && assumption == locksets::ASSUMED) {
            all.push(assumption.clone());
        }
    }
    // The longer of two sentences says why.
    let stated = all.clone();
    let follows = |a: &String| stated.iter().any(|b| b.len() > a.len() && b.starts_with(&format!("{a}, ")));
    all.retain(|a| !follows(a));
    all
}

/// The disjoint sum of models: a state of model `n` of `k` is `k` times its number plus `n`.
struct Sum(Vec<Arc<Concrete>>);

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
    fn part(&self, number: u64) -> (&Concrete, u64) {
        (&self.0[(number % self.len()) as usize], number / self.len())
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
        Describe::place(model, Local(l))
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
