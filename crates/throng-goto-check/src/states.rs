//! Proofs by a search of real values as files: memory and threads by their content, and sets of
//! configurations of them. The checker searches for nothing: it reads the states into a model of
//! its own, and the rules of [`throng_check`] decide.
//!
//! A document may hold states that no run reaches, or that cannot be: the rules show that the start
//! is in the set, and that no step leads out of it, so that such members only cost time. They have
//! the shape that steps rely on, which is checked here.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use throng_check::certify::Fault;
use throng_check::rules::{Flaw, check_each};
use throng_goto::program::{Point, Program, Violation};
use throng_goto::step::{Bytes, Memory, OPEN, Slot, Thread, Touch, initial_memory, is_byte};
use throng_goto::{Concrete, Query};
use throng_lang::property::{starvation, stuck};
use throng_model::assumption::Assumption;
use throng_model::limits::{Limits, Ticker};
use throng_model::problem::{Bound, Problem, Target};
use throng_model::property::Property;
use throng_model::verdict::{Certificate, Rank, Relative, Vector, Verdict};
use throng_model::views::{Block, Views};
use throng_model::{Bag, Config, Local, OMEGA, Shared};

use crate::abstraction::certificate::identity;

/// What a document calls itself.
pub const FORMAT: &str = "throng-c-states";
const VERSION: u32 = 2;

/// The most members of a set that are written.
const MOST: usize = 2_000_000;

/// The most allocated objects that are read. No run has as many.
const MOST_SLOTS: usize = 1 << 17;

/// A proof by a search.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    /// The program that wrote it; for people.
    tool: String,
    /// The file; for people.
    file: String,
    /// The program as it is executed, and what is asked.
    program: String,
    /// At most this many threads; any number without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<u32>,
    /// Whether it is about the program without data that decides nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    sliced: bool,
    memories: Vec<StatedMemory>,
    threads: Vec<StatedThread>,
    proofs: Vec<Proof>,
}

/// Bytes that differ from others: where, and what is there instead.
type Changes = Vec<(usize, Vec<u16>)>;

/// Shared memory.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedMemory {
    /// The difference from memory at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fixed: Changes,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    allocated: Vec<StatedSlot>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ended: Vec<Option<i64>>,
    /// The access that a thread is about to make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    about: Option<StatedTouch>,
}

/// Allocated memory.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StatedSlot {
    Empty,
    Freed,
    /// Only its thread knows the address.
    Unknown(Vec<u16>),
    Known(Vec<u16>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedTouch {
    address: i64,
    size: u32,
    writes: bool,
    atomic: bool,
    /// The template and the place of the instruction.
    at: (u32, u32),
}

/// A thread.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedThread {
    template: u32,
    /// The next instruction.
    at: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    number: u32,
    /// Those that are read later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    registers: Vec<Option<i64>>,
    /// The difference from private memory at the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    private: Changes,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    held: Vec<i64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    stopped: bool,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Evidence about some of what is asked.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Proof {
    /// What cannot happen.
    safe: Vec<String>,
    evidence: Evidence,
}

/// A memory by its number; `None`: the process has ended.
type At = Option<usize>;

/// A memory, some threads, and others that may occur with them.
type Beside = (At, Vec<usize>, Option<Vec<usize>>);

/// Sets of memory and threads by their numbers; a thread is repeated for each one in its state.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Evidence {
    /// Every reachable configuration.
    Closed(Vec<(At, Vec<usize>)>),
    /// Configurations that cover every reachable one: the last threads may be any number each.
    Downward(Vec<(At, Vec<usize>, Vec<usize>)>),
    /// Each of the first threads may occur together with each of the others, or with one another.
    Views(Vec<Beside>),
    /// Such views, sums that no step increases that these allow, and, for starvation, sums that no
    /// step increases that may be taken again and again.
    Sums(Vec<Beside>, Vec<Sum>, Vec<StatedRank>),
}

