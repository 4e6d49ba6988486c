//! The steps of threads.

use super::code::{Do, Point};
use super::names::{Meaning, View};
use super::{BOTH, Config, Frame, Naive, Question, Thread, product, unique};
use throng_lang::bp::ast::{Expr, Target};

impl<'a> Naive<'a> {
    pub(super) fn point(&self, thread: &Thread) -> &Point<'a> {
        let frame = thread.stack.last().expect("a thread has a call");
        &self.codes[frame.function].points[frame.at]
    }

    /// The thread, now at another point of its innermost call.
    pub(super) fn at(&self, thread: &Thread, at: usize) -> Thread {
        let mut thread = thread.clone();
        let frame = thread.stack.last_mut().expect("a thread has a call");
        frame.at = self.codes[frame.function].settled(at);
        thread
    }

    pub(super) fn at_label(&self, thread: &Thread, label: &str) -> Thread {
        let function = thread.stack.last().expect("a thread has a call").function;
        self.at(thread, self.codes[function].labels[label])
    }

    /// New calls of a function: one for each choice of what is not given.
    pub(super) fn calls(&self, function: usize, given: &[bool]) -> Vec<Frame> {
        let code = &self.codes[function];
        let mut sets: Vec<Vec<bool>> = code.initial.clone();
        given.iter().enumerate().for_each(|(i, &v)| sets[i] = vec![v]);
        let frame = |values| Frame { function, at: code.settled(0), values, before: Vec::new() };
        product(&sets).into_iter().map(frame).collect()
    }

    pub(super) fn waits(&self, thread: &Thread, name: Option<&str>) -> bool {
        matches!(self.point(thread).what, Do::Wait(condition, _) if condition == name)
    }

    /// Returns whether the thread keeps others from moving.
    pub(super) fn holds(&self, thread: &Thread) -> bool {
        thread.inside && !matches!(self.point(thread).what, Do::Wait(_, true) | Do::Resume)
    }

    pub(super) fn woken(&self, thread: &Thread) -> Thread {
        self.at(thread, self.point(thread).next)
    }

    pub(super) fn may_move(&self, config: &Config, thread: &Thread) -> bool {
        self.holds(thread) || !config.threads.iter().any(|t| self.holds(t))
    }

    /// Returns whether the thread can violate the assertion it is at, if it is at one.
    pub(super) fn violates(&self, config: &Config, thread: &Thread) -> bool {
        match self.point(thread).what {
            Do::Fail(e, bad) => {
                let view = View { shared: &config.shared, thread, after: None, other: None, primed: false };
                self.eval(e, &view).contains(&bad)
            }
            _ => false,
        }
    }

    /// All configurations that are one step away.
    pub(super) fn successors(&self, config: &Config, question: &Question) -> Vec<Config> {
        let mut found = Vec::new();
        for (i, thread) in config.threads.iter().enumerate() {
            if self.may_move(config, thread) {
                let mut others = config.threads.clone();
                others.remove(i);
                self.moves(config, thread, &others, question, &mut found);
            }
        }
        unique(found)
    }

    /// Lists the steps of one thread.
    pub(super) fn moves(
        &self,
        config: &Config,
        thread: &Thread,
        others: &[Thread],
        question: &Question,
        found: &mut Vec<Config>,
    ) {
        let point = self.point(thread);
        let frame = thread.stack.last().expect("a thread has a call");
        let next = |thread: &Thread| self.at(thread, point.next);
        let shared = &config.shared;
        let mut put = |shared: &[bool], threads: Vec<Thread>, more_ended: usize| {
            let mut threads = threads;
            threads.sort();
            found.push(Config { shared: shared.to_vec(), threads, ended: config.ended + more_ended });
        };
        let with = |thread: Thread, others: &[Thread]| [&[thread], others].concat();
        let view = View { shared, thread, after: None, other: None, primed: false };
        match &point.what {
            Do::Jump(_) => unreachable!("control never stays at a jump"),
            Do::Skip | Do::Print(_) => put(shared, with(next(thread), others), 0),
            Do::Goto(labels) => {
                for label in *labels {
                    put(shared, with(self.at_label(thread, &label.name), others), 0);
                }
            }
            Do::Assume(e) => {
                if self.outcomes(e, &view, others).contains(&true) {
                    put(shared, with(next(thread), others), 0);
                }
            }
            Do::Branch(e, yes, no) => {
                for outcome in self.outcomes(e, &view, others) {
                    let to = if outcome { *yes } else { *no };
                    put(shared, with(self.at(thread, to), others), 0);
                }
            }
            Do::Fail(e, bad) => {
                if self.eval(e, &view).contains(&!bad) {
                    put(shared, with(next(thread), others), 0);
                }
            }
            Do::Assign { targets, values, constrain } => {
                let choices: Vec<Vec<bool>> = targets
                    .iter()
                    .zip(*values)
                    .map(|(t, e)| {
                        let passive = self.passive_names(frame.function, &[&t.ident.name]).0;
                        if passive { vec![false] } else { self.eval(e, &view) }
                    })
                    .collect();
                for row in product(&choices) {
                    let (after_shared, after) = self.assigned(shared, thread, targets, &row);
                    let step = Assignment {
                        before: (shared, thread),
                        after: (&after_shared, &after),
                        targets,
                        values,
                        constrain: *constrain,
                        enforced: &point.enforced,
                    };
                    for others in self.bystanders(&step, others) {
                        put(&after_shared, with(next(&after), &others), 0);
                    }
                }
            }
            Do::Call { callee, arguments, .. } | Do::Become { callee, arguments } => {
                let function = self.codes.iter().position(|c| c.tree.name.name == *callee).expect("declared");
                let given = arguments.iter().map(|e| self.eval(e, &view)).collect::<Vec<_>>();
                for row in product(&given) {
                    for call in self.calls(function, &row) {
                        let mut thread = thread.clone();
                        if matches!(point.what, Do::Become { .. }) {
                            thread.stack.clear();
                        }
                        thread.stack.push(call);
                        put(shared, with(thread, others), 0);
                    }
                }
            }
            Do::Return(_) | Do::End if thread.stack.len() == 1 || matches!(point.what, Do::End) => {
                put(shared, others.to_vec(), usize::from(question.keep_ended));
            }
            Do::End => unreachable!("covered above"),
            Do::Return(results) => {
                let count = self.codes[frame.function].tree.results as usize;
                let choices: Vec<Vec<bool>> = match results {
                    Some(es) => es.iter().map(|e| self.eval(e, &view)).collect(),
                    None => vec![BOTH.to_vec(); count],
                };
                let mut caller = thread.clone();
                caller.stack.pop();
                let call = self.point(&caller);
                let Do::Call { targets, .. } = &call.what else { unreachable!("callers are at calls") };
                for row in product(&choices) {
                    let (after_shared, after) = self.assigned(shared, &caller, targets, &row);
                    let step = Assignment {
                        before: (shared, &caller),
                        after: (&after_shared, &after),
                        targets: &[],
                        values: &[],
                        constrain: None,
                        enforced: if targets.is_empty() { &[] } else { &call.enforced },
                    };
                    for others in self.bystanders(&step, others) {
                        put(&after_shared, with(self.at(&after, call.next), &others), 0);
                    }
                }
            }
            Do::Start(_) | Do::StartLabel(_) => {
                let mut threads = with(next(thread), others);
                if threads.len() + config.ended < question.bound {
                    let mut child = match &point.what {
                        Do::Start(at) => self.at(thread, *at),
                        Do::StartLabel(label) => self.at_label(thread, label),
                        _ => unreachable!("matched above"),
                    };
                    // It begins outside all blocks of this function; what its callers have open
                    // stays open.
                    (child.inside, child.block, child.followed) = (false, false, false);
                    child.stack.last_mut().expect("a call").before.clear();
                    threads.push(child);
                }
                put(shared, threads, 0);
            }
            Do::AtomicBegin | Do::AtomicEnd => {
                let mut after = next(thread);
                after.inside = matches!(point.what, Do::AtomicBegin) || thread.block;
                put(shared, with(after, others), 0);
            }
            Do::Open => {
                let mut after = next(thread);
                after.stack.last_mut().expect("a call").before.push((thread.inside, thread.block));
                (after.inside, after.block) = (true, true);
                put(shared, with(after, others), 0);
            }
            Do::Close => {
                let mut after = next(thread);
                let before = after.stack.last_mut().expect("a call").before.pop();
                (after.inside, after.block) = before.expect("opened");
                put(shared, with(after, others), 0);
            }
            Do::Wait(..) => {}
            Do::Resume => put(shared, with(next(thread), others), 0),
            Do::Signal(name) => {
                let waiting: Vec<usize> =
                    (0..others.len()).filter(|&i| self.waits(&others[i], *name)).collect();
                for &i in &waiting {
                    let mut others = others.to_vec();
                    others[i] = self.woken(&others[i]);
                    put(shared, with(next(thread), &others), 0);
                }
                if waiting.is_empty() {
                    put(shared, with(next(thread), others), 0);
                }
            }
            Do::Broadcast(name) => {
                let woken = |t: &Thread| if self.waits(t, *name) { self.woken(t) } else { t.clone() };
                let others: Vec<Thread> = others.iter().map(woken).collect();
                put(shared, with(next(thread), &others), 0);
            }
        }
    }

    /// Values of a guard: those possible for every other thread that takes part.
    pub(super) fn outcomes(&self, e: &Expr, view: &View, others: &[Thread]) -> Vec<bool> {
        let function = view.thread.stack.last().expect("a call").function;
        let mut outcomes = self.eval(e, view);
        let (passive, local) = self.passive(function, e);
        if passive {
            for other in others.iter().filter(|t| !local || Self::activation(t, function).is_some()) {
                let theirs = self.eval(e, &View { other: Some((other, other)), ..*view });
                outcomes.retain(|v| theirs.contains(v));
            }
        }
        outcomes
    }

    /// The shared values and the thread after its own targets got the values; `_` and `x$` are
    /// passed over.
    pub(super) fn assigned(
        &self,
        shared: &[bool],
        thread: &Thread,
        targets: &[Target],
        values: &[bool],
    ) -> (Vec<bool>, Thread) {
        let (mut shared, mut thread) = (shared.to_vec(), thread.clone());
        for (target, &value) in targets.iter().zip(values).filter(|(t, _)| t.ident.name != "_") {
            let frame = thread.stack.last_mut().expect("a call");
            match self.meaning(frame.function, &target.ident.name) {
                Meaning::Shared(i) => shared[i] = value,
                Meaning::Own(i) => thread.own[i] = value,
                Meaning::Local(i) => frame.values[i] = value,
                Meaning::OtherOwn(_) | Meaning::OtherLocal(_) => {}
            }
        }
        (shared, thread)
    }

    /// Lists the possible results for the other threads of an assignment whose own part is chosen;
    /// nothing if a constraint fails.
    ///
    /// A thread takes part if it has all the variables of other threads that the statement
    /// mentions.
    pub(super) fn bystanders(&self, step: &Assignment, others: &[Thread]) -> Vec<Vec<Thread>> {
        let function = step.before.1.stack.last().expect("a call").function;
        // An `enforce` is a constraint on new values only.
        let constraints: Vec<(&Expr, bool)> = step
            .constrain
            .iter()
            .flat_map(|e| Self::conjuncts(e).into_iter().map(|e| (e, false)))
            .chain(step.enforced.iter().flat_map(|e| Self::conjuncts(e).into_iter().map(|e| (e, true))))
            .collect();
        let holds = |e: &Expr, primed: bool, other: Option<(&Thread, &Thread)>| {
            let view =
                View { shared: step.before.0, thread: step.before.1, after: Some(step.after), other, primed };
            self.eval(e, &view).contains(&true)
        };
        let (theirs, own): (Vec<_>, Vec<_>) =
            constraints.into_iter().partition(|(e, _)| self.passive(function, e).0);
        if !own.iter().all(|&(e, primed)| holds(e, primed, None)) {
            return Vec::new();
        }
        let mut names: Vec<&str> = step.targets.iter().map(|t| t.ident.name.as_str()).collect();
        theirs.iter().for_each(|(e, _)| Self::names(e, &mut names));
        step.values.iter().for_each(|e| Self::names(e, &mut names));
        let (passive, local) = self.passive_names(function, &names);
        let mut rows: Vec<Vec<Thread>> = vec![Vec::new()];
        for other in others {
            let takes_part = passive && (!local || Self::activation(other, function).is_some());
            let fates = if takes_part { self.fates(step, other, function) } else { vec![other.clone()] };
            let fates: Vec<Thread> = fates
                .into_iter()
                .filter(|after| {
                    !takes_part || theirs.iter().all(|&(e, primed)| holds(e, primed, Some((other, after))))
                })
                .collect();
            rows = rows
                .iter()
                .flat_map(|row| fates.iter().map(move |t| [&row[..], std::slice::from_ref(t)].concat()))
                .collect();
        }
        rows
    }

    /// Every way to assign the `x$` of the statement in one other thread.
    pub(super) fn fates(&self, step: &Assignment, other: &Thread, function: usize) -> Vec<Thread> {
        let view = View {
            shared: step.before.0,
            thread: step.before.1,
            after: None,
            other: Some((other, other)),
            primed: false,
        };
        let mut fates = vec![other.clone()];
        for (target, value) in step.targets.iter().zip(step.values).filter(|(t, _)| t.ident.name != "_") {
            let meaning = self.meaning(function, &target.ident.name);
            if matches!(meaning, Meaning::Shared(_) | Meaning::Own(_) | Meaning::Local(_)) {
                continue;
            }
            let mut more = Vec::new();
            for v in self.eval(value, &view) {
                for fate in &fates {
                    let mut fate = fate.clone();
                    match meaning {
                        Meaning::OtherOwn(i) => fate.own[i] = v,
                        Meaning::OtherLocal(i) => {
                            let frame = Self::activation(&fate, function).expect("takes part");
                            fate.stack[frame].values[i] = v;
                        }
                        _ => unreachable!("own targets were passed over"),
                    }
                    more.push(fate);
                }
            }
            fates = more;
        }
        unique(fates)
    }
}

/// An assignment whose own part has been carried out.
pub(super) struct Assignment<'s> {
    pub(super) before: (&'s [bool], &'s Thread),
    pub(super) after: (&'s [bool], &'s Thread),
    pub(super) targets: &'s [Target],
    pub(super) values: &'s [Expr],
    pub(super) constrain: Option<&'s Expr>,
    pub(super) enforced: &'s [&'s Expr],
}
