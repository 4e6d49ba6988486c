//! Puts the question of a certificate together again and lets the rules decide.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use super::interpreter::Interpreter;
use super::{CertifiedCutoff, Fault};
use crate::certificate::names::{Found, LocalName, ProgramNames, SharedName};
use crate::certificate::{
    Answered, Block, Claim, Configuration, Count, Document, Evidence, Family, Most, Property, Start, Taken,
    Weights,
};
use crate::check::cutoff::{CutoffProof, check_cutoff};
use crate::check::{self, Flaw};
use crate::lang::load::{Input, Loaded};
use crate::limits::Limits;
use crate::model::table::{Names, Table};
use crate::model::{Bag, Config, Local, Model, OMEGA, Shared, semantics};
use crate::problem::{Bound, Initial, Problem, Target};
use crate::verdict::{
    self, Certificate, Product, Products, Relative, RunNode, Trace, Vector, Verdict, Views,
};

/// Where states are sets, threads are compared one by one: so many in one configuration are refused.
const MOST_THREADS: u32 = 4096;

/// So many views are refused: a short file must not stand for a long check.
const MOST_VIEWS: usize = 1 << 26;

/// A certificate and what it is about.
pub(super) struct Court<'a> {
    document: &'a Document,
    problem: Problem,
    /// The states of the certificate; one that the input does not have is missing.
    shared: Found<Shared>,
    locals: Found<Local>,
    program: Option<Arc<Interpreter>>,
    /// Leave out elements with states that the input does not have; what is left must stand all the same.
    lenient: bool,
}

fn invalid<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Invalid(why.into()))
}

