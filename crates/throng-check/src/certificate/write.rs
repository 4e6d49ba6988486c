//! Writes an answer as a certificate. Large sets are borrowed and written one element at a time.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Serialize, Serializer};

use super::compiled::{Namer, ProgramNames};
use super::complete::complete;
use super::{
    Answered, Asked, Block, Case, Claim, Condition, Configuration, Count, CutoffClaim, Document, Evidence,
    FORMAT, Family, Input, LocalPart, Most, Needed, Property, Rank, Reduction, Start, States, Taken, VERSION,
    Weights, hash,
};
use crate::certify::{Asked as Question, Fault, certify, read};
use crate::rules::cutoff::CutoffProof;
use throng_lang::load::{self, Loaded, Reading};
use throng_model::concrete::concretise;
use throng_model::limits::Limits;
use throng_model::predicate::Predicate;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::quotient::QuotientMap;
use throng_model::reduction;
use throng_model::verdict::{self, Certificate, LocalProof, Trace, Vector, Verdict};
use throng_model::views::{self, Views};
use throng_model::{Bag, Config, Local, Model, OMEGA, Shared};

/// Maximum number of configurations of a product that is written.
const MOST: usize = 1 << 20;

/// The index of each state in the lists of a certificate.
#[derive(Default)]
struct Numbers {
    shared: IndexSet<Shared, FxBuildHasher>,
    local: IndexSet<Local, FxBuildHasher>,
}

impl Numbers {
    fn see(&mut self, config: &Config) {
        self.shared.insert(config.shared);
        self.local.extend(config.threads.entries().iter().map(|e| e.0));
    }

    fn see_all(&mut self, model: &dyn Model, certificate: &Certificate) {
        match certificate {
            Certificate::Products(products) => {
                self.shared.extend(products.shared.iter().flatten());
                self.local.extend(products.locals.iter().flatten());
            }
            Certificate::Closed(set) | Certificate::Downward(set) | Certificate::Upward(set) => {
                set.iter().for_each(|c| self.see(c))
            }
            Certificate::Packed(set) => set.iter().for_each(|c| self.see(&c)),
            Certificate::Views(views) => self.see_views(views),
            Certificate::Relative(relative) => {
                self.see_views(&relative.views);
                relative.basis.iter().for_each(|c| self.see(c));
                for rank in &relative.ranks {
                    self.shared.extend(rank.nodes.iter().map(|e| e.0.0));
                    self.local.extend(rank.nodes.iter().map(|e| e.0.1));
                    self.local.extend(rank.locals.iter().map(|e| e.0));
                }
                for vector in &relative.vectors {
                    self.shared.extend(vector.shared.iter().map(|e| e.0));
                    self.local.extend(vector.locals.iter().map(|e| e.0));
                }
            }
            Certificate::Refutation(found) => {
                self.local.extend(found.traps.iter().flatten());
                for case in &found.cases {
                    if let verdict::Case::Linear(found) = case {
                        self.local.extend(found.weights.iter().map(|e| e.0));
                    }
                }
            }
            Certificate::Quotient(map, proof) => {
                self.shared.extend(kept(model, &map.skipped));
                self.local.extend(map.merged.iter().flat_map(|e| std::iter::once(e.0).chain(e.1)));
                self.see_all(model, proof);
            }
            Certificate::Reduced(reductions, proof) => {
                self.local.extend(&reductions.visible);
                self.local.extend(reductions.steps.iter().filter_map(|r| match r {
                    reduction::Reduction::Prune => None,
                    reduction::Reduction::Drop(l)
                    | reduction::Reduction::Pre(l)
                    | reduction::Reduction::Post(l) => Some(*l),
                }));
                self.see_all(model, proof);
            }
            // These do not list configurations.
            Certificate::Spread(_) | Certificate::OfSource(_) => {}
            Certificate::Localised(parts) => {
                for LocalProof { map, at, proof } in &**parts {
                    self.shared.insert(map.shared);
                    for (representative, members) in &map.classes {
                        self.local.insert(*representative);
                        self.local.extend(members);
                    }
                    self.local.extend(at);
                    self.see_all(model, proof);
                }
            }
        }
    }

