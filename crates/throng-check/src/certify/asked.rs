//! Checks that a certificate answers the question that was asked.

use std::collections::HashMap;

use super::decode::Decoder;
use super::wording::{bound_text, initial_text, printable};
use super::{Asked, Fault};
use crate::certificate::write::Origin;
use crate::certificate::{Claim, Count, Property, Start};
use throng_lang::load::Input;
use throng_model::predicate::Predicate;
use throng_model::problem::{Asks, Bound, Initial, Target};
use throng_model::{Bag, Config, Local, Shared};

impl Decoder<'_> {
    /// Refuses an answer to another question. Renames the targets of the question as in the
    /// question, and returns which targets of the certificate these are.
    pub(super) fn answers(&mut self, asked: &Asked<'_>) -> Result<Vec<bool>, Fault> {
        let answered = self.document.targets.len();
        match asked {
            Asked::Own(_) => Ok(vec![true; answered]),
            Asked::Cutoff(origin) => {
                self.starts_as(origin)?;
                if self.document.cutoff.is_none() {
                    return other_question("nothing is said about a cutoff");
                }
                Ok(vec![false; answered])
            }
            Asked::Check(origin) => {
                self.starts_as(origin)?;
                self.answers_targets_of(origin)
            }
        }
    }

    /// Checks that the initial configurations and the bound are those of the question.
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
            return other_question(format!("it starts with `{theirs}`, the question with `{ours}`"));
        }
        if self.problem.bound != asked.bound {
            let (theirs, ours) = (bound_text(&self.problem), bound_text(asked));
            return other_question(format!("its number of threads is {theirs}, that of the question {ours}"));
        }
        let is_program = matches!(origin.loaded.input, Input::Program(_));
        let counts_ended = matches!(asked.bound, Bound::Threads(_)) && is_program;
        if counts_ended && stated.slot_reuse == origin.reading.keep_ended {
            let what = if stated.slot_reuse { "does not count" } else { "counts" };
            return other_question(format!("a thread that has ended {what} towards its bound"));
        }
        Ok(())
    }

    /// Checks that there is an answer to every target of the question; if one of them is reachable,
    /// the others do not matter. Returns which targets of the certificate are asked for.
    fn answers_targets_of(&mut self, origin: &Origin<'_>) -> Result<Vec<bool>, Fault> {
        let mut asked_for = vec![false; self.document.targets.len()];
        let mut open = Vec::new();
        let mut is_unsafe = false;
        // A map, because there may be thousands of targets.
        let mut places: HashMap<Sought, Vec<usize>> = HashMap::new();
        for (i, target) in self.problem.targets.iter().enumerate() {
            if !target.is_about_all_threads() {
                places.entry(sought(target.configs.clone(), target)).or_default().push(i);
            }
        }
        for asked in &origin.problem.targets {
            let largest = match asked.asks() {
                Some(Asks::Largest(sum)) => Some(self.shows_largest(sum, &places)),
                _ => None,
            };
            let named: Vec<usize>;
            let found = match &largest {
                Some(found) => found.as_slice(),
                None if asked.is_about_all_threads() => {
                    let wanted = Property::of(asked);
                    let same = |i: &usize| wanted.as_ref() == Some(&self.document.targets[*i].property);
                    named = (0..asked_for.len()).filter(same).collect();
                    &named[..]
                }
                None => {
                    let key = sought(self.sought(asked)?, asked);
                    places.get(&key).map(Vec::as_slice).unwrap_or_default()
                }
            };
            if found.is_empty() {
                open.push(asked.name.as_str());
            }
            for &i in found {
                // That a sum reaches a value is only half of an answer about the largest.
                is_unsafe |= self.document.targets[i].verdict == Claim::Unsafe && largest.is_none();
                if !asked_for[i] {
                    self.problem.targets[i].name = printable(&asked.name);
                }
                asked_for[i] = true;
            }
        }
        match open.first() {
            Some(name) if !is_unsafe => other_question(format!("nothing is said about target `{name}`")),
            _ => Ok(asked_for),
        }
    }

    /// Returns the answers that prove the largest value of a sum: it reaches some value, but not
    /// the next one.
    fn shows_largest(&self, sum: &[(Local, i64)], places: &HashMap<Sought, Vec<usize>>) -> Vec<usize> {
        let verdict = |i: &usize| self.document.targets[*i].verdict;
        let of_sum = |key: &Sought| match &key.1 {
            Some(nothing) if sum.is_empty() && *nothing == Predicate::FALSE => Some(1),
            Some(Predicate::AtLeast(theirs, least)) if theirs == sum => Some(*least),
            _ => None,
        };
        for (key, above) in places {
            let Some(next) = of_sum(key) else { continue };
            let Some(&above) = above.iter().find(|i| verdict(i) == Claim::Safe) else { continue };
            // A sum of numbers of tokens is never less than 0.
            if next == 1 {
                return vec![above];
            }
            let here = (key.0.clone(), Some(Predicate::AtLeast(sum.to_vec(), next - 1)));
            let reached = places.get(&here).into_iter().flatten().find(|i| verdict(i) == Claim::Unsafe);
            if let Some(&reached) = reached {
                return vec![above, reached];
            }
        }
        Vec::new()
    }

    /// Returns the configurations of a target of the question, in the model of the checker.
    fn sought(&self, asked: &Target) -> Result<Vec<Config>, Fault> {
        match &self.program {
            None => Ok(asked.configs.clone()),
            Some(program) => match &asked.property {
                Some(property) => program.bad(property).map_err(Fault::Invalid),
                None => other_question(format!("certificates cannot express target `{}`", asked.name)),
            },
        }
    }
}

/// The content of a target: a set of configurations, and a condition on them.
type Sought = (Vec<Config>, Option<Predicate>);

fn sought(configs: Vec<Config>, target: &Target) -> Sought {
    if target.is_upward_closed() {
        return (members(configs), None);
    }
    // This is the form in which certificates express it.
    let anything = configs.first().map(|c| Config::new(c.shared, Bag::new()));
    (anything.into_iter().collect(), Some(target.predicate()))
}

fn other_question<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Invalid(format!("answers another question: {}", why.into())))
}

/// Returns configurations as a set.
fn members(mut configs: Vec<Config>) -> Vec<Config> {
    configs.sort_unstable();
    configs.dedup();
    configs
}

/// Returns families as a set of sets.
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