/// What memories and threads count, by their numbers.
type Sum = (Vec<(At, i64)>, Vec<(usize, i64)>);

/// What a memory with the thread that stays counts, and each other thread.
type StatedRank = (Vec<(At, usize, i64)>, Vec<(usize, i64)>);

/// Returns a proof as a file. `proofs`: for each target of the question, in order, its name and the
/// evidence about `model`. `Err`: why there is none.
pub fn write(
    query: &Query,
    model: &Concrete,
    bound: Bound,
    proofs: &[(&str, &Certificate)],
) -> Result<String, String> {
    if let Some(why) = query.program.not_flat() {
        return Err(format!("states with calls are not written: {why}"));
    }
    let mut tables = Tables {
        model,
        initial: initial_memory(&query.program),
        memories: Vec::new(),
        threads: Vec::new(),
        number_of: Default::default(),
    };
    let mut stated: Vec<Proof> = Vec::new();
    let mut known = FxHashMap::default();
    for (name, certificate) in proofs {
        let next = stated.len();
        let place = *known.entry(certificate.identity()).or_insert(next);
        if place == next {
            stated.push(Proof { safe: Vec::new(), evidence: tables.evidence(certificate)? });
        }
        stated[place].safe.push((*name).into());
    }
    let document = Document {
        format: FORMAT.into(),
        version: VERSION,
        tool: format!("throng {}", env!("CARGO_PKG_VERSION")),
        file: query.source.name.clone(),
        program: identity(query),
        bound: bound.threads(),
        sliced: !std::ptr::eq(model.program(), &*query.program),
        memories: tables.memories,
        threads: tables.threads,
        proofs: stated,
    };
    serde_json::to_string(&document).map_err(|why| why.to_string())
}

/// States by the order in which they are needed.
struct Tables<'a> {
    model: &'a Concrete,
    initial: Memory,
    memories: Vec<StatedMemory>,
    threads: Vec<StatedThread>,
    number_of: (FxHashMap<Shared, usize>, FxHashMap<Local, usize>),
}

