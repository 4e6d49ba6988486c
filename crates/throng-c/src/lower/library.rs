//! Calls of functions of the library that are known by what they read and return.

use std::rc::Rc;

use crate::syntax::ast::Span;

use super::builtins::Args;
use super::copies::{Chunk, MOST_PARTS, chunks};
use super::{Lower, Result, Symbol, Value, unsupported};
use crate::library::format::{Conversion, Precision, conversions};
use crate::library::row::{self, Amount, Ends, Function, Returns, Term, Use};
use crate::library::special::Scan;
use crate::types::{Func, Struct, Ty};
use throng_goto::program::{
    Access, BinOp, Doubt, Expr, FUNCTION, INT, Instr, Int, PTR, Reg, address, object_of,
};

impl<'a> Lower<'a> {
    /// Lowers a call of a function that the table of the library describes; `None` if it does not,
    /// or if the function may do something here that is not modelled.
    pub(super) fn known_call(
        &mut self,
        name: &str,
        ty: &Rc<Func>,
        arguments: &[Value],
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        let library = self.library.clone();
        let Some(function) = library.known(name) else { return Ok(None) };
        let too_few = arguments.len() < function.arguments.len();
        let mut pairs = function.arguments.iter().zip(arguments);
        if too_few || pairs.any(|(what, v)| self.is_unmodelled(what, v)) {
            return Ok(None);
        }
        if function.hidden && self.question.race {
            self.assume("functions of the library that keep a state, such as `strtok`, are not called by two threads at once");
        }
        let arguments: Vec<Value> = arguments.iter().map(|v| self.kept(v.clone())).collect();
        for (i, what) in function.arguments.iter().enumerate() {
            self.read_argument(what, &arguments, i, span)?;
        }
        for callee in &function.calls {
            let f = arguments[callee.function].clone();
            let ty = self.function_type(&f, span)?;
            let passed = self.terms(&callee.arguments, &arguments);
            self.call_value(&f, &ty, passed, span)?;
        }
        if let Some(callee) = &function.starts {
            let number = self.register(PTR, None);
            let passed = self.terms(&callee.arguments, &arguments);
            self.spawn_value(&arguments[callee.function], &passed, number, span)?;
        }
        for (what, v) in function.arguments.iter().zip(&arguments) {
            self.write_argument(what, v, &arguments, name, span)?;
        }
        let result = self.known_result(function, name, ty, &arguments, span)?;
        self.set_variables(function, name);
        match function.ends {
            Some(Ends::Process) => self.exit_program()?,
            Some(Ends::ProcessAtOnce) => self.emit(Instr::Halt),
            Some(Ends::Thread) => {
                self.check_thread_exit(span)?;
                self.leave_all();
                self.end_keys(span)?;
                self.emit(Instr::End(Expr::Const(0)));
            }
            None => {}
        }
        Ok(Some(result))
    }

    /// Returns whether a function may do something with this argument that is not modelled.
    fn is_unmodelled(&self, what: &Use, v: &Value) -> bool {
        match (what, &v.expr) {
            (Use::Null, e) => *e != Expr::Const(0),
            // `SIG_DFL` is 0, and `SIG_IGN` is 1.
            (Use::Handler, e) => !matches!(e, Expr::Const(0 | 1)),
            (Use::Memory { optional: true, .. }, Expr::Const(0)) => false,
            (Use::Memory { access, amount: Amount::Object, .. }, _) => {
                *access != row::Access::Reads && self.parts_behind(v).is_none()
            }
            _ => false,
        }
    }

    fn terms(&self, terms: &[Term], arguments: &[Value]) -> Vec<Value> {
        let value = |t: &Term| match *t {
            Term::Number(n) => Value { expr: Expr::Const(n), ty: Ty::int() },
            Term::Argument(n) => arguments[n].clone(),
        };
        terms.iter().map(value).collect()
    }