impl<'a> Court<'a> {
    pub(super) fn new(loaded: &Loaded, document: &'a Document) -> Result<Court<'a>, Fault> {
        let kind = loaded.format.to_string();
        if document.input.kind != kind {
            let theirs = &document.input.kind;
            return invalid(format!("the certificate is about a `{theirs}` input, and this is `{kind}`"));
        }
        let (shared, locals) = (&document.states.shared, &document.states.local);
        let program = match &loaded.input {
            Input::System(_) => None,
            Input::Program(_) => {
                let keep_ended = !document.problem.slot_reuse;
                let why = "the program cannot be read a second time";
                let found = Interpreter::new(&loaded.source.text, keep_ended, document.cutoff.is_some());
                Some(Arc::new(found.ok_or_else(|| Fault::Unreadable(why.into()))?))
            }
        };
        let (model, shared, locals): (Arc<dyn Model>, _, _) = match (&loaded.input, &program) {
            (Input::System(system), _) => {
                let (s, l) = system_states(&system.table, shared, locals);
                (system.table.clone(), s, l)
            }
            (_, Some(program)) => {
                let s = shared.iter().map(|n| program.shared_named(n)).collect();
                (program.clone(), s, locals.iter().map(|n| program.local_named(n)).collect())
            }
            (Input::Program(_), None) => return invalid("there is no program"),
        };
        let bound = match document.problem.bound {
            Most::Any => Bound::Any,
            Most::Threads(0) => return invalid("a bound of no threads at all"),
            Most::Threads(n) => Bound::Threads(n),
            Most::Tokens(n) => Bound::Tokens(n),
        };
        if matches!(bound, Bound::Threads(_)) && loaded.format.is_net()
            || matches!(bound, Bound::Tokens(_)) && !loaded.format.is_net()
        {
            return invalid("threads are bounded in programs and systems, initial tokens in nets");
        }
        let problem =
            Problem { model, initial: Vec::new(), initial_text: String::new(), targets: Vec::new(), bound };
        let mut court = Court { document, problem, shared, locals, program, lenient: false };
        court.problem.initial = court.initial()?;
        court.problem.targets = document.targets.iter().map(|t| court.target(t)).collect::<Result<_, _>>()?;
        Ok(court)
    }

    fn initial(&self) -> Result<Vec<Initial>, Fault> {
        match (&self.document.problem.initial, &self.program) {
            (Start::Main(Count::Exactly(0)), _) => invalid("a program that starts with no threads"),
            (Start::Main(Count::Exactly(OMEGA)), _) => invalid("a program that starts with too many threads"),
            (Start::Main(Count::Exactly(n)), Some(program)) => Ok(vec![program.initial(Some(*n))]),
            (Start::Main(Count::Any(_)), Some(program)) => Ok(vec![program.initial(None)]),
            (Start::Families(families), None) => families.iter().map(|f| self.family(f)).collect(),
            _ => invalid("programs start at `main`, systems in families of configurations"),
        }
    }

    fn family(&self, family: &Family) -> Result<Initial, Fault> {
        let threads = family.threads.iter().map(|&(l, n)| (l, Count::Exactly(n))).collect();
        let Config { shared, threads } = self.config(&(family.shared, threads), false)?;
        Ok(Initial {
            shared,
            threads,
            any: family.any.iter().map(|&l| self.local(l)).collect::<Result<_, _>>()?,
        })
    }

    fn target(&self, answered: &Answered) -> Result<Target, Fault> {
        let (property, name) = (&answered.property, answered.name.clone());
        let configs = match (property, &self.program) {
            (Property::Covers(configs), None) => self.configs(configs, false),
            (_, Some(program)) => program.bad(property).map_err(Fault::Invalid),
            (_, None) => invalid("labels, assertions and invariants belong to programs"),
        }?;
        Ok(Target { name, configs })
    }

    /// Checks every answer.
    pub(super) fn judge(&self, limits: &Limits) -> Result<Vec<(String, Claim, &'static str, usize)>, Fault> {
        let mut decoded: HashMap<u32, (Verdict, usize)> = HashMap::new();
        for answered in &self.document.targets {
            let Some(evidence) = self.document.evidence.get(answered.evidence as usize) else {
                return invalid(format!("the evidence for `{}` is not there", answered.name));
            };
            let is_run = matches!(evidence, Evidence::Trace { .. });
            if is_run != (answered.verdict == Claim::Unsafe) {
                let (name, kind) = (&answered.name, evidence.kind());
                return invalid(format!("{kind} is no evidence for this verdict about `{name}`"));
            }
            if let Entry::Vacant(vacant) = decoded.entry(answered.evidence) {
                vacant.insert(self.verdict(evidence).map_err(|fault| match fault {
                    Fault::Invalid(why) => Fault::Invalid(format!("target `{}`: {why}", answered.name)),
                    fault => fault,
                })?);
            }
        }
        let of = |a: &Answered| &decoded[&a.evidence];
        let verdicts: Vec<(usize, &Verdict)> =
            self.document.targets.iter().enumerate().map(|(i, a)| (i, &of(a).0)).collect();
        check::check_all(&self.problem, &verdicts, limits).map_err(|(target, flaw)| fault(&target, flaw))?;
        let told = |a: &Answered| {
            let kind = self.document.evidence[a.evidence as usize].kind();
            (a.name.clone(), a.verdict, kind, of(a).1)
        };
        Ok(self.document.targets.iter().map(told).collect())
    }

    /// Checks what is said about a cutoff.
    pub(super) fn cutoff(&self, limits: &Limits) -> Result<Option<CertifiedCutoff>, Fault> {
        let Some(claim) = &self.document.cutoff else { return Ok(None) };
        if self.problem.bound != Bound::Any {
            return invalid("a cutoff is about any number of threads");
        }
        let set = |place: u32| match self.document.evidence.get(place as usize).map(|e| self.verdict(e)) {
            Some(Ok((Verdict::Safe(certificate), _))) => Ok(certificate),
            Some(Err(fault)) => Err(fault),
            _ => invalid("evidence about the cutoff is not there"),
        };
        let node = |n: &(Option<u32>, Option<u32>, Configuration)| {
            let by = n.1.map(|l| self.local(l)).transpose()?;
            Ok(RunNode { parent: n.0.map(|p| p as usize), by, config: self.config(&n.2, false)? })
        };
        let proof = CutoffProof {
            threads: claim.threads,
            runs: claim.runs.iter().map(node).collect::<Result<_, Fault>>()?,
            reachable: claim
                .reachable
                .iter()
                .map(|r| Ok((self.shared(r.0)?, self.local(r.1)?, r.2 as usize)))
                .collect::<Result<_, Fault>>()?,
            rest: set(claim.rest)?,
            except: claim
                .except
                .iter()
                .map(|e| Ok((self.shared(e.0)?, self.local(e.1)?, set(e.2)?)))
                .collect::<Result<_, Fault>>()?,
            needed: match &claim.needed {
                None => None,
                Some(needed) => {
                    let state = (self.shared(needed.state.0)?, self.local(needed.state.1)?);
                    Some((state, self.configs(&needed.configurations, false)?))
                }
            },
        };
        let problem = Problem { targets: Vec::new(), ..self.problem.clone() };
        check_cutoff(&problem, &proof, limits).map_err(|flaw| fault("cutoff", flaw))?;
        Ok(Some(CertifiedCutoff {
            threads: claim.threads,
            states: claim.reachable.len(),
            smallest: claim.needed.is_some(),
        }))
    }

    /// A piece of evidence, and how many elements it has.
    fn verdict(&self, evidence: &Evidence) -> Result<(Verdict, usize), Fault> {
        let set = |configs: &[Configuration], omega| self.configs(configs, omega).map(Arc::new);
        let safe = |certificate, size| Ok((Verdict::Safe(certificate), size));
        match evidence {
            Evidence::Trace { start, steps } => {
                Ok((Verdict::Unsafe(self.trace(start, steps)?), steps.len() + 1))
            }
            Evidence::Closed { configurations } => {
                safe(Certificate::Closed(set(configurations, false)?), configurations.len())
            }
            Evidence::Downward { configurations } => {
                safe(Certificate::Downward(set(configurations, true)?), configurations.len())
            }
            Evidence::Upward { basis } => safe(Certificate::Upward(set(basis, false)?), basis.len()),
            Evidence::Views { blocks } => {
                let views = Views { k: 2, set: self.views(blocks)? };
                let size = views.set.len();
                safe(Certificate::Views(Arc::new(views)), size)
            }
            Evidence::Relative { k, blocks, vectors, basis } => {
                let views = Arc::new(Views { k: *k, set: self.views(blocks)? });
                let vectors = vectors.iter().map(|v| self.vector(v)).collect::<Result<Vec<_>, _>>()?;
                let basis = self.configs(basis, false)?;
                let size = views.set.len() + vectors.len() + basis.len();
                safe(Certificate::Relative(Arc::new(Relative { views, vectors, basis })), size)
            }
            Evidence::Through { skipped, proof } => {
                if matches!(**proof, Evidence::Through { .. } | Evidence::Trace { .. }) {
                    return invalid("states are passed through once, and for a proof".to_string());
                }
                let skipped = skipped.iter().map(|&s| self.shared(s)).collect::<Result<Vec<_>, _>>()?;
                let (Verdict::Safe(proof), size) = self.verdict(proof)? else {
                    return invalid("this is no proof".to_string());
                };
                safe(Certificate::Through(Arc::new(skipped), Box::new(proof)), size)
            }
            Evidence::Products { shared, local, members } => {
                let shared = each_row(shared, |i| self.shared(i))?;
                let locals = each_row(local, |i| self.local(i))?;
                let few = |threads: &[(u32, u32)]| {
                    threads
                        .iter()
                        .try_fold(0, |sum: u32, t| sum.checked_add(t.1))
                        .is_some_and(|n| n <= MOST_THREADS)
                };
                if !members.iter().all(|m| few(&m.1)) {
                    return invalid(format!("a product has more than {MOST_THREADS} threads"));
                }
                let product = |m: &(u32, Vec<(u32, u32)>)| Product { shared: m.0, threads: m.1.clone() };
                let products = Products {
                    shared,
                    locals,
                    members: members.iter().map(product).collect(),
                    reduced: false,
                };
                safe(Certificate::Products(Arc::new(products)), members.len())
            }
        }
    }

    fn vector(&self, weights: &Weights) -> Result<Vector, Fault> {
        Ok(Vector {
            shared: weights
                .shared
                .iter()
                .map(|&(s, n)| Ok((self.shared(s)?, n)))
                .collect::<Result<_, Fault>>()?,
            locals: weights
                .local
                .iter()
                .map(|&(l, n)| Ok((self.local(l)?, n)))
                .collect::<Result<_, Fault>>()?,
        })
    }

    fn views(&self, blocks: &[Block]) -> Result<Vec<Config>, Fault> {
        let pairs =
            blocks.iter().fold(0, |n: usize, b| n.saturating_add(b.1.len().saturating_mul(b.2.len())));
        if pairs > MOST_VIEWS {
            return invalid(format!("the blocks stand for more than {MOST_VIEWS} views"));
        }
        let mut views = Vec::new();
        for (s, left, right) in blocks {
            let s = self.shared(*s)?;
            let left = left.iter().map(|&l| self.local(l)).collect::<Result<Vec<Local>, _>>()?;
            let right = right.iter().map(|&l| self.local(l)).collect::<Result<Vec<Local>, _>>()?;
            let mut add = |threads: &[Local]| views.push(Config::new(s, threads.iter().copied().collect()));
            match (&left[..], &right[..]) {
                ([], []) => add(&[]),
                (alone, []) | ([], alone) => alone.iter().for_each(|&l| add(&[l])),
                (left, right) => left.iter().for_each(|&a| right.iter().for_each(|&b| add(&[a, b]))),
            }
        }
        Ok(views)
    }

    /// A run: which step each is, is not written, so any that fits will do. The rules replay it.
    fn trace(&self, start: &Configuration, steps: &[Taken]) -> Result<Trace, Fault> {
        let model = &*self.problem.model;
        let mut trace = Trace { start: self.config(start, false)?, steps: Vec::new() };
        for (i, taken) in steps.iter().enumerate() {
            let after = self.config(&taken.after, false)?;
            let now = trace.end();
            let mut candidates = Vec::new();
            match taken.by {
                None => model.post_shared(now.shared, &mut candidates),
                Some(by) => model.post(now.shared, self.local(by)?, &mut candidates),
            }
            let leads = |step: &crate::model::Step| {
                let mut found = Vec::new();
                semantics::fire(model, now, step, self.problem.bound.threads(), &mut found);
                found.iter().any(|c| after.is_within(c, model))
            };
            let Some(step) = candidates.into_iter().find(leads) else {
                let flaw = Flaw::LeadsElsewhere(i + 1, after.describe(model));
                return invalid(flaw.to_string());
            };
            trace.steps.push(verdict::Taken { step, after });
        }
        Ok(trace)
    }

    fn shared(&self, i: u32) -> Result<Shared, Fault> {
        named(&self.shared, i, "shared")
    }

    fn local(&self, i: u32) -> Result<Local, Fault> {
        named(&self.locals, i, "local")
    }

    fn configs(&self, configs: &[Configuration], omega: bool) -> Result<Vec<Config>, Fault> {
        let found = configs.iter().map(|c| self.config(c, omega));
        found.filter(|c| c.is_ok() || !self.lenient).collect()
    }

    fn config(&self, (shared, threads): &Configuration, omega: bool) -> Result<Config, Fault> {
        let mut bag = Bag::new();
        let mut total: u32 = 0;
        for &(l, n) in threads {
            let n = match n {
                Count::Exactly(0 | OMEGA) => return invalid("a count is 0 or too large"),
                Count::Exactly(n) => {
                    total = total.saturating_add(n);
                    n
                }
                Count::Any(_) if omega => OMEGA,
                Count::Any(_) => return invalid("`any` counts only in downward sets"),
            };
            bag.insert(self.local(l)?, n);
        }
        let narrow = !self.problem.model.is_exact() || self.problem.model.moves_others();
        if total == u32::MAX || narrow && total > MOST_THREADS {
            return invalid(format!("a configuration has {total} threads, too many to look at"));
        }
        Ok(Config::new(self.shared(*shared)?, bag))
    }
}

fn fault(target: &str, flaw: Flaw) -> Fault {
    match flaw {
        Flaw::Limit(why) => Fault::Limit(why),
        flaw => Fault::Invalid(format!("target `{target}`: {flaw}")),
    }
}

fn named<W: Copy>(states: &[Result<W, String>], i: u32, kind: &str) -> Result<W, Fault> {
    match states.get(i as usize) {
        Some(Ok(word)) => Ok(*word),
        Some(Err(why)) => invalid(format!("{kind} state number {i}: {why}")),
        None => invalid(format!("there is no {kind} state number {i} in the list of states")),
    }
}

fn each_row<W>(rows: &[Vec<u32>], find: impl Fn(u32) -> Result<W, Fault>) -> Result<Vec<Vec<W>>, Fault> {
    rows.iter().map(|row| row.iter().map(|&i| find(i)).collect()).collect()
}

/// The states of a system by name.
fn system_states(
    table: &Table,
    shared: &[SharedName],
    locals: &[LocalName],
) -> (Found<Shared>, Found<Local>) {
    let index = |names: &Names| -> HashMap<String, u64> {
        match names {
            Names::Numbers(_) => HashMap::new(),
            Names::List(list) => list.iter().cloned().zip(0..).collect(),
        }
    };
    let (by_shared, by_local) = (index(table.shared()), index(table.locals()));
    let find = |names: &Names, index: &HashMap<String, u64>, name: &str| -> Result<u64, String> {
        let found = match names {
            Names::List(_) => index.get(name).copied(),
            Names::Numbers(n) => name.parse().ok().filter(|i: &u64| i < n && *name == i.to_string()),
        };
        found.ok_or_else(|| format!("the input has no state `{name}`"))
    };
    let odd = || "a state of a program, but the input is a system".to_string();
    let shared = shared.iter().map(|n| match n {
        SharedName::Name(name) => find(table.shared(), &by_shared, name).map(Shared),
        SharedName::Values(_) => Err(odd()),
    });
    let locals = locals.iter().map(|n| match n {
        LocalName::Name(name) => find(table.locals(), &by_local, name).map(Local),
        LocalName::Values(_) => Err(odd()),
    });
    (shared.collect(), locals.collect())
}

/// The answers of a certificate in the words of another question's model, for those targets that ask for the same. Nothing is checked.
pub(super) fn translate(loaded: &Loaded, document: &Document, problem: &Problem) -> Vec<Option<Verdict>> {
    let (shared, locals) = (&document.states.shared, &document.states.local);
    let (shared, locals) = match &loaded.input {
        Input::System(system) => system_states(&system.table, shared, locals),
        Input::Program(jit) => ProgramNames::new(jit).words(shared, locals),
    };
    let court = Court {
        document,
        problem: Problem { targets: Vec::new(), ..problem.clone() },
        shared,
        locals,
        program: None,
        lenient: true,
    };
    let mut decoded: HashMap<u32, Option<Verdict>> = HashMap::new();
    let of = |target: &Target| {
        let same = |a: &&Answered| match &a.property {
            Property::Covers(configs) => court.configs(configs, false).is_ok_and(|c| c == target.configs),
            words => matches!(loaded.input, Input::Program(_)) && *words == Property::of_name(&target.name),
        };
        let answered = document.targets.iter().find(same)?;
        let verdict = decoded.entry(answered.evidence).or_insert_with(|| {
            let evidence = document.evidence.get(answered.evidence as usize)?;
            court.verdict(evidence).ok().map(|v| v.0)
        });
        verdict.clone()
    };
    problem.targets.iter().map(of).collect()
}
