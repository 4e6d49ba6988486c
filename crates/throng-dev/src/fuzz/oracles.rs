//! All oracles: engines in all their variants, naive searches, the checker's interpreter,
//! translations.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::case::{Body, Case, Program};
use super::claim::Claim;
use super::compare::{Asked, Kind, Trouble};
use super::naive::{by_size, by_tokens};
use super::shrink::smaller;
use super::{integers, questions, states};
use crate::interpreter::{self, Naive};
use throng::{Engine, Settings};
use throng_check::certificate::write::{NOT_STANDING, Origin, document, write};
use throng_check::certificate::{self, Document};
use throng_check::certify::interpreter::Interpreter;
use throng_check::certify::{self, Fault};
use throng_check::rules;
use throng_engine::auto::Auto;
use throng_engine::backward::Backward;
use throng_engine::explicit::Explicit;
use throng_engine::on_covering::OnCovering;
use throng_engine::{Algorithm, Silent};
use throng_lang::bp::parser;
use throng_lang::load::{self, Input, Loaded, Reading};
use throng_lang::question::Question;
use throng_lang::source::Source;
use throng_lang::system::System;
use throng_lang::write::{self, Written};
use throng_lang::{configuration, pnml};
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem, Target};
use throng_model::property::Property;
use throng_model::unfold::unfold;
use throng_model::verdict::{Unknown, Verdict};

/// The answer of an oracle: about each target, then about all of them together. `None`: it does not
/// apply to the case.
pub type Answers = Result<Option<Vec<Claim>>, Trouble>;