impl Tables<'_> {
    fn evidence(&mut self, certificate: &Certificate) -> Result<Evidence, String> {
        let (kind, size) = certificate.measure();
        if size > MOST {
            return Err(format!("the search needs {size} members, and no more than {MOST} are written"));
        }
        Ok(match certificate {
            Certificate::Closed(set) => Evidence::Closed(self.closed(set.iter().cloned())?),
            Certificate::Packed(set) if !set.reduced => Evidence::Closed(self.closed(set.iter())?),
            Certificate::Downward(set) => {
                let one = |c: &Config| {
                    let (finite, any) = c.threads.entries().iter().partition(|e| e.1 != OMEGA);
                    Ok((self.memory(c.shared)?, self.bag(finite)?, self.each(any)?))
                };
                Evidence::Downward(set.iter().map(one).collect::<Result<_, String>>()?)
            }
            Certificate::Views(views) => Evidence::Views(self.views(views)?),
            Certificate::Relative(relative) if relative.basis.is_empty() => {
                let sums = relative.vectors.iter().map(|v| self.sum(v)).collect::<Result<_, _>>()?;
                let ranks = relative.ranks.iter().map(|r| self.rank(r)).collect::<Result<_, _>>()?;
                Evidence::Sums(self.views(&relative.views)?, sums, ranks)
            }
            _ => return Err(format!("evidence of the kind `{kind}` about a C program is not written")),
        })
    }

    fn closed(&mut self, set: impl Iterator<Item = Config>) -> Result<Vec<(At, Vec<usize>)>, String> {
        set.map(|c| Ok((self.memory(c.shared)?, self.bag(c.threads.entries().to_vec())?))).collect()
    }

    fn views(&mut self, views: &Views) -> Result<Vec<Beside>, String> {
        let mut found = Vec::new();
        for Block { shared, left, right } in views.blocks() {
            let left = left.into_iter().map(|l| self.thread(l)).collect::<Result<_, _>>()?;
            let right = right.map(|list| list.into_iter().map(|l| self.thread(l)).collect());
            found.push((self.memory(shared)?, left, right.transpose()?));
        }
        Ok(found)
    }

    fn sum(&mut self, vector: &Vector) -> Result<Sum, String> {
        let shared = vector.shared.iter().map(|&(s, n)| Ok((self.memory(s)?, n)));
        let shared = shared.collect::<Result<_, String>>()?;
        let locals = vector.locals.iter().map(|&(l, n)| Ok((self.thread(l)?, n)));
        Ok((shared, locals.collect::<Result<_, String>>()?))
    }

    fn rank(&mut self, rank: &Rank) -> Result<StatedRank, String> {
        let node = |&((s, l), n): &((Shared, Local), i64)| Ok((self.memory(s)?, self.thread(l)?, n));
        let nodes = rank.nodes.iter().map(node).collect::<Result<_, String>>()?;
        let locals = rank.locals.iter().map(|&(l, n)| Ok((self.thread(l)?, n)));
        Ok((nodes, locals.collect::<Result<_, String>>()?))
    }

    fn bag(&mut self, entries: Vec<(Local, u32)>) -> Result<Vec<usize>, String> {
        let mut found = Vec::new();
        for (l, n) in entries {
            let number = self.thread(l)?;
            found.extend((0..n).map(|_| number));
        }
        Ok(found)
    }

    fn each(&mut self, entries: Vec<(Local, u32)>) -> Result<Vec<usize>, String> {
        entries.into_iter().map(|(l, _)| self.thread(l)).collect()
    }

    fn memory(&mut self, s: Shared) -> Result<At, String> {
        if s == self.model.halted() {
            return Ok(None);
        }
        if let Some(&n) = self.number_of.0.get(&s) {
            return Ok(Some(n));
        }
        let state = self.model.memory(s).ok_or("the search holds a violation")?;
        let (memory, about) = &*state;
        let slot = |slot: &Slot| match slot {
            Slot::Empty => Ok(StatedSlot::Empty),
            Slot::Freed => Ok(StatedSlot::Freed),
            Slot::Used(bytes, false) => Ok(StatedSlot::Unknown(bytes.iter().copied().collect())),
            Slot::Used(bytes, true) => Ok(StatedSlot::Known(bytes.iter().copied().collect())),
            Slot::Local(..) | Slot::Gone => Err("a state with calls is not written"),
        };
        let touch = |t: &Touch| {
            let &Touch { address, size, writes, atomic, at } = t;
            StatedTouch { address, size, writes, atomic, at: (at.template, at.pc) }
        };
        self.memories.push(StatedMemory {
            fixed: changes(&self.initial.fixed, &memory.fixed),
            allocated: memory.heap.iter().map(slot).collect::<Result<_, _>>()?,
            ended: memory.ended.iter().collect(),
            about: about.as_ref().map(touch),
        });
        self.number_of.0.insert(s, self.memories.len() - 1);
        Ok(Some(self.memories.len() - 1))
    }

    fn thread(&mut self, l: Local) -> Result<usize, String> {
        if let Some(&n) = self.number_of.1.get(&l) {
            return Ok(n);
        }
        let thread = self.model.thread(l).ok_or("the search holds an unknown thread")?;
        let initial = private(self.model.program(), thread.template).ok_or("a thread runs nothing")?;
        self.threads.push(StatedThread {
            template: thread.template,
            at: thread.pc,
            number: thread.id,
            registers: thread.registers.clone(),
            private: changes(&initial, &thread.private),
            held: thread.held.clone(),
            stopped: thread.stopped,
        });
        self.number_of.1.insert(l, self.threads.len() - 1);
        Ok(self.threads.len() - 1)
    }
}

