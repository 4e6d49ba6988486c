//! Does a program refine a local/global state machine?

use std::time::Instant;

use super::{Job, hit, no_input};
use crate::error::Error;
use crate::input::Input;
use crate::report::refines::{Event, RefinesOutcome, RefinesVerdict, Who};
use throng_check::certificate::names::{LocalName, SharedName};
use throng_check::certificate::refinement::{FORMAT, Life, Moved, Pair, RefinementDocument, VERSION};
use throng_check::certificate::write::{Origin, document, write};
use throng_check::certificate::{self, Claim, Document, Namer, ProgramNames, States, hash};
use throng_check::certify::interpreter::Interpreter;
use throng_check::certify::refinement::{self, CertifiedRefinement, Sides};
use throng_check::certify::{Fault, read};
use throng_check::rules::Flaw;
use throng_check::rules::simulation::{Deviation, MachineStates, Move, Refinement, Related};
use throng_engine::Engine;
use throng_engine::karp_miller::reachable_unbounded;
use throng_engine::refinement::{Found, refines};
use throng_lang::bp::Jit;
use throng_lang::load::{self, Loaded};
use throng_lang::machine::Machine;
use throng_model::limits::Limits;
use throng_model::problem::{Problem, Target};
use throng_model::verdict::{Unknown, Verdict};
use throng_model::{Bag, Config, Describe, Local, Shared};

