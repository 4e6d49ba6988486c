//! Threads: how they begin and end, and which function stands for what.
//!
//! Locks and their like are written with the atomic sections of the goto program, on the first
//! bytes of their objects: 0 is what a static initialiser leaves there.

use crate::syntax::ast::*;

use super::builtins::Args;
use super::functions::Role;
use super::{Definition, Lower, Result, Symbol, Value, unsupported, written_name, wrong};
use crate::library::special::Thread;
use crate::types::{Func, Ty};
use std::rc::Rc;
use throng_goto::program::{BinOp, Expr, FUNCTION, INT, Instr, Int, PTR, object_of};

/// Returns the handle of the running thread: 0 is none.
fn handle() -> Expr {
    Expr::bin(BinOp::Add, Expr::SelfId, Expr::Const(1), PTR)
}

impl<'a> Lower<'a> {
    /// Returns the number of bytes that a pointer argument points to.
    pub(super) fn pointee_size(&self, v: &Value) -> u64 {
        match v.ty.plain() {
            Ty::Ptr(t) => t.layout(&self.structs).map_or(0, |l| l.0),
            _ => 0,
        }
    }

    /// An argument that a function of the library takes for the address of a `name`, whatever it
    /// points to for the caller.
    pub(super) fn address_of(&mut self, name: &str, args: Args<'a>, i: usize, span: Span) -> Result<Value> {
        let v = self.arg(args, i, span)?;
        Ok(match self.lookup(name) {
            Some(Symbol::Typedef(ty, _)) => Value { ty: Ty::ptr(ty.clone()), ..v },
            _ => v,
        })
    }

    /// Lowers a call of a function about threads: `Some(result)`, or `None` if it is not modelled.
    pub(super) fn thread_function(
        &mut self,
        function: Thread,
        args: Args<'a>,
        span: Span,
    ) -> Result<Option<Option<Value>>> {
        if self.dry {
            return Ok(Some(self.thread_type(function)));
        }
        let done = match function {
            Thread::Create => self.create([0, 2, 3], args, span)?,
            Thread::PlainCreate => self.create([0, 1, 2], args, span)?,
            Thread::Join => self.join(PTR, args, span)?,
            Thread::PlainJoin => self.join(INT, args, span)?,
            Thread::Exit => {
                let v = self.arg(args, 0, span)?;
                self.check_thread_exit(span)?;
                self.leave_all();
                self.end_keys(span)?;
                self.emit(Instr::End(v.expr));
                return Ok(Some(None));
            }
            Thread::Own => {
                self.program.numbered = true;
                self.assume("`pthread_self` is 1 in the first thread, 2 in the second, …");
                return Ok(Some(Some(Value { expr: handle(), ty: Ty::Int(self.size_type()) })));
            }
            Thread::Equal => {
                let (a, b) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                Expr::bin(BinOp::Eq, a.expr, b.expr, PTR)
            }
            Thread::MutexInit => self.mutex_init(args, span)?,
            Thread::PlainMutexInit => self.plain_mutex_init(args, span)?,
            Thread::MutexDestroy => self.mutex_destroy(args, span)?,
            Thread::MutexLock(wait) => {
                let m = self.mutex(args, 0, span)?;
                self.lock(&m, wait)
            }
            Thread::MutexUnlock => {
                let m = self.mutex(args, 0, span)?;
                self.unlock(&m)
            }
            Thread::MutexAttribute | Thread::LockInit => self.clear(args, span)?,
            Thread::MutexType => {
                let (attribute, kind) = (self.arg(args, 0, span)?, self.arg(args, 1, span)?);
                self.store(&attribute.expr, 0, kind.expr, INT);
                Expr::Const(0)
            }
            Thread::SpinLock(wait) => {
                let m = self.arg(args, 0, span)?;
                self.lock(&Value { ty: Ty::ptr(Ty::int()), ..m }, wait)
            }
            Thread::SpinUnlock => {
                let m = self.arg(args, 0, span)?;
                self.store(&m.expr, 0, Expr::Const(0), INT);
                self.emit(Instr::Release(m.expr));
                Expr::Const(0)
            }
            Thread::ReadLock(wait) => self.read_write_lock(false, wait, args, span)?,
            Thread::WriteLock(wait) => self.read_write_lock(true, wait, args, span)?,
            Thread::ReadWriteUnlock => self.read_write_unlock(args, span)?,
            Thread::ConditionWait(wait) => self.condition_wait(wait, args, span)?,
            Thread::ConditionInit | Thread::ConditionSignal | Thread::ConditionBroadcast => {
                self.condition_function(function, args, span)?
            }
            Thread::BarrierInit => self.barrier_init(args, span)?,
            Thread::BarrierWait => self.barrier_wait(args, span)?,
            Thread::Once => self.call_once(args, span)?,
            Thread::KeyCreate | Thread::KeyDelete | Thread::SetSpecific | Thread::GetSpecific => {
                return self.key_function(function, args, span).map(Some);
            }
            Thread::SemaphoreInit
            | Thread::SemaphorePost
            | Thread::SemaphoreWait(_)
            | Thread::SemaphoreValue => self.semaphore(function, args, span)?,
            Thread::Nothing { unless: Some(i) } if !self.is_null(args, i) => return Ok(None),
            Thread::Nothing { .. } => {
                self.all(args)?;
                Expr::Const(0)
            }
        };
        Ok(Some(Self::int_value(done)))
    }

