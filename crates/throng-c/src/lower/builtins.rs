//! Functions with a meaning of their own: inputs, assertions, memory; and what threads, locks and
//! atomics are made of.

use crate::syntax::ast::*;

use super::{Lower, Result, Symbol, Value, unsupported, wrong};
use crate::library::special::{Allocate, INPUT, Meaning, PLAIN_BEGIN, runs_destructors};
use crate::types::Ty;
use throng_goto::program::{Access, BOOL, BinOp, Expr, INT, Instr, Int, PTR, Violation};

pub(super) type Args<'a> = &'a [Node<Expression>];

impl<'a> Lower<'a> {
    /// Lowers a call with a meaning of its own: `Some(result)`.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        let error = self.question.error_function.as_deref();
        if error == Some(name) {
            self.emit(Instr::Fail(Violation::Assertion, format!("{name} is called")));
            return Ok(Some(None));
        }
        let library = self.library.clone();
        let defined = self.is_defined(name);
        let Some(meaning) = library.meaning(name, defined) else { return Ok(None) };
        let name = if defined { name } else { library.plain(name) };
        let mut result = None;
        match meaning {
            Meaning::Error if error.is_some() => return Ok(None),
            Meaning::Error => self.emit(Instr::Fail(Violation::Assertion, format!("{name} is called"))),
            Meaning::FailedAssertion(n) => self.fail_assertion(args.get(n)),
            Meaning::Assert => self.check(args, span, |s| s.fail_assertion(args.first()))?,
            Meaning::Assume => self.check(args, span, |s| s.emit(Instr::Assume(Expr::Const(0))))?,
            Meaning::Unreachable => self.emit(Instr::Assume(Expr::Const(0))),
            Meaning::Halt if runs_destructors(name) => {
                self.all(args)?;
                self.exit_program()?;
            }
            Meaning::Halt => {
                self.all(args)?;
                self.emit(Instr::Halt);
            }
            Meaning::AtomicBegin => {
                if name == PLAIN_BEGIN {
                    self.assume("`atomic_begin` and `atomic_end`, which have no body, begin and end an atomic section");
                }
                self.emit(Instr::AtomicBegin);
            }
            Meaning::AtomicEnd => self.emit(Instr::AtomicEnd),
            Meaning::Allocate(what) => result = Some(self.allocate(what, args, span)?),
            Meaning::Free => {
                let a = self.arg(args, 0, span)?;
                self.emit(Instr::Free(a.expr));
            }
            Meaning::Expect => {
                let v = self.arg(args, 0, span)?;
                result = Some(self.convert(v, &Ty::Int(self.long()), span)?);
                self.all(args.get(1..).unwrap_or_default())?;
            }
            Meaning::IsConstant => result = Some(self.is_known(name, args, span)?),
            Meaning::Count(count) => result = Some(self.count_bits(count, name, args, span)?),
            Meaning::SwapBytes(size) => result = Some(self.swap_bytes(size, args, span)?),
            Meaning::Overflows(what) => result = Some(self.overflowing(what, args, span)?),
            Meaning::Compiler(what) => return self.compiler(what, name, args, span).map(Some),
            Meaning::Variadic(what) => self.variadic(what, args, span)?,
            Meaning::Scan(source) => result = self.scan(source, args, span)?,
            Meaning::Print(what) => result = self.print(what, name, args, span)?,
            Meaning::Bytes(function) => result = self.byte_function(function, name, args, span)?,
            Meaning::Thread(function) => return self.thread_function(function, args, span),
            Meaning::Atomic => return self.atomic(name, args, span),
            Meaning::StandardAtomic => return self.standard_atomic(name, args, span),
            Meaning::Errno => {
                if self.errno.is_none() && !self.dry {
                    // Only code of the library uses it.
                    self.errno = Some(self.thread_local("errno", 4, 4));
                }
                let expr = Expr::Const(self.errno.unwrap_or(0));
                result = Some(Value { expr, ty: Ty::ptr(Ty::int()) });
            }
            Meaning::Input if matches!(self.lookup(name), Some(Symbol::Function(_))) => return Ok(None),
            Meaning::Input => result = Some(self.input(&name[INPUT.len()..])),
            Meaning::Number(function) => result = Some(self.number_function(function, args, span)?),
            Meaning::Complex(function) => result = Some(self.complex_function(function, args, span)?),
            Meaning::Hint => self.all(args)?,
            Meaning::Predicate => {}
            Meaning::Refused => return unsupported(span, format!("`{name}`")),
        }
        Ok(Some(result))
    }

    /// Fails an assertion: that is an error, or ends the program if another error is asked about.
    fn fail_assertion(&mut self, condition: Option<&'a Node<Expression>>) {
        match self.question.error_function {
            Some(_) => self.emit(Instr::Halt),
            None => {
                let what = self.assertion(condition);
                self.emit(Instr::Fail(Violation::Assertion, what));
            }
        }
    }

    /// Allocates memory; the value is its address.
    fn allocate(&mut self, what: Allocate, args: Args<'a>, span: Span) -> Result<Value> {
        self.assume(match what {
            Allocate::Block => {
                "arrays of computed size, and what `alloca` returns, are not used after their block"
            }
            Allocate::Any | Allocate::Zeroed | Allocate::Again => "memory can be allocated",
        });
        if what == Allocate::Again {
            return self.reallocate(args, span);
        }
        let zeroed = what == Allocate::Zeroed;
        let a = self.arg(args, 0, span)?;
        let mut size = self.convert(a, &Ty::Int(PTR), span)?.expr;
        if zeroed {
            let b = self.arg(args, 1, span)?;
            let b = self.convert(b, &Ty::Int(PTR), span)?.expr;
            size = Expr::bin(BinOp::Mul, size, b, PTR);
        }
        let r = self.register(PTR, None);
        self.emit(Instr::AtomicBegin);
        self.emit(Instr::Alloc(r, size.clone()));
        if zeroed {
            self.set_bytes(&Expr::Reg(r), &Expr::Const(0), size);
        }
        self.emit(Instr::AtomicEnd);
        Ok(Value { expr: Expr::Reg(r), ty: Ty::ptr(Ty::Void) })
    }

    /// Allocates an object that begins with the bytes of another one. C does not say what a size of
    /// 0 means.
    fn reallocate(&mut self, args: Args<'a>, span: Span) -> Result<Value> {
        let old = self.arg(args, 0, span)?;
        let size = self.arg(args, 1, span)?;
        let size = self.convert(size, &Ty::Int(PTR), span)?;
        let size = self.kept(size).expr;
        let (some, none) = (self.label(), self.label());
        self.emit(Instr::Branch(size.clone(), some, none));
        self.place_label(none);
        self.emit(Instr::Unmodelled("`realloc` with the size 0 is not supported".into()));
        self.place_label(some);
        let r = self.register(PTR, None);
        self.emit(Instr::Resize(r, old.expr, size));
        Ok(Value { expr: Expr::Reg(r), ty: Ty::ptr(Ty::Void) })
    }

    /// Returns an input of the type with this name in SV-COMP.
    fn input(&mut self, ty: &str) -> Value {
        let ty = match ty {
            "float" => return self.any(&Ty::Float(4)),
            "double" => return self.any(&Ty::Float(8)),
            "bool" | "_Bool" => BOOL,
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
        self.any(&Ty::Int(ty))
    }

    /// Any value of a type.
    fn any(&mut self, ty: &Ty) -> Value {
        let r = self.register(ty.scalar().unwrap_or(INT), None);
        self.emit(Instr::Any(r));
        Value { expr: Expr::Reg(r), ty: ty.clone() }
    }

    /// Returns what is said of an assertion that fails: `assert` of the C library passes its
    /// condition as text.
    fn assertion(&self, condition: Option<&'a Node<Expression>>) -> String {
        let condition = match condition.map(|e| (&e.node, e.span)) {
            Some((Expression::StringLiteral(s), span)) => {
                let bytes = super::literals::string_bytes(&s.node, span).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Some((_, span)) => self.prepared.text[span.start..span.end].to_string(),
            None => return "the assertion fails".into(),
        };
        format!("the assertion `{}` fails", condition.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Returns the type `long`.
    pub(super) fn long(&self) -> Int {
        Int::new(if self.question.ilp32 { 4 } else { 8 }, true)
    }

    /// Returns the type `size_t`.
    pub(super) fn size_type(&self) -> Int {
        Int { signed: false, ..self.long() }
    }

    /// Writes what `otherwise` writes, for the case that the condition is false.
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
                if v.ty.is_float() {
                    return unsupported(e.span, "a floating-point number as argument of this function");
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
