//! Further questions: threads that are somewhere together, data races, and threads that can never
//! move again, which are followed from every configuration through all that the others can do.

use std::collections::HashSet;

use super::{Config, Do, Meaning, Naive, Question, Thread};
use throng_lang::bp::ast::Expr;

impl Naive<'_> {
    /// Returns whether a thread at this label can be stuck there, with at most `within` threads at
    /// once; `None` if there are too many configurations, or if more threads might help.
    pub fn stuck_at(&self, question: &Question, within: usize, label: &str) -> Option<bool> {
        let (mut free, mut open): (HashSet<Config>, bool) = (HashSet::new(), false);
        for config in self.closure(self.initial(question, within), question, within)?.0 {
            for i in (0..config.threads.len()).filter(|&i| self.is_at(&config.threads[i], label)) {
                let mut start = config.clone();
                start.threads[i].followed = true;
                start.threads.sort();
                if free.contains(&start) {
                    continue;
                }
                match self.may_get_free(&start, question, within)? {
                    (true, _) => free.insert(start),
                    (false, true) => std::mem::replace(&mut open, true),
                    (false, false) => return Some(true),
                };
            }
        }
        (!open).then_some(false)
    }

    /// Returns whether one thread is at `a`, where this shared variable is true, another at `b`,
    /// and no other is inside an atomic section.
    pub fn meets(&self, question: &Question, within: usize, (a, x): (&str, &str), b: &str) -> Option<bool> {
        let x = self.shared.iter().position(|name| *name == x)?;
        self.is_reached(question, within, &|config, i, j| {
            let (one, other) = (&config.threads[i], &config.threads[j]);
            let mut rest = (0..config.threads.len()).filter(|k| *k != i && *k != j);
            config.shared[x]
                && self.is_at(one, a)
                && self.is_at(other, b)
                && !(self.holds(one) && self.holds(other))
                && !rest.any(|k| self.holds(&config.threads[k]))
        })
    }

    /// Returns whether two threads are about to access this shared variable, one to write it, and
    /// no thread is inside an atomic section.
    pub fn races(&self, question: &Question, within: usize, x: &str) -> Option<bool> {
        let x = self.shared.iter().position(|name| *name == x)?;
        self.is_reached(question, within, &|config, i, j| {
            let (reads, writes) = self.accesses(&config.threads[i], x);
            (reads || writes)
                && self.accesses(&config.threads[j], x).1
                && !config.threads.iter().any(|t| self.holds(t))
        })
    }

    /// Returns whether two threads can reach such a configuration.
    fn is_reached(
        &self,
        question: &Question,
        within: usize,
        so: &dyn Fn(&Config, usize, usize) -> bool,
    ) -> Option<bool> {
        let (all, _) = self.closure(self.initial(question, within), question, within)?;
        Some(all.iter().any(|config| {
            let threads = 0..config.threads.len();
            threads.clone().any(|i| threads.clone().any(|j| i != j && so(config, i, j)))
        }))
    }

    /// Returns whether the statement of a thread reads a shared variable, and whether it writes it.
    /// `enforce` is not looked at.
    fn accesses(&self, thread: &Thread, x: usize) -> (bool, bool) {
        let function = thread.stack.last().expect("a call").function;
        let is_x = |function: usize, name: &str| {
            name != "_" && matches!(self.meaning(function, name), Meaning::Shared(i) if i == x)
        };
        let reads = |e: &Expr| {
            let mut names = Vec::new();
            Self::names(e, &mut names);
            names.into_iter().any(|name| is_x(function, name))
        };
        match &self.point(thread).what {
            Do::Assume(e) | Do::Branch(e, ..) | Do::Fail(e, _) => (reads(e), false),
            Do::Assign { targets, values, constrain } => {
                let writes = targets.iter().any(|t| is_x(function, &t.ident.name));
                // Behind `constrain`, a prime is the new value of what is assigned.
                let mut constrained = false;
                if let Some(e) = constrain {
                    Self::each_name(e, &mut |name, primed| {
                        constrained |= is_x(function, name) && !(primed && writes);
                    });
                }
                // What is assigned to `_` is not read.
                let mut read = targets.iter().zip(*values).filter(|(t, _)| t.ident.name != "_");
                (read.any(|(_, e)| reads(e)) || constrained, writes)
            }
            Do::Print(es) => (es.iter().any(reads), false),
            Do::Call { arguments, .. } | Do::Become { arguments, .. } => (arguments.iter().any(reads), false),
            Do::Return(results) => {
                let read = results.is_some_and(|es| es.iter().any(reads));
                let [.., caller, _] = &thread.stack[..] else { return (read, false) };
                let call = &self.codes[caller.function].points[caller.at].what;
                let Do::Call { targets, .. } = call else { unreachable!("callers are at calls") };
                (read, targets.iter().any(|t| is_x(caller.function, &t.ident.name)))
            }
            _ => (false, false),
        }
    }

    fn is_at(&self, thread: &Thread, label: &str) -> bool {
        self.labels_of(thread).iter().any(|l| l == label)
    }

    /// Everything that can follow, and whether something was left out.
    pub(super) fn closure(
        &self,
        mut open: Vec<Config>,
        question: &Question,
        within: usize,
    ) -> Option<(HashSet<Config>, bool)> {
        let (mut seen, mut left_out) = (HashSet::new(), false);
        while let Some(config) = open.pop() {
            if !seen.insert(config.clone()) {
                continue;
            }
            if seen.len() > question.limit {
                return None;
            }
            for after in self.successors(&config, question) {
                match after.threads.len() + after.ended <= within {
                    true => open.push(after),
                    false => left_out = true,
                }
            }
        }
        Some((seen, left_out))
    }

    /// Returns whether the thread that is followed can ever move: somewhere in what follows, it is
    /// elsewhere, has ended, or can violate an assertion; and whether something was left out.
    fn may_get_free(&self, start: &Config, question: &Question, within: usize) -> Option<(bool, bool)> {
        let place = |config: &Config| {
            let thread = config.threads.iter().find(|t| t.followed)?;
            Some(thread.stack.iter().map(|frame| (frame.function, frame.at)).collect::<Vec<_>>())
        };
        let (all, left_out) = self.closure(vec![start.clone()], question, within)?;
        let moves = |config: &Config| {
            place(config) != place(start)
                || self.successors(config, question).iter().any(|after| place(after) != place(start))
                || config.threads.iter().any(|t| t.followed && self.loops(config, t, question))
        };
        Some((all.iter().any(moves), left_out))
    }

    /// Returns whether a thread can take a step or violate an assertion, wherever that leads.
    fn loops(&self, config: &Config, thread: &Thread, question: &Question) -> bool {
        let mut others = config.threads.clone();
        others.remove(others.iter().position(|t| t == thread).expect("one of them"));
        let mut found = Vec::new();
        self.moves(config, thread, &others, question, &mut found);
        self.may_move(config, thread) && (!found.is_empty() || self.violates(config, thread))
    }
}