/// Private memory before the first step of a thread.
fn private(program: &Program, template: u32) -> Option<Bytes> {
    let frame = program.templates.get(template as usize)?.frame as usize;
    let mut bytes = Bytes::from(program.private.clone());
    bytes.resize(bytes.len() + frame, &OPEN);
    Some(bytes)
}

fn changes(from: &Bytes, to: &Bytes) -> Changes {
    let mut found: Changes = Vec::new();
    for (at, (_, &byte)) in from.iter().zip(to.iter()).enumerate().filter(|(_, (a, b))| a != b) {
        match found.last_mut() {
            Some((start, bytes)) if *start + bytes.len() == at => bytes.push(byte),
            _ => found.push((at, vec![byte])),
        }
    }
    found
}

/// Returns bytes with some of them changed, if these are there.
fn changed(mut bytes: Bytes, changes: &Changes) -> Option<Bytes> {
    for (at, new) in changes {
        if at.checked_add(new.len())? > bytes.len() || !are_bytes(new) {
            return None;
        }
        bytes.write(*at, new);
    }
    Some(bytes)
}

fn are_bytes(bytes: &[u16]) -> bool {
    bytes.iter().all(|&b| is_byte(b))
}

/// What a document shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// For each thing that is asked: its name, the kind of evidence, and its number of elements.
    pub answers: Vec<(String, &'static str, usize)>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

fn invalid<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Invalid(why.into()))
}

/// Checks a document as an answer to all that is asked about a program, with a bound on threads.
pub fn certify(query: &Query, bound: Bound, bytes: &[u8], limits: &Limits) -> Result<Shown, Fault> {
    let no = |why: String| Fault::Unreadable(format!("this is not a certificate about a program: {why}"));
    let document: Document = serde_json::from_slice(bytes).map_err(|why| no(why.to_string()))?;
    if document.format != FORMAT {
        return Err(no(format!("its format is not `{FORMAT}`")));
    }
    if document.version != VERSION {
        let found = document.version;
        return Err(no(format!("it has version {found}, but this checker knows version {VERSION}")));
    }
    if document.program != identity(query) {
        return invalid("it is about another program or another question");
    }
    if let Some(why) = query.program.not_flat() {
        return invalid(&format!("states with calls are not read: {why}"));
    }
    // At the bound, a step creates no thread, so that a closed set of one bound is none of another.
    if document.bound != bound.threads() {
        return invalid("it is about another number of threads");
    }
    if query.program.asked.contains(&Violation::Race) && query.is_weak() {
        return invalid(
            "the program names memory orders that are weaker than seq_cst, which a search does not cover",
        );
    }
    let waits = query.question.asks_who_waits() && query.program.asked.is_empty();
    let model = match document.sliced {
        true if !waits => return invalid("data matters to what is asked"),
        true => Arc::new(Concrete::new(Arc::new(query.program.without_idle_data()))),
        false => query.model(),
    };
    let mut problem = Problem { bound, ..query.problem_of(model.clone()) };
    if query.question.deadlock {
        problem.targets.push(Target::of(Property::Deadlock, Vec::new()));
    }
    let stays = query.question.starvation.iter().map(|text| starvation(text));
    for property in query.question.stuck.iter().map(|text| stuck(text)).chain(stays) {
        let property = property.map_err(|why| Fault::Invalid(why.message))?;
        problem.targets.push(Target::of(property, Vec::new()));
    }
    let mut ticker = Ticker::new(limits);
    let verdicts = document.verdicts(&model, &problem, &mut ticker)?;
    let given: Vec<_> = verdicts.iter().enumerate().collect();
    for (done, target) in check_each(&problem, &given, limits).into_iter().zip(&problem.targets) {
        done.map_err(|flaw| match flaw {
            Flaw::Limit(why) => Fault::Limit(why),
            flaw => Fault::Invalid(format!("{}: {flaw}", target.name)),
        })?;
    }
    let answer = |(target, verdict): (&Target, &Verdict)| {
        let (kind, size) = verdict.evidence().unwrap_or_default();
        (target.name.clone(), kind, size)
    };
    Ok(Shown {
        answers: problem.targets.iter().zip(&verdicts).map(answer).collect(),
        assumptions: query.assumptions(&model.remarks()),
    })
}

