//! Distributed check of a closed set: each worker checks its part by the rule of
//! [`throng_check::rules::part`], and looks up the configurations of its part that the rule at any
//! worker requires.

use super::part::Part;
use super::rounds::{Send, Task, Turn};
use super::wire::owner;
use crate::explicit::store::Id;
use throng_check::rules::Flaw;
use throng_check::rules::part::PartRule;
use throng_model::Config;
use throng_model::limits::{Limits, Ticker};

/// Number of members between two checks for messages.
const TURN: usize = 512;

/// Checks one part of a set.
pub struct Verifying {
    /// This worker's configurations.
    pub part: Part,
    /// The flaw of its part, if there is one.
    pub flaw: Option<Flaw>,
    /// The rule that checks it.
    pub rule: PartRule,
    /// The targets that are claimed to be unreachable.
    targets: Vec<usize>,
    limits: Limits,
    at: usize,
}

impl Verifying {
    /// Prepares to check that the set hits none of these targets.
    pub fn new(part: Part, targets: Vec<usize>, limits: Limits) -> Verifying {
        Verifying { rule: PartRule::new(part.problem.clone()), part, flaw: None, targets, limits, at: 0 }
    }

    fn missing(&self, config: &Config) -> Flaw {
        Flaw::Malformed(format!("the set lacks the successor {}", config.describe(&*self.part.problem.model)))
    }

    fn starts(&mut self, send: Send<'_>) -> Result<(), Flaw> {
        let Verifying { rule, part, limits, .. } = self;
        let problem = part.problem.clone();
        let mut ticker = Ticker::new(limits);
        let me = part.me;
        rule.starts(&mut |config| {
            ticker.tick()?;
            // Every worker lists all of these configurations; its owner looks each of them up.
            if owner(part.link(&config), part.workers) == me && !part.look_up(&config, send) {
                return Err(Flaw::InitialMissing(config.describe(&*problem.model)));
            }
            Ok(())
        })
    }

    fn members(&mut self, send: Send<'_>) -> Result<(), Flaw> {
        self.limits.check()?;
        let problem = self.part.problem.clone();
        let targets: Vec<_> = self.targets.iter().map(|&i| &problem.targets[i]).collect();
        let mut after = Vec::new();
        for _ in 0..TURN {
            if self.at >= self.part.store.end() {
                break;
            }
            let (config, next) = self.part.config(self.at as Id);
            self.rule.member(&config, targets.iter().copied(), &mut after)?;
            for successor in after.drain(..) {
                if !self.part.look_up(&successor, send) {
                    let model = &*problem.model;
                    return Err(Flaw::NotClosed(config.describe(model), successor.describe(model)));
                }
            }
            self.at = next;
        }
        Ok(())
    }
}

impl Task for Verifying {
    fn receive(&mut self, _: u64, message: &[u8]) {
        let flaw = match self.part.find_missing(message) {
            Ok(None) => return,
            Ok(Some(config)) => self.missing(&config),
            Err(why) => Flaw::Limit(why),
        };
        self.flaw.get_or_insert(flaw);
    }

    fn work(&mut self, round: u64, send: Send<'_>) -> Turn {
        if round > 0 || self.flaw.is_some() {
            return Turn::Done;
        }
        let began = self.at == 0;
        let mut checked = if began { self.starts(send) } else { Ok(()) };
        checked = checked.and_then(|()| self.members(send));
        if let Err(flaw) = checked {
            self.flaw = Some(flaw);
            return Turn::Done;
        }
        if self.at < self.part.store.end() {
            return Turn::More;
        }
        self.part.flush(send);
        Turn::Done
    }
}