    fn see_views(&mut self, views: &Views) {
        self.shared.extend(views.groups().map(|e| e.0));
        self.local.extend(views.locals());
    }

    fn shared(&self, s: Shared) -> u32 {
        self.shared.get_index_of(&s).map_or(u32::MAX, |i| i as u32)
    }

    fn local(&self, l: Local) -> u32 {
        self.local.get_index_of(&l).map_or(u32::MAX, |i| i as u32)
    }

    fn sum(&self, sum: &[(Local, i64)]) -> Vec<(u32, i64)> {
        sum.iter().map(|&(l, n)| (self.local(l), n)).collect()
    }

    fn condition(&self, predicate: &Predicate) -> Condition {
        let each = |parts: &[Predicate]| parts.iter().map(|p| self.condition(p)).collect();
        match predicate {
            Predicate::AtLeast(sum, least) => Condition::AtLeast(self.sum(sum), *least),
            Predicate::Dead => Condition::Dead,
            Predicate::Live => Condition::Live,
            Predicate::All(parts) => Condition::All(each(parts)),
            Predicate::Any(parts) => Condition::Any(each(parts)),
        }
    }

    fn config(&self, config: &Config) -> Configuration {
        (self.shared(config.shared), self.bag(&config.threads).collect())
    }

    fn bag(&self, bag: &Bag) -> impl Iterator<Item = (u32, Count)> {
        bag.entries().iter().map(|&(l, n)| (self.local(l), count(n)))
    }
}

fn count(n: u32) -> Count {
    if n == OMEGA { Count::ANY } else { Count::Exactly(n) }
}

/// A set of configurations, serialized one by one.
pub struct Configs<'a> {
    set: Cow<'a, [Config]>,
    numbers: Rc<Numbers>,
}

impl Serialize for Configs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.set.iter().map(|c| self.numbers.config(c)))
    }
}

/// The origin of a problem.
pub struct Origin<'a> {
    /// The input.
    pub loaded: &'a Loaded,
    /// The options with which it was read.
    pub reading: &'a Reading,
    /// The question.
    pub problem: &'a Problem,
}

/// Returns the certificate of these verdicts, one per target of the problem; or why there cannot be
/// one.
pub fn document<'a>(origin: &Origin<'_>, verdicts: &'a [Verdict]) -> Result<Document<Configs<'a>>, String> {
    accepted(origin, &|completed| verdict_document(origin, verdicts, completed))
}

/// Returns a document that the checker accepts, with completed views if necessary: see
/// [`mod@super::complete`].
fn accepted<'a>(
    origin: &Origin<'_>,
    made: &dyn Fn(bool) -> Result<Document<Configs<'a>>, String>,
) -> Result<Document<Configs<'a>>, String> {
    let document = made(false)?;
    if origin.problem.model.is_exact() || !document.evidence.iter().any(has_views) {
        return Ok(document);
    }
    let stands = |document: &Document<Configs<'a>>| {
        let mut bytes = Vec::new();
        write(document, &mut bytes).map_err(|why| why.to_string())?;
        let done =
            read(&bytes).and_then(|again| certify(&Question::Own(origin.loaded), &again, &Limits::none()));
        Ok::<bool, String>(!matches!(done, Err(Fault::Invalid(_))))
    };
    if stands(&document)? {
        return Ok(document);
    }
    let completed = made(true)?;
    if stands(&completed)? { Ok(completed) } else { Err(NOT_STANDING.into()) }
}

/// The error that views are closed under the engine's steps, but not under those of the checker's
/// interpreter, which may list a statement's cases as other sets.
pub const NOT_STANDING: &str = "the proof stands for the model that was searched, but not for the checker's own interpreter of programs, which lists \
                                the cases of statements as other sets: another engine may find a proof that does";

fn has_views(evidence: &Evidence<Configs<'_>>) -> bool {
    match evidence {
        Evidence::Invariants { views, .. } => views.is_some(),
        Evidence::Localised { parts } => parts.iter().any(|part| has_views(&part.proof)),
        _ => false,
    }
}

