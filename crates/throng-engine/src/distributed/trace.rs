//! The run to a hit, collected backwards: the worker that stores a configuration finds it by its
//! link, adds it, and passes the run on to the worker that stores its predecessor.

use super::explore::Hit;
use super::part::Part;
use super::rounds::{Send, Task, Turn};
use super::wire::{Damaged, Link, number, owner, read_config, write_config};
use crate::explicit::pack::put;
use crate::explicit::search::taken;
use throng_model::Config;

const WANTED: u8 = b'W';
const FOUND: u8 = b'F';

/// Part of a run, its end first.
struct Chain {
    target: usize,
    /// The layer of the configuration that was added last.
    layer: usize,
    /// The link of its predecessor; `None` if the run is complete.
    link: Option<Link>,
    configs: Vec<Config>,
}

/// Collects runs.
pub struct Tracing {
    /// This worker's configurations.
    pub part: Part,
    /// The configurations of each run, from its start; `None` if a predecessor is missing.
    pub found: Vec<(usize, Option<Vec<Config>>)>,
    hits: Vec<Hit>,
    inbox: Vec<Chain>,
}

impl Tracing {
    /// Prepares to collect the runs to these hits.
    pub fn new(part: Part, hits: Vec<Hit>) -> Tracing {
        Tracing { part, found: Vec::new(), hits, inbox: Vec::new() }
    }

    fn pass_on(&mut self, chain: Chain, send: Send<'_>) {
        let model = &*self.part.problem.model;
        let mut message = vec![if chain.link.is_some() { WANTED } else { FOUND }];
        let link = chain.link.map_or(0, |link| u64::from(link) + 1);
        let numbers = [chain.target as u64, chain.layer as u64, link, chain.configs.len() as u64];
        numbers.into_iter().for_each(|n| put(&mut message, n));
        chain.configs.iter().for_each(|config| write_config(model, config, &mut message));
        match chain.link {
            Some(link) => send(owner(link, self.part.workers), message),
            None => (0..self.part.workers).for_each(|to| send(to, message.clone())),
        }
    }

    fn read(&self, message: &[u8]) -> Result<Chain, Damaged> {
        let mut at = 1;
        let (target, layer) = (number(message, &mut at)? as usize, number(message, &mut at)? as usize);
        let link = number(message, &mut at)?.checked_sub(1).map(|link| link as Link);
        let count = number(message, &mut at)?;
        let configs = (0..count).map(|_| read_config(&*self.part.problem.model, message, &mut at));
        Ok(Chain { target, layer, link, configs: configs.collect::<Result<_, Damaged>>()? })
    }

    /// Adds the predecessor.
    fn extend(&mut self, mut chain: Chain) -> Chain {
        let problem = self.part.problem.clone();
        let leads = |config: &Config| {
            chain.configs.last().is_some_and(|last| taken(&problem, config, last).is_some())
        };
        let before = chain.link.zip(chain.layer.checked_sub(1));
        let found = before.and_then(|(link, layer)| self.part.find(layer, link, leads));
        match found {
            Some((config, id)) => {
                chain.configs.push(config);
                chain.layer -= 1;
                chain.link = self.part.predecessor(id);
            }
            // A chain without configurations says that the run could not be completed.
            None => (chain.link, chain.configs) = (None, Vec::new()),
        }
        chain
    }
}

impl Task for Tracing {
    fn receive(&mut self, _: u64, message: &[u8]) {
        match (message.first(), self.read(message)) {
            (Some(&WANTED), Ok(chain)) => self.inbox.push(chain),
            (_, Ok(mut chain)) => {
                chain.configs.reverse();
                self.found.push((chain.target, Some(chain.configs).filter(|configs| !configs.is_empty())));
            }
            // The run stays missing, which is detected later.
            (_, Err(Damaged)) => {}
        }
    }

    fn work(&mut self, round: u64, send: Send<'_>) -> Turn {
        if round == 0 {
            let mine = self.hits.iter().copied().filter(|hit| hit.worker == self.part.me);
            for hit in mine.collect::<Vec<Hit>>() {
                let configs = vec![self.part.config(hit.id).0];
                let link = self.part.predecessor(hit.id);
                self.pass_on(Chain { target: hit.target, layer: hit.layer, link, configs }, send);
            }
        }
        for chain in std::mem::take(&mut self.inbox) {
            let chain = self.extend(chain);
            self.pass_on(chain, send);
        }
        Turn::Done
    }
}
