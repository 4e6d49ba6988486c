//! Functions with a meaning of their own: inputs, assertions, memory; and what threads, locks and
//! atomics are made of.

use lang_c::ast::*;
use lang_c::span::{Node, Span};

use super::{Lower, Result, Value, unsupported, wrong};
use crate::types::Ty;
use throng_goto::program::{Access, BinOp, Expr, INT, Instr, Int, PTR, Violation};

pub(super) type Args<'a> = &'a [Node<Expression>];

impl<'a> Lower<'a> {
    /// A call with a meaning of its own: `Some(result)`.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        let defined = self.is_defined(name);
        let error = self.question.error_function.as_deref();
        if error == Some(name) {
            self.emit(Instr::Fail(Violation::Assertion, format!("{name} is called")));
            return Ok(Some(None));
        }
        let special = matches!(
            name,
            "__VERIFIER_error"
                | "reach_error"
                | "__VERIFIER_atomic_begin"
                | "__VERIFIER_atomic_end"
                | "__CPROVER_atomic_begin"
                | "__CPROVER_atomic_end"
                | "__assert_fail"
        );
        if defined && !special {
            return Ok(None);
        }
        let result = match name {
            "__assert_fail" | "__assert_rtn" | "__assert" if error.is_some() => {
                self.emit(Instr::Halt);
                None
            }
            "__VERIFIER_error" | "reach_error" if error.is_some() => return Ok(None),
            "__VERIFIER_error" | "reach_error" | "__assert_fail" | "__assert_rtn" | "__assert" => {
                let what = match name {
                    "__VERIFIER_error" | "reach_error" => format!("{name} is called"),
                    _ => self.assertion(args),
                };
                self.emit(Instr::Fail(Violation::Assertion, what));
                None
            }
            "assert" | "__CPROVER_assert" | "__VERIFIER_assert" | "unsafe_assert" => {
                self.check(args, span, |s| match s.question.error_function {
                    Some(_) => s.emit(Instr::Halt),
                    None => {
                        let what = s.assertion(args);
                        s.emit(Instr::Fail(Violation::Assertion, what));
                    }
                })?;
                None
            }
            "__VERIFIER_assume" | "__CPROVER_assume" | "assume" | "__builtin_assume" => {
                self.check(args, span, |s| s.emit(Instr::Assume(Expr::Const(0))))?;
                None
            }
            "__builtin_unreachable" => {
                self.emit(Instr::Assume(Expr::Const(0)));
                None
            }
            "abort" | "exit" | "_exit" | "_Exit" | "__builtin_trap" | "__builtin_abort" => {
                self.all(args)?;
                self.emit(Instr::Halt);
                None
            }
            "__builtin_expect" => {
                let v = self.arg(args, 0, span)?;
                let v = self.convert(v, &Ty::Int(self.long()), span)?;
                if args.iter().skip(1).any(|e| super::expressions::has_effects(&e.node)) {
                    return unsupported(span, "`__builtin_expect` with a side effect");
                }
                Some(v)
            }
            // What else is constant depends on the optimiser.
            "__builtin_constant_p" => {
                if !args.first().is_some_and(|e| self.is_constant(e)) {
                    return unsupported(span, "`__builtin_constant_p` of what is not a constant number");
                }
                Self::int_value(Expr::Const(1))
            }
            "__builtin_types_compatible_p"
            | "__builtin_va_start"
            | "__builtin_va_end"
            | "__builtin_va_copy" => {
                return unsupported(span, format!("`{name}`"));
            }
            "longjmp" | "_longjmp" | "siglongjmp" | "setjmp" | "_setjmp" | "__sigsetjmp" | "fork"
            | "vfork" => {
                return unsupported(span, format!("`{name}`"));
            }
            "__VERIFIER_atomic_begin" | "__CPROVER_atomic_begin" | "atomic_begin" => {
                if name == "atomic_begin" {
                    self.assume("`atomic_begin` and `atomic_end`, which have no body, begin and end an atomic section");
                }
                self.emit(Instr::AtomicBegin);
                None
            }
            "__VERIFIER_atomic_end" | "__CPROVER_atomic_end" | "atomic_end" => {
                self.emit(Instr::AtomicEnd);
                None
            }
            "malloc" | "calloc" | "__builtin_malloc" | "alloca" | "__builtin_alloca" => {
                if name.ends_with("alloca") {
                    self.assume(
                        "arrays of computed size, and what `alloca` returns, are not used after their block",
                    );
                } else {
                    self.assume("memory can be allocated");
                }
                let a = self.arg(args, 0, span)?;
                let mut size = self.convert(a, &Ty::Int(PTR), span)?.expr;
                if name == "calloc" {
                    let b = self.arg(args, 1, span)?;
                    let b = self.convert(b, &Ty::Int(PTR), span)?.expr;
                    size = Expr::bin(BinOp::Mul, size, b, PTR);
                }
                let r = self.register(PTR, None);
                self.emit(Instr::AtomicBegin);
                self.emit(Instr::Alloc(r, size.clone()));
                if name == "calloc" {
                    self.set_bytes(&Expr::Reg(r), &Expr::Const(0), size);
                }
                self.emit(Instr::AtomicEnd);
                Some(Value { expr: Expr::Reg(r), ty: Ty::ptr(Ty::Void) })
            }
            "free" => {
                let a = self.arg(args, 0, span)?;
                self.emit(Instr::Free(a.expr));
                None
            }
            "realloc" => return unsupported(span, "`realloc`"),
            "scanf" | "__isoc99_scanf" | "__isoc23_scanf" => self.scan(None, 0, args, span)?,
            "fscanf" | "__isoc99_fscanf" | "__isoc23_fscanf" => {
                self.arg(args, 0, span)?;
                self.scan(None, 1, args, span)?
            }
            "sscanf" | "__isoc99_sscanf" | "__isoc23_sscanf" => self.scan(Some(0), 1, args, span)?,
            "strncpy"
            | "strncat"
            | "sprintf"
            | "snprintf"
            | "read"
            | "fread"
            | "fgets"
            | "gets"
            | "__VERIFIER_nondet_memory" => {
                return unsupported(span, format!("`{name}`"));
            }
            _ if name.starts_with("pthread_") => return self.pthread(&name["pthread_".len()..], args, span),
            _ if name.starts_with("sem_") => return self.semaphore(name, args, span),
            _ if name.starts_with("__atomic_") || name.starts_with("__sync_") => {
                return self.atomic(name, args, span);
            }
            _ if name.starts_with("atomic_") => return self.standard_atomic(name, args, span),
            _ if name.starts_with("__CPROVER_")
                && (name.ends_with("predicate") || name.ends_with("_predicates")) =>
            {
                // Hints for another tool.
                None
            }
            _ if name.starts_with("__VERIFIER_nondet_")
                && !matches!(self.lookup(name), Some(super::Symbol::Function(_))) =>
            {
                let ty = match &name["__VERIFIER_nondet_".len()..] {
                    "bool" | "_Bool" => Int { size: 1, signed: false, truth: true },
                    "char" => Int::new(1, true),
                    "uchar" | "u8" => Int::new(1, false),
                    "short" => Int::new(2, true),
                    "ushort" | "u16" => Int::new(2, false),
                    "uint" | "unsigned" | "u32" => Int::new(4, false),
                    "long" => self.long(),
                    "longlong" => Int::new(8, true),
                    "ulong" | "size_t" => self.size_type(),
                    "ulonglong" | "pointer" => PTR,
                    _ => INT,
                };
                let r = self.register(ty, None);
                self.emit(Instr::Any(r));
                Some(Value { expr: Expr::Reg(r), ty: Ty::Int(ty) })
            }
            _ => return self.byte_function(name, args, span),
        };
        Ok(Some(result))
    }

    /// What is said of an assertion that fails: `assert` of the C library passes its condition as
    /// text.
    fn assertion(&self, args: Args<'a>) -> String {
        let condition = match args.first().map(|e| (&e.node, e.span)) {
            Some((Expression::StringLiteral(s), span)) => {
                let bytes = super::literals::string_bytes(&s.node, span).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Some((_, span)) => self.prepared.text[span.start..span.end].to_string(),
            None => return "the assertion fails".into(),
        };
        format!("the assertion `{}` fails", condition.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// `long`
    pub(super) fn long(&self) -> Int {
        Int::new(if self.question.ilp32 { 4 } else { 8 }, true)
    }

    /// `size_t`
    pub(super) fn size_type(&self) -> Int {
        Int { signed: false, ..self.long() }
    }

    /// If the condition is false, what `otherwise` writes.
    pub(super) fn check(
        &mut self,
        args: Args<'a>,
        span: Span,
        otherwise: impl FnOnce(&mut Self),
    ) -> Result<()> {
        let Some(c) = args.first() else { return wrong(span, "an argument is missing") };
        if self.dry {
            return Ok(());
        }
        let (yes, no) = (self.label(), self.label());
        self.condition(c, yes, no)?;
        self.place_label(no);
        otherwise(self);
        self.place_label(yes);
        Ok(())
    }

    pub(super) fn arg(&mut self, args: Args<'a>, i: usize, span: Span) -> Result<Value> {
        match args.get(i) {
            Some(e) => {
                let v = self.value(e)?;
                if matches!(v.ty.plain(), Ty::Float(_)) {
                    return unsupported(e.span, "floating-point arithmetic");
                }
                // The address may be used several times.
                Ok(self.kept(v))
            }
            None => wrong(span, "an argument is missing"),
        }
    }

    pub(super) fn all(&mut self, args: Args<'a>) -> Result<()> {
        for e in args {
            self.value(e)?;
        }
        Ok(())
    }

    /// Reads a part of a lock or its like.
    pub(super) fn load(&mut self, a: &Expr, offset: i64, at: Int) -> Expr {
        self.load_as(Access::Internal, a, offset, at)
    }

    pub(super) fn load_as(&mut self, kind: Access, a: &Expr, offset: i64, at: Int) -> Expr {
        let r = self.register(at, None);
        let a = Expr::bin(BinOp::Add, a.clone(), Expr::Const(offset), PTR);
        self.with_access(kind, |s| s.emit(Instr::Load(r, a, at)));
        Expr::Reg(r)
    }

    /// Writes a part of a lock or its like.
    pub(super) fn store(&mut self, a: &Expr, offset: i64, v: Expr, at: Int) {
        self.store_as(Access::Internal, a, offset, v, at);
    }

    pub(super) fn store_as(&mut self, kind: Access, a: &Expr, offset: i64, v: Expr, at: Int) {
        let a = Expr::bin(BinOp::Add, a.clone(), Expr::Const(offset), PTR);
        self.with_access(kind, |s| s.emit(Instr::Store(a, v, at)));
    }

    /// Waits until other threads have made the value other than 0.
    pub(super) fn wait_until(&mut self, e: Expr) {
        self.with_access(Access::Internal, |s| s.emit(Instr::Assume(e)));
    }

    pub(super) fn equals(a: Expr, v: i64) -> Expr {
        Expr::bin(BinOp::Eq, a, Expr::Const(v), INT)
    }

    pub(super) fn plus(a: Expr, v: i64) -> Expr {
        Expr::bin(BinOp::Add, a, Expr::Const(v), INT)
    }

    pub(super) fn int_value(expr: Expr) -> Option<Value> {
        Some(Value { expr, ty: Ty::int() })
    }
}
