//! What is wrong with an execution, and which orders would rule it out, in words.

use throng_memory::explain::{Outdated, outdated, repair};
use throng_memory::graph::{Graph, Id};
use throng_memory::rules::Location;
use throng_memory::search::Failure;

use super::{Executions, thing};

impl Executions {
    /// Sentences, and behind them the orders that would rule the execution out.
    pub(super) fn with_repairs(
        &self,
        mut sentences: Vec<String>,
        graph: &Graph,
        failure: &Failure,
    ) -> String {
        let repairs = repair(graph, failure, &|location| self.is_lock(location));
        let needs: Vec<String> = repairs
            .iter()
            .map(|&(site, order)| format!("line {} needs {order}", self.line_of(site)))
            .collect();
        if !needs.is_empty() {
            sentences.push(needs.join(", "));
        }
        sentences.join("; ")
    }

    /// Returns whether a location is a lock: its order is not the user's.
    pub(super) fn is_lock(&self, location: Location) -> bool {
        thing(&self.locations, location.into()).is_none_or(|place| place.1 == 0)
    }

    /// The reads that sequential consistency rules out, once for each pair of statements.
    pub(super) fn outdated(&self, graph: &Graph) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for stale in outdated(graph) {
            let words = self.stale(graph, &stale);
            found.extend(words.filter(|words| !found.contains(words)));
        }
        found
    }

    fn stale(&self, graph: &Graph, stale: &Outdated) -> Option<String> {
        let (reader, late) = (graph.event(stale.reader)?, graph.event(stale.although)?);
        let from = match graph.event(stale.from) {
            Some(write) => format!("of line {}", self.line(write)),
            None => "from the start".to_string(),
        };
        Some(format!(
            "{} reads {}={} {from} (line {}), although {} wrote {} (line {})",
            self.thread_name(graph, stale.reader),
            self.name(reader.location),
            self.shown(reader.read.map_or(0, |(value, _)| value)),
            self.line(reader),
            self.thread_name(graph, stale.although),
            self.shown(late.written.unwrap_or_default()),
            self.line(late),
        ))
    }

    /// What reports call the thread of an event: threads are numbered in the order of creation where
    /// the first one creates all others.
    fn thread_name(&self, graph: &Graph, id: Id) -> String {
        let first = graph.threads.len() == graph.created.len() + 1;
        match id {
            Id::Event { thread, .. } if first && graph.created.values().all(|&(by, _)| by == 0) => {
                format!("T{}", thread + 1)
            }
            _ => "a thread".into(),
        }
    }
}