    /// Returns a number of bytes.
    fn bytes(&mut self, terms: &[Term], arguments: &[Value], span: Span) -> Result<Expr> {
        let mut n = Expr::Const(1);
        for v in self.terms(terms, arguments) {
            let factor = self.convert(v, &Ty::Int(PTR), span)?.expr;
            n = Expr::bin(BinOp::Mul, n, factor, PTR);
        }
        Ok(self.kept(Value { expr: n, ty: Ty::Int(PTR) }).expr)
    }

    /// What a function reads through an argument.
    fn read_argument(&mut self, what: &Use, arguments: &[Value], i: usize, span: Span) -> Result<()> {
        let v = &arguments[i];
        let end = self.label();
        match what {
            Use::Text { most, optional } => {
                let most = match most {
                    Some(Amount::Bytes(terms)) => Some(self.bytes(terms, arguments, span)?),
                    _ => None,
                };
                self.leave_if_null(v, *optional, end);
                self.read_text(&v.expr, most);
            }
            Use::Memory { access: row::Access::Reads, amount, optional } => {
                self.leave_if_null(v, *optional, end);
                let each = |s: &mut Self, to: &Expr, offset: i64, at: Int| {
                    _ = s.load_as(Access::Plain, to, offset, at);
                };
                self.each_part(v, amount, arguments, span, each)?;
            }
            Use::Format => self.read_format(v, &arguments[i + 1..], span)?,
            Use::Frees => self.emit(Instr::Free(v.expr.clone())),
            _ => {}
        }
        self.place_label(end);
        Ok(())
    }

    /// What a function writes through an argument.
    fn write_argument(
        &mut self,
        what: &Use,
        v: &Value,
        arguments: &[Value],
        function: &str,
        span: Span,
    ) -> Result<()> {
        let Use::Memory { access, amount, optional } = what else { return Ok(()) };
        let open = match access {
            row::Access::Reads => return Ok(()),
            row::Access::Writes => Some(Doubt::Result(function.into())),
            row::Access::Fills => None,
        };
        let end = self.label();
        self.leave_if_null(v, *optional, end);
        self.each_part(v, amount, arguments, span, |s, to, offset, at| {
            s.write_something(open.as_ref(), to, offset, at);
        })?;
        self.place_label(end);
        Ok(())
    }

    /// Writes any value, which is chosen where it is read.
    fn write_something(&mut self, doubt: Option<&Doubt>, to: &Expr, offset: i64, at: Int) {
        let r = self.register(at, None);
        if !self.dry {
            self.current.template.copies.push(self.current.template.code.len());
        }
        match doubt {
            Some(doubt) => self.emit_doubtful(r, doubt.clone()),
            None => self.emit(Instr::Any(r)),
        }
        self.store_as(Access::Plain, to, offset, Expr::Reg(r), at);
    }

    /// Goes to a label if an argument that may be null is.
    fn leave_if_null(&mut self, v: &Value, optional: bool, end: usize) {
        match v.expr {
            _ if !optional => {}
            Expr::Const(0) => self.emit(Instr::Jump(end)),
            Expr::Const(_) => {}
            _ => self.leave_unless(v.expr.clone(), end),
        }
    }

    /// Accesses each part of what an argument points to: where, and as which number.
    fn each_part(
        &mut self,
        v: &Value,
        amount: &Amount,
        arguments: &[Value],
        span: Span,
        mut access: impl FnMut(&mut Self, &Expr, i64, Int),
    ) -> Result<()> {
        match amount {
            Amount::Object => {
                for (offset, at) in self.parts_behind(v).unwrap_or_default() {
                    access(self, &v.expr, offset as i64, at);
                }
            }
            Amount::Bytes(terms) => {
                let n = self.bytes(terms, arguments, span)?;
                self.each(Some(n), 1, |s, at, _| access(s, &s.moved(&v.expr, at), 0, BYTE));
            }
        }
        Ok(())
    }

