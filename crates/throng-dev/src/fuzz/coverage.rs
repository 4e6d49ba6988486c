//! Which constructs of the languages a case has.

use std::collections::BTreeSet;

use super::case::{Body, Case};
use super::generate::updates;
use super::nets::{Net, Tokens};
use super::threads::{Arrow, Threads};
use throng_lang::bp::ast::{BinaryOp, ChainOp, Expr, ExprKind, Program, Stmt, StmtKind};
use throng_lang::bp::parser;

/// The constructs that a case has, each once.
pub fn constructs(case: &Case) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    match &case.body {
        Body::Program(program) => {
            program_constructs(&parser::parse(&program.text).0, &mut found);
            if program.keep_ended {
                found.insert("bp --no-slot-reuse");
            }
        }
        Body::Threads(threads) => threads_constructs(threads, &mut found),
        Body::Net(net) => net_constructs(net, &mut found),
    }
    found
}

type Found = BTreeSet<&'static str>;

fn threads_constructs(threads: &Threads, found: &mut Found) {
    found.insert(if threads.named { "ntts" } else { "tts" });
    for edge in &threads.edges {
        found.insert(match edge.arrow {
            Arrow::Move if !edge.passive.is_empty() => "tts -> with p ~> q",
            Arrow::Move => "tts ->",
            Arrow::Spawn => "tts +>",
            Arrow::Transfer => "tts ~>",
        });
        if edge.anywhere {
            found.insert("ntts * as shared state");
        }
        if edge.from == edge.to {
            found.insert("tts edge to itself");
        }
    }
    let (_, exactly, any) = &threads.start;
    found.insert(match (exactly.is_empty(), any.is_empty()) {
        (_, true) => "tts initial s|l",
        (true, false) => "tts initial s/l",
        (false, false) => "tts initial s|l/l",
    });
    for (_, target) in &threads.targets {
        found.insert(if target.is_empty() { "tts target s|" } else { "tts target s|l" });
    }
}

fn net_constructs(net: &Net, found: &mut Found) {
    if net.pnml {
        found.insert("pnml");
        return;
    }
    found.insert("spec");
    let test = |t: &Tokens| match t {
        Tokens::Exactly(_) => "spec guard x = n",
        Tokens::AtLeast(_) => "spec guard x >= n",
        Tokens::Between(..) => "spec guard x in [a,b]",
    };
    for rule in &net.rules {
        found.extend(rule.guard.values().map(test));
        found.extend(updates(rule));
        if rule.guard.is_empty() {
            found.insert("spec guard true");
        }
    }
    for tokens in &net.start {
        found.insert(match tokens {
            Tokens::Exactly(_) => "spec init x = n",
            Tokens::AtLeast(_) => "spec init x >= n",
            Tokens::Between(..) => "spec init x in [a,b]",
        });
    }
    if !net.counts() {
        found.insert("spec target x = n");
    }
    if net.targets.len() > 1 {
        found.insert("spec several targets");
    }
}

fn program_constructs(program: &Program, found: &mut Found) {
    found.insert("bp");
    if program.globals.iter().any(|d| d.thread_local) {
        found.insert("bp thread_local");
    }
    if program.globals.iter().flat_map(|d| &d.variables).count() > 16 {
        found.insert("bp many variables");
    }
    if program.globals.iter().flat_map(|d| &d.variables).any(|v| v.initial.is_some()) {
        found.insert("bp decl x := c");
    }
    for function in &program.functions {
        if !function.parameters.is_empty() {
            found.insert("bp parameters");
        }
        if function.dfs {
            found.insert("bp dfs");
        }
        if function.results > 0 {
            found.insert("bp results");
        }
        block(&function.body, found);
    }
}

fn block(body: &[Stmt], found: &mut Found) {
    body.iter().for_each(|s| statement(s, found));
}

