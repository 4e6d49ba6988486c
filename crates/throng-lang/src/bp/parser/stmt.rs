//! Statements, and the recovery from errors in them.

use super::{Block, Failed, MAX_NESTING, Parsed, Parser};
use crate::bp::ast::ASYNC;
use crate::bp::ast::Mark;
use crate::bp::ast::{Expr, ExprKind, Ident, Stmt, StmtKind, Target};
use crate::bp::lexer::Tok;
use crate::source::{Diagnostic, Span};
use throng_memory::Order;

impl Parser<'_> {
    /// Parses statements up to a keyword that closes a block. `;` separates them and may be
    /// repeated.
    pub(super) fn statements(&mut self) -> Vec<Stmt> {
        let mut statements = Vec::new();
        loop {
            while self.accept(Tok::Semi).is_some() {}
            if self.stray_closer() && !self.at_mistaken_closer() {
                self.refuse_closer();
                continue;
            }
            if self.at_block_end() {
                return statements;
            }
            let start = self.span();
            match self.labelled_statement() {
                Ok(statement) => {
                    statements.push(statement);
                    self.separator();
                }
                Err(Failed) => self.recover(),
            }
            if self.span() == start {
                self.bump(); // every round consumes something
            }
        }
    }

    // ---- between statements

    /// Returns whether the block ends here: at a closing keyword, or at the next function.
    fn at_block_end(&self) -> bool {
        self.at_closer() || self.at_next_function()
    }

    fn at_closer(&self) -> bool {
        is_closer(self.tok())
    }

    /// Returns whether a function starts here; its type alone could be a C-like declaration.
    fn at_next_function(&self) -> bool {
        match (self.tok(), self.next_tok()) {
            (Tok::Void | Tok::Bool, Tok::Ident) => self.ahead[2].tok == Tok::LParen,
            (Tok::Bool, Tok::Less) => true,
            (Tok::Ident, Tok::Void | Tok::Bool) => self.word() == "dfs",
            _ => false,
        }
    }

    /// Returns whether `fi` was probably written for `od` or the other way round.
    fn at_mistaken_closer(&self) -> bool {
        let innermost = self.open.last();
        matches!(self.tok(), Tok::Fi | Tok::Od) && matches!(innermost, Some(Block::If | Block::While))
    }

    fn refuse_closer(&mut self) {
        let opener = match self.tok() {
            Tok::Od => "`while`",
            Tok::RBrace => "`atomic {`",
            _ => "`if`",
        };
        let message = format!("{} without {opener}", self.tok().symbol());
        self.report(Diagnostic::error("E119", self.span(), message).label("closes nothing"));
        self.bump();
    }

    /// Expects what must follow a statement: `;`, or the end of the block; nothing after `fi`, `od`
    /// and `}`.
    fn separator(&mut self) {
        let optional = matches!(self.previous.tok, Tok::Fi | Tok::Od | Tok::RBrace);
        if optional || self.at(Tok::Semi) || self.at_block_end() {
            return;
        }
        match self.tok() {
            Tok::Junk => self.recover(),
            Tok::And | Tok::Or => {
                let error =
                    Diagnostic::error("E123", self.span(), "statements cannot be joined by `&` or `|`");
                self.report(error.label("expected `;`"));
                self.recover();
            }
            Tok::Prime if self.span().start == self.previous.span.end => {
                self.postfix_prime();
                self.recover();
            }
            _ => self.missing_semicolon(),
        }
    }

    /// Reports a missing `;`, and continues as if it were there if a statement seems to follow.
    pub(super) fn missing_semicolon(&mut self) {
        let gap = Span { start: self.previous.span.end, end: self.span().start };
        let new_line = self.at(Tok::Eof) || self.text_of(gap).contains('\n');
        let name = matches!(self.tok(), Tok::Ident | Tok::Int | Tok::Underscore);
        let keyword = self.tok().is_reserved() && !name && !self.continues_statement();
        if !(name || keyword || self.at(Tok::Eof)) {
            let _ = self.unexpected("`;`");
            return self.recover();
        }
        let span = if new_line { Span { end: gap.start, ..gap } } else { self.span() };
        let message = match self.tok() {
            Tok::Eof => "a `;` is missing at the end of the file".to_string(),
            _ => format!("a `;` is missing before `{}`", super::shortened(self.word())),
        };
        self.report(Diagnostic::error("E117", span, message).label("expected `;`"));
        if !(new_line || keyword) {
            self.recover();
        }
    }

    /// Returns whether the current keyword occurs inside statements and starts none.
    fn continues_statement(&self) -> bool {
        use Tok::*;
        matches!(self.tok(), True | False | Begin | Then | Do | Schoose | Constrain)
    }

    /// Skips to the next `;` or to the end of this block, over blocks that open in between.
    fn recover(&mut self) {
        let mut inner = 0usize;
        while !self.at(Tok::Eof) && !self.at_next_function() && !self.at(Tok::End) {
            match self.tok() {
                Tok::If | Tok::While | Tok::LBrace => inner += 1,
                Tok::Fi | Tok::Od | Tok::RBrace if inner > 0 => inner -= 1,
                Tok::Semi if inner == 0 => return,
                tok if inner == 0 && is_closer(tok) => return,
                _ => {}
            }
            self.bump();
        }
    }

    // ---- labels

    fn at_label(&self) -> bool {
        matches!(self.tok(), Tok::Ident | Tok::Int | Tok::Underscore)
    }

    fn label(&mut self) -> Parsed<Ident> {
        if self.at_label() {
            return Ok(self.ident());
        }
        Err(self.unexpected("a label"))
    }

    fn labelled_statement(&mut self) -> Parsed<Stmt> {
        let mut labels = Vec::new();
        while self.at_label() && self.next_tok() == Tok::Colon {
            labels.push(self.ident());
            self.bump();
        }
        if !labels.is_empty() && (self.at(Tok::Semi) || self.at_block_end()) {
            return Err(self.label_without_statement(labels.last()));
        }
        let origin = self.take_origin(self.span().start);
        let statement = self.statement()?;
        self.check_async(&labels, &statement);
        Ok(Stmt { labels, origin, ..statement })
    }

    fn label_without_statement(&mut self, label: Option<&Ident>) -> Failed {
        let span = label.map_or(self.span(), |l| l.span);
        let hint = label.map_or(String::new(), |l| format!("write `{}: skip;`", l.name));
        self.fail(Diagnostic::error("E120", span, "a label needs a statement").hint(hint))
    }

    /// Refuses `ASYNC_1: goto L1, L2`, which would start a thread at two places.
    fn check_async(&mut self, labels: &[Ident], statement: &Stmt) {
        if let StmtKind::Goto(targets) = &statement.kind
            && let Some(second) = targets.get(1)
            && labels.iter().any(|l| l.name.starts_with(ASYNC))
        {
            self.refuse_second_label(second.span);
        }
    }

    fn refuse_second_label(&mut self, span: Span) {
        let error = Diagnostic::error("E122", span, "a thread starts at one label");
        self.report(error.label("a second label").hint("start one thread per label"));
    }

    // ---- statements

    /// Parses a statement without labels.
    fn statement(&mut self) -> Parsed<Stmt> {
        if self.statements >= MAX_NESTING {
            return Err(self.too_deep(self.span()));
        }
        let start = self.span();
        self.statements += 1;
        let kind = self.nested(Self::kind);
        self.statements -= 1;
        if let Ok(kind) = &kind
            && self.at(Tok::At)
        {
            self.mark(start, kind)?;
        }
        Ok(Stmt {
            labels: Vec::new(),
            kind: kind?,
            span: start.to(self.previous.span),
            origin: None,
            check: None,
            reads: Vec::new(),
        })
    }

    fn kind(&mut self) -> Parsed<StmtKind> {
        Ok(match self.tok() {
            Tok::Skip => self.single(StmtKind::Skip),
            Tok::EndThread => self.single(StmtKind::EndThread),
            Tok::AtomicBegin => self.single(StmtKind::AtomicBegin),
            Tok::AtomicEnd => self.single(StmtKind::AtomicEnd),
            Tok::Goto => {
                self.bump();
                StmtKind::Goto(self.comma_list(Self::label)?)
            }
            Tok::Assume => StmtKind::Assume(self.argument()?),
            Tok::Assert => StmtKind::Assert(self.argument()?),
            Tok::Enforce => StmtKind::Enforce(self.argument()?),
            Tok::Abortif => StmtKind::Abortif(self.argument()?),
            Tok::Return => self.return_statement()?,
            Tok::If => self.if_statement(),
            Tok::While => self.while_statement(),
            Tok::Decl => self.local_declaration()?,
            Tok::StartThread => self.start_thread()?,
            Tok::Constrain => {
                return Err(self.refuse("`constrain` follows an assignment, it is not a statement"));
            }
            Tok::Ident => self.named()?,
            Tok::Underscore => self.assignment()?,
            _ => return Err(self.not_a_statement()),
        })
    }

    /// Parses a statement that starts with a name, which may be a contextual keyword.
    fn named(&mut self) -> Parsed<StmtKind> {
        let alone = self.next_tok() == Tok::Semi || is_closer(self.next_tok());
        let used_as_name = matches!(self.next_tok(), Tok::Becomes | Tok::Comma | Tok::Colon);
        Ok(match self.word() {
            "wait" if alone => self.single(StmtKind::Wait),
            "signal" if alone => self.single(StmtKind::Signal),
            "broadcast" if alone => self.single(StmtKind::Broadcast),
            "atomic" if self.next_tok() == Tok::LBrace => self.atomic_block(),
            "for" if self.next_tok() == Tok::Ident && self.text_of(self.ahead[2].span) == "in" => {
                self.for_statement()?
            }
            "fence" if self.next_tok() == Tok::LParen && self.is_order(self.ahead[2].span) => self.fence()?,
            "dead" if !used_as_name => {
                self.bump();
                StmtKind::Dead(self.comma_list(|p| p.name("the name of a variable"))?)
            }
            "print" if !used_as_name => self.print()?,
            "sync" if !used_as_name => return Err(self.refuse("`sync` is not supported")),
            _ => self.assignment()?,
        })
    }

    /// Parses the memory order after a statement, as in `x := 1 @release`.
    fn mark(&mut self, start: Span, kind: &StmtKind) -> Parsed<()> {
        let at = self.bump().span;
        let order = self.order()?;
        let span = at.to(self.previous.span);
        if !matches!(kind, StmtKind::Assign { .. } | StmtKind::Assume(_)) {
            let message = "only assignments and `assume` have a memory order";
            let error = Diagnostic::error("E130", span, message).label("this statement has none");
            return Err(self.fail(error.hint("read the variable into a local one first")));
        }
        self.orders.insert(start.start, Mark { order, span });
        Ok(())
    }

    fn order(&mut self) -> Parsed<Order> {
        let found = if self.at(Tok::Ident) { self.word().parse::<Order>() } else { Err(String::new()) };
        match found {
            Ok(order) => {
                self.bump();
                Ok(order)
            }
            Err(_) => {
                let names = Order::NAMES.map(|(_, name)| name).join(", ");
                let error = Diagnostic::error("E130", self.span(), "a memory order is expected");
                Err(self.fail(error.hint(format!("one of {names}"))))
            }
        }
    }

    fn is_order(&self, span: Span) -> bool {
        self.text_of(span).parse::<Order>().is_ok()
    }

    /// Parses `fence(sc)`.
    fn fence(&mut self) -> Parsed<StmtKind> {
        let start = self.bump().span;
        self.expect(Tok::LParen)?;
        let at = self.span();
        let order = self.order()?;
        self.expect(Tok::RParen)?;
        if matches!(order, Order::Plain | Order::Relaxed) {
            let error = Diagnostic::error("E130", at, format!("a fence cannot be {order}"));
            return Err(self.fail(error.hint("one of acquire, release, acq_rel, seq_cst")));
        }
        self.orders.insert(start.start, Mark { order, span: at });
        Ok(StmtKind::Skip)
    }

    fn single(&mut self, kind: StmtKind) -> StmtKind {
        self.bump();
        kind
    }

    fn refuse(&mut self, message: &str) -> Failed {
        self.fail(Diagnostic::error("E121", self.span(), message))
    }

    fn not_a_statement(&mut self) -> Failed {
        if self.at(Tok::LBrace) {
            return self.refuse_brace("a statement", "only `atomic { ... }` has braces");
        }
        let hint = match self.tok() {
            _ if self.next_tok() == Tok::Colon => format!("`{}` cannot be a label", self.word()),
            Tok::Prime => "assign to the name without a prime".to_string(),
            Tok::Bool | Tok::Void => "write `decl x;` to declare a variable".to_string(),
            Tok::Then => "write `if e then ... fi`".to_string(),
            Tok::Do => "write `while e do ... od`".to_string(),
            _ => return self.unexpected("a statement"),
        };
        self.unexpected_hint("a statement", Some(hint))
    }

    /// Parses the expression after a keyword.
    fn argument(&mut self) -> Parsed<Expr> {
        self.bump();
        self.expr()
    }

    fn return_statement(&mut self) -> Parsed<StmtKind> {
        self.bump();
        if self.at(Tok::Semi) || self.at_block_end() {
            return Ok(StmtKind::Return(Vec::new()));
        }
        Ok(StmtKind::Return(self.comma_list(Self::expr)?))
    }

    fn local_declaration(&mut self) -> Parsed<StmtKind> {
        let word = self.ahead[1].span;
        let declaration = self.declaration()?;
        if declaration.thread_local {
            let error =
                Diagnostic::error("E126", word, "`thread_local` is for declarations outside functions");
            self.report(error.hint("variables of a function are local to the thread anyway"));
        }
        Ok(StmtKind::Decl(declaration))
    }

    fn print(&mut self) -> Parsed<StmtKind> {
        self.bump();
        self.expect(Tok::LParen)?;
        let values = self.comma_list(Self::expr)?;
        self.expect(Tok::RParen)?;
        Ok(StmtKind::Print(values))
    }

    fn start_thread(&mut self) -> Parsed<StmtKind> {
        self.bump();
        if self.accept(Tok::Goto).is_some() {
            let label = self.label()?;
            while self.accept(Tok::Comma).is_some() {
                let second = self.label()?;
                self.refuse_second_label(second.span);
            }
            return Ok(StmtKind::StartGoto { label, goto: true });
        }
        let alone = self.next_tok() == Tok::Semi || is_closer(self.next_tok());
        if alone && self.at_label() && !matches!(self.word(), "wait" | "signal" | "broadcast") {
            return Ok(StmtKind::StartGoto { label: self.label()?, goto: false });
        }
        Ok(StmtKind::Start(Box::new(self.statement()?)))
    }

    // ---- blocks

    fn if_statement(&mut self) -> StmtKind {
        let start = self.bump().span;
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.condition(Tok::Then, "write `if e then ... fi`");
            let body = self.block(Block::If);
            arms.push((condition, body));
            if self.accept(Tok::Elsif).is_none() {
                break;
            }
        }
        if self.accept(Tok::Else).is_some() {
            otherwise = Some(self.block(Block::If));
        }
        self.refuse_parts_after_else();
        self.close(Tok::Fi, start, Tok::If);
        StmtKind::If { arms, otherwise }
    }

    fn refuse_parts_after_else(&mut self) {
        while matches!(self.tok(), Tok::Else | Tok::Elsif) {
            let message = format!("{} after `else`", self.tok().symbol());
            self.report(Diagnostic::error("E118", self.span(), message).label("expected `fi`"));
            if self.bump().tok == Tok::Elsif {
                self.condition(Tok::Then, "write `if e then ... fi`");
            }
            self.block(Block::If);
        }
    }

    fn while_statement(&mut self) -> StmtKind {
        let start = self.bump().span;
        let condition = self.condition(Tok::Do, "write `while e do ... od`");
        let body = self.block(Block::While);
        self.close(Tok::Od, start, Tok::While);
        StmtKind::While(condition, body)
    }

    /// Parses `for i in 0..3 do ... od`.
    fn for_statement(&mut self) -> Parsed<StmtKind> {
        self.extended = true;
        let start = self.bump().span;
        let variable = self.ident();
        self.bump();
        let from = self.sum()?;
        self.expect(Tok::DotDot)?;
        let to = self.sum()?;
        self.expect(Tok::Do)?;
        let body = self.block(Block::While);
        self.close(Tok::Od, start, Tok::While);
        Ok(StmtKind::For { variable, from, to, body })
    }

    fn atomic_block(&mut self) -> StmtKind {
        self.bump();
        let open = self.bump().span;
        let body = self.block(Block::Atomic);
        let close = self.close(Tok::RBrace, open, Tok::LBrace);
        StmtKind::Atomic(body, close)
    }

    /// Parses a condition and the keyword after it. After an error in either the body is still
    /// parsed: a wrong condition must not turn the `fi` into a second error.
    fn condition(&mut self, word: Tok, hint: &str) -> Expr {
        let start = self.span();
        let condition = self.expr();
        if condition.is_ok() && !self.at(word) {
            let _ = match self.tok() {
                Tok::LBrace => self.refuse_brace(word.symbol(), hint),
                _ => self.unexpected_hint(word.symbol(), Some(hint.to_string())),
            };
        }
        while !self.at(word) && !self.at(Tok::Semi) && !self.at_block_end() && !self.starts_statement() {
            self.bump();
        }
        self.accept(word);
        condition.unwrap_or(Expr { kind: ExprKind::Any, span: start })
    }

    fn starts_statement(&self) -> bool {
        use Tok::*;
        let word = matches!(self.tok(), Skip | Goto | Assume | Assert | Return | If | While | StartThread);
        word || matches!(self.tok(), EndThread | AtomicBegin | AtomicEnd | Decl)
            || (self.at(Ident) && matches!(self.next_tok(), Becomes))
    }

    // ---- assignments and calls

    fn assignment(&mut self) -> Parsed<StmtKind> {
        if self.at_call() {
            return self.call(Vec::new());
        }
        let start = self.span();
        let targets = self.comma_list(Self::target)?;
        self.becomes(&targets)?;
        if self.at_call() {
            return self.call(targets);
        }
        let values = self.comma_list(Self::expr)?;
        let constrain = match self.accept(Tok::Constrain) {
            Some(_) => Some(self.expr()?),
            None => None,
        };
        if targets.len() != values.len() {
            let message = format!("{} but {}", count(targets.len(), "target"), count(values.len(), "value"));
            self.report(Diagnostic::error("E124", start.to(self.previous.span), message));
        }
        Ok(StmtKind::Assign { targets, values, constrain })
    }

    fn target(&mut self) -> Parsed<Target> {
        let ident = match self.tok() {
            Tok::Ident | Tok::Underscore => self.ident(),
            _ => return Err(self.unexpected("the name of a variable")),
        };
        if self.accept(Tok::LBracket).is_none() {
            return Ok(ident.into());
        }
        self.extended = true;
        let index = Some(self.expr()?);
        self.expect(Tok::RBracket)?;
        Ok(Target { ident, index })
    }

    /// Expects `:=` after the targets.
    fn becomes(&mut self, targets: &[Target]) -> Parsed<()> {
        if self.at(Tok::Equal) {
            self.equal_for_becomes();
        }
        if self.accept(Tok::Becomes).is_some() {
            return Ok(());
        }
        if self.at(Tok::Prime) {
            return Err(self.postfix_prime_on_target());
        }
        let hint = targets.first().and_then(|t| foreign_word(&t.ident.name)).map(str::to_string);
        Err(self.unexpected_hint("`:=`", hint))
    }

    fn postfix_prime_on_target(&mut self) -> Failed {
        let name = self.text_of(self.previous.span);
        let error = Diagnostic::error("E112", self.span(), "a prime stands before the name, not after it");
        let hint = format!("write `{name} := ...`; in `constrain`, write `'{name}` for the new value");
        self.fail(error.label("expected `:=`").hint(hint))
    }

    /// Returns whether a call starts here: `f(` or `call f`.
    fn at_call(&self) -> bool {
        self.at(Tok::Ident)
            && (self.next_tok() == Tok::LParen || (self.word() == "call" && self.next_tok() == Tok::Ident))
    }

    fn call(&mut self, targets: Vec<Target>) -> Parsed<StmtKind> {
        if self.next_tok() == Tok::Ident {
            self.bump();
        }
        let callee = self.name("the name of a function")?;
        self.expect(Tok::LParen)?;
        let arguments = match self.at(Tok::RParen) {
            true => Vec::new(),
            false => self.comma_list(Self::expr)?,
        };
        self.expect(Tok::RParen)?;
        Ok(StmtKind::Call { targets, callee, arguments })
    }
}

/// Returns whether this keyword ends any block.
fn is_closer(tok: Tok) -> bool {
    matches!(tok, Tok::End | Tok::Fi | Tok::Od | Tok::RBrace | Tok::Else | Tok::Elsif | Tok::Eof)
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Returns a hint about a keyword of another language.
fn foreign_word(word: &str) -> Option<&'static str> {
    Some(match word {
        "int" | "char" | "unsigned" | "boolean" => {
            "write `decl x;` or `decl n : 0..7;` to declare a variable"
        }
        "for" => "write `for i in 0..3 do ... od`",
        "repeat" | "switch" => {
            "there are only `if e then ... fi`, `while e do ... od`, `for i in 0..3 do ... od` and `goto`"
        }
        "break" | "continue" => "use `goto` to leave a loop",
        "lock" | "unlock" => "a lock is a variable: `l := 1 constrain !l` takes it, `l := 0` frees it",
        "endif" => "`if` ends with `fi`",
        "done" | "endwhile" => "`while` ends with `od`",
        "atomic" => "write `atomic { ... }`, or `atomic_begin; ... atomic_end;`",
        _ => return None,
    })
}
