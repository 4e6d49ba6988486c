//! Random Boolean programs: small, valid, and with every construct of the language in odd company.
//!
//! A program is written as text, one statement per line so that a position names a statement, and
//! tried on the reader; what it refuses (mostly an atomic section that a jump leaves) is thrown
//! away and the dice are cast again. The same seed gives the same program for ever.

use crate::Rng;
use throng_lang::bp;

/// Knobs for what may occur in a program, and how often.
#[derive(Clone, Copy, Debug)]
pub struct Knobs {
    /// Maximum number of shared variables; at least one.
    pub shared: usize,
    /// Maximum number of locals per function.
    pub locals: usize,
    /// Maximum number of functions besides `main`.
    pub functions: usize,
    /// Approximate number of statements in all.
    pub statements: usize,
    /// `start_thread` and `ASYNC_` labels.
    pub spawn: bool,
    /// Atomic sections.
    pub atomic: bool,
    /// `wait`, `signal`, `broadcast`.
    pub wake: bool,
    /// Assignments to `x$`.
    pub passive: bool,
    /// `x$` in constraints and guards: a thread's mere presence can block another.
    pub blocking: bool,
    /// Calls.
    pub calls: bool,
    /// `thread_local` variables.
    pub thread_local: bool,
    /// Assertions. Without, ask for labels.
    pub asserts: bool,
}

impl Knobs {
    /// Everything.
    pub const ALL: Knobs = Knobs {
        shared: 3,
        locals: 2,
        functions: 2,
        statements: 11,
        spawn: true,
        atomic: true,
        wake: true,
        passive: true,
        blocking: true,
        calls: true,
        thread_local: true,
        asserts: true,
    };

    /// Only what larger configurations can do as well as smaller ones.
    pub const MONOTONE: Knobs = Knobs { blocking: false, ..Knobs::ALL };

    /// Plain threads: nothing concerns bystanders.
    pub const PLAIN: Knobs = Knobs { blocking: false, passive: false, wake: false, ..Knobs::ALL };

    /// Some choice of knobs.
    pub fn random(rng: &mut Rng) -> Knobs {
        let on = |rng: &mut Rng, often: usize| !rng.one_in(often);
        let passive = rng.one_in(3);
        let mut knobs = Knobs {
            shared: 1 + rng.index(3),
            locals: rng.index(3),
            functions: rng.index(3),
            statements: 4 + rng.index(9),
            spawn: on(rng, 4),
            atomic: on(rng, 3),
            wake: rng.one_in(3),
            passive,
            blocking: passive && on(rng, 2),
            calls: on(rng, 2),
            thread_local: rng.one_in(6),
            asserts: on(rng, 8),
        };
        // Sometimes a few kinds of statements only, so that they meet often.
        match rng.index(6) {
            0 => {
                (knobs.passive, knobs.blocking, knobs.spawn) = (true, true, true);
                (knobs.locals, knobs.functions, knobs.atomic, knobs.wake) = (2, 0, false, false);
            }
            1 => {
                (knobs.calls, knobs.spawn, knobs.functions) = (true, true, 2);
                (knobs.passive, knobs.blocking, knobs.wake, knobs.atomic) = (false, false, false, false);
            }
            2 => {
                (knobs.wake, knobs.atomic) = (true, true);
                (knobs.passive, knobs.blocking, knobs.calls) = (false, false, false);
            }
            _ => {}
        }
        knobs
    }
}

/// A program that the reader accepts.
pub fn program(rng: &mut Rng, knobs: &Knobs) -> String {
    loop {
        let text = Writer::new(rng, *knobs).run();
        if bp::read(&text, &bp::Options::default()).0.is_some() {
            return text;
        }
    }
}

/// An expression over the given names, every operator in parentheses.
pub fn expression(rng: &mut Rng, names: &[String], depth: usize) -> String {
    let any = rng.one_in(6);
    match if depth == 0 { rng.index(4) } else { 2 + rng.index(9) } {
        0 => ["0", "1", "F", "T", "false", "true"][rng.index(6)].into(),
        1 if any => "*".into(),
        1..=4 if !names.is_empty() => rng.pick(names).clone(),
        1..=4 => "*".into(),
        5 => format!("!{}", expression(rng, names, depth - 1)),
        6 if any => format!("schoose[{}]", several(rng, names, depth, 2).join(", ")),
        7 if any => {
            let parts = several(rng, names, depth, 3);
            format!("({} ? {} : {})", parts[0], parts[1], parts[2])
        }
        6 | 7 => {
            let op = *rng.pick(&[" & ", " | ", " ^ "]);
            format!("({})", several(rng, names, depth, 3).join(op))
        }
        _ => {
            let op = *rng.pick(&[" & ", " | ", " & ", " | ", " ^ ", " = ", " != ", " => ", " <=> "]);
            format!("({})", several(rng, names, depth, 2).join(op))
        }
    }
}