fn verdict_document<'a>(
    origin: &Origin<'_>,
    verdicts: &'a [Verdict],
    completed: bool,
) -> Result<Document<Configs<'a>>, String> {
    let problem = origin.problem;
    let traces: Vec<Option<Trace>> = problem
        .targets
        .iter()
        .zip(verdicts)
        .map(|(t, v)| concrete(problem, t, v))
        .collect::<Result<_, _>>()?;
    let numbers = Rc::new(number(problem, verdicts, &traces));
    let mut targets = Vec::new();
    let mut evidence = Vec::new();
    let mut undecided = Vec::new();
    let mut shared: HashMap<_, u32> = HashMap::new();
    for ((target, verdict), trace) in problem.targets.iter().zip(verdicts).zip(&traces) {
        let next = evidence.len() as u32;
        let (claim, place) = match (verdict, trace) {
            (Verdict::Unknown(_), _) => {
                undecided.push(target.name.clone());
                continue;
            }
            (Verdict::Unsafe(_), Some(trace)) => {
                evidence.push(run(&*problem.model, trace, &numbers));
                (Claim::Unsafe, next)
            }
            (Verdict::Unsafe(_), None) => return Err("a run has no values".into()),
            (Verdict::Safe(certificate), _) => {
                let place = *shared.entry(certificate.identity()).or_insert(next);
                if place == next {
                    evidence.push(set(&*problem.model, certificate, &numbers, completed)?);
                }
                (Claim::Safe, place)
            }
        };
        let property = property(origin, target, &numbers)?;
        targets.push(Answered { name: target.name.clone(), property, verdict: claim, evidence: place });
    }
    Ok(whole(origin, &numbers, targets, undecided, evidence, None))
}

fn whole<'a>(
    origin: &Origin<'_>,
    numbers: &Numbers,
    targets: Vec<Answered>,
    undecided: Vec<String>,
    evidence: Vec<Evidence<Configs<'a>>>,
    cutoff: Option<CutoffClaim>,
) -> Document<Configs<'a>> {
    Document {
        format: FORMAT.into(),
        version: VERSION,
        tool: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        input: Input {
            name: origin.loaded.source.name.clone(),
            kind: origin.loaded.format.to_string(),
            hash: hash(&origin.loaded.source.text),
        },
        problem: Asked {
            initial: start(origin, numbers),
            bound: match origin.problem.bound {
                Bound::Any => Most::Any,
                Bound::Threads(n) => Most::Threads(n),
                Bound::Tokens(n) => Most::Tokens(n),
            },
            slot_reuse: !origin.reading.keep_ended,
            init_free: origin.reading.init_free,
        },
        states: states(origin.loaded, numbers),
        targets,
        undecided,
        evidence,
        cutoff,
    }
}

/// Returns the certificate of a cutoff.
pub fn cutoff_document<'a>(
    origin: &Origin<'_>,
    found: &'a CutoffProof,
) -> Result<Document<Configs<'a>>, String> {
    accepted(origin, &|completed| cutoff_document_of(origin, found, completed))
}

