//! Decodes a certificate: its names become states, its question a problem, and the rules decide.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::interpreter::Interpreter;
use super::wording::{property_json, property_text};
use super::{CertifiedAnswer, CertifiedCutoff, Fault};
use crate::certificate::names::{Found, LocalName, SharedName};
use crate::certificate::{
    self, Answered, Case, Claim, Condition, Configuration, Count, Document, Evidence, Family, LocalPart,
    Most, Property, Start, Taken, Weights,
};
use crate::rules::cutoff::{CutoffProof, check_cutoff};
use crate::rules::run::{leads, led_by};
use crate::rules::{self, Flaw};
use throng_lang::load::{Input, Loaded};
use throng_model::limits::Limits;
use throng_model::localisation::Localisation;
use throng_model::predicate::Predicate;
use throng_model::problem::{Asks, Bound, Formula, Initial, Problem, Target};
use throng_model::quotient::QuotientMap;
use throng_model::reduction::{Reduction, Reductions};
use throng_model::table::{Names, Table};
use throng_model::verdict::{
    self, Branch, Certificate, Contradiction, LocalProof, Rank, Refutation, Relative, RunNode, Trace, Tree,
    Vector, Verdict,
};
use throng_model::views::{Block, Views};
use throng_model::{Bag, Config, Incomplete, Local, Model, OMEGA, Shared, UNCOUNTABLE};

/// A certificate and its input.
pub(super) struct Decoder<'a> {
    pub(super) document: &'a Document,
    pub(super) problem: Problem,
    /// The states of the certificate; for one that the input does not have, the reason.
    pub(super) shared: Found<Shared>,
    pub(super) locals: Found<Local>,
    pub(super) program: Option<Arc<Interpreter>>,
    /// Omit elements with states that the input does not have; the rest must still be checked.
    pub(super) lenient: bool,
    /// Maximum number of threads of a configuration.
    pub(super) most: u32,
}

/// Maximum number of threads of a program, which are examined one by one.
const MANY: u32 = 1 << 20;

/// Returns the maximum number of threads of a configuration. Where states are sets, or bystanders
/// move, threads are examined one by one.
pub(super) fn most_threads(model: &dyn Model) -> u32 {
    if model.is_exact() && !model.moves_bystanders() { UNCOUNTABLE - 1 } else { 4096 }
}

fn invalid<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Invalid(why.into()))
}

