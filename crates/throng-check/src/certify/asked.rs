//! Whether a certificate answers the question that was asked.

use std::collections::HashMap;

use super::decode::Decoder;
use super::wording::{bound_text, initial_text, printable};
use super::{Asked, Fault};
use crate::certificate::write::Origin;
use crate::certificate::{Claim, Count, Property, Start};
use throng_lang::load::Input;
use throng_model::problem::{Bound, Initial, Target};
use throng_model::{Bag, Config, Local, Shared};

impl Decoder<'_> {
    /// Refuses an answer to another question. The targets that were asked for are called as the question calls them; says which of the
    /// certificate's these are.
    pub(super) fn answers(&mut self, asked: &Asked<'_>) -> Result<Vec<bool>, Fault> {
        let answered = self.document.targets.len();
        match asked {
            Asked::Own(_) => Ok(vec![true; answered]),
            Asked::Cutoff(origin) => {
                self.starts_as(origin)?;
                if self.document.cutoff.is_none() {
                    return another("nothing is said about a cutoff");
                }
                Ok(vec![false; answered])
            }
            Asked::Check(origin) => {
                self.starts_as(origin)?;
                self.has_targets_of(origin)
            }
        }
    }

    /// The same start, the same bound.
    fn starts_as(&self, origin: &Origin<'_>) -> Result<(), Fault> {
        let (asked, stated) = (origin.problem, &self.document.problem);
        let same_start = match &stated.initial {
            Start::Main(count) => match (&asked.initial[..], count) {
                ([family], Count::Any(_)) => !family.any.is_empty(),
                ([family], Count::Exactly(n)) => family.any.is_empty() && family.threads.size() == *n,
                _ => false,
            },
            Start::Families(_) => {
                let (ours, theirs) = (families(&asked.initial), families(&self.problem.initial));
                ours == theirs
            }
        };
        if !same_start {
            let (theirs, ours) = (initial_text(self.document), &asked.initial_text);
            return another(format!("it starts with `{theirs}`, the question with `{ours}`"));
        }
        if self.problem.bound != asked.bound {
            let (theirs, ours) = (bound_text(&self.problem), bound_text(asked));
            return another(format!("its number of threads is {theirs}, that of the question {ours}"));
        }
        let is_program = matches!(origin.loaded.input, Input::Program(_));
        let counts_ended = matches!(asked.bound, Bound::Threads(_)) && is_program;
        if counts_ended && stated.slot_reuse == origin.reading.keep_ended {
            let what = if stated.slot_reuse { "does not count" } else { "counts" };
            return another(format!("a thread that has ended {what} towards its bound"));
        }
        Ok(())
    }

    /// An answer to every target that was asked for; if one of them can be reached, the others do not change the verdict.
    fn has_targets_of(&mut self, origin: &Origin<'_>) -> Result<Vec<bool>, Fault> {
        let mut asked_for = vec![false; self.document.targets.len()];
        let mut open = Vec::new();
        let mut is_unsafe = false;
        // There may be thousands of targets.
        let mut places: HashMap<Vec<Config>, Vec<usize>> = HashMap::new();
        for (i, target) in self.problem.targets.iter().enumerate() {
            if !target.is_deadlock() {
                places.entry(members(target.configs.clone())).or_default().push(i);
            }
        }
        let of_deadlocks: Vec<usize> =
            (0..asked_for.len()).filter(|&i| self.problem.targets[i].is_deadlock()).collect();
        for asked in &origin.problem.targets {
            let found = match asked.is_deadlock() {
                true => &of_deadlocks[..],
                false => places.get(&members(self.sought(asked)?)).map(Vec::as_slice).unwrap_or_default(),
            };
            if found.is_empty() {
                open.push(asked.name.as_str());
            }
            for &i in found {
                is_unsafe |= self.document.targets[i].verdict == Claim::Unsafe;
                if !asked_for[i] {
                    self.problem.targets[i].name = printable(&asked.name);
                }
                asked_for[i] = true;
            }
        }
        match open.first() {
            Some(name) if !is_unsafe => another(format!("nothing is said about target `{name}`")),
            _ => Ok(asked_for),
        }
    }

    /// What a target of the question asks for, over the model of the checker.
    fn sought(&self, asked: &Target) -> Result<Vec<Config>, Fault> {
        match &self.program {
            None => Ok(asked.configs.clone()),
            Some(program) => match Property::of_name(&asked.name) {
                Some(property) => program.bad(&property).map_err(Fault::Invalid),
                None => another(format!("certificates cannot express target `{}`", asked.name)),
            },
        }
    }
}

fn another<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Invalid(format!("answers another question: {}", why.into())))
}

/// As a set.
fn members(mut configs: Vec<Config>) -> Vec<Config> {
    configs.sort_unstable();
    configs.dedup();
    configs
}

/// As a set of sets.
fn families(initial: &[Initial]) -> Vec<(Shared, &Bag, Vec<Local>)> {
    let family = |f: &'_ Initial| {
        let mut any = f.any.clone();
        any.sort_unstable();
        any.dedup();
        any
    };
    let mut all: Vec<_> = initial.iter().map(|f| (f.shared, &f.threads, family(f))).collect();
    all.sort_unstable();
    all.dedup();
    all
}