fn cutoff_document_of<'a>(
    origin: &Origin<'_>,
    found: &'a CutoffProof,
    completed: bool,
) -> Result<Document<Configs<'a>>, String> {
    let problem = origin.problem;
    let mut numbers = Numbers::default();
    problem.initial.iter().for_each(|f| numbers.see(&f.omega()));
    found.runs.iter().for_each(|n| numbers.see(&n.config));
    found.needed.iter().flat_map(|n| &n.1).for_each(|c| numbers.see(c));
    let states = found.reachable.iter().map(|r| (r.0, r.1));
    let states = states.chain(found.except.iter().flat_map(|e| e.0.iter().copied()));
    for (s, l) in states.chain(found.needed.iter().map(|n| n.0)) {
        numbers.shared.insert(s);
        numbers.local.insert(l);
    }
    let model = &*problem.model;
    numbers.see_all(model, &found.rest);
    found.except.iter().for_each(|e| numbers.see_all(model, &e.1));
    let numbers = Rc::new(numbers);
    let mut evidence = vec![set(model, &found.rest, &numbers, completed)?];
    let mut except = Vec::new();
    for (states, certificate) in &found.except {
        let place = evidence.len() as u32;
        evidence.push(set(model, certificate, &numbers, completed)?);
        except.extend(states.iter().map(|&(s, l)| (numbers.shared(s), numbers.local(l), place)));
    }
    let runs = found.runs.iter().map(|n| {
        let parent = n.parent.map(|p| p as u32);
        (parent, n.by.map(|l| numbers.local(l)), numbers.config(&n.config))
    });
    let claim = CutoffClaim {
        threads: found.threads,
        runs: runs.collect(),
        reachable: found
            .reachable
            .iter()
            .map(|&(s, l, at)| (numbers.shared(s), numbers.local(l), at as u32))
            .collect(),
        rest: 0,
        except,
        needed: found.needed.as_ref().map(|((s, l), set)| Needed {
            state: (numbers.shared(*s), numbers.local(*l)),
            configurations: set.iter().map(|c| numbers.config(c)).collect(),
        }),
    };
    Ok(whole(origin, &numbers, Vec::new(), Vec::new(), evidence, Some(claim)))
}

/// Returns the run of an unsafe verdict, with all values chosen.
fn concrete(problem: &Problem, target: &Target, verdict: &Verdict) -> Result<Option<Trace>, String> {
    let Verdict::Unsafe(trace) = verdict else { return Ok(None) };
    let found = concretise(&*problem.model, target, trace, problem.bound.threads());
    found.map(Some).ok_or_else(|| format!("the run into `{}` cannot be given values", target.name))
}

fn number(problem: &Problem, verdicts: &[Verdict], traces: &[Option<Trace>]) -> Numbers {
    let mut numbers = Numbers::default();
    for family in &problem.initial {
        numbers.see(&family.omega());
    }
    for trace in traces.iter().flatten() {
        numbers.see(&trace.start);
        for taken in &trace.steps {
            numbers.see(&taken.after);
        }
    }
    // The targets of a program are written as text.
    if throng_lang::bp::program::program_of(&*problem.model).is_none() {
        problem.targets.iter().flat_map(|t| &t.configs).for_each(|c| numbers.see(c));
        for formula in problem.targets.iter().filter_map(Target::formula) {
            formula.when.each_local(&mut |l| _ = numbers.local.insert(l));
        }
    }
    for verdict in verdicts {
        if let Verdict::Safe(certificate) = verdict {
            numbers.see_all(&*problem.model, certificate);
        }
    }
    numbers
}

/// Returns the shared states between which there are steps, without those that are skipped.
fn kept(model: &dyn Model, skipped: &[Shared]) -> Vec<Shared> {
    let skipped: HashSet<&Shared> = skipped.iter().collect();
    let steps = model.listed().unwrap_or_default().iter();
    let mut kept: Vec<Shared> = steps.flat_map(|s| [s.from, s.to]).filter(|s| !skipped.contains(s)).collect();
    kept.sort_unstable();
    kept.dedup();
    kept
}