    /// Returns a value of the type that a function about threads returns.
    fn thread_type(&self, function: Thread) -> Option<Value> {
        match function {
            Thread::Own => Some(Value { expr: handle(), ty: Ty::Int(self.size_type()) }),
            Thread::GetSpecific => Some(Value { expr: Expr::SelfId, ty: Ty::ptr(Ty::Void) }),
            Thread::Exit => None,
            _ => Self::int_value(Expr::SelfId),
        }
    }

    /// Makes the first word of what the first argument points to 0, and so is the result.
    fn clear(&mut self, args: Args<'a>, span: Span) -> Result<Expr> {
        let object = self.arg(args, 0, span)?;
        self.store(&object.expr, 0, Expr::Const(0), INT);
        Ok(Expr::Const(0))
    }

    /// Waits for the end of a thread, whose result has this type.
    fn join(&mut self, at: Int, args: Args<'a>, span: Span) -> Result<Expr> {
        let t = self.arg(args, 0, span)?;
        let to = self.arg(args, 1, span)?;
        self.program.numbered = true;
        let r = self.register(PTR, None);
        self.emit(Instr::Join(Expr::bin(BinOp::Sub, t.expr, Expr::Const(1), PTR), r));
        if to.expr != Expr::Const(0) {
            let (store, end) = (self.label(), self.label());
            self.emit(Instr::Branch(to.expr.clone(), store, end));
            self.place_label(store);
            self.emit(Instr::Store(to.expr, Expr::cast(Expr::Reg(r), at), at));
            self.place_label(end);
        }
        Ok(Expr::Const(0))
    }

    /// Calls a function if no thread has done so: 0 is not begun, 1 running, 2 done.
    fn call_once(&mut self, args: Args<'a>, span: Span) -> Result<Expr> {
        let o = self.arg(args, 0, span)?;
        let function = self.arg(args, 1, span)?;
        // A `void *` is converted to what the parameter is.
        let ty = match function.ty.plain() {
            Ty::Ptr(t) if **t == Ty::Void => {
                Rc::new(Func { result: Ty::Void, parameters: Vec::new(), variadic: false })
            }
            _ => self.function_type(&function, span)?,
        };
        let (first, later, end) = (self.label(), self.label(), self.label());
        self.emit(Instr::AtomicBegin);
        let word = self.load(&o.expr, 0, INT);
        self.emit(Instr::Branch(Self::equals(word.clone(), 0), first, later));
        self.place_label(later);
        self.wait_until(Self::equals(word, 2));
        self.emit(Instr::AtomicEnd);
        self.emit(Instr::Jump(end));
        self.place_label(first);
        self.store(&o.expr, 0, Expr::Const(1), INT);
        self.emit(Instr::AtomicEnd);
        self.call_value(&function, &ty, Vec::new(), span)?;
        self.store(&o.expr, 0, Expr::Const(2), INT);
        self.place_label(end);
        Ok(Expr::Const(0))
    }