    /// Returns the parts of what a pointer points to; `None` if they are not known.
    fn parts_behind(&self, v: &Value) -> Option<Vec<Chunk>> {
        let ty = pointee(v).filter(|t| !matches!(t, Ty::Void | Ty::Func(_)))?;
        chunks(ty, &self.structs, false, MOST_PARTS)
    }

    /// A function may set `errno`, and variables of the library that the program declares.
    fn set_variables(&mut self, function: &Function, name: &str) {
        if function.errno {
            self.set_errno(name);
        }
        for variable in &function.sets {
            if let Some(Symbol::Memory(a, ty)) = self.lookup(variable).cloned()
                && let Some(at) = ty.scalar()
            {
                let r = self.register(at, None);
                self.emit_doubtful(r, Doubt::Result(name.into()));
                self.store_as(Access::Plain, &Expr::Const(a), 0, Expr::Reg(r), at);
            }
        }
    }

    /// Sets `errno`, or leaves it.
    pub(super) fn set_errno(&mut self, name: &str) {
        let Some(errno) = self.errno else { return };
        let (sets, end) = (self.register(Int { truth: true, ..BYTE }, None), self.label());
        self.emit(Instr::Any(sets));
        self.leave_unless(Expr::Reg(sets), end);
        self.write_something(Some(&Doubt::Result(name.into())), &Expr::Const(errno), 0, INT);
        self.place_label(end);
    }

    /// Returns the result of a function of the table.
    fn known_result(
        &mut self,
        function: &Function,
        name: &str,
        ty: &Rc<Func>,
        arguments: &[Value],
        span: Span,
    ) -> Result<Option<Value>> {
        let doubt = || Doubt::Result(name.into());
        let ends = match &function.returns {
            Returns::Between(least, most) => {
                let at = ty.result.scalar().unwrap_or(INT);
                let mut end = |t: &Option<Term>| -> Result<Option<Expr>> {
                    let Some(t) = t else { return Ok(None) };
                    let v = self.terms(&[*t], arguments).remove(0);
                    self.convert(v, &Ty::Int(at), span).map(|v| Some(v.expr))
                };
                Some((end(least)?, end(most)?))
            }
            Returns::Argument(n) => {
                let v = self.convert(arguments[*n].clone(), &ty.result, span)?;
                return Ok(Some(v));
            }
            Returns::Static { .. } => return self.static_result(function, name, ty, span),
            _ => None,
        };
        let new = match &function.returns {
            Returns::New { amount: Amount::Bytes(terms), .. } => Some(self.bytes(terms, arguments, span)?),
            _ => None,
        };
        let size = match ty.result.plain() {
            Ty::Ptr(t) => t.layout(&self.structs).map_or(1, |l| l.0.max(1)) as i64,
            _ => 1,
        };
        self.any_result(ty, span, |s, r| match &function.returns {
            Returns::Between(..) => {
                let (least, most) = ends.unwrap_or_default();
                match function.returns.two().or(two(function, &least, &most)) {
                    Some((least, true)) => s.one_of_two(r, least),
                    Some((only, false)) => s.emit(Instr::Let(r, Expr::Const(only))),
                    None => s.any_within(r, least, most),
                }
            }
            Returns::Perhaps => s.emit_doubtful(r, Doubt::Returns(name.into())),
            Returns::Into { argument, optional } => {
                let by = s.register(PTR, None);
                s.emit_doubtful(by, doubt());
                s.or_null(r, *optional, |s| {
                    s.emit(Instr::Let(r, s.moved(&arguments[*argument].expr, &Expr::Reg(by))));
                });
            }
            Returns::New { optional, .. } => s.or_null(r, *optional, |s| {
                s.emit(Instr::AtomicBegin);
                s.emit(Instr::Alloc(r, new.unwrap_or(Expr::Const(size))));
                s.emit(Instr::AtomicEnd);
            }),
            _ => s.emit_doubtful(r, doubt()),
        })
    }