impl Document {
    /// Returns the verdicts that it gives, for each target of the problem.
    fn verdicts(
        &self,
        model: &Concrete,
        problem: &Problem,
        ticker: &mut Ticker,
    ) -> Result<Vec<Verdict>, Fault> {
        let bad = || Fault::Invalid("it has states that are none of the program".into());
        let states = States::read(self, model, ticker)?.ok_or_else(bad)?;
        let mut found: Vec<Option<Verdict>> = vec![None; problem.targets.len()];
        for proof in &self.proofs {
            let certificate = states.certificate(&proof.evidence).ok_or_else(bad)?;
            for name in &proof.safe {
                match problem.targets.iter().position(|t| t.name == *name) {
                    Some(n) => found[n] = Some(Verdict::Safe(certificate.clone())),
                    None => return invalid("it does not answer what is asked"),
                }
            }
        }
        let all: Option<Vec<Verdict>> = found.into_iter().collect();
        match all.filter(|all| !all.is_empty()) {
            Some(all) => Ok(all),
            None => invalid("it does not answer what is asked"),
        }
    }
}

/// The states of a document, by the numbers of the checker's own model.
struct States {
    ended: Shared,
    memories: Vec<Shared>,
    threads: Vec<Local>,
}

impl States {
    /// `None`: some state has not the shape of those of the program.
    fn read(document: &Document, model: &Concrete, ticker: &mut Ticker) -> Result<Option<States>, Fault> {
        let program = model.program();
        let initial = initial_memory(program);
        let mut states = States { ended: model.halted(), memories: Vec::new(), threads: Vec::new() };
        for stated in &document.memories {
            ticker.ticks(16).map_err(Fault::Limit)?;
            let Some((memory, about)) = stated.memory(program, &initial) else { return Ok(None) };
            states.memories.push(model.shared(Arc::new(memory), about));
        }
        for stated in &document.threads {
            ticker.ticks(16).map_err(Fault::Limit)?;
            let Some(thread) = stated.thread(program) else { return Ok(None) };
            states.threads.push(model.local(thread));
        }
        Ok(Some(states))
    }

    fn certificate(&self, evidence: &Evidence) -> Option<Certificate> {
        Some(match evidence {
            Evidence::Closed(set) => {
                let one = |(at, threads): &(At, Vec<usize>)| {
                    Some(Config::new(self.shared(*at)?, self.locals(threads)?.into_iter().collect()))
                };
                Certificate::Closed(Arc::new(set.iter().map(one).collect::<Option<_>>()?))
            }
            Evidence::Downward(set) => {
                let one = |(at, threads, any): &(At, Vec<usize>, Vec<usize>)| {
                    let mut bag: Bag = self.locals(threads)?.into_iter().collect();
                    self.locals(any)?.into_iter().for_each(|l| bag.insert(l, OMEGA));
                    Some(Config::new(self.shared(*at)?, bag))
                };
                Certificate::Downward(Arc::new(set.iter().map(one).collect::<Option<_>>()?))
            }
            Evidence::Views(blocks) => Certificate::Views(self.views(blocks)?),
            Evidence::Sums(blocks, sums, ranks) => {
                let ranks = ranks.iter().map(|rank| self.rank(rank)).collect::<Option<_>>()?;
                let vectors = sums.iter().map(|sum| self.vector(sum)).collect::<Option<_>>()?;
                let views = self.views(blocks)?;
                Certificate::Relative(Arc::new(Relative { views, vectors, basis: Vec::new(), ranks }))
            }
        })
    }

