//! Functions to control-flow graph: every reachable call gets its own copy of the callee (reference
//! 2.5), except that calls that return alike share one (`returns`).

use std::collections::HashMap;

use super::expr::{Expr, FREE, ONE, Var};
use super::function::{Function, Kind, Name, Ref, Resolved};
use super::program::{
    BystanderEffect, Edge, EdgeKind, Effect, FunctionInfo, Instance, NodeInfo, Point, Program,
};
use crate::source::{Diagnostic, LineIndex};

/// Maximum number of points: nested calls multiply them.
const MOST_POINTS: usize = 1 << 20;

/// Maximum number of values of the active thread that the bystanders of a statement with `$` read:
/// they are the bits of one `u64`.
const MOST_READS: usize = 64;

/// Builds the graph, or returns why it cannot be built: recursion, or too many copies.
///
/// `exact_copies`: see [`super::Options`].
pub fn inline(resolved: &Resolved, text: &str, exact_copies: bool) -> Result<Program, Diagnostic> {
    reject_recursion(resolved, text)?;
    let mut inliner = Inliner::new(resolved, text);
    inliner.run()?;
    let Inliner { mut program, clears, .. } = inliner;
    program.slots = program
        .instances
        .iter()
        .map(|i| i.base + program.functions[i.function].variables.len())
        .max()
        .unwrap_or(0);
    fill_slots(&mut program, &clears);
    if let Some(edge) =
        program.edges.iter().find(|e| e.effect.others.as_ref().is_some_and(|o| o.reads.len() > MOST_READS))
    {
        let span = resolved.functions[program.points[edge.from as usize].function].nodes
            [program.points[edge.from as usize].node]
            .span;
        return Err(Diagnostic::error(
            "E216",
            span,
            format!("a statement with `$` reads more than {MOST_READS} variables"),
        ));
    }
    super::program::live::resolve_copies(&mut program, exact_copies);
    Ok(program)
}

/// Refuses recursion: the calls that `main` reaches, `start_thread f()` aside, must be acyclic.
fn reject_recursion(resolved: &Resolved, text: &str) -> Result<(), Diagnostic> {
    let callees = |f: usize, spawned: bool| {
        resolved.functions[f].nodes.iter().filter_map(move |n| match n.kind {
            Kind::Call { callee, .. } => Some((callee, n.span)),
            Kind::TailCall { callee, .. } if spawned => Some((callee, n.span)),
            _ => None,
        })
    };
    let mut reached = vec![resolved.main];
    let mut at = 0;
    while at < reached.len() {
        for (callee, _) in callees(reached[at], true) {
            if !reached.contains(&callee) {
                reached.push(callee);
            }
        }
        at += 1;
    }
    // Depth-first search with an explicit stack of (function, its calls still to follow).
    let mut done = vec![false; resolved.functions.len()];
    for root in reached {
        let mut stack = vec![(root, callees(root, false).collect::<Vec<_>>())];
        while let Some((function, todo)) = stack.last_mut() {
            let Some((callee, span)) = todo.pop() else {
                done[*function] = true;
                stack.pop();
                continue;
            };
            if let Some(i) = stack.iter().position(|s| s.0 == callee) {
                let mut names: Vec<&str> =
                    stack.iter().map(|s| resolved.functions[s.0].name.as_str()).collect();
                names.push(&resolved.functions[callee].name);
                let (line, _) = LineIndex::new(text).position(span.start);
                let message =
                    format!("recursive calls are not supported: {} (line {line})", names.join(" -> "));
                let cycle = names[i..].join(" -> ");
                return Err(
                    Diagnostic::error("E210", span, message).label(format!("closes the cycle {cycle}"))
                );
            }
            if !done[callee] {
                stack.push((callee, callees(callee, false).collect()));
            }
        }
    }
    Ok(())
}

struct Inliner<'a> {
    resolved: &'a Resolved,
    program: Program,
    /// (instance, node) to point.
    points: HashMap<(usize, usize), u32>,
    /// Root instances by function, for `main` and for started functions.
    roots: HashMap<usize, usize>,
    /// Called instances by caller and site of the call.
    called: HashMap<(usize, usize), usize>,
    /// Edges that clear all slots from this one on, once the number of slots is known.
    clears: Vec<(u32, usize)>,
}