fn set<'a>(
    model: &dyn Model,
    certificate: &'a Certificate,
    numbers: &Rc<Numbers>,
    completed: bool,
) -> Result<Evidence<Configs<'a>>, String> {
    let blocks = |views: &Views| match completed {
        true => blocks(&complete(model, views), numbers),
        false => blocks(views, numbers),
    };
    let configs = |set: &'a [Config]| Configs { set: Cow::Borrowed(set), numbers: numbers.clone() };
    let reduced = "this was found with partial orders, whose evidence needs more belief than a certificate may ask for: \
                   search without them";
    Ok(match certificate {
        Certificate::Closed(set) => Evidence::Closed { configurations: configs(set) },
        Certificate::Packed(set) if !set.reduced => {
            let set = Cow::Owned(set.iter().collect());
            Evidence::Closed { configurations: Configs { set, numbers: numbers.clone() } }
        }
        Certificate::Downward(set) => Evidence::Downward { configurations: configs(set) },
        Certificate::Upward(set) => {
            Evidence::Invariants { views: None, vectors: Vec::new(), basis: configs(set), ranks: Vec::new() }
        }
        Certificate::Views(views) => {
            let (vectors, ranks) = (Vec::new(), Vec::new());
            Evidence::Invariants { views: Some(blocks(views)), vectors, basis: configs(&[]), ranks }
        }
        Certificate::Relative(relative) => Evidence::Invariants {
            views: Some(blocks(&relative.views)),
            vectors: relative.vectors.iter().map(|v| weights(v, numbers)).collect(),
            basis: configs(&relative.basis),
            ranks: relative.ranks.iter().map(|r| rank(r, numbers)).collect(),
        },
        Certificate::Refutation(found) => Evidence::Refutation {
            traps: found.traps.iter().map(|t| t.iter().map(|&l| numbers.local(l)).collect()).collect(),
            cases: found.cases.iter().map(|c| case(c, numbers)).collect(),
        },
        Certificate::Quotient(map, proof) => Evidence::Quotient {
            kept: kept(model, &map.skipped).into_iter().map(|s| numbers.shared(s)).collect(),
            merged: classes(map, numbers),
            proof: Box::new(set(model, proof, numbers, completed)?),
        },
        Certificate::Reduced(reductions, proof) => Evidence::Reduced {
            visible: reductions.visible.iter().map(|&l| numbers.local(l)).collect(),
            reductions: reductions.steps.iter().map(|&r| reduction(r, numbers)).collect(),
            proof: Box::new(set(model, proof, numbers, completed)?),
        },
        Certificate::Spread(_) => {
            return Err("the set is spread over the workers that found it and was not collected".into());
        }
        Certificate::OfSource(_) => {
            return Err("the proof is about the source, and has a file of its own".into());
        }
        Certificate::Localised(parts) => {
            let part = |part: &'a LocalProof| {
                let numbered = |ls: &[Local]| ls.iter().map(|&l| numbers.local(l)).collect::<Vec<u32>>();
                let class = |(to, members): &(Local, Vec<Local>)| (numbers.local(*to), numbered(members));
                Ok(LocalPart {
                    kept: numbers.shared(part.map.shared),
                    classes: part.map.classes.iter().map(class).collect(),
                    at: numbered(&part.at),
                    proof: set(model, &part.proof, numbers, completed)?,
                })
            };
            Evidence::Localised { parts: parts.iter().map(part).collect::<Result<_, String>>()? }
        }
        Certificate::Products(products) if !products.reduced => {
            let mut all = products.all(MOST).ok_or("a product of sets is too large to write")?;
            all.sort_unstable();
            all.dedup();
            Evidence::Closed { configurations: Configs { set: Cow::Owned(all), numbers: numbers.clone() } }
        }
        Certificate::Products(_) | Certificate::Packed(_) => return Err(reduced.into()),
    })
}

fn reduction(of: reduction::Reduction, numbers: &Numbers) -> Reduction {
    match of {
        reduction::Reduction::Prune => Reduction::Prune,
        reduction::Reduction::Drop(l) => Reduction::Drop(numbers.local(l)),
        reduction::Reduction::Pre(l) => Reduction::Pre(numbers.local(l)),
        reduction::Reduction::Post(l) => Reduction::Post(numbers.local(l)),
    }
}

fn case(case: &verdict::Case, numbers: &Numbers) -> Case {
    match case {
        verdict::Case::Split(which) => Case::Split(*which),
        verdict::Case::Linear(found) => Case::Linear {
            weights: numbers.sum(&found.weights),
            comparisons: found.comparisons.clone(),
            traps: found.traps.clone(),
        },
    }
}

/// Returns the classes of merged local states, each with its representative.
fn classes(map: &QuotientMap, numbers: &Numbers) -> Vec<(Option<u32>, Vec<u32>)> {
    let mut classes: BTreeMap<Option<u32>, Vec<u32>> = BTreeMap::new();
    for &(l, to) in &map.merged {
        classes.entry(to.map(|to| numbers.local(to))).or_default().push(numbers.local(l));
    }
    classes.into_iter().collect()
}