fn several(rng: &mut Rng, names: &[String], depth: usize, count: usize) -> Vec<String> {
    (0..count).map(|_| expression(rng, names, depth - 1)).collect()
}

/// Placeholder for a label, filled in when all labels of the function are known.
const LABEL: &str = "@";

#[derive(Clone)]
struct Signature {
    name: &'static str,
    parameters: usize,
    results: usize,
}

struct Writer<'r> {
    rng: &'r mut Rng,
    knobs: Knobs,
    lines: Vec<String>,
    functions: Vec<Signature>,
    shared: Vec<String>,
    thread_locals: Vec<String>,
    /// True if `x$` is about locals, false if about thread-local variables: statements about both
    /// may be refused.
    passive_locals: bool,
    // What follows is about the function being written.
    current: usize,
    /// Variables of the thread: thread-local ones, parameters, locals.
    own: Vec<String>,
    labels: Vec<String>,
    /// Some if labels are numbers; `Some(true)`: of nested statements, too.
    numeric: Option<bool>,
    budget: usize,
    indent: usize,
}

impl<'r> Writer<'r> {
    fn new(rng: &'r mut Rng, knobs: Knobs) -> Writer<'r> {
        Writer {
            rng,
            knobs,
            lines: Vec::new(),
            functions: Vec::new(),
            shared: Vec::new(),
            thread_locals: Vec::new(),
            current: 0,
            own: Vec::new(),
            labels: Vec::new(),
            numeric: None,
            passive_locals: true,
            budget: 0,
            indent: 0,
        }
    }

    fn run(mut self) -> String {
        let shared = 1 + self.rng.index(self.knobs.shared);
        self.shared = ["s", "t", "u"][..shared.min(3)].iter().map(|s| s.to_string()).collect();
        for name in self.shared.clone() {
            let initial = self.initial();
            self.line(&format!("decl {name}{initial};"));
        }
        if self.knobs.thread_local && self.rng.one_in(2) {
            let initial = self.initial();
            self.line(&format!("decl thread_local w{initial};"));
            self.thread_locals.push("w".into());
            self.passive_locals = self.rng.one_in(2);
        }
        self.functions.push(Signature {
            name: "main",
            parameters: usize::from(self.rng.one_in(12)),
            results: usize::from(self.rng.one_in(12)),
        });
        let more = if self.knobs.functions == 0 { 0 } else { self.rng.index(self.knobs.functions + 1) };
        for name in ["f", "g"].into_iter().take(more) {
            let (parameters, results) = (self.rng.index(3), self.rng.index(3));
            self.functions.push(Signature { name, parameters, results });
        }
        let count = self.functions.len();
        for i in 0..count {
            self.budget = self.knobs.statements.div_ceil(count + usize::from(i > 0)).max(1);
            self.function(i);
        }
        self.lines.join("\n") + "\n"
    }

    fn initial(&mut self) -> &'static str {
        ["", " := 0", " := 0", " := 1", " := *"][self.rng.index(5)]
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "  ".repeat(self.indent)));
    }

    fn function(&mut self, index: usize) {
        let Signature { name, parameters, results } = self.functions[index].clone();
        self.current = index;
        self.labels.clear();
        self.numeric = (index == 0 && self.rng.one_in(10)).then(|| self.rng.one_in(2));
        let parameters: Vec<String> = ["p", "q"][..parameters].iter().map(|s| s.to_string()).collect();
        let locals = if self.knobs.locals == 0 { 0 } else { self.rng.index(self.knobs.locals + 1) };
        let mut locals: Vec<String> = ["a", "b"][..locals.min(2)].iter().map(|s| s.to_string()).collect();
        // Now and then a local hides a shared or a thread-local variable.
        if self.rng.one_in(15)
            && let Some(last) = locals.last_mut()
        {
            *last = if self.rng.one_in(2) { "s".into() } else { "w".into() };
        }
        let kind = match results {
            0 => "void",
            1 if self.rng.one_in(3) => "bool<1>",
            1 => "bool",
            _ => "bool<2>",
        };
        self.line(&format!("{kind} {name}({})", parameters.join(", ")));
        self.line("begin");
        self.indent += 1;
        let start = self.lines.len();
        for local in &locals {
            let initial = self.initial();
            self.line(&format!("decl {local}{initial};"));
        }
        self.own = self.thread_locals.clone();
        self.own.extend(parameters);
        self.own.extend(locals);
        self.own.sort();
        self.own.dedup();
        if self.numeric.is_some() {
            for _ in 0..self.rng.index(3) {
                let (name, value) = (self.variable(), ["0", "1", "*"][self.rng.index(3)]);
                self.line(&format!("{name} := {value};"));
            }
        }
        while self.budget > 0 {
            self.statement(0, false);
        }
        if results > 0 && !self.rng.one_in(4) {
            let text = self.return_();
            let label = self.fresh_label(true);
            self.line(&format!("{label}{text};"));
        }
        self.put_labels(start);
        self.indent -= 1;
        self.line("end");
    }

    /// Replaces each placeholder by a label; a jump in a function without labels becomes `skip`.
    fn put_labels(&mut self, start: usize) {
        for i in start..self.lines.len() {
            while self.lines[i].contains(LABEL) {
                if self.labels.is_empty() {
                    self.lines[i] = "  skip;".into();
                } else {
                    let label = self.rng.pick(&self.labels).clone();
                    self.lines[i] = self.lines[i].replacen(LABEL, &label, 1);
                }
            }
        }
    }

    /// Labels to put before a statement, often none.
    fn fresh_label(&mut self, top: bool) -> String {
        if self.numeric.is_some_and(|nested| top || nested) {
            let label = format!("{}", self.labels.len() + 1);
            self.labels.push(label.clone());
            return format!("{label}: ");
        }
        if self.numeric.is_some() || !self.rng.one_in(3) {
            return String::new();
        }
        let label = format!("L{}", self.labels.len());
        self.labels.push(label.clone());
        match self.rng.index(8) {
            0 => format!("{label}: {label}: "),
            1 => {
                self.labels.push(format!("M{label}"));
                format!("{label}: M{label}: ")
            }
            _ => format!("{label}: "),
        }
    }

    // ── expressions ──

    fn variable(&mut self) -> String {
        if self.own.is_empty() || self.rng.one_in(2) {
            self.rng.pick(&self.shared).clone()
        } else {
            self.rng.pick(&self.own).clone()
        }
    }

    fn readable(&self) -> Vec<String> {
        self.shared.iter().filter(|s| !self.own.contains(s)).chain(&self.own).cloned().collect()
    }

    fn plain(&mut self) -> String {
        let depth = self.rng.index(3);
        let names = self.readable();
        expression(self.rng, &names, depth)
    }

    /// The variables of which `x$` may be written.
    fn passive_names(&self) -> Vec<String> {
        let fits = |x: &&String| self.thread_locals.contains(x) != self.passive_locals;
        self.own.iter().filter(fits).cloned().collect()
    }

    /// In a guard, another thread's variables may stand.
    fn guard(&mut self) -> String {
        let mut names = self.readable();
        if self.knobs.blocking && self.rng.one_in(2) {
            names.extend(self.passive_names().iter().map(|x| format!("{x}$")));
        }
        let depth = self.rng.index(3);
        expression(self.rng, &names, depth)
    }

    /// Old and new values, and those of other threads.
    fn constraint(&mut self) -> String {
        let mut names = self.readable();
        if self.knobs.blocking && self.rng.one_in(2) {
            names.extend(self.passive_names().iter().map(|x| format!("{x}$")));
        }
        if !self.rng.one_in(4) {
            names.extend(names.clone().iter().map(|x| format!("'{x}")));
        }
        let mut parts = Vec::new();
        for _ in 0..1 + self.rng.index(2) {
            let depth = 1 + self.rng.index(2);
            parts.push(expression(self.rng, &names, depth));
        }
        parts.join(" & ")
    }

    // ── statements ──

    /// One statement with its `;`, perhaps several lines.
    fn statement(&mut self, depth: usize, inside: bool) {
        self.budget = self.budget.saturating_sub(1);
        let label = self.fresh_label(depth == 0);
        let nested = depth < 2 && self.budget > 0;
        match self.rng.index(24) {
            0 | 1 if nested => self.if_(&label, depth, inside),
            2 if nested => self.while_(&label, depth, inside),
            3 if nested && self.knobs.atomic && !self.rng.one_in(3) => self.section(&label, depth, inside),
            4 if self.knobs.atomic && self.numeric.is_none() => self.section(&label, depth, inside),
            5 | 6 if self.knobs.spawn => self.start(&label, depth),
            7 if self.knobs.spawn && self.numeric.is_none() => {
                let statement = self.simple(true);
                let number = self.labels.len();
                self.line(&format!("{label}ASYNC_{number}: {statement};"));
            }
            8 if !inside && self.rng.one_in(2) => self.line(&format!("{label}end_thread;")),
            9 if !inside && self.rng.one_in(2) => {
                let text = self.return_();
                self.line(&format!("{label}{text};"));
            }
            10 if !inside || self.rng.one_in(4) => {
                let targets = vec![LABEL; 1 + self.rng.index(2)].join(", ");
                self.line(&format!("{label}goto {targets};"));
            }
            11 if self.rng.one_in(2) => {
                let e = self.guard();
                self.line(&format!("{label}enforce {e};"));
            }
            12 if depth == 0
                && self.numeric.is_none()
                && self.rng.one_in(3)
                && !self.own.contains(&"c".to_string()) =>
            {
                let initial = self.initial();
                self.line(&format!("{label}decl c{initial};"));
                self.own.push("c".into());
                self.line("skip;");
            }
            _ => {
                let statement = self.simple(inside);
                self.line(&format!("{label}{statement};"));
            }
        }
    }

    fn return_(&mut self) -> String {
        let results: Vec<String> = (0..self.functions[self.current].results).map(|_| self.plain()).collect();
        format!("return {}", results.join(", ")).trim_end().into()
    }

    fn block(&mut self, depth: usize, inside: bool) {
        self.indent += 1;
        for _ in 0..self.rng.index(3) {
            self.statement(depth, inside);
        }
        self.indent -= 1;
    }

    fn if_(&mut self, label: &str, depth: usize, inside: bool) {
        let e = self.guard();
        self.line(&format!("{label}if {e} then"));
        self.block(depth + 1, inside);
        if self.rng.one_in(4) {
            let e = self.guard();
            self.line(&format!("elsif {e} then"));
            self.block(depth + 1, inside);
        }
        if self.rng.one_in(2) {
            self.line("else");
            self.block(depth + 1, inside);
        }
        self.line("fi;");
    }

    fn while_(&mut self, label: &str, depth: usize, inside: bool) {
        let e = self.guard();
        self.line(&format!("{label}while {e} do"));
        self.block(depth + 1, inside);
        self.line("od;");
    }

    fn section(&mut self, label: &str, depth: usize, _inside: bool) {
        let (begin, end) =
            if self.rng.one_in(2) { ("atomic {", "}") } else { ("atomic_begin;", "atomic_end;") };
        self.line(&format!("{label}{begin}"));
        self.block(depth + 1, true);
        if self.rng.one_in(4) {
            self.block(depth + 1, true);
        }
        self.line(end);
    }

    fn start(&mut self, label: &str, depth: usize) {
        let text = match self.rng.index(6) {
            0 | 1 => format!("goto {LABEL}"),
            2 => LABEL.to_string(),
            3 if depth < 2 && self.budget > 0 => {
                self.line(&format!("{label}start_thread"));
                if self.rng.one_in(2) {
                    self.if_("", 1, false)
                } else {
                    self.while_("", 1, false)
                }
                return;
            }
            4 if self.knobs.calls && self.functions.len() > 1 => {
                let callee = self.rng.index(self.functions.len());
                self.call_of(callee)
            }
            _ => self.simple(true),
        };
        self.line(&format!("{label}start_thread {text};"));
    }

    fn call_of(&mut self, callee: usize) -> String {
        let Signature { name, parameters, .. } = self.functions[callee].clone();
        let arguments: Vec<String> = (0..parameters).map(|_| self.plain()).collect();
        let word = if self.rng.one_in(6) { "call " } else { "" };
        format!("{word}{name}({})", arguments.join(", "))
    }

    fn call(&mut self) -> Option<String> {
        let after = self.functions.len() - self.current - 1;
        if !self.knobs.calls || after == 0 {
            return None;
        }
        let callee = self.current + 1 + self.rng.index(after);
        let results = self.functions[callee].results;
        let call = self.call_of(callee);
        if results == 0 || self.rng.one_in(5) {
            return Some(call);
        }
        let targets = self.targets(results, true);
        Some(format!("{} := {call}", targets.join(", ")))
    }

    /// Different variables, or `_`.
    fn targets(&mut self, count: usize, discard: bool) -> Vec<String> {
        let mut targets: Vec<String> = Vec::new();
        while targets.len() < count {
            let name = if discard && self.rng.one_in(5) { "_".into() } else { self.variable() };
            if name == "_" || !targets.contains(&name) {
                targets.push(name);
            } else if self.rng.one_in(3) {
                targets.push("_".into());
            }
        }
        targets
    }

    /// A statement on one line; with `careful` one that does not end the thread or jump.
    fn simple(&mut self, careful: bool) -> String {
        match self.rng.index(16) {
            0 => {
                ["skip".to_string(), format!("dead {}", self.variable()), format!("print({})", self.plain())]
                    [self.rng.index(3)]
                .clone()
            }
            1 | 2 => {
                let e = self.guard();
                if self.rng.one_in(2) { format!("assume {e}") } else { format!("assume ({e})") }
            }
            3 | 4 | 11 if self.knobs.asserts => {
                let a = self.plain();
                let b = if self.rng.one_in(2) { a.clone() } else { self.plain() };
                if self.rng.one_in(4) {
                    format!("abortif ({a} & {b})")
                } else {
                    format!("assert ({a} | {b})")
                }
            }
            5..=7 => self.call().unwrap_or_else(|| self.assignment()),
            8 if self.knobs.wake && (!careful || self.rng.one_in(3)) => format!("wait{}", self.condition()),
            9 | 14 if self.knobs.wake => {
                format!("{}{}", ["signal", "broadcast"][self.rng.index(2)], self.condition())
            }
            10 | 12 | 13 if self.knobs.passive => self.passive(),
            _ => self.assignment(),
        }
    }

    /// The name of a condition, mostly none.
    fn condition(&mut self) -> &'static str {
        ["", "(c)", "", "(d)"][self.rng.index(4)]
    }

    fn assignment(&mut self) -> String {
        let count = [1, 1, 2][self.rng.index(3)];
        let targets = self.targets(count, true);
        let values: Vec<String> = (0..count).map(|_| self.plain()).collect();
        self.constrained(format!("{} := {}", targets.join(", "), values.join(", ")))
    }

    fn constrained(&mut self, text: String) -> String {
        if self.rng.one_in(3) { format!("{text} constrain {}", self.constraint()) } else { text }
    }

    fn passive(&mut self) -> String {
        let others = self.passive_names();
        if others.is_empty() {
            return self.assignment();
        }
        let x = self.rng.pick(&others).clone();
        let mut names = self.readable();
        names.extend(self.passive_names().iter().map(|x| format!("{x}$")));
        let depth = self.rng.index(2);
        let theirs = expression(self.rng, &names, depth);
        let text = match self.rng.index(3) {
            0 => format!("{x}$ := {theirs}"),
            1 => format!("{x}, {x}$ := {}, {theirs}", self.plain()),
            _ => {
                let y = self.variable();
                format!("{x}$, {y} := {theirs}, {}", self.plain())
            }
        };
        self.constrained(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_program() {
        let text = |seed| program(&mut Rng::new(seed), &Knobs::ALL);
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }

    #[test]
    fn every_construct_occurs() {
        let mut rng = Rng::new(1);
        let all: String = (0..600).map(|_| program(&mut rng, &Knobs::ALL)).collect();
        let words = [
            "thread_local",
            ":= *",
            "bool<2>",
            "bool ",
            "goto L",
            ", L",
            "assume",
            "assert",
            "constrain",
            "'",
            "schoose",
            " ? ",
            "if ",
            "elsif",
            "else",
            "while",
            "enforce",
            "abortif",
            "start_thread goto",
            "start_thread L",
            "start_thread f(",
            "ASYNC_",
            "end_thread",
            "return",
            "atomic_begin",
            "atomic {",
            "wait;",
            "signal",
            "broadcast",
            "$ :=",
            "$ ",
            "dead",
            "print",
            "skip",
            "_ :=",
            "call ",
            "1: ",
            "decl c",
            "*",
        ];
        for word in words {
            assert!(all.contains(word), "{word}");
        }
    }
}