    /// Starts a thread: which arguments are where its number goes, its function, and what it gets.
    fn create(&mut self, [to, function, argument]: [usize; 3], args: Args<'a>, span: Span) -> Result<Expr> {
        let handle = self.arg(args, to, span)?;
        (to + 1..function).try_for_each(|i| self.arg(args, i, span).map(|_| ()))?;
        let function = self.arg(args, function, span)?;
        let argument = self.arg(args, argument, span)?;
        let number = self.register(PTR, None);
        let arguments = [argument];
        self.spawn_value(&function, &arguments, number, span)?;
        match handle.expr {
            Expr::Const(0) => {}
            a => {
                let size = match handle.ty.plain() {
                    Ty::Ptr(t) => t.scalar().unwrap_or(PTR),
                    _ => PTR,
                };
                self.emit(Instr::Store(a, Self::plus_one(number), size));
            }
        }
        self.assume("threads can be created");
        Ok(Expr::Const(0))
    }

    /// Starts a thread in the function that a value is the address of.
    pub(super) fn spawn_value(
        &mut self,
        function: &Value,
        arguments: &[Value],
        number: u32,
        span: Span,
    ) -> Result<()> {
        let Expr::Const(a) = function.expr else {
            let mut names = self.candidates(arguments.len());
            names.extend((0..arguments.len()).rev().flat_map(|n| self.candidates(n)));
            return self.spawn_pointer(&function.expr, names, arguments, number, span);
        };
        match self.program.name_of(a).filter(|_| object_of(a) >= FUNCTION) {
            Some(name) => self.spawn(&name, arguments, number, span),
            None => wrong(span, "this is not a function"),
        }
    }

    /// Returns the handle of the thread with a number: 0 is none.
    fn plus_one(number: u32) -> Expr {
        Expr::bin(BinOp::Add, Expr::Reg(number), Expr::Const(1), PTR)
    }

    /// Returns whether an argument is a null pointer.
    fn is_null(&mut self, args: Args<'a>, i: usize) -> bool {
        args.get(i).is_some_and(|e| matches!(self.constant(e), Ok(0)))
    }

    /// Starts a thread in a function; it may have fewer parameters than there are arguments.
    pub(super) fn spawn(&mut self, name: &str, arguments: &[Value], number: u32, span: Span) -> Result<()> {
        let Some(d) = self.definitions.get(name) else {
            return wrong(span, format!("`{name}` is not defined"));
        };
        if name == "main" {
            return unsupported(span, "a further thread in `main`");
        }
        let parameters = d.ty.parameters.clone();
        let mut converted = Vec::new();
        for (v, (_, t)) in arguments.iter().zip(&parameters) {
            converted.push(self.convert(v.clone(), t, span)?.expr);
        }
        let template = self.template(name, Role::Thread);
        self.emit(Instr::Spawn(template, converted, number));
        Ok(())
    }

    /// Returns the functions that a pointer may point to, by their number of parameters.
    pub(super) fn candidates(&self, parameters: usize) -> Vec<String> {
        let fits = |(name, d): &(&String, &Definition<'_>)| {
            self.values.contains(written_name(name)) && d.ty.parameters.len() == parameters
        };
        let mut found: Vec<String> = self.definitions.iter().filter(fits).map(|d| d.0.clone()).collect();
        found.sort();
        found
    }

    /// Starts a thread in whichever of the functions a pointer points to.
    pub(super) fn spawn_pointer(
        &mut self,
        pointer: &Expr,
        names: Vec<String>,
        arguments: &[Value],
        number: u32,
        span: Span,
    ) -> Result<()> {
        let end = self.label();
        for name in names {
            let a = self.function_address(&name);
            let (here, next) = (self.label(), self.label());
            let is = Expr::bin(BinOp::Eq, pointer.clone(), Expr::Const(a), PTR);
            self.emit(Instr::Branch(is, here, next));
            self.place_label(here);
            self.spawn(&name, arguments, number, span)?;
            self.emit(Instr::Jump(end));
            self.place_label(next);
        }
        self.emit(Instr::Unmodelled("a thread starts in something that is not a known function".into()));
        self.place_label(end);
        Ok(())
    }
}