fn weights(vector: &Vector, numbers: &Numbers) -> Weights {
    Weights {
        shared: vector.shared.iter().map(|&(s, n)| (numbers.shared(s), n)).collect(),
        local: vector.locals.iter().map(|&(l, n)| (numbers.local(l), n)).collect(),
    }
}

fn rank(rank: &verdict::Rank, numbers: &Numbers) -> Rank {
    let node = |&((s, l), n): &((Shared, Local), i64)| (numbers.shared(s), numbers.local(l), n);
    Rank { nodes: rank.nodes.iter().map(node).collect(), local: numbers.sum(&rank.locals) }
}

fn blocks(views: &Views, numbers: &Numbers) -> Vec<Block> {
    let locals = |list: &[Local]| list.iter().map(|&l| numbers.local(l)).collect::<Vec<u32>>();
    let block = |b: views::Block| (numbers.shared(b.shared), locals(&b.left), b.right.as_deref().map(locals));
    views.blocks().map(block).collect()
}

fn run<C>(model: &dyn Model, trace: &Trace, numbers: &Numbers) -> Evidence<C> {
    let steps = trace.steps.iter().map(|taken| {
        let place = model.edge_place(taken.step.edge);
        Taken {
            by: taken.step.take.entries().first().map(|e| numbers.local(e.0)),
            does: if place.line == 0 { place.text } else { format!("line {}: {}", place.line, place.text) },
            after: numbers.config(&taken.after),
        }
    });
    Evidence::Trace { start: numbers.config(&trace.start), steps: steps.collect() }
}

fn start(origin: &Origin<'_>, numbers: &Numbers) -> Start {
    let problem = origin.problem;
    if let (load::Input::Program(_), [family]) = (&origin.loaded.input, &problem.initial[..]) {
        let n = family.threads.size();
        return Start::Main(if family.any.is_empty() { Count::Exactly(n) } else { Count::ANY });
    }
    let family = |f: &throng_model::problem::Initial| Family {
        shared: numbers.shared(f.shared),
        threads: f.threads.entries().iter().map(|&(l, n)| (numbers.local(l), n)).collect(),
        any: f.any.iter().map(|&l| numbers.local(l)).collect(),
    };
    Start::Families(problem.initial.iter().map(family).collect())
}

fn property(origin: &Origin<'_>, target: &Target, numbers: &Numbers) -> Result<Property, String> {
    if let load::Input::System(_) = origin.loaded.input
        && !target.is_about_all_threads()
    {
        if !target.is_upward_closed() {
            return Ok(Property::Satisfies(numbers.condition(&target.predicate())));
        }
        return Ok(Property::Covers(target.configs.iter().map(|c| numbers.config(c)).collect()));
    }
    Property::of(target).ok_or_else(|| format!("certificates cannot express `{}`", target.name))
}

fn states(loaded: &Loaded, numbers: &Numbers) -> States {
    let name = |namer: &dyn Namer| States {
        shared: numbers.shared.iter().map(|&s| namer.shared(s)).collect(),
        local: numbers.local.iter().map(|&l| namer.local(l)).collect(),
    };
    match &loaded.input {
        load::Input::Program(jit) => name(&ProgramNames::new(jit)),
        load::Input::System(system) => name(&*system.table),
    }
}

/// Writes a document: one line for each state, target, step and configuration.
pub fn write(document: &impl Serialize, out: impl Write) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(out, Lines::default());
    document.serialize(&mut serializer)?;
    serializer.into_inner().write_all(b"\n")
}

/// A formatter that breaks lines down to lists of configurations.
#[derive(Default)]
struct Lines {
    depth: usize,
}

impl Lines {
    /// Maximum depth of line breaks: a configuration stays on one line.
    const DEEPEST: usize = 6;

    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        if self.depth < Lines::DEEPEST {
            out.write_all(b"\n")?;
            out.write_all(&b"          "[..2 * self.depth])?;
        }
        Ok(())
    }
}

impl serde_json::ser::Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.line(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        if self.depth < 2 { self.line(out) } else { Ok(()) }
    }
}