    /// `r` is a number or the next one.
    fn one_of_two(&mut self, r: Reg, least: i64) {
        let at = self.current.template.registers[r as usize];
        let more = self.register(Int { truth: true, ..BYTE }, None);
        self.emit(Instr::Any(more));
        self.emit(Instr::Let(r, Expr::bin(BinOp::Add, Expr::Reg(more), Expr::Const(least), at)));
    }

    /// `r` is null, if it may be, or what is written.
    fn or_null(&mut self, r: Reg, optional: bool, write: impl FnOnce(&mut Self)) {
        let end = self.label();
        if optional {
            let is = self.register(Int { truth: true, ..BYTE }, None);
            self.emit(Instr::Let(r, Expr::Const(0)));
            self.emit(Instr::Any(is));
            self.leave_unless(Expr::Reg(is), end);
        }
        write(self);
        self.place_label(end);
    }

    /// Returns the address of an object that all calls of a function share: each writes something
    /// to it.
    fn static_result(
        &mut self,
        function: &Function,
        name: &str,
        ty: &Rc<Func>,
        span: Span,
    ) -> Result<Option<Value>> {
        let of = match ty.result.plain() {
            Ty::Ptr(t) => t.plain().clone(),
            _ => return unsupported(span, format!("`{name}` with this result")),
        };
        let Some(size) = of.layout(&self.structs).map(|l| l.0).filter(|_| of != Ty::Void) else {
            return self.any_result(ty, span, |s, r| s.emit_doubtful(r, Doubt::Result(name.into())));
        };
        let a = match self.library_objects.get(name) {
            Some(&a) => a,
            None if self.dry => 0,
            None => {
                let a = self.object(format!("the result of {name}"), &of, vec![0; size as usize]);
                self.library_objects.insert(name.to_string(), a);
                a
            }
        };
        let v = Value { expr: Expr::Const(a), ty: Ty::ptr(of) };
        self.each_part(&v, &Amount::Object, &[], span, |s, to, offset, at| {
            s.write_something(Some(&Doubt::Result(name.into())), to, offset, at);
        })?;
        let optional = matches!(function.returns, Returns::Static { optional: true });
        self.any_result(ty, span, |s, r| {
            let (end, is) = (s.label(), s.register(Int { truth: true, ..BYTE }, None));
            if optional {
                // When it is null is not known.
                s.emit(Instr::Any(is));
                let some = s.label();
                s.emit(Instr::Branch(Expr::Reg(is), some, end));
                s.place_label(some);
            }
            s.emit(Instr::Let(r, Expr::Const(a)));
            if optional {
                let out = s.label();
                s.emit(Instr::Jump(out));
                s.place_label(end);
                s.emit_doubtful(r, Doubt::Result(name.into()));
                s.emit(Instr::Assume(Expr::is_zero(Expr::Reg(r))));
                s.place_label(out);
            } else {
                s.place_label(end);
            }
        })
    }

    /// Reads bytes up to a zero, or up to a number of them. What a literal holds never changes.
    fn read_text(&mut self, text: &Expr, most: Option<Expr>) {
        if self.literal(text).is_none() {
            self.each(most, 1, |s, at, end| {
                let c = s.load_as(Access::Plain, &s.moved(text, at), 0, BYTE);
                s.leave_unless(c, end);
            });
        }
    }

