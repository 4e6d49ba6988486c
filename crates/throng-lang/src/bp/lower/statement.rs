//! Statements over numbers and arrays to statements over bits.

use super::number::{self, and, choose, constant, size};
use super::{
    Lowering, MOST_DEPTH, MOST_NODES, MOST_STATEMENTS, Result, bits_of, describe, element_bits, error,
};
use crate::bp::ast::{self, Expr, ExprKind, Ident, Stmt, StmtKind, Target};
use crate::bp::resolve::each_stmt;
use crate::bp::types::Type;
use crate::source::{Diagnostic, Span};

impl Lowering {
    pub(super) fn block(&mut self, body: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in body {
            let lowered = self.stmt(stmt);
            out.extend(self.take(lowered).into_iter().flatten());
        }
        out
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Vec<Stmt>> {
        if let StmtKind::For { variable, from, to, body } = &stmt.kind {
            return self.repeated(stmt, variable, from, to, body);
        }
        let mut check = constant(true, stmt.span);
        let outer = std::mem::replace(&mut self.reads, vec![Vec::new()]);
        let kind = self.kind(stmt, &mut check);
        let reads = std::mem::replace(&mut self.reads, outer);
        let kind = kind?;
        let check = if number::always_holds(&check) { None } else { Some(check) };
        let lowered = Stmt { kind, check, reads, ..stmt.without_kind() };
        if let Some(check) = &lowered.check {
            self.can_check(check, stmt)?;
        }
        let (nodes, depth) = statement_size(&lowered);
        if nodes > MOST_NODES || depth > MOST_DEPTH {
            return Err(too_large(stmt.span));
        }
        Ok(vec![lowered])
    }

    /// Refuses a check that is not over the thread's own values before the step.
    fn can_check(&self, check: &Expr, stmt: &Stmt) -> Result<()> {
        if !self.is_known(check) || matches!(stmt.kind, StmtKind::Enforce(_)) {
            let message = "whether this stays within its range or array cannot be checked";
            return Err(error("E228", stmt.span, message)
                .hint("in `enforce`, and with `'x` or `x$`, use only constant indices, and assign only what surely fits"));
        }
        Ok(())
    }

    /// Returns whether an expression of bits is over the thread's own values before the step.
    fn is_known(&self, e: &Expr) -> bool {
        let mut names = Vec::new();
        number::leaves(e, &mut names);
        names.iter().all(|e| match &e.kind {
            ExprKind::Name { name, primed } => !(*primed || name.ends_with('$') && self.is_passive(name)),
            _ => true,
        })
    }

    fn repeated(
        &mut self,
        stmt: &Stmt,
        variable: &Ident,
        from: &Expr,
        to: &Expr,
        body: &[Stmt],
    ) -> Result<Vec<Stmt>> {
        let (from, to) = (self.constant(from)?, self.constant(to)?);
        let mut refused = None;
        each_stmt(body, &mut |s| {
            let jump = s.labels.first().map(|l| (l.span, "a label"));
            refused = refused.or(jump).or(match s.kind {
                StmtKind::Decl(_) => Some((s.span, "a declaration")),
                StmtKind::Enforce(_) => Some((s.span, "`enforce`")),
                _ => None,
            });
        });
        if stmt.labels.iter().any(|l| l.name.starts_with(ast::ASYNC)) {
            refused = Some((stmt.span, "the start of a thread"));
        }
        if let Some((span, what)) = refused {
            let message = format!("{what} cannot be repeated by `for`");
            return Err(error("E227", span, message).hint("write it outside the loop"));
        }
        let mut out = Vec::new();
        for i in from..=to {
            self.loops.push((variable.name.clone(), i));
            let before = self.diagnostics.len();
            out.extend(self.block(body));
            self.loops.pop();
            self.made += body.len().max(1);
            if self.made > MOST_STATEMENTS {
                let message = format!("`for` gives more than {MOST_STATEMENTS} statements");
                return Err(error("E227", stmt.span, message));
            }
            // The other rounds have the same errors.
            if self.diagnostics.len() > before {
                break;
            }
        }
        if out.is_empty() {
            out.push(Stmt { kind: StmtKind::Skip, ..stmt.without_kind() });
        }
        out[0].labels.clone_from(&stmt.labels);
        Ok(out)
    }

    fn kind(&mut self, stmt: &Stmt, check: &mut Expr) -> Result<StmtKind> {
        Ok(match &stmt.kind {
            StmtKind::Assume(e) => StmtKind::Assume(self.boolean(e, check)?),
            StmtKind::Assert(e) => StmtKind::Assert(self.boolean(e, check)?),
            StmtKind::Enforce(e) => StmtKind::Enforce(self.boolean(e, check)?),
            StmtKind::Abortif(e) => StmtKind::Abortif(self.boolean(e, check)?),
            StmtKind::Assign { targets, values, constrain } => {
                self.assign(stmt, targets, values, constrain.as_ref(), check)?
            }
            StmtKind::Call { targets, callee, arguments } => self.call(targets, callee, arguments, check)?,
            StmtKind::Return(es) => {
                let types = self.results.clone();
                if es.len() == types.len() {
                    StmtKind::Return(self.all_converted(es, &types, check)?)
                } else {
                    let message = format!("{} values are returned, not {}", types.len(), es.len());
                    return Err(error("E214", stmt.span, message));
                }
            }
            StmtKind::If { arms, otherwise } => self.if_(stmt, arms, otherwise.as_deref(), check)?,
            StmtKind::While(e, body) => StmtKind::While(self.boolean(e, check)?, self.block(body)),
            StmtKind::Decl(d) => StmtKind::Decl(self.declaration(d).0),
            StmtKind::Start(child) => {
                let mut child = self.stmt(child)?;
                match (child.pop(), child.is_empty()) {
                    (Some(only), true) => StmtKind::Start(Box::new(only)),
                    _ => return Err(error("E227", stmt.span, "`for` cannot be started as a thread")),
                }
            }
            StmtKind::Atomic(body, end) => StmtKind::Atomic(self.block(body), *end),
            StmtKind::Dead(names) => {
                let bits = names.iter().flat_map(|name| match self.lookup(&name.name) {
                    Some((declared, _)) => bits_of(name, declared),
                    None => vec![name.clone()],
                });
                StmtKind::Dead(bits.collect())
            }
            StmtKind::Print(es) => {
                let mut bits = Vec::new();
                for e in es {
                    bits.extend(self.value(e, check)?.bits(e.span));
                }
                StmtKind::Print(bits)
            }
            kind => kind.clone(),
        })
    }

    fn all_converted(&mut self, es: &[Expr], types: &[Type], check: &mut Expr) -> Result<Vec<Expr>> {
        let mut bits = Vec::new();
        for (e, ty) in es.iter().zip(types) {
            bits.extend(self.converted(e, ty, check)?);
        }
        Ok(bits)
    }

    fn assign(
        &mut self,
        stmt: &Stmt,
        targets: &[Target],
        values: &[Expr],
        constrain: Option<&Expr>,
        check: &mut Expr,
    ) -> Result<StmtKind> {
        let (mut places, mut new) = (Vec::new(), Vec::new());
        let whole = check;
        let check = &mut constant(true, stmt.span);
        let mut arrays: Vec<(&str, Option<i64>)> = Vec::new();
        for (target, e) in targets.iter().zip(values) {
            let ident = &target.ident;
            let place = |bit: &str| Target::from(Ident { name: bit.into(), span: ident.span });
            if ident.name == "_" {
                places.push(place("_"));
                let before = self.reads.last().map_or(0, Vec::len);
                let value = if matches!(e.kind, ExprKind::Any) { None } else { Some(self.value(e, check)?) };
                if let Some(reads) = self.reads.last_mut() {
                    reads.truncate(before);
                }
                new.push(value.map_or(e.clone(), |v| v.into_bool().unwrap_or(constant(false, e.span))));
                continue;
            }
            let Some((declared, passive)) = self.lookup(&ident.name) else {
                if self.lowered.globals.constants.contains_key(&ident.name)
                    || self.loop_value(&ident.name).is_some()
                {
                    let message = format!("`{}` is a constant", ident.name);
                    return Err(error("E220", ident.span, message));
                }
                places.push(target.clone());
                new.push(self.boolean(e, check)?);
                continue;
            };
            let declared = declared.clone();
            let value = self.converted(e, &declared.ty, check)?;
            let name = if passive { &ident.name[..ident.name.len() - 1] } else { &ident.name };
            let suffix = if passive { "$" } else { "" };
            let Some(index) = self.index(ident, target.index.as_ref(), &declared, check)? else {
                let bits = element_bits(name, None, &declared.ty);
                places.extend(bits.iter().map(|bit| place(&format!("{bit}{suffix}"))));
                new.extend(value);
                continue;
            };
            let before = arrays.iter().any(|(array, at)| {
                *array == ident.name && (at.is_none() || index.value().is_none() || *at == index.value())
            });
            if before {
                let message =
                    format!("elements of `{}` that can be the same are assigned at once", ident.name);
                return Err(error("E209", ident.span, message));
            }
            arrays.push((&ident.name, index.value()));
            let length = declared.length.unwrap_or(1) as i64;
            for k in index.low.max(0)..=index.high.min(length - 1) {
                let here =
                    number::Number::equal(&index, &number::Number::constant(k, ident.span), ident.span);
                for (bit, value) in element_bits(name, Some(k as usize), &declared.ty).iter().zip(&value) {
                    let bit = format!("{bit}{suffix}");
                    let old =
                        Expr { kind: ExprKind::Name { name: bit.clone(), primed: false }, span: ident.span };
                    places.push(place(&bit));
                    new.push(choose(here.clone(), value.clone(), old));
                }
            }
        }
        if places.is_empty() {
            // Every index is out of bounds: only the check matters.
            places.push(Target::from(Ident { name: "_".into(), span: stmt.span }));
            new.push(constant(false, stmt.span));
        }
        let constrain = constrain.map(|c| self.boolean(c, whole)).transpose()?;
        // A thread that waits for its constraint assigns nothing, so the check applies only where
        // the constraint is satisfiable. Conjuncts over new values cannot be used: those may not
        // fit.
        let waits = conjuncts(constrain.as_ref()).into_iter().filter(|c| self.is_known(c)).cloned();
        let enabled = waits.fold(constant(true, stmt.span), and);
        *whole = and(whole.clone(), number::or(number::not(enabled), check.clone()));
        Ok(StmtKind::Assign { targets: places, values: new, constrain })
    }

    fn call(
        &mut self,
        targets: &[Target],
        callee: &Ident,
        arguments: &[Expr],
        check: &mut Expr,
    ) -> Result<StmtKind> {
        let Some(signature) = self.signatures.get(&callee.name).cloned() else {
            let kind = StmtKind::Call {
                targets: targets.to_vec(),
                callee: callee.clone(),
                arguments: arguments.to_vec(),
            };
            // `wait(c)`
            if ast::Program::default().waking(&kind).is_some() {
                return Ok(kind);
            }
            return Err(error("E213", callee.span, format!("no function `{}`", callee.name)));
        };
        let takes = signature.parameters.len();
        if takes != arguments.len() {
            let message = format!("`{}` takes {takes} arguments, not {}", callee.name, arguments.len());
            return Err(error("E206", callee.span, message));
        }
        let results = signature.results.len();
        if !targets.is_empty() && targets.len() != results {
            let message = format!("`{}` returns {results} values, not {}", callee.name, targets.len());
            return Err(error("E206", callee.span, message));
        }
        let arguments = self.all_converted(arguments, &signature.parameters, check)?;
        let mut places = Vec::new();
        for (target, ty) in targets.iter().zip(&signature.results) {
            let ident = &target.ident;
            if ident.name == "_" {
                places.extend(std::iter::repeat_n(target.clone(), ty.bits()));
                continue;
            }
            let Some((declared, _)) = self.lookup(&ident.name) else {
                places.push(target.clone());
                continue;
            };
            let declared = declared.clone();
            let same = matches!(ty, Type::Enum { .. }) || matches!(declared.ty, Type::Enum { .. });
            let fits = if same { *ty == declared.ty } else { ty.bounds() == declared.ty.bounds() };
            if !fits || (*ty == Type::Bool) != (declared.ty == Type::Bool) {
                let (mine, theirs) = (describe(&declared.ty), describe(ty));
                let message = format!("`{}` is of {mine}, but the result of {theirs}", ident.name);
                return Err(error("E220", ident.span, message));
            }
            let index = self.index(ident, target.index.as_ref(), &declared, check)?;
            let index = match index
                .map(|i| i.value().filter(|i| (0..declared.length.unwrap_or(1) as i64).contains(i)))
            {
                None => None,
                Some(Some(i)) => Some(i as usize),
                Some(None) => {
                    let message =
                        "a result is assigned to an element with a constant index in the array only";
                    return Err(error("E223", ident.span, message).hint("assign it to a variable first"));
                }
            };
            let bits = element_bits(&ident.name, index, &declared.ty);
            places.extend(bits.into_iter().map(|name| Target::from(Ident { name, span: ident.span })));
        }
        Ok(StmtKind::Call { targets: places, callee: callee.clone(), arguments })
    }

    /// Lowers an `if`; an `elsif` with a check becomes an `if` in an `else`, which can carry it.
    fn if_(
        &mut self,
        stmt: &Stmt,
        arms: &[(Expr, Vec<Stmt>)],
        otherwise: Option<&[Stmt]>,
        check: &mut Expr,
    ) -> Result<StmtKind> {
        let mut done = Vec::new();
        for (i, (condition, body)) in arms.iter().enumerate() {
            let mut its = constant(true, condition.span);
            if i > 0 {
                self.reads.push(Vec::new());
            }
            let condition = self.boolean(condition, &mut its)?;
            if i > 0 && !matches!(its.kind, ExprKind::Const(true)) {
                let rest =
                    StmtKind::If { arms: arms[i..].to_vec(), otherwise: otherwise.map(<[Stmt]>::to_vec) };
                let span = Span { end: stmt.span.end, ..arms[i].0.span };
                let rest = Stmt {
                    kind: rest,
                    span,
                    labels: Vec::new(),
                    origin: None,
                    check: None,
                    reads: Vec::new(),
                };
                let otherwise = Some(self.stmt(&rest)?);
                return Ok(StmtKind::If { arms: done, otherwise });
            }
            if i == 0 {
                *check = its;
            }
            done.push((condition, self.block(body)));
        }
        Ok(StmtKind::If { arms: done, otherwise: otherwise.map(|b| self.block(b)) })
    }
}

impl Stmt {
    /// Returns a copy of the statement without its kind.
    fn without_kind(&self) -> Stmt {
        Stmt {
            labels: self.labels.clone(),
            kind: StmtKind::Skip,
            span: self.span,
            origin: self.origin.clone(),
            check: None,
            reads: Vec::new(),
        }
    }
}

fn conjuncts(e: Option<&Expr>) -> Vec<&Expr> {
    match e.map(|e| &e.kind) {
        None => Vec::new(),
        Some(ExprKind::Chain(ast::ChainOp::And, es)) => es.iter().flat_map(|e| conjuncts(Some(e))).collect(),
        Some(_) => e.into_iter().collect(),
    }
}

pub(super) fn too_large(span: Span) -> Diagnostic {
    error("E225", span, "written as bits, this is too large").hint("assign parts of it to variables first")
}

fn statement_size(s: &Stmt) -> (usize, usize) {
    let es: Vec<&Expr> = match &s.kind {
        StmtKind::Assume(e) | StmtKind::Assert(e) | StmtKind::Enforce(e) | StmtKind::Abortif(e) => vec![e],
        StmtKind::Assign { values, constrain, .. } => values.iter().chain(constrain).collect(),
        StmtKind::Call { arguments: es, .. } | StmtKind::Return(es) | StmtKind::Print(es) => {
            es.iter().collect()
        }
        StmtKind::If { arms, .. } => arms.iter().map(|arm| &arm.0).collect(),
        StmtKind::While(e, _) => vec![e],
        _ => Vec::new(),
    };
    es.into_iter().chain(&s.check).map(size).fold((0, 0), |(n, deep), (m, d)| (n + m, deep.max(d)))
}