fn statement(s: &Stmt, found: &mut Found) {
    for label in &s.labels {
        found.insert(match &label.name {
            name if name.starts_with("ASYNC_") => "bp ASYNC_ label",
            name if name.parse::<u64>().is_ok() => "bp numeric label",
            _ => "bp label",
        });
    }
    let mut see = |e: &Expr| expression(e, found);
    let name = match &s.kind {
        StmtKind::Skip => "bp skip",
        StmtKind::Goto(labels) if labels.len() > 1 => "bp goto with several labels",
        StmtKind::Goto(_) => "bp goto",
        StmtKind::Assume(e) => {
            see(e);
            "bp assume"
        }
        StmtKind::Assert(e) => {
            see(e);
            "bp assert"
        }
        StmtKind::Assign { targets, values, constrain } => {
            values.iter().chain(constrain).for_each(&mut see);
            match () {
                () if targets.iter().any(|t| t.ident.name.ends_with('$')) => "bp x$ :=",
                () if constrain.is_some() => "bp constrain",
                () if targets.iter().any(|t| t.ident.name == "_") => "bp _ :=",
                () if targets.len() > 1 => "bp parallel assignment",
                () => "bp assignment",
            }
        }
        StmtKind::Call { targets, arguments, .. } => {
            arguments.iter().for_each(&mut see);
            if targets.is_empty() { "bp call" } else { "bp call with results" }
        }
        StmtKind::Return(es) => {
            es.iter().for_each(&mut see);
            "bp return"
        }
        StmtKind::If { arms, otherwise } => {
            arms.iter().for_each(|(e, _)| see(e));
            arms.iter().for_each(|(_, b)| block(b, found));
            otherwise.iter().for_each(|b| block(b, found));
            if arms.len() > 1 {
                found.insert("bp elsif");
            }
            "bp if"
        }
        StmtKind::While(e, body) => {
            see(e);
            block(body, found);
            "bp while"
        }
        StmtKind::For { body, .. } => {
            block(body, found);
            "bp for"
        }
        StmtKind::Decl(_) => "bp local variables",
        StmtKind::Enforce(e) => {
            see(e);
            "bp enforce"
        }
        StmtKind::Abortif(e) => {
            see(e);
            "bp abortif"
        }
        StmtKind::StartGoto { goto: true, .. } => "bp start_thread goto",
        StmtKind::StartGoto { goto: false, .. } => "bp start_thread label",
        StmtKind::Start(child) => {
            statement(child, found);
            "bp start_thread statement"
        }
        StmtKind::EndThread => "bp end_thread",
        StmtKind::AtomicBegin | StmtKind::AtomicEnd => "bp atomic_begin",
        StmtKind::Atomic(body, _) => {
            block(body, found);
            "bp atomic { }"
        }
        StmtKind::Wait => "bp wait",
        StmtKind::Signal => "bp signal",
        StmtKind::Broadcast => "bp broadcast",
        StmtKind::Dead(_) => "bp dead",
        StmtKind::Print(_) => "bp print",
    };
    found.insert(name);
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Equal => "expression =",
        BinaryOp::Unequal => "expression !=",
        BinaryOp::Implies => "expression =>",
        BinaryOp::Iff => "expression <=>",
        BinaryOp::Less | BinaryOp::AtMost | BinaryOp::Greater | BinaryOp::AtLeast => "expression <",
        BinaryOp::Plus | BinaryOp::Minus => "expression +",
        BinaryOp::Times => "expression a * b",
    }
}

fn expression(e: &Expr, found: &mut Found) {
    let name = match &e.kind {
        ExprKind::Const(_) => "expression constant",
        ExprKind::Number(_) => "expression number",
        ExprKind::Index { index, .. } => {
            expression(index, found);
            "expression a[]"
        }
        ExprKind::Any => "expression *",
        ExprKind::Name { name, primed } => match (name.ends_with('$'), primed) {
            (false, false) => "expression x",
            (false, true) => "expression 'x",
            (true, false) => "expression x$",
            (true, true) => "expression 'x$",
        },
        ExprKind::Not(e) => {
            expression(e, found);
            "expression !"
        }
        ExprKind::Chain(op, es) => {
            es.iter().for_each(|e| expression(e, found));
            match op {
                ChainOp::And => "expression &",
                ChainOp::Or => "expression |",
                ChainOp::Xor => "expression ^",
            }
        }
        ExprKind::Series(first, rest) => {
            expression(first, found);
            for (op, e) in rest {
                expression(e, found);
                found.insert(operator(*op));
            }
            return;
        }
        ExprKind::Binary(op, a, b) => {
            expression(a, found);
            expression(b, found);
            operator(*op)
        }
        ExprKind::Conditional(a, b, c) => {
            [a, b, c].into_iter().for_each(|e| expression(e, found));
            "expression ? :"
        }
        ExprKind::Schoose(a, b) => {
            expression(a, found);
            expression(b, found);
            "expression schoose"
        }
    };
    found.insert(name);
}