impl Job<'_> {
    /// Returns whether each thread of this program moves as a local/global state machine allows, if
    /// it starts in one of these local states of the machine; without names, in those in which any
    /// number starts. What never happens to the machine's shared states then never happens in the
    /// program.
    ///
    /// ```
    /// use throng::{Format, Input, Job, Limits};
    /// let program = "decl lock := 0; void main() begin while * do
    ///     lock := 1 constrain !lock; lock := 0; od end";
    /// let machine = "shared free held\nlocal out in\ninit free / out\n\
    ///     means free !lock\nmeans held lock\nfree out -> held in\nheld in -> free out\n";
    /// let program = Input::from_text(program, Format::Bp)?;
    /// let machine = Input::from_text(machine, Format::Ntts)?;
    /// let outcome = Job::new(&program).refines(&machine, &[], &Limits::none())?;
    /// assert!(outcome.is_refinement(), "{}", outcome.text());
    /// # Ok::<(), throng::Error>(())
    /// ```
    pub fn refines(
        &self,
        machine: &Input,
        roles: &[String],
        limits: &Limits,
    ) -> Result<RefinesOutcome, Error> {
        let began = Instant::now();
        let sides = self.sides(machine)?;
        let jit = program(sides.program)?;
        let of = refinement::machine(sides.machine, roles).map_err(Error::Unsuitable)?;
        let interpreter = refinement::interpreter(sides.program).map_err(Error::Unsuitable)?;
        let question = refinement::question(&interpreter, &of).map_err(Error::Unsuitable)?;
        let problem = refinement::problem(sides.machine).ok_or_else(no_input)?;
        let found = self.found(&question, &problem, limits);
        let (document, verdict) = match found {
            Err(why) => (None, RefinesVerdict::Unknown(hit(limits, why))),
            Ok(found) => self.written(sides, &question, (&interpreter, jit), (&problem, &found), limits)?,
        };
        let document = match &document {
            Some(written) if self.checks => match refinement::certify(sides, roles, written, limits) {
                Ok(_) => document,
                Err(Fault::Limit(why)) => {
                    return Ok(self.outcome(sides, &of, None, RefinesVerdict::Unknown(why), began));
                }
                Err(fault) => {
                    return Err(Error::Flawed(format!("evidence about refinement does not stand: {fault}")));
                }
            },
            _ => document,
        };
        Ok(self.outcome(sides, &of, document, verdict, began))
    }

    /// Checks a certificate that says whether this program refines a machine.
    pub fn certify_refinement(
        &self,
        machine: &Input,
        roles: &[String],
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<CertifiedRefinement, Error> {
        let sides = self.sides(machine)?;
        program(sides.program)?;
        let document = refinement::read(bytes)?;
        Ok(refinement::certify(sides, roles, &document, limits)?)
    }

    fn sides<'s>(&'s self, machine: &'s Input) -> Result<Sides<'s>, Error> {
        let program = self.input.as_ref().and_then(Input::loaded).ok_or_else(no_input)?;
        let loaded = machine.loaded().ok_or_else(no_input)?;
        Ok(Sides { program, machine: loaded, reading: machine.reading() })
    }

    fn found(&self, question: &Refinement<'_>, problem: &Problem, limits: &Limits) -> Result<Found, Unknown> {
        let reachable: MachineStates =
            reachable_unbounded(problem, limits, self.watch)?.into_iter().collect();
        refines(question, &reachable, limits).map_err(|flaw| match flaw {
            Flaw::Limit(why) => why,
            flaw => Unknown::NotForThisModel(flaw.to_string()),
        })
    }

    fn outcome(
        &self,
        sides: Sides<'_>,
        machine: &Machine,
        document: Option<RefinementDocument>,
        verdict: RefinesVerdict,
        began: Instant,
    ) -> RefinesOutcome {
        let roles = machine.roles.iter().map(|l| machine.table.locals().name(l.0));
        RefinesOutcome {
            program: sides.program.source.name.clone(),
            machine: sides.machine.source.name.clone(),
            roles: roles.collect(),
            most: machine.most,
            verdict,
            document,
            time: began.elapsed(),
        }
    }

    /// Returns the evidence as a document, and the verdict as it is told.
    fn written(
        &self,
        sides: Sides<'_>,
        question: &Refinement<'_>,
        (interpreter, jit): (&Interpreter, &Jit),
        (problem, found): (&Problem, &Found),
        limits: &Limits,
    ) -> Result<(Option<RefinementDocument>, RefinesVerdict), Error> {
        let none = Vec::new();
        let (met, never) = match found {
            Found::Refines { never, .. } => (&none, never),
            Found::Deviates { met, never, .. } => (met, never),
        };
        let thread_states = match self.thread_states_of(sides, problem, (met, never), limits) {
            Ok(document) => document,
            Err(Error::Impossible(why)) => return Ok((None, RefinesVerdict::Unknown(why))),
            Err(error) => return Err(error),
        };
        let mut writer = Writer { interpreter, question, states: States::default() };
        let (claim, related, run, verdict) = match found {
            Found::Refines { related, .. } => {
                let pairs = related.iter().map(|pair| writer.pair(pair)).collect();
                let verdict = RefinesVerdict::Refines { pairs: related.len(), never: never.len() };
                (Claim::Safe, pairs, None, verdict)
            }
            Found::Deviates { deviation, .. } => {
                let life = writer.life(deviation);
                let events = events(question, (interpreter, jit), deviation, never)?;
                (Claim::Unsafe, Vec::new(), Some(life), RefinesVerdict::Deviates(events))
            }
        };
        let described = |loaded: &Loaded| certificate::Input {
            name: loaded.source.name.clone(),
            kind: loaded.format.to_string(),
            hash: hash(&loaded.source.text),
        };
        let document = RefinementDocument {
            format: FORMAT.into(),
            version: VERSION,
            tool: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            program: described(sides.program),
            machine: described(sides.machine),
            roles: question.machine.roles.iter().map(|l| question.machine.table.locals().name(l.0)).collect(),
            verdict: claim,
            states: writer.states,
            thread_states,
            related,
            run,
        };
        Ok((Some(document), verdict))
    }

    /// Returns the certificate that threads of the machine can be in each of some thread states,
    /// and never in others.
    fn thread_states_of(
        &self,
        sides: Sides<'_>,
        problem: &Problem,
        (met, never): (&[ThreadState], &[ThreadState]),
        limits: &Limits,
    ) -> Result<Option<Document>, Error> {
        let one = |&(s, l): &ThreadState| Config::new(s, Bag::one(l));
        let mut targets: Vec<Target> =
            met.iter().map(|state| Target::covering("occurs", vec![one(state)])).collect();
        if !never.is_empty() {
            targets.push(Target::covering("never occurs", never.iter().map(one).collect()));
        }
        if targets.is_empty() {
            return Ok(None);
        }
        let problem = Problem { targets, ..problem.clone() };
        let answer = Engine::Auto.build(&self.settings).run(&problem, limits, self.watch);
        if let Some(Verdict::Unknown(why)) = answer.verdicts.iter().find(|v| matches!(v, Verdict::Unknown(_)))
        {
            return Err(Error::Impossible(why.clone()));
        }
        let origin = Origin { loaded: sides.machine, reading: sides.reading, problem: &problem };
        let flawed = |why: String| Error::Flawed(why);
        let mut bytes = Vec::new();
        let made = document(&origin, &answer.verdicts).map_err(flawed)?;
        write(&made, &mut bytes).map_err(|why| Error::Flawed(why.to_string()))?;
        Ok(Some(read(&bytes)?))
    }
}

/// A shared state with the local state of one thread.
type ThreadState = (Shared, Local);