    fn views(&self, blocks: &[Beside]) -> Option<Arc<Views>> {
        let one = |(at, left, right): &Beside| {
            let right = match right {
                Some(right) => Some(self.locals(right)?),
                None => None,
            };
            Some(Block { shared: self.shared(*at)?, left: self.locals(left)?, right })
        };
        Some(Arc::new(Views::of_blocks(blocks.iter().map(one).collect::<Option<Vec<_>>>()?)))
    }

    /// `None` if a state is none, or counts twice.
    fn vector(&self, (shared, locals): &Sum) -> Option<Vector> {
        let mut vector = Vector {
            shared: shared.iter().map(|&(at, n)| Some((self.shared(at)?, n))).collect::<Option<_>>()?,
            locals: locals.iter().map(|&(l, n)| Some((*self.threads.get(l)?, n))).collect::<Option<_>>()?,
        };
        vector.shared.sort_unstable();
        vector.locals.sort_unstable();
        let twice = vector.shared.windows(2).any(|w| w[0].0 == w[1].0)
            || vector.locals.windows(2).any(|w| w[0].0 == w[1].0);
        (!twice).then_some(vector)
    }

    fn rank(&self, (nodes, locals): &StatedRank) -> Option<Rank> {
        let node = |&(at, l, n): &(At, usize, i64)| Some(((self.shared(at)?, *self.threads.get(l)?), n));
        Some(Rank {
            nodes: nodes.iter().map(node).collect::<Option<_>>()?,
            locals: locals.iter().map(|&(l, n)| Some((*self.threads.get(l)?, n))).collect::<Option<_>>()?,
        })
    }

    fn shared(&self, at: At) -> Option<Shared> {
        at.map_or(Some(self.ended), |n| self.memories.get(n).copied())
    }

    fn locals(&self, threads: &[usize]) -> Option<Vec<Local>> {
        threads.iter().map(|&n| self.threads.get(n).copied()).collect()
    }
}

impl StatedMemory {
    fn memory(&self, program: &Program, initial: &Memory) -> Option<(Memory, Option<Touch>)> {
        let slot = |slot: &StatedSlot| {
            let used =
                |bytes: &[u16], known| are_bytes(bytes).then(|| Slot::Used(bytes.to_vec().into(), known));
            match slot {
                StatedSlot::Empty => Some(Slot::Empty),
                StatedSlot::Freed => Some(Slot::Freed),
                StatedSlot::Unknown(bytes) => used(bytes, false),
                StatedSlot::Known(bytes) => used(bytes, true),
            }
        };
        let about = self.about.as_ref().map(|t| {
            let &StatedTouch { address, size, writes, atomic, at: (template, pc) } = t;
            Touch { address, size, writes, atomic, at: Point { template, pc } }
        });
        let fits = |t: &Touch| t.address.checked_add(t.size.into()).is_some();
        if !about.iter().all(fits) || self.allocated.len() > MOST_SLOTS {
            return None;
        }
        if !program.numbered && !self.ended.is_empty() {
            return None;
        }
        let memory = Memory {
            fixed: changed(initial.fixed.clone(), &self.fixed)?,
            heap: self.allocated.iter().map(slot).collect::<Option<_>>()?,
            ended: self.ended.iter().copied().collect(),
        };
        Some((memory, about))
    }
}

impl StatedThread {
    fn thread(&self, program: &Program) -> Option<Thread> {
        let template = program.templates.get(self.template as usize)?;
        let live =
            template.live.get(self.at as usize).filter(|_| (self.at as usize) < template.code.len())?;
        if self.registers.len() != if self.stopped { 0 } else { live.len() } {
            return None;
        }
        Some(Thread {
            template: self.template,
            pc: self.at,
            id: self.number,
            registers: self.registers.clone(),
            private: changed(private(program, self.template)?, &self.private)?,
            frames: Vec::new(),
            slots: Vec::new(),
            held: self.held.clone(),
            stopped: self.stopped,
        })
    }
}
