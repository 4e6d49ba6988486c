//! Checks a certificate about refinement against the program and the machine, without any engine.

use super::decode::Decoder;
use super::interpreter::Interpreter;
use super::{Asked, Fault};
use crate::certificate::names::Found;
use crate::certificate::refinement::{FORMAT, Life, Moved, Pair, RefinementDocument, VERSION};
use crate::certificate::write::Origin;
use crate::certificate::{Claim, hash};
use crate::rules::Flaw;
use crate::rules::simulation::{
    Deviation, MachineStates, Move, Refinement, Related, check_deviation, check_simulation,
};
use throng_lang::load::{Input, Loaded, Reading};
use throng_lang::machine::{Machine, Meanings};
use throng_lang::property::Property;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::{Local, Shared};

/// A program and a machine that were read.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    /// The program.
    pub program: &'a Loaded,
    /// The file of the machine.
    pub machine: &'a Loaded,
    /// How that file was read.
    pub reading: &'a Reading,
}

/// The content of a valid certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CertifiedRefinement {
    /// Whether the program refines the machine.
    pub refines: bool,
    /// Number of pairs, or of moves.
    pub elements: usize,
    /// Maximum number of threads of the program; `None` if there may be any number.
    pub most: Option<u32>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

/// Returns the interpreter of a program, if a program was read.
pub fn interpreter(loaded: &Loaded) -> Result<Interpreter, String> {
    let Input::Program(jit) = &loaded.input else {
        return Err("what refines a machine is a Boolean program".into());
    };
    let found = Interpreter::of_tree(jit.tree(), &loaded.source.text, false, false);
    found.ok_or_else(|| "the program cannot be read a second time".into())
}

/// Returns the machine in a file, for threads that start in these local states.
pub fn machine(loaded: &Loaded, roles: &[String]) -> Result<Machine, String> {
    match &loaded.input {
        Input::System(system) => Machine::of(system, roles),
        Input::Program(_) => Err("a machine is a system with named states (`.ntts`)".into()),
    }
}

/// Returns the question whether a program refines a machine, asked of an interpreter.
pub fn question<'a>(program: &'a Interpreter, machine: &'a Machine) -> Result<Refinement<'a>, String> {
    let falsify = |text: &str| program.bad(&Property::Invariant(text.into()));
    let meanings = Meanings::new(machine, program, &falsify)?;
    Ok(Refinement { program, start: program.initial(None), machine, meanings })
}

/// Returns the question about a machine whose targets do not matter.
pub fn problem(loaded: &Loaded) -> Option<Problem> {
    let Input::System(system) = &loaded.input else { return None };
    Some(Problem { targets: Vec::new(), ..system.problem(Bound::Any) })
}

/// Reads a certificate from bytes.
pub fn read(bytes: &[u8]) -> Result<RefinementDocument, Fault> {
    let no = |why: serde_json::Error| Fault::Unreadable(format!("this is not a certificate: {why}"));
    let document: RefinementDocument = serde_json::from_slice(bytes).map_err(no)?;
    if document.format != FORMAT || document.version != VERSION {
        let why = format!("the certificate is not one of `{FORMAT}`, version {VERSION}");
        return Err(Fault::Unreadable(why));
    }
    Ok(document)
}

/// Checks that a certificate answers whether the program refines the machine, if its threads start
/// in `roles`.
pub fn certify(
    sides: Sides<'_>,
    roles: &[String],
    document: &RefinementDocument,
    limits: &Limits,
) -> Result<CertifiedRefinement, Fault> {
    let machine = machine(sides.machine, roles).map_err(Fault::Unreadable)?;
    let names: Vec<String> = machine.roles.iter().map(|l| machine.table.locals().name(l.0)).collect();
    if names != document.roles {
        let theirs = document.roles.join(", ");
        return invalid(format!("answers another question: threads start in {theirs}"));
    }
    let program = interpreter(sides.program).map_err(Fault::Unreadable)?;
    let question = question(&program, &machine).map_err(Fault::Unreadable)?;
    let (met, never) = thread_states(sides, document, limits)?;
    let decoder = Names::new(&program, &machine, document);
    let elements = match (document.verdict, &document.run) {
        (Claim::Safe, None) => {
            let related: Vec<Related> = decoder.related(&document.related)?;
            check_simulation(&question, &never, &related, limits).map_err(fault)?;
            related.len()
        }
        (Claim::Unsafe, Some(life)) if document.related.is_empty() => {
            let deviation = decoder.deviation(life)?;
            check_deviation(&question, (&met, &never), &deviation).map_err(fault)?;
            deviation.moves.len()
        }
        _ => return invalid("this is not evidence for its verdict"),
    };
    let changed = |what: &str, stated: &str, loaded: &Loaded| {
        (stated != hash(&loaded.source.text))
            .then(|| format!("the {what} has changed since the certificate was written"))
    };
    let notes = [
        changed("program", &document.program.hash, sides.program),
        changed("machine", &document.machine.hash, sides.machine),
    ];
    Ok(CertifiedRefinement {
        refines: document.verdict == Claim::Safe,
        elements,
        most: machine.most,
        notes: notes.into_iter().flatten().collect(),
    })
}