impl<'a> Decoder<'a> {
    pub(super) fn new(loaded: &Loaded, document: &'a Document) -> Result<Decoder<'a>, Fault> {
        let kind = loaded.format.to_string();
        if document.input.kind != kind {
            let theirs = &document.input.kind;
            return invalid(format!("the certificate is about a `{theirs}` input, and this is `{kind}`"));
        }
        let (shared, locals) = (&document.states.shared, &document.states.local);
        let program = match &loaded.input {
            Input::System(_) => None,
            Input::Program(jit) => {
                let keep_ended = !document.problem.slot_reuse;
                let why = "the program cannot be read a second time";
                let states = document
                    .targets
                    .iter()
                    .any(|t| matches!(t.property, Property::State(_) | Property::Never(_)));
                let exact = document.cutoff.is_some() || states;
                let found = Interpreter::of_tree(jit.tree(), &loaded.source.text, keep_ended, exact);
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
        let most = most_threads(&*problem.model);
        let mut decoder = Decoder { document, problem, shared, locals, program, lenient: false, most };
        decoder.problem.initial = decoder.initial()?;
        decoder.problem.targets =
            document.targets.iter().map(|t| decoder.target(t)).collect::<Result<_, _>>()?;
        Ok(decoder)
    }

    fn initial(&self) -> Result<Vec<Initial>, Fault> {
        match (&self.document.problem.initial, &self.program) {
            (Start::Main(Count::Exactly(0)), _) => invalid("a program that starts with no threads"),
            (Start::Main(Count::Exactly(MANY..)), _) => {
                invalid("a program that starts with too many threads")
            }
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
        let property = &answered.property;
        if *property == Property::Deadlock {
            return Ok(Target::deadlock());
        }
        let name = property_text(self.document, property);
        if let (Property::Satisfies(condition), None) = (property, &self.program) {
            return self.satisfying(name, condition);
        }
        match (property, &self.program) {
            (Property::Covers(configs), None) => Ok(Target::covering(name, self.configs(configs, false)?)),
            (_, None) => invalid("labels, assertions and invariants belong to programs"),
            (_, Some(program)) => match property.read().map_err(|why| Fault::Invalid(why.message))? {
                Some(asked) => {
                    let configs = program.bad(&asked).map_err(Fault::Invalid)?;
                    Ok(Target { name, ..Target::of(asked, configs) })
                }
                None => invalid("a program's targets are given as text"),
            },
        }
    }

    fn satisfying(&self, name: String, condition: &Condition) -> Result<Target, Fault> {
        let [first, others @ ..] = &self.problem.initial[..] else { return invalid("there is no start") };
        let steps = self.problem.model.listed().unwrap_or_default();
        let mut states = steps.iter().flat_map(|step| [step.from, step.to]);
        let mut starts = others.iter().map(|family| family.shared);
        if starts.any(|s| s != first.shared) || states.any(|s| s != first.shared) {
            return invalid("conditions on numbers are about nets, with one shared state");
        }
        let formula = Formula { when: self.predicate(condition)?, asks: Asks::Target };
        Ok(Target::satisfying(name, vec![Config::new(first.shared, Bag::new())], formula))
    }

    pub(super) fn predicate(&self, condition: &Condition) -> Result<Predicate, Fault> {
        let each = |parts: &[Condition]| parts.iter().map(|p| self.predicate(p)).collect::<Result<_, _>>();
        Ok(match condition {
            Condition::AtLeast(terms, least) => {
                let found = Predicate::at_least(self.sum(terms)?, *least);
                match found {
                    Some(found @ Predicate::AtLeast(..)) => found,
                    _ => return invalid("a comparison is decided without a configuration, or too large"),
                }
            }
            Condition::Dead => Predicate::Dead,
            Condition::Live => Predicate::Live,
            Condition::All(parts) => Predicate::all(each(parts)?),
            Condition::Any(parts) => Predicate::any(each(parts)?),
        })
    }

    fn sum(&self, terms: &[(u32, i64)]) -> Result<Vec<(Local, i64)>, Fault> {
        terms.iter().map(|&(l, n)| Ok((self.local(l)?, n))).collect()
    }

    /// Returns a trap as a set, without repetitions.
    fn trap(&self, trap: &[u32]) -> Result<Vec<Local>, Fault> {
        let mut members = self.each(trap, |l| self.local(l))?;
        members.sort_unstable();
        members.dedup();
        Ok(members)
    }

    fn case(&self, case: &Case) -> Result<verdict::Case, Fault> {
        Ok(match case {
            Case::Split(which) => verdict::Case::Split(*which),
            Case::Linear { weights, comparisons, traps } => verdict::Case::Linear(Contradiction {
                weights: self.sum(weights)?,
                comparisons: comparisons.clone(),
                traps: traps.clone(),
            }),
        })
    }

    /// Checks every answer; `asked` marks the targets of the question.
    pub(super) fn judge(&self, asked: &[bool], limits: &Limits) -> Result<Vec<CertifiedAnswer>, Fault> {
        let mut decoded: HashMap<u32, Verdict> = HashMap::new();
        for (answered, Target { name, .. }) in self.document.targets.iter().zip(&self.problem.targets) {
            if let Entry::Vacant(vacant) = decoded.entry(answered.evidence) {
                vacant.insert(self.evidence(answered.evidence).map_err(|fault| match fault {
                    Fault::Invalid(why) => Fault::Invalid(format!("target `{name}`: {why}")),
                    fault => fault,
                })?);
            }
            let is_run = matches!(decoded[&answered.evidence], Verdict::Unsafe(_));
            if is_run != (answered.verdict == Claim::Unsafe) {
                return invalid(format!("target `{name}`: this is not evidence for its verdict"));
            }
        }
        let verdicts = self.document.targets.iter().map(|a| &decoded[&a.evidence]);
        let numbered: Vec<(usize, &Verdict)> = verdicts.clone().enumerate().collect();
        rules::check_all(&self.problem, &numbered, limits).map_err(|(target, flaw)| fault(&target, flaw))?;
        let certified = |(i, verdict): (usize, &Verdict)| {
            let (kind, elements) = verdict.evidence().unwrap_or_default();
            let Answered { property, verdict, .. } = &self.document.targets[i];
            CertifiedAnswer {
                name: self.problem.targets[i].name.clone(),
                property: property_json(self.document, property),
                verdict: *verdict,
                kind: kind.into(),
                elements,
                asked: asked[i],
            }
        };
        Ok(verdicts.enumerate().map(certified).collect())
    }

    /// Checks the claim about a cutoff.
    pub(super) fn cutoff(&self, limits: &Limits) -> Result<Option<CertifiedCutoff>, Fault> {
        let Some(claim) = &self.document.cutoff else { return Ok(None) };
        if self.problem.bound != Bound::Any {
            return invalid("a cutoff is about any number of threads");
        }
        let set = |place: u32| match self.evidence(place)? {
            Verdict::Safe(certificate) => Ok(certificate),
            _ => invalid("a run shows that something can be reached"),
        };
        let node = |n: &(Option<u32>, Option<u32>, Configuration)| {
            let by = n.1.map(|l| self.local(l)).transpose()?;
            Ok(RunNode { parent: n.0.map(|p| p as usize), by, config: self.config(&n.2, false)? })
        };
        let mut except: BTreeMap<u32, Vec<(Shared, Local)>> = BTreeMap::new();
        for &(s, l, place) in &claim.except {
            except.entry(place).or_default().push((self.shared(s)?, self.local(l)?));
        }
        let proof = CutoffProof {
            threads: claim.threads,
            runs: claim.runs.iter().map(node).collect::<Result<_, Fault>>()?,
            reachable: claim
                .reachable
                .iter()
                .map(|r| Ok((self.shared(r.0)?, self.local(r.1)?, r.2 as usize)))
                .collect::<Result<_, Fault>>()?,
            rest: set(claim.rest)?,
            except: except
                .into_iter()
                .map(|(place, states)| Ok((states, set(place)?)))
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
            smallest: claim.needed.is_some() || claim.threads == 0,
        }))
    }

    /// Returns the evidence with this index.
    fn evidence(&self, place: u32) -> Result<Verdict, Fault> {
        match self.document.evidence.get(place as usize) {
            Some(evidence) => self.verdict(evidence),
            None => invalid(format!("evidence number {place} is not there")),
        }
    }

    pub(super) fn verdict(&self, evidence: &Evidence) -> Result<Verdict, Fault> {
        Ok(Verdict::Safe(match evidence {
            Evidence::Trace { start, steps } => return self.trace(start, steps).map(Verdict::Unsafe),
            Evidence::Closed { configurations } => {
                Certificate::Closed(Arc::new(self.configs(configurations, false)?))
            }
            Evidence::Downward { configurations } => {
                Certificate::Downward(Arc::new(self.configs(configurations, true)?))
            }
            Evidence::Invariants { views, vectors, basis, trees, ranks } => {
                let ranks = ranks.iter().map(|rank| self.rank(rank)).collect::<Result<Vec<_>, _>>()?;
                let basis = self.configs(basis, false)?;
                let vectors = vectors.iter().map(|v| self.vector(v)).collect::<Result<Vec<_>, _>>()?;
                let trees: Vec<Tree> = trees
                    .iter()
                    .map(|tree| tree.iter().map(|b| self.branch(b)).collect())
                    .collect::<Result<_, _>>()?;
                match views {
                    Some(blocks) => {
                        let views = Arc::new(self.views(blocks)?);
                        let plain = vectors.is_empty() && trees.is_empty() && ranks.is_empty();
                        match plain && basis.is_empty() {
                            true => Certificate::Views(views),
                            false => Certificate::Relative(Arc::new(Relative {
                                views,
                                vectors,
                                trees,
                                basis,
                                ranks,
                            })),
                        }
                    }
                    None if vectors.is_empty() && trees.is_empty() && ranks.is_empty() => {
                        Certificate::Upward(Arc::new(basis))
                    }
                    None => return invalid("vectors without views: which steps are possible?"),
                }
            }
            Evidence::Refutation { traps, cases } => Certificate::Refutation(Arc::new(Refutation {
                traps: traps.iter().map(|t| self.trap(t)).collect::<Result<_, _>>()?,
                cases: cases.iter().map(|c| self.case(c)).collect::<Result<_, _>>()?,
            })),
            Evidence::Quotient { kept, merged, proof } => {
                let kept: HashSet<Shared> = self.each(kept, |s| self.shared(s))?.into_iter().collect();
                let steps = self.problem.model.listed().unwrap_or_default().iter();
                let skipped: HashSet<Shared> =
                    steps.flat_map(|s| [s.from, s.to]).filter(|s| !kept.contains(s)).collect();
                let mut merged_states = Vec::new();
                for (to, members) in merged {
                    let to = to.map(|l| self.local(l)).transpose()?;
                    merged_states.extend(self.each(members, |l| Ok((self.local(l)?, to)))?);
                }
                merged_states.sort_unstable();
                if merged_states.windows(2).any(|two| two[0].0 == two[1].0) {
                    return invalid("a state is merged into two others");
                }
                let map = QuotientMap { skipped: skipped.into_iter().collect(), merged: merged_states };
                match self.verdict(proof)? {
                    Verdict::Safe(proof) if !matches!(proof, Certificate::Quotient(..)) => {
                        Certificate::Quotient(Arc::new(map), Box::new(proof))
                    }
                    _ => return invalid("a quotient is taken once, and for a proof"),
                }
            }
            Evidence::Reduced { visible, reductions, proof } => {
                let visible = self.each(visible, |l| self.local(l))?;
                let each = reductions.iter().map(|r| {
                    Ok(match *r {
                        certificate::Reduction::Prune => Reduction::Prune,
                        certificate::Reduction::Drop(l) => Reduction::Drop(self.local(l)?),
                        certificate::Reduction::Pre(l) => Reduction::Pre(self.local(l)?),
                        certificate::Reduction::Post(l) => Reduction::Post(self.local(l)?),
                    })
                });
                let steps = each.collect::<Result<_, Fault>>()?;
                match self.verdict(proof)? {
                    Verdict::Safe(proof) if !matches!(proof, Certificate::Reduced(..)) => {
                        Certificate::Reduced(Arc::new(Reductions { visible, steps }), Box::new(proof))
                    }
                    _ => return invalid("a net is reduced once, and for a proof"),
                }
            }
            Evidence::Localised { parts } => {
                let parts = parts.iter().map(|part| self.local_proof(part)).collect::<Result<_, _>>()?;
                Certificate::Localised(Arc::new(parts))
            }
        }))
    }

    fn local_proof(&self, part: &LocalPart) -> Result<LocalProof, Fault> {
        let locals = |list: &[u32]| self.each(list, |l| self.local(l));
        let class = |(to, members): &(u32, Vec<u32>)| Ok((self.local(*to)?, locals(members)?));
        let classes = part.classes.iter().map(class).filter(|c| c.is_ok() || !self.lenient);
        let classes = classes.collect::<Result<_, Fault>>()?;
        if let Evidence::Localised { .. } | Evidence::Quotient { .. } | Evidence::Reduced { .. } = part.proof
        {
            return invalid("a model is localised once");
        }
        match self.verdict(&part.proof)? {
            Verdict::Safe(proof) => Ok(LocalProof {
                map: Localisation { shared: self.shared(part.kept)?, classes },
                at: locals(&part.at)?,
                proof,
            }),
            _ => invalid("a run is not a proof"),
        }
    }

    /// Looks up all items; omits those that are not found if the decoder is lenient.
    fn each<I, T>(&self, items: &[I], find: impl Fn(I) -> Result<T, Fault>) -> Result<Vec<T>, Fault>
    where
        I: Copy,
    {
        items.iter().map(|&i| find(i)).filter(|found| found.is_ok() || !self.lenient).collect()
    }

    fn vector(&self, Weights { shared, local }: &Weights) -> Result<Vector, Fault> {
        self.weights(shared, local)
    }

    fn weights(&self, shared: &[(u32, i64)], local: &[(u32, i64)]) -> Result<Vector, Fault> {
        Ok(Vector {
            shared: self.each(shared, |(s, n)| Ok((self.shared(s)?, n)))?,
            locals: self.each(local, |(l, n)| Ok((self.local(l)?, n)))?,
        })
    }

    fn branch(&self, branch: &certificate::Branch) -> Result<Branch, Fault> {
        Ok(match branch {
            certificate::Branch::Split(states) => Branch::Split(self.each(states, |s| self.shared(s))?),
            certificate::Branch::Leaf { shared, local, drops } => {
                Branch::Leaf { vector: self.weights(shared, local)?, drops: drops.clone() }
            }
        })
    }

    fn rank(&self, rank: &certificate::Rank) -> Result<Rank, Fault> {
        Ok(Rank {
            nodes: self.each(&rank.nodes, |(s, l, n)| Ok(((self.shared(s)?, self.local(l)?), n)))?,
            locals: self.each(&rank.local, |(l, n)| Ok((self.local(l)?, n)))?,
        })
    }

    fn views(&self, blocks: &[certificate::Block]) -> Result<Views, Fault> {
        let locals = |list: &[u32]| self.each(list, |l| self.local(l));
        let block = |(s, left, right): &certificate::Block| {
            let right = right.as_ref().map(|right| locals(right)).transpose()?;
            Ok(Block { shared: self.shared(*s)?, left: locals(left)?, right })
        };
        let found = blocks.iter().map(block).filter(|b| b.is_ok() || !self.lenient);
        Ok(Views::of_blocks(found.collect::<Result<Vec<_>, Fault>>()?))
    }

    /// Returns a run. A certificate does not identify the steps, so any step that fits is taken;
    /// the rules replay the run.
    fn trace(&self, start: &Configuration, steps: &[Taken]) -> Result<Trace, Fault> {
        let model = &*self.problem.model;
        let mut trace = Trace { start: self.config(start, false)?, steps: Vec::new() };
        for (i, taken) in steps.iter().enumerate() {
            let after = self.config(&taken.after, false)?;
            let now = trace.end();
            let by = taken.by.map(|by| self.local(by)).transpose()?;
            let mut steps = Vec::new();
            Incomplete::irrelevant(led_by(model, now, by, &mut steps));
            let bound = self.problem.bound.threads();
            let mut found = None;
            for step in steps {
                if leads(model, now, &step, bound, &after).map_err(|why| Fault::Limit(why.into()))? {
                    found = Some(step);
                    break;
                }
            }
            let Some(step) = found else {
                return invalid(Flaw::LeadsElsewhere(i + 1, after.describe(model)).to_string());
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

    pub(super) fn configs(&self, configs: &[Configuration], omega: bool) -> Result<Vec<Config>, Fault> {
        configs.iter().map(|c| self.config(c, omega)).filter(|c| c.is_ok() || !self.lenient).collect()
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
        if total > self.most {
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

pub(super) fn named<W: Copy>(states: &[Result<W, String>], i: u32, kind: &str) -> Result<W, Fault> {
    match states.get(i as usize) {
        Some(Ok(state)) => Ok(*state),
        Some(Err(why)) => invalid(format!("{kind} state number {i}: {why}")),
        None => invalid(format!("there is no {kind} state number {i} in the list of states")),
    }
}

/// Looks up the states of a system by name.
pub(super) fn system_states(
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