/// Returns the Boolean program that was read, if it is one of which the question makes sense.
fn program(loaded: &Loaded) -> Result<&Jit, Error> {
    let load::Input::Program(jit) = &loaded.input else {
        return Err(Error::Unsuitable("what refines a machine is a Boolean program".into()));
    };
    let edges = &jit.program().edges;
    let refused = if !jit.tree().orders.is_empty() {
        "names memory orders: refinement is decided under sequential consistency only"
    } else if edges.iter().any(|e| e.effect.others.is_some()) {
        "reads or writes variables of other threads (`x$`), of which a machine knows nothing"
    } else if edges.iter().any(|e| e.child.is_some()) {
        "starts threads, which a machine does not: write the started function as a program of its own"
    } else {
        return Ok(jit);
    };
    Err(Error::Unsuitable(format!("the program {refused}")))
}

/// Collects the names of states.
struct Writer<'a> {
    interpreter: &'a Interpreter,
    question: &'a Refinement<'a>,
    states: States,
}

impl Writer<'_> {
    fn shared(&mut self, s: Shared) -> u32 {
        let name: SharedName = self.interpreter.shared(s);
        place(&mut self.states.shared, name)
    }

    fn local(&mut self, l: Local) -> u32 {
        let name: LocalName = self.interpreter.local(l);
        place(&mut self.states.local, name)
    }

    fn pair(&mut self, pair: &Related) -> Pair {
        let names = self.question.machine.table.locals();
        Pair {
            local: self.local(pair.local),
            inside: pair.inside.map(|s| self.shared(s)),
            machine: pair.machine.iter().map(|m| names.name(m.0)).collect(),
        }
    }

    fn life(&mut self, deviation: &Deviation) -> Life {
        let start = (self.shared(deviation.start.0), self.local(deviation.start.1));
        let moved = |step: &Move| match *step {
            Move::Others(s) => Moved::Others(self.shared(s)),
            Move::Woken(l) => Moved::Woken(self.local(l)),
            Move::Own(s, l) => Moved::Own(self.shared(s), l.map(|l| self.local(l))),
        };
        Life { start, moves: deviation.moves.iter().map(moved).collect() }
    }
}

/// Returns the number of a name in a list, where it is added if it is missing.
fn place<T: PartialEq>(list: &mut Vec<T>, name: T) -> u32 {
    let at = list.iter().position(|n| *n == name).unwrap_or_else(|| {
        list.push(name);
        list.len() - 1
    });
    at as u32
}

/// Returns the life of a thread as it is told.
fn events(
    question: &Refinement<'_>,
    (interpreter, jit): (&Interpreter, &Jit),
    deviation: &Deviation,
    never: &[(Shared, Local)],
) -> Result<Vec<Event>, Error> {
    let flawed = |flaw: Flaw| Error::Flawed(flaw.to_string());
    let (program, machine) = (question.program, question.machine);
    let (mut s, mut l) = deviation.start;
    let mut g = question.one(s).map_err(flawed)?;
    let mut possible = if g == Some(machine.start) { machine.roles.clone() } else { Vec::new() };
    let event = |who, at: Option<(u32, String)>, s, g: Option<Shared>, possible: &[Local]| Event {
        who,
        line: at.as_ref().map(|at| at.0),
        statement: at.map(|at| at.1),
        shared: program.shared_values(s).into_iter().filter(|(name, _)| !name.starts_with('(')).collect(),
        state: g.map(|g| machine.table.shared().name(g.0)),
        machine: possible.iter().map(|m| machine.table.locals().name(m.0)).collect(),
    };
    let names = ProgramNames::new(jit);
    let at = |l: Local| {
        let found = names.states(&[], &[interpreter.local(l)]).1.pop()?.ok()?;
        let place = jit.place(found)?;
        Some((place.line, place.text))
    };
    let mut told = vec![event(Who::Start, None, s, g, &possible)];
    for step in &deviation.moves {
        match *step {
            Move::Others(to) => {
                (s, g) = (to, question.one(to).map_err(flawed)?);
                told.push(event(Who::Others, None, s, g, &possible));
            }
            Move::Woken(to) => {
                told.push(event(Who::Others, at(l), s, g, &possible));
                l = to;
            }
            Move::Own(to, put) => {
                let from = g.take();
                g = question.one(to).map_err(flawed)?;
                possible.retain(|&m| from.is_some_and(|from| !never.contains(&(from, m))));
                possible = match (from, g) {
                    (Some(from), Some(to)) => question.after(&possible, from, to),
                    _ => Vec::new(),
                };
                told.push(event(Who::Thread, at(l), to, g, &possible));
                (s, l) = (to, put.unwrap_or(l));
            }
        }
    }
    Ok(told)
}