/// The function by which an oracle answers.
pub type Ask = dyn Fn(&Asked<'_>, &Limits) -> Answers + Send + Sync;

/// One source of answers.
pub struct Oracle {
    /// Its name.
    pub name: &'static str,
    /// Answers about a case.
    pub ask: Box<Ask>,
}

impl Oracle {
    /// An oracle that answers like this.
    pub fn new(
        name: &'static str,
        ask: impl Fn(&Asked<'_>, &Limits) -> Answers + Send + Sync + 'static,
    ) -> Oracle {
        Oracle { name, ask: Box::new(ask) }
    }
}

/// Every oracle.
pub fn oracles() -> Vec<Oracle> {
    let mut all: Vec<Oracle> = engines().into_iter().map(Entry::oracle).collect();
    all.push(Oracle::new("naive", |asked, _| Ok(naive(asked))));
    all.push(Oracle::new("hidden answer", |asked, _| {
        let names: Vec<String> = asked.problem.targets.iter().map(|t| t.name.clone()).collect();
        Ok(asked.case.known.as_ref().and_then(|known| known.claims(asked.case, &names)).map(with_overall))
    }));
    all.push(Oracle::new("interpreter", interpreted));
    for (name, format) in TRANSLATIONS {
        all.push(Oracle::new(name, move |asked, limits| translated(asked, limits, format)));
    }
    all.push(Oracle::new("very many tokens", scaled));
    all.push(Oracle::new("certificate, renamed", renamed));
    all.push(Oracle::new("certificate of another", of_another));
    all.push(Oracle::new(states::NAME, states::compare));
    all.push(Oracle::new(questions::NAME, questions::compare));
    all.push(Oracle::new(integers::NAME, integers::compare));
    all
}

/// An engine and what it promises.
pub struct Entry {
    /// Its name in the comparison.
    pub name: &'static str,
    /// The engine.
    pub engine: Box<dyn Algorithm + Send>,
    /// Of the runs with the fewest threads, its have the fewest steps.
    shortest: bool,
    /// Its evidence can be written to a file.
    certificates: bool,
}

/// Every engine of the registry, with and without what makes it faster.
pub fn engines() -> Vec<Entry> {
    let set = |change: &dyn Fn(&mut Settings)| {
        let mut settings = Settings::default();
        (settings.partial_order, settings.quotient) = (false, false);
        change(&mut settings);
        settings
    };
    let explicit = |change: fn(&mut Settings)| {
        Engine::Explicit.build(&set(&|s| {
            s.max_threads = Some(5);
            change(s);
        }))
    };
    let symbolic = |por| Engine::Symbolic.build(&set(&|s| (s.max_threads, s.partial_order) = (Some(4), por)));
    // Two threads share the work from the beginning, though that does not pay.
    let shared = Explicit { jobs: 2, max_threads: Some(5), por: false, share_from: 0, ..Explicit::default() };
    let mut all = vec![
        Entry::of("explicit, reduced", explicit(|s| s.partial_order = true)).shortest().reduced(),
        Entry::of("explicit, 2 jobs", Box::new(OnCovering(Box::new(shared)))).shortest(),
        Entry::of("explicit", explicit(|_| {})).shortest(),
        Entry::of("symbolic, reduced", symbolic(true)).shortest().reduced(),
        Entry::of("symbolic", symbolic(false)).shortest(),
        Entry::of("backward, plain", Box::new(OnCovering(Box::new(Backward)))),
        Entry::of("auto, 2 jobs", Engine::Auto.build(&set(&|s| s.jobs = 2))),
        Entry::of("auto, reduced", Engine::Auto.build(&set(&|s| s.partial_order = true))).reduced(),
    ];
    // What `distributed` finds is checked by its workers, and compared with `explicit` where
    // processes are tested.
    for &engine in Engine::ALL.iter().filter(|engine| engine.name() != "distributed") {
        let on_quotient = match engine {
            Engine::Explicit | Engine::Symbolic => continue,
            Engine::KarpMiller => Some("karp-miller, on the quotient"),
            Engine::Backward => Some("backward, on the quotient"),
            Engine::Views => Some("views, on the quotient"),
            Engine::Equations => Some("equations, on the quotient"),
            Engine::Guided => Some("guided, on the quotient"),
            _ => None,
        };
        all.push(Entry::of(engine.name(), engine.build(&set(&|_| {}))));
        all.extend(on_quotient.map(|name| Entry::of(name, engine.build(&set(&|s| s.quotient = true)))));
    }
    all
}

impl Entry {
    fn of(name: &'static str, engine: Box<dyn Algorithm + Send>) -> Entry {
        Entry { name, engine, shortest: false, certificates: true }
    }

    fn shortest(self) -> Entry {
        Entry { shortest: true, ..self }
    }

    /// An engine that leaves out interleavings has evidence that cannot be written to a file.
    fn reduced(self) -> Entry {
        Entry { certificates: false, ..self }
    }

    fn oracle(self) -> Oracle {
        Oracle::new(self.name, move |asked, limits| {
            let answered = answers(&*self.engine, asked.problem, limits)?;
            let verdicts = &answered.verdicts;
            if self.certificates && verdicts.iter().any(|v| !matches!(v, Verdict::Unknown(_))) {
                certified(asked, verdicts)?;
            }
            // An engine that ran out of time may have had none left to look for a shorter run.
            let shortest = self.shortest && limits.check().is_ok();
            Ok(Some(answered.claims(asked, shortest)))
        })
    }
}

/// The answer of an engine whose evidence was accepted.
struct Answered {
    verdicts: Vec<Verdict>,
    /// Per target, whether its run is claimed to have the fewest threads.
    fewest: Vec<bool>,
    /// Number of threads up to which no open target can be reached.
    complete: Option<u32>,
}

impl Answered {
    /// Returns the claims about each target, and overall.
    fn claims(&self, asked: &Asked<'_>, shortest: bool) -> Vec<Claim> {
        let claim = |(verdict, &fewest): (&Verdict, &bool)| match (verdict, self.complete) {
            (Verdict::Safe(_), _) => Claim::SAFE,
            (Verdict::Unsafe(_), _) if !asked.counts() => Claim::hit(Claim::UNCOUNTED),
            (Verdict::Unsafe(trace), _) if fewest => {
                Claim::fewest(trace.threads(), shortest.then_some(trace.steps.len()))
            }
            (Verdict::Unsafe(trace), _) => Claim::hit(trace.threads()),
            (Verdict::Unknown(_), Some(most)) if asked.counts() => Claim::none_up_to(most),
            (Verdict::Unknown(_), _) => Claim::UNKNOWN,
        };
        with_overall(self.verdicts.iter().zip(&self.fewest).map(claim).collect())
    }
}

fn answers(engine: &dyn Algorithm, problem: &Problem, limits: &Limits) -> Result<Answered, Trouble> {
    let flawed = |why: String| Trouble::new(Kind::Evidence, why);
    let mut answer = engine.run(problem, limits, &Silent);
    if let Some(flaw) = answer.flaw {
        return Err(flawed(flaw));
    }
    let mut complete = answer.statistics.complete_up_to;
    for verdict in &answer.verdicts {
        if let Verdict::Unknown(Unknown::NotForThisModel(why)) = verdict
            && why.contains("internal")
        {
            return Err(flawed(why.clone()));
        }
    }
    let all: Vec<(usize, &Verdict)> = answer.verdicts.iter().enumerate().collect();
    let found = rules::check_each(problem, &all, &patience());
    for (i, flaw) in found.into_iter().enumerate().filter_map(|(i, one)| Some((i, one.err()?))) {
        match flaw {
            // As `throng check` does.
            rules::Flaw::Limit(why @ Unknown::Inconclusive(_)) => {
                answer.statistics.complete_up_to = complete;
                answer.statistics.withdraw(&answer.verdicts[i]);
                complete = answer.statistics.complete_up_to;
                answer.verdicts[i] = Verdict::Unknown(why);
            }
            rules::Flaw::Limit(_) => {}
            flaw => return Err(flawed(format!("about `{}`: {flaw}", problem.targets[i].name))),
        }
    }
    let fewest = (0..answer.verdicts.len()).map(|i| answer.has_fewest(problem, i)).collect();
    Ok(Answered { verdicts: answer.verdicts, fewest, complete })
}

/// Returns the limits of checkers: more than any case should need.
fn patience() -> Limits {
    Limits::none().timeout(Duration::from_secs(5))
}

fn with_overall(mut claims: Vec<Claim>) -> Vec<Claim> {
    claims.push(Claim::overall(&claims));
    claims
}

/// The evidence goes into a file and comes back, and the other checker looks at it: it answers what
/// was asked.
fn certified(asked: &Asked<'_>, verdicts: &[Verdict]) -> Result<(), Trouble> {
    let trouble = |why: String| Trouble::new(Kind::Certificate, why);
    // As the command does it.
    let verdicts = &certificate::shrink(asked.problem, verdicts, &patience());
    let Some(read) = written(asked, verdicts)? else { return Ok(()) };
    match certify::certify(&certify::Asked::Own(asked.loaded), &read, &patience()) {
        Ok(certified) => {
            let wanted = verdicts.iter().filter(|v| !matches!(v, Verdict::Unknown(_))).count();
            if certified.answers.len() != wanted {
                return Err(trouble(format!(
                    "{} answers of {wanted} are certified",
                    certified.answers.len()
                )));
            }
            match certify::certify(&asked.for_certificates(), &read, &patience()) {
                Err(Fault::Invalid(why)) if answers_all(verdicts) => Err(trouble(why)),
                Ok(_) if !answers_all(verdicts) => Err(trouble("a part of an answer is accepted".into())),
                _ => Ok(()),
            }
        }
        Err(Fault::Limit(_)) => Ok(()),
        Err(fault) => Err(trouble(fault.to_string())),
    }
}

/// Returns whether no target is open, or those that are do not change the verdict.
fn answers_all(verdicts: &[Verdict]) -> bool {
    verdicts.iter().any(|v| matches!(v, Verdict::Unsafe(_)))
        || !verdicts.iter().any(|v| matches!(v, Verdict::Unknown(_)))
}

/// The certificate of these verdicts, written and read again, if there is one.
fn written(asked: &Asked<'_>, verdicts: &[Verdict]) -> Result<Option<Document>, Trouble> {
    let trouble = |why: String| Trouble::new(Kind::Certificate, why);
    let origin = Origin { loaded: asked.loaded, reading: &asked.reading, problem: asked.problem };
    let mut bytes = Vec::new();
    let written = match document(&origin, verdicts) {
        // Said instead of writing one that `certify` rejects.
        Err(why) if why == NOT_STANDING => return Ok(None),
        written => written.map_err(trouble)?,
    };
    write(&written, &mut bytes).map_err(|why| trouble(why.to_string()))?;
    certify::read(&bytes).map(Some).map_err(|why| trouble(why.to_string()))
}

// ── certificates that lie ──

/// The certificate of a true answer, in which targets have the names of others: what `certify`
/// prints must not mislead.
fn renamed(asked: &Asked<'_>, limits: &Limits) -> Answers {
    let verdicts = answers(&Auto { por: false, ..Auto::default() }, asked.problem, limits)?.verdicts;
    if !answers_all(&verdicts) {
        return Ok(None);
    }
    let Some(mut document) = written(asked, &verdicts)? else { return Ok(None) };
    let names: Vec<String> = document.targets.iter().map(|t| t.name.clone()).collect();
    let other = |name: &str| match names.iter().position(|n| n == name) {
        Some(i) if names[(i + 1) % names.len()] != *name => names[(i + 1) % names.len()].clone(),
        _ => "assertions\u{1b}[2K\rVALID".into(),
    };
    document.targets.iter_mut().for_each(|t| t.name = other(&t.name));
    document.undecided = vec!["\u{1b}[2K\rVALID".into()];
    document.input.name = "\u{1b}[2K\rVALID".into();
    printed(asked, &document)
}

/// The certificate of a similar case shown to this one: if it is accepted, what it says must be
/// true here.
fn of_another(asked: &Asked<'_>, limits: &Limits) -> Answers {
    // Most of them are rejected; a few are enough to come across one that is not.
    let similar = smaller(asked.case);
    let every = (similar.len() / 4).max(1);
    let first = asked.loaded.source.text.len() % every;
    for case in similar.iter().skip(first).step_by(every) {
        let document = Asked::with(case, |other| {
            let verdicts = answers(&Auto { por: false, ..Auto::default() }, other.problem, limits)?.verdicts;
            if answers_all(&verdicts) { written(other, &verdicts) } else { Ok(None) }
        });
        // Not every smaller case is a correct input, and its own troubles are not the matter here.
        let Ok(Some(document)) = document else { continue };
        if let Some(claims) = printed(asked, &document)? {
            return Ok(Some(claims));
        }
    }
    Ok(None)
}

/// Returns the claims that `certify` prints about a certificate, by name; nothing if it does not
/// accept it.
fn printed(asked: &Asked<'_>, document: &Document) -> Answers {
    let Ok(certified) = certify::certify(&asked.for_certificates(), document, &patience()) else {
        return Ok(None);
    };
    let mut texts =
        certified.answers.iter().map(|a| &a.name).chain(&certified.notes).chain([&certified.initial]);
    if let Some(odd) = texts.find(|text| text.chars().any(char::is_control)) {
        return Err(Trouble::new(Kind::Certificate, format!("control characters are printed: {odd:?}")));
    }
    let claim = |target: &Target| {
        let answer = certified.answers.iter().find(|a| a.name == target.name);
        match answer.map(|a| a.verdict) {
            Some(certificate::Claim::Safe) => Claim::SAFE,
            Some(certificate::Claim::Unsafe) => Claim::hit(Claim::UNCOUNTED),
            None => Claim::UNKNOWN,
        }
    };
    Ok(Some(with_overall(asked.problem.targets.iter().map(claim).collect())))
}

// ── naive searches ──

/// Runs with more threads or tokens are not looked for.
const MOST_THREADS: u32 = 4;
const MOST_TOKENS: u32 = 6;

fn naive(asked: &Asked<'_>) -> Option<Vec<Claim>> {
    let claims = match (&asked.case.body, asked.case.threads) {
        (Body::Threads(threads), bound) => by_size(threads, bound, MOST_THREADS),
        (Body::Net(net), Some(most)) => by_tokens(net, most),
        (Body::Net(net), None) => {
            let claims = by_size(net, None, MOST_TOKENS);
            if net.counts() { claims } else { claims.into_iter().map(Claim::uncounted).collect() }
        }
        (Body::Program(program), bound) => naive_program(asked, program, bound),
    };
    Some(with_overall(claims))
}

fn naive_program(asked: &Asked<'_>, program: &Program, bound: Option<u32>) -> Vec<Claim> {
    let (tree, _) = parser::parse(&program.text);
    let naive = Naive::new(&program.text, &tree);
    let question = interpreter::Question {
        bound: bound.map_or(usize::MAX, |n| n as usize),
        initial: program.initial.map(|n| n as usize),
        keep_ended: program.keep_ended,
        limit: 1_500,
    };
    let targets = &asked.problem.targets;
    let mut claims = vec![Claim::UNKNOWN; targets.len()];
    let last = bound.unwrap_or(3).min(3);
    for within in 0..=last {
        let (label, invariant) = (program.label.as_deref(), program.invariant.as_deref());
        let Some(found) = naive.search_within(&question, within as usize, label, invariant) else { break };
        let closed = !found.left_out && program.initial.is_some_and(|n| n <= within);
        for (claim, target) in claims.iter_mut().zip(targets) {
            let steps = match target.property.as_deref() {
                Some(Property::Assertions) => found.violated,
                Some(Property::ErrorLabel(_)) => found.error_label,
                Some(Property::Mutex(_)) => found.mutex,
                _ => found.invariant,
            };
            match steps {
                _ if claim.hit.is_some() => {}
                Some(steps) => *claim = Claim::fewest(within, Some(steps)),
                None if closed || bound == Some(within) => *claim = Claim::SAFE,
                None => *claim = Claim::none_up_to(within),
            }
        }
        if closed {
            break;
        }
    }
    claims
}

/// The checker's interpreter as the model.
fn interpreted(asked: &Asked<'_>, limits: &Limits) -> Answers {
    let Body::Program(program) = &asked.case.body else { return Ok(None) };
    let trouble = |why: String| Trouble::new(Kind::Refused, why);
    let model = Interpreter::new(&program.text, program.keep_ended, false);
    let model = model.ok_or_else(|| trouble("the interpreter does not take it".into()))?;
    let model = Arc::new(model);
    let mut targets = Vec::new();
    for target in &asked.problem.targets {
        let property = target.property.as_deref();
        let property = property.ok_or_else(|| trouble(format!("what does `{}` ask for?", target.name)))?;
        targets.push(target.with_configs(model.bad(property).map_err(trouble)?));
    }
    let own = Problem {
        initial: vec![model.initial(program.initial)],
        initial_text: String::new(),
        targets,
        bound: asked.problem.bound,
        model,
    };
    let engine = Explicit { max_threads: Some(4), por: false, ..Explicit::default() };
    Ok(Some(answers(&engine, &own, limits)?.claims(asked, false)))
}

// ── translations ──

const TRANSLATIONS: [(&str, write::Format); 5] = [
    ("as .bp", write::Format::Bp),
    ("as .tts", write::Format::Tts),
    ("as .ntts", write::Format::Ntts),
    ("as .spec", write::Format::Spec),
    ("as .pnml", write::Format::Pnml),
];

/// The problem as a table of steps, if it is one or can be written out.
pub fn as_system(loaded: &Loaded, problem: &Problem, limits: &Limits) -> Result<System, String> {
    match &loaded.input {
        Input::Program(_) => unfold(problem, limits).map(System::from).map_err(|why| why.to_string()),
        Input::System(system) => Ok(System {
            initial: problem.initial.clone(),
            initial_text: problem.initial_text.clone(),
            targets: problem.targets.clone(),
            ..system.clone()
        }),
    }
}

/// Reads what was written and poses what it asks, with its initial configuration and its second
/// file.
pub fn reread(written: &Written, format: write::Format) -> Result<(Loaded, Problem), String> {
    let source = Source::new("written", written.text.clone());
    let format = match format {
        write::Format::Bp => load::Format::Bp,
        write::Format::Tts => load::Format::Tts,
        write::Format::Ntts => load::Format::Ntts,
        write::Format::Spec => load::Format::Spec,
        write::Format::Pnml => load::Format::Pnml,
        write::Format::Dot => return Err("there is no reader for drawings".into()),
    };
    let loaded = load::read(source, format, &Reading::default())
        .map_err(|r| format!("{:?}\n{}", r.diagnostics, written.text))?;
    let question =
        Question { initial: written.initial.clone(), may_lack_target: true, ..Question::default() };
    let posed = question.pose(&loaded, Path::new("no such folder/written"));
    let mut problem = posed.map_err(|c| format!("{c:?}\n{}", written.text))?.problem;
    if let (Some(companion), Input::System(system)) = (&written.companion, &loaded.input) {
        let table = &system.table;
        problem.targets = if format == load::Format::Pnml {
            let properties =
                pnml::read_properties(&companion.text, table).map_err(|why| format!("{why:?}"))?;
            let targets = properties.into_iter().map(|p| p.target);
            targets.collect::<Result<_, _>>().map_err(|why| format!("{why:?}\n{}", companion.text))?
        } else {
            let (targets, found) = configuration::read_prop(&companion.text, table.shared(), table.locals());
            if !found.is_empty() {
                return Err(format!("{found:?}\n{}", companion.text));
            }
            targets
        };
    }
    Ok((loaded, problem))
}

/// Written in another format and answered there. Translations are for any number of threads, and
/// threads are not counted: one may need a helper.
fn translated(asked: &Asked<'_>, limits: &Limits, format: write::Format) -> Answers {
    if asked.case.threads.is_some() {
        return Ok(None);
    }
    let Ok(system) = as_system(asked.loaded, asked.problem, limits) else { return Ok(None) };
    if system.table.steps().len() > 150 {
        return Ok(None);
    }
    let Ok(written) = write::write(&system, format) else { return Ok(None) };
    if written.text.len() > 20_000 {
        return Ok(None);
    }
    let trouble = |why: String| Trouble::new(Kind::Translation, why);
    let (_, problem) = reread(&written, format).map_err(trouble)?;
    elsewhere(asked, &problem, &written.text, limits)
}

/// A net with numbers that are very large and otherwise the same.
fn scaled(asked: &Asked<'_>, limits: &Limits) -> Answers {
    const TIMES: [u32; 4] = [1 << 26, 127, 256, 1 << 16];
    let Body::Net(net) = &asked.case.body else { return Ok(None) };
    let times = TIMES[asked.loaded.source.text.len() % TIMES.len()];
    let Some(net) = net.scaled(times).filter(|_| asked.case.threads.is_none()) else { return Ok(None) };
    let written = Written {
        text: net.text(),
        companion: None,
        initial: None,
        start_must_be_given: false,
        notes: Vec::new(),
    };
    let trouble = |why: String| Trouble::new(Kind::Translation, why);
    let (_, problem) = reread(&written, write::Format::Spec).map_err(trouble)?;
    elsewhere(asked, &problem, &written.text, limits)
}

/// Answers the question posed in another way: about each target where formats have
/// one for each, and about all of them together.
fn elsewhere(asked: &Asked<'_>, problem: &Problem, text: &str, limits: &Limits) -> Answers {
    let answered = answers(&Auto::default(), problem, limits)
        .map_err(|t| Trouble::new(t.kind, format!("{}\n{text}", t.what)))?;
    let claims = answered.verdicts.iter().map(|v| match v {
        Verdict::Safe(_) => Claim::SAFE,
        Verdict::Unsafe(_) => Claim::hit(Claim::UNCOUNTED),
        Verdict::Unknown(_) => Claim::UNKNOWN,
    });
    let claims: Vec<Claim> = claims.collect();
    // Some formats have a line for each configuration.
    let single = |problem: &Problem| problem.targets.iter().all(|t| t.configs.len() == 1);
    if single(problem) && single(asked.problem) && claims.len() == asked.problem.targets.len() {
        return Ok(Some(with_overall(claims)));
    }
    let mut all = vec![Claim::UNKNOWN; asked.problem.targets.len()];
    all.push(Claim::overall(&claims));
    Ok(Some(all))
}

impl Asked<'_> {
    /// The question as certificates have to answer it.
    fn for_certificates(&self) -> certify::Asked<'_> {
        certify::Asked::Check(Origin { loaded: self.loaded, reading: &self.reading, problem: self.problem })
    }

    /// Returns whether numbers of threads mean the same to all oracles.
    fn counts(&self) -> bool {
        let net_counts = !matches!(&self.case.body, Body::Net(net) if !net.counts());
        net_counts && !matches!(self.problem.bound, Bound::Tokens(_))
    }

    /// The case as a problem, or what is wrong with it.
    pub(super) fn with<T>(
        case: &Case,
        then: impl FnOnce(&Asked<'_>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let trouble = |why: String| Trouble::new(Kind::Refused, why);
        let reading = case.reading();
        let loaded = load::read(Source::new("case", case.text()), case.format(), &reading)
            .map_err(|r| trouble(format!("{:?}", r.diagnostics)))?;
        let posed = case.question().pose(&loaded, Path::new("no such folder/case"));
        let problem = posed.map_err(|c| trouble(format!("{c:?}")))?.problem;
        then(&Asked { case, loaded: &loaded, reading, problem: &problem })
    }
}