    /// Reads a format of `printf`, and the texts among the arguments behind it.
    fn read_format(&mut self, format: &Value, arguments: &[Value], span: Span) -> Result<()> {
        let Some(literal) = self.literal(&format.expr) else {
            if arguments.is_empty() {
                self.read_text(&format.expr, None);
                return Ok(());
            }
            return unsupported(span, "a format that is not a string literal");
        };
        let mut arguments = arguments.iter();
        for conversion in conversions(&literal) {
            if conversion.star {
                arguments.next();
            }
            let most = match conversion.precision {
                Precision::None => None,
                Precision::Most(n) => Some(Expr::Const(n as i64)),
                Precision::Argument => arguments.next().map(|v| v.expr.clone()),
            };
            match (conversion.letter, arguments.next()) {
                (b'n', _) => return unsupported(span, "`%n` in a format"),
                (b's', Some(text)) => self.read_text(&text.expr, most),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the text of a string literal, by its address.
    pub(super) fn literal(&self, e: &Expr) -> Option<Vec<u8>> {
        let Expr::Const(a) = e else { return None };
        let object = self.program.objects.get(usize::try_from(object_of(*a)).ok()?.checked_sub(1)?)?;
        let mut bytes: Vec<u8> = object.init.iter().map(|&b| b as u8).collect();
        let is_literal = self.strings.get(&bytes) == Some(a);
        bytes.pop();
        is_literal.then_some(bytes)
    }

    /// `r = any value` from one to another.
    pub(super) fn any_between(&mut self, r: Reg, least: i64, most: i64) {
        self.any_within(r, Some(Expr::Const(least)), Some(Expr::Const(most)));
    }

    /// The same, where each end may be that of the type.
    fn any_within(&mut self, r: Reg, least: Option<Expr>, most: Option<Expr>) {
        let at = self.current.template.registers[r as usize];
        let (none, some) = (self.label(), self.label());
        self.emit(Instr::Any(r));
        if let Some(least) = least {
            self.leave_unless(Expr::bin(BinOp::Le, least, Expr::Reg(r), at), none);
        }
        if let Some(most) = most {
            self.leave_unless(Expr::bin(BinOp::Le, Expr::Reg(r), most, at), none);
        }
        self.emit(Instr::Jump(some));
        self.place_label(none);
        self.emit(Instr::Assume(Expr::Const(0)));
        self.place_label(some);
    }

    /// Lowers `scanf` and its like: a number of conversions, and values for as many integers.
    pub(super) fn scan(&mut self, source: Scan, args: Args<'a>, span: Span) -> Result<Option<Value>> {
        match source {
            Scan::Input => {}
            Scan::Stream => _ = self.arg(args, 0, span)?,
            Scan::Text => {
                let text = self.arg(args, 0, span)?;
                self.read_text(&text.expr, None);
            }
        }
        let to = self.scan_targets(source.format(), args, span)?;
        let done = self.register(INT, None);
        self.any_between(done, -1, to.len() as i64);
        let end = self.label();
        for (i, (a, at)) in to.into_iter().enumerate() {
            self.leave_unless(Expr::bin(BinOp::Lt, Expr::Const(i as i64), Expr::Reg(done), INT), end);
            let r = self.register(at, None);
            self.emit(Instr::Any(r));
            self.emit(Instr::Store(a, Expr::Reg(r), at));
        }
        self.place_label(end);
        Ok(Self::int_value(Expr::Reg(done)))
    }

    /// Returns the integers that a format of `scanf` assigns to: where, and of which type.
    fn scan_targets(&mut self, format: usize, args: Args<'a>, span: Span) -> Result<Vec<(Expr, Int)>> {
        let at = self.arg(args, format, span)?.expr;
        let Some(literal) = self.literal(&at).or(self.dry.then(Vec::new)) else {
            return unsupported(span, "a format that is not a string literal");
        };
        let assigned = conversions(&literal).into_iter().filter(|c| !c.star);
        let target = |(i, c): (usize, Conversion)| {
            let v = self.arg(args, format + 1 + i, span)?;
            match pointee(&v).and_then(Ty::scalar).filter(|_| !b"sc[nS".contains(&c.letter)) {
                Some(at) => Ok((v.expr, at)),
                None => unsupported(span, "input that is not an integer"),
            }
        };
        assigned.enumerate().map(target).collect()
    }

    /// Returns a row for a function that is not known, as far as its type tells: users say what more
    /// it does.
    pub(super) fn row_of(&self, name: &str, ty: &Func) -> String {
        let used = |(_, t): &(Option<String>, Ty)| match t.plain() {
            Ty::Ptr(to) => match to.plain() {
                Ty::Int(Int { size: 1, .. }) => "text",
                to if to.layout(&self.structs).is_some() && !matches!(to, Ty::Void | Ty::Func(_)) => {
                    "writes?"
                }
                _ => "value",
            },
            _ => "value",
        };
        let shown: Vec<String> = ty.parameters.iter().map(|(_, t)| self.shown(t)).collect();
        let used: Vec<String> = ty.parameters.iter().map(|p| format!("\"{}\"", used(p))).collect();
        let more = if ty.variadic && !used.is_empty() { ", ..." } else { "" };
        let result = self.shown(&ty.result);
        let mut row = format!("[{name}]  # {result} {name}({}{more})\n", shown.join(", "));
        row += &format!("arguments = [{}]", used.join(", "));
        if ty.result != Ty::Void {
            row += "\nreturns = \"anything\"";
        }
        row
    }

    /// Returns a type as C writes it, without qualifiers.
    fn shown(&self, ty: &Ty) -> String {
        match ty {
            Ty::Void => "void".into(),
            Ty::Int(i) if i.truth => "_Bool".into(),
            Ty::Int(i) => {
                let unsigned = if i.signed { "" } else { "unsigned " };
                let name = match i.size {
                    1 => "char",
                    2 => "short",
                    4 => "int",
                    _ => "long",
                };
                format!("{unsigned}{name}")
            }
            Ty::Ptr(t) => match &**t {
                Ty::Func(f) => {
                    let shown: Vec<String> = f.parameters.iter().map(|(_, t)| self.shown(t)).collect();
                    format!("{} (*)({})", self.shown(&f.result), shown.join(", "))
                }
                t => format!("{} *", self.shown(t)).replace("* *", "**"),
            },
            Ty::Struct(_) if let Some(part) = self.element(ty) => format!("_Complex {}", self.shown(&part)),
            Ty::Struct(s) => match &self.structs[*s] {
                Struct { vector: Some((t, _)), size, .. } => {
                    format!("{} __attribute__((vector_size({size})))", self.shown(t))
                }
                s if s.name.is_empty() => "struct".into(),
                s if s.union => format!("union {}", s.name),
                s => format!("struct {}", s.name),
            },
            Ty::Atomic(t) => format!("_Atomic {}", self.shown(t)),
            Ty::Float(4) => "float".into(),
            _ => "double".into(),
        }
    }

    /// Returns the initial bytes of a standard stream: an address at which there is nothing.
    pub(super) fn stream(&mut self, name: &str) -> Option<Vec<u16>> {
        let is_one = matches!(name, "stdin" | "stdout" | "stderr");
        let a = is_one.then(|| address(FUNCTION + self.function_number(name), 0));
        a.map(|a| a.to_le_bytes().map(u16::from).to_vec())
    }
}

/// Returns the least of one or two numbers (`true`) between arguments that are constant; only code
/// of the library names both.
fn two(function: &Function, least: &Option<Expr>, most: &Option<Expr>) -> Option<(i64, bool)> {
    let named =
        matches!(function.returns, Returns::Between(Some(Term::Argument(_)), Some(Term::Argument(_))));
    match (least, most) {
        (Some(Expr::Const(a)), Some(Expr::Const(b)))
            if named && (*a == *b || a.checked_add(1) == Some(*b)) =>
        {
            Some((*a, a != b))
        }
        _ => None,
    }
}

/// Returns what an argument points to.
pub(super) fn pointee(v: &Value) -> Option<&Ty> {
    match v.ty.plain() {
        Ty::Ptr(t) => Some(t.plain()),
        _ => None,
    }
}

/// `unsigned char`
pub(super) const BYTE: Int = Int::new(1, false);