fn invalid<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Invalid(why.into()))
}

fn fault(flaw: Flaw) -> Fault {
    match flaw {
        Flaw::Limit(why) => Fault::Limit(why),
        flaw => Fault::Invalid(flaw.to_string()),
    }
}

/// Returns the thread states that the machine reaches with some number of threads, and some that it
/// reaches with none, as far as the certificate proves it.
fn thread_states(
    sides: Sides<'_>,
    document: &RefinementDocument,
    limits: &Limits,
) -> Result<(MachineStates, MachineStates), Fault> {
    let (mut met, mut never) = (MachineStates::default(), MachineStates::default());
    let Some(about) = &document.thread_states else { return Ok((met, never)) };
    let Some(problem) = problem(sides.machine) else { return invalid("there is no machine") };
    let origin = Origin { loaded: sides.machine, reading: sides.reading, problem: &problem };
    let mut decoder = Decoder::new(sides.machine, about)?;
    let asked = decoder.answers(&Asked::Check(origin))?;
    decoder.judge(&asked, limits)?;
    for (answered, target) in about.targets.iter().zip(&decoder.problem.targets) {
        let single = |c: &throng_model::Config| match c.threads.entries() {
            [(l, 1)] => Some((c.shared, *l)),
            _ => None,
        };
        let states: Option<Vec<(Shared, Local)>> = target.configs.iter().map(single).collect();
        match (states, answered.verdict) {
            (Some(states), Claim::Safe) if target.is_upward_closed() => never.extend(states),
            (Some(states), Claim::Unsafe) if states.len() == 1 => met.extend(states),
            _ => return invalid("what threads of the machine reach is said for each thread state"),
        }
    }
    Ok((met, never))
}

/// The states of a certificate.
struct Names<'a> {
    machine: &'a Machine,
    shared: Found<Shared>,
    locals: Found<Local>,
}

impl<'a> Names<'a> {
    fn new(program: &Interpreter, machine: &'a Machine, document: &RefinementDocument) -> Names<'a> {
        let states = &document.states;
        Names {
            machine,
            shared: states.shared.iter().map(|n| program.shared_named(n)).collect(),
            locals: states.local.iter().map(|n| program.local_named(n)).collect(),
        }
    }

    fn shared(&self, i: u32) -> Result<Shared, Fault> {
        super::decode::named(&self.shared, i, "shared")
    }

    fn local(&self, i: u32) -> Result<Local, Fault> {
        super::decode::named(&self.locals, i, "local")
    }

    fn related(&self, pairs: &[Pair]) -> Result<Vec<Related>, Fault> {
        pairs.iter().map(|pair| self.pair(pair)).collect()
    }

    fn pair(&self, pair: &Pair) -> Result<Related, Fault> {
        let locals = self.machine.table.locals();
        let of = |name: &String| match (0..locals.len()).find(|&l| locals.name(l) == *name) {
            Some(l) => Ok(Local(l)),
            None => invalid(format!("the machine has no local state `{name}`")),
        };
        Ok(Related {
            local: self.local(pair.local)?,
            inside: pair.inside.map(|s| self.shared(s)).transpose()?,
            machine: pair.machine.iter().map(of).collect::<Result<_, _>>()?,
        })
    }

    fn deviation(&self, life: &Life) -> Result<Deviation, Fault> {
        let moved = |moved: &Moved| {
            Ok(match *moved {
                Moved::Others(s) => Move::Others(self.shared(s)?),
                Moved::Woken(l) => Move::Woken(self.local(l)?),
                Moved::Own(s, l) => Move::Own(self.shared(s)?, l.map(|l| self.local(l)).transpose()?),
            })
        };
        Ok(Deviation {
            start: (self.shared(life.start.0)?, self.local(life.start.1)?),
            moves: life.moves.iter().map(moved).collect::<Result<_, Fault>>()?,
        })
    }
}