impl<'a> Inliner<'a> {
    fn new(resolved: &'a Resolved, text: &str) -> Inliner<'a> {
        let lines = LineIndex::new(text);
        let functions = resolved.functions.iter().map(|f| info(f, &lines)).collect();
        let program = Program {
            shared: resolved.shared.clone(),
            thread_locals: resolved.thread_locals.clone(),
            functions,
            instances: Vec::new(),
            points: Vec::new(),
            edges: Vec::new(),
            entry: 0,
            slots: 0,
            groups: resolved.groups.clone(),
            globals: resolved.globals.clone(),
        };
        Inliner {
            resolved,
            program,
            points: HashMap::new(),
            roots: HashMap::new(),
            called: HashMap::new(),
            clears: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<(), Diagnostic> {
        let main = self.root(self.resolved.main);
        self.program.entry = self.point(main, self.resolved.functions[self.resolved.main].entry);
        let mut at = 0;
        while at < self.program.points.len() {
            self.leave(at as u32);
            at += 1;
            if self.program.points.len() > MOST_POINTS {
                let span = self.resolved.functions[self.resolved.main].span;
                let message = format!("inlining the calls gives more than {MOST_POINTS} program points");
                return Err(Diagnostic::error("E212", span, message));
            }
        }
        Ok(())
    }

    fn root(&mut self, function: usize) -> usize {
        if let Some(&i) = self.roots.get(&function) {
            return i;
        }
        self.program.instances.push(Instance {
            function,
            base: self.resolved.thread_locals.len(),
            caller: None,
        });
        let i = self.program.instances.len() - 1;
        self.roots.insert(function, i);
        i
    }

    fn called(&mut self, caller: usize, node: usize, function: usize) -> usize {
        if let Some(&i) = self.called.get(&(caller, node)) {
            return i;
        }
        let below = &self.program.instances[caller];
        let base = below.base + self.resolved.functions[below.function].variables.len();
        self.program.instances.push(Instance { function, base, caller: Some((caller, node)) });
        let i = self.program.instances.len() - 1;
        self.called.insert((caller, node), i);
        i
    }

    fn point(&mut self, instance: usize, node: usize) -> u32 {
        let next = self.program.points.len() as u32;
        let function = self.program.instances[instance].function;
        *self.points.entry((instance, node)).or_insert_with(|| {
            let point = Point {
                function,
                node,
                instance,
                inside: false,
                edges: Vec::new(),
                woken: None,
                condition: 0,
                assertion: None,
                reads: Vec::new(),
            };
            self.program.points.push(point);
            next
        })
    }

    fn edge(&mut self, from: u32, to: Option<u32>, effect: Effect, kind: EdgeKind) -> u32 {
        let id = self.program.edges.len() as u32;
        self.program.edges.push(Edge { from, to, child: None, effect, kind, condition: 0 });
        self.program.points[from as usize].edges.push(id);
        id
    }

    /// Adds the edges that leave a point.
    fn leave(&mut self, at: u32) {
        let (instance, node) = {
            let p = &self.program.points[at as usize];
            (p.instance, p.node)
        };
        let resolved = self.resolved;
        let function = &resolved.functions[self.program.instances[instance].function];
        let scope = Scope::new(resolved, &self.program.instances[instance]);
        let plain = |this: &mut Self, next: usize, kind| {
            let to = this.point(instance, next);
            this.edge(at, Some(to), Effect::default(), kind)
        };
        match &function.nodes[node].kind {
            Kind::Skip { next }
            | Kind::AtomicBegin { next }
            | Kind::AtomicEnd { next }
            | Kind::AtomicEnter { next }
            | Kind::AtomicLeave { next, .. }
            | Kind::Resume { next } => _ = plain(self, *next, EdgeKind::Plain),
            Kind::Signal { next, condition } => {
                let id = plain(self, *next, EdgeKind::Signal);
                self.program.edges[id as usize].condition = *condition;
            }
            Kind::Broadcast { next, condition } => {
                let id = plain(self, *next, EdgeKind::Broadcast);
                self.program.edges[id as usize].condition = *condition;
            }
            Kind::Goto { targets } => {
                let mut targets = targets.clone();
                targets.dedup();
                targets.iter().for_each(|&t| _ = plain(self, t, EdgeKind::Plain));
            }
            Kind::Wait { next, condition } => {
                let woken = self.point(instance, *next);
                let point = &mut self.program.points[at as usize];
                (point.woken, point.condition) = (Some(woken), *condition);
            }
            Kind::Assume { condition, next } => self.guarded(at, instance, &scope, condition, true, *next),
            Kind::Branch { condition, then, otherwise } => {
                self.guarded(at, instance, &scope, condition, true, *then);
                self.guarded(at, instance, &scope, condition, false, *otherwise);
            }
            Kind::Assert { condition, next } => {
                self.guarded(at, instance, &scope, condition, true, *next);
                self.program.points[at as usize].assertion =
                    Some(condition.map(&mut |r| scope.var(r, &[], &[])));
            }
            Kind::Assign { assigns, constraints, next } => {
                let to = self.point(instance, *next);
                let (effect, kind) = scope.assignment(assigns, constraints);
                self.edge(at, Some(to), effect, kind);
            }
            Kind::Call { callee, arguments, site, .. } => {
                self.call(at, instance, *site, &scope, *callee, arguments);
            }
            Kind::TailCall { callee, arguments } => self.tail_call(at, &scope, *callee, arguments),
            Kind::Return { results } => self.return_(at, instance, &scope, function, results.as_deref()),
            Kind::Start { child, next } => {
                let id = plain(self, *next, EdgeKind::Plain);
                let child = self.point(instance, *child);
                self.program.edges[id as usize].child = Some(child);
            }
            Kind::EndThread => _ = self.edge(at, None, Effect::default(), EdgeKind::Plain),
        }
        self.program.points[at as usize].reads.extend(&function.nodes[node].reads);
        if let Some(check) = &function.nodes[node].check {
            self.check(at, check.map(&mut |r| scope.var(r, &[], &[])));
        }
    }

    /// Adds a check to a point: executing the statement where it does not hold is a violation, and
    /// has no successor.
    fn check(&mut self, at: u32, check: Expr) {
        let point = &mut self.program.points[at as usize];
        for &e in &point.edges {
            self.program.edges[e as usize].effect.guards.push((check.clone(), true));
        }
        point.assertion = Some(match point.assertion.take() {
            Some(condition) => Expr::And(vec![check, condition]),
            None => check,
        });
    }

    fn guarded(
        &mut self,
        at: u32,
        instance: usize,
        scope: &Scope,
        condition: &Expr<Ref>,
        value: bool,
        next: usize,
    ) {
        let to = self.point(instance, next);
        let (effect, kind) = scope.guard(condition, value);
        self.edge(at, Some(to), effect, kind);
    }

    fn call(
        &mut self,
        at: u32,
        instance: usize,
        site: usize,
        scope: &Scope,
        callee: usize,
        arguments: &[Expr<Ref>],
    ) {
        let inner = self.called(instance, site, callee);
        let base = self.program.instances[inner].base;
        let effect = Effect { assigns: self.enter(scope, base, callee, arguments), ..Effect::default() };
        let to = self.point(inner, self.resolved.functions[callee].entry);
        self.edge(at, Some(to), effect, EdgeKind::Plain);
    }

    /// Adds the edge into a started function, which keeps only the thread-local variables of its
    /// parent.
    fn tail_call(&mut self, at: u32, scope: &Scope, callee: usize, arguments: &[Expr<Ref>]) {
        let inner = self.root(callee);
        let base = self.program.instances[inner].base;
        let effect = Effect { assigns: self.enter(scope, base, callee, arguments), ..Effect::default() };
        let to = self.point(inner, self.resolved.functions[callee].entry);
        let id = self.edge(at, Some(to), effect, EdgeKind::Plain);
        self.clears.push((id, base + self.resolved.functions[callee].variables.len()));
    }

    /// Returns the assignments on entry: parameters get the arguments, locals their initial values.
    fn enter(&self, scope: &Scope, base: usize, callee: usize, arguments: &[Expr<Ref>]) -> Vec<(Var, Expr)> {
        let variables = &self.resolved.functions[callee].variables;
        let given = arguments.iter().map(|e| e.map(&mut |r| scope.var(r, &[], &[])));
        let fresh = variables.iter().skip(arguments.len()).map(|v| initial(v.initial));
        given.chain(fresh).enumerate().map(|(i, e)| (Var::Local((base + i) as u32), e)).collect()
    }

    fn return_(
        &mut self,
        at: u32,
        instance: usize,
        scope: &Scope,
        function: &Function,
        results: Option<&[Expr<Ref>]>,
    ) {
        let Some((caller, node)) = self.program.instances[instance].caller else {
            self.edge(at, None, Effect::default(), EdgeKind::Plain);
            return;
        };
        let resolved = self.resolved;
        let outer = &resolved.functions[self.program.instances[caller].function];
        let Kind::Call { targets, constraints, next, .. } = &outer.nodes[node].kind else { return };
        let outer_scope = Scope::new(resolved, &self.program.instances[caller]);
        let mut names = Vec::new();
        let mut assigns = Vec::new();
        for (i, target) in targets.iter().enumerate() {
            let Some(name) = target else { continue };
            let value =
                results.and_then(|r| r.get(i)).map_or(Expr::Any, |e| e.map(&mut |r| scope.var(r, &[], &[])));
            names.push(*name);
            assigns.push((outer_scope.place(*name), value));
        }
        let (mut effect, kind) = outer_scope.constrained(&names, assigns, Vec::new(), constraints);
        self.program.points[at as usize].reads.extend(&outer.nodes[node].reads_at_return);
        // The frame is popped: its slots become 0.
        let base = self.program.instances[instance].base;
        let frame = base..base + function.variables.len();
        effect.assigns.extend(frame.map(|slot| (Var::Local(slot as u32), Expr::Const(false))));
        effect.new_is_read.resize(effect.assigns.len(), false);
        let to = self.point(caller, *next);
        self.edge(at, Some(to), effect, kind);
    }
}

/// Lets started functions clear everything above their frame, now that the number of slots is
/// known.
fn fill_slots(program: &mut Program, clears: &[(u32, usize)]) {
    for &(edge, from) in clears {
        let zero = (from..program.slots).map(|slot| (Var::Local(slot as u32), Expr::Const(false)));
        program.edges[edge as usize].effect.assigns.extend(zero);
    }
    for edge in &mut program.edges {
        let effect = &mut edge.effect;
        effect.new_is_read.resize(effect.assigns.len(), false);
    }
}

fn initial(mask: u8) -> Expr {
    match mask {
        FREE => Expr::Any,
        mask => Expr::Const(mask == ONE),
    }
}

fn info(function: &Function, lines: &LineIndex) -> FunctionInfo {
    let nodes = function.nodes.iter().map(|n| {
        let (line, column) = lines.position(n.span.start);
        NodeInfo { line, column, text: n.text.clone(), labels: n.labels.clone(), origin: n.origin.clone() }
    });
    FunctionInfo {
        name: function.name.clone(),
        variables: function.variables.clone(),
        nodes: nodes.collect(),
    }
}

/// The meaning of names in one instance.
struct Scope {
    base: usize,
    thread_locals: usize,
    function: usize,
}

impl Scope {
    fn new(resolved: &Resolved, instance: &Instance) -> Scope {
        Scope {
            base: instance.base,
            thread_locals: resolved.thread_locals.len(),
            function: instance.function,
        }
    }

    fn place(&self, name: Name) -> Var {
        match name {
            Name::Shared(i) => Var::Shared(i),
            Name::ThreadLocal(i) => Var::Local(i),
            Name::Local(i) => Var::Local(self.base as u32 + i),
            Name::OtherThreadLocal(i) => Var::Other(i),
            Name::OtherLocal(i) => Var::Other(self.thread_locals as u32 + i),
        }
    }

    /// Returns the variable that a name refers to: `'x` is the new value if the statement assigns
    /// x, else the old one. `mine` and `theirs` are the variables that it assigns.
    fn var(&self, r: &Ref, mine: &[Name], theirs: &[Name]) -> Expr {
        let assigned = |names: &[Name]| names.iter().position(|n| *n == r.name).map(|i| i as u32);
        Expr::Var(match (r.primed, assigned(mine), assigned(theirs)) {
            (true, Some(i), _) => Var::New(i),
            (true, _, Some(i)) => Var::OtherNew(i),
            _ => self.place(r.name),
        })
    }

    fn guard(&self, condition: &Expr<Ref>, value: bool) -> (Effect, EdgeKind) {
        // The guard of the active thread leaves another thread's variable open.
        let mine = condition.map(&mut |r| if r.name.is_other() { Expr::Any } else { self.var(r, &[], &[]) });
        let mut effect = Effect { guards: vec![(mine, value)], ..Effect::default() };
        if !condition.mentions(|r| r.name.is_other()) {
            return (effect, EdgeKind::Plain);
        }
        let theirs = condition.map(&mut |r| self.var(r, &[], &[]));
        let others = BystanderEffect {
            frame_of: condition.mentions(|r| matches!(r.name, Name::OtherLocal(_))).then_some(self.function),
            function: self.function,
            guards: vec![(theirs, value)],
            assigns: Vec::new(),
            constraints: Vec::new(),
            reads: Vec::new(),
            new_is_read: Vec::new(),
        };
        attach(&mut effect, others);
        (effect, EdgeKind::Passive)
    }

    fn assignment(&self, assigns: &[(Name, Expr<Ref>)], constraints: &[Expr<Ref>]) -> (Effect, EdgeKind) {
        let (theirs, mine): (Vec<_>, Vec<_>) = assigns.iter().partition(|(n, _)| n.is_other());
        let names: Vec<Name> = mine.iter().map(|a| a.0).collect();
        let values =
            mine.iter().map(|(n, e)| (self.place(*n), e.map(&mut |r| self.var(r, &[], &[])))).collect();
        self.constrained(&names, values, theirs, constraints)
    }

    /// Returns the effect of a constrained assignment. `names` are the targets of `assigns`;
    /// `theirs` are those of bystanders.
    fn constrained(
        &self,
        names: &[Name],
        assigns: Vec<(Var, Expr)>,
        theirs: Vec<&(Name, Expr<Ref>)>,
        constraints: &[Expr<Ref>],
    ) -> (Effect, EdgeKind) {
        let their_names: Vec<Name> = theirs.iter().map(|a| a.0).collect();
        let (other, own): (Vec<_>, Vec<_>) =
            constraints.iter().partition(|c| c.mentions(|r| r.name.is_other()));
        let own: Vec<Expr> = own.iter().map(|c| c.map(&mut |r| self.var(r, names, &their_names))).collect();
        let mut effect = Effect { new_is_read: vec![false; assigns.len()], assigns, ..Effect::default() };
        mark_read(&own, &mut effect.new_is_read, |v| if let Var::New(i) = v { Some(i) } else { None });
        effect.constraints = own;
        if theirs.is_empty() && other.is_empty() {
            return (effect, EdgeKind::Plain);
        }
        let uses_frame = |r: &Ref| matches!(r.name, Name::OtherLocal(_));
        let needs_frame =
            theirs.iter().any(|(n, e)| matches!(n, Name::OtherLocal(_)) || e.mentions(uses_frame))
                || other.iter().any(|c| c.mentions(uses_frame));
        let constraints: Vec<Expr> =
            other.iter().map(|c| c.map(&mut |r| self.var(r, names, &their_names))).collect();
        let their_assigns = theirs.iter().map(|(n, e)| {
            let Var::Other(i) = self.place(*n) else { unreachable!("partitioned by is_other") };
            (i, e.map(&mut |r| self.var(r, &[], &[])))
        });
        let mut others = BystanderEffect {
            frame_of: needs_frame.then_some(self.function),
            function: self.function,
            guards: Vec::new(),
            assigns: their_assigns.collect(),
            constraints,
            reads: Vec::new(),
            new_is_read: vec![false; their_names.len()],
        };
        let constraints = others.constraints.clone();
        mark_read(&constraints, &mut others.new_is_read, |v| {
            if let Var::OtherNew(i) = v { Some(i) } else { None }
        });
        attach(&mut effect, others);
        (effect, EdgeKind::Passive)
    }
}

fn mark_read(es: &[Expr], read: &mut [bool], which: impl Fn(Var) -> Option<u32>) {
    for e in es {
        e.each_var(&mut |v| {
            if let Some(i) = which(*v) {
                read[i as usize] = true;
            }
        });
    }
}

/// Attaches the bystanders' part to an effect. Each variable of the active thread that it reads
/// must have one value for all bystanders.
fn attach(effect: &mut Effect, mut others: BystanderEffect) {
    let mut seen = Vec::new();
    {
        let mut see = |v: &Var| match v {
            Var::Other(_) | Var::OtherNew(_) => {}
            v if seen.contains(v) => {}
            v => seen.push(*v),
        };
        others.guards.iter().for_each(|(e, _)| e.each_var(&mut see));
        others.assigns.iter().for_each(|(_, e)| e.each_var(&mut see));
        others.constraints.iter().for_each(|e| e.each_var(&mut see));
    }
    for v in &seen {
        match v {
            Var::New(i) => effect.new_is_read[*i as usize] = true,
            v => others.reads.push(*v),
        }
    }
    effect.resolve = seen;
    effect.others = Some(Box::new(others));
}
