//! Threads of the standard library: they are started and joined as those of the goto program.
//!
//! A thread has a record, allocated by the one that starts it: words in the place of counts of
//! references that never become 0, so that what is compiled may count them; the token of `park`; and
//! its result. A `JoinHandle` holds the record in the place of the thread and of the packet with the
//! result, and the number of the thread, from 1, in that of the system's handle.

use super::Model;
use crate::debug::Variant;
use crate::layout::{Leaf, leaves};
use crate::link::Id;
use crate::lower::{Operand, Problem, Result, Role, Site, Writer};
use crate::names::without_types;
use crate::syntax::tree::Type;
use throng_goto::program::{Access, BinOp, Expr, Instr, Int, Order, PTR};

const WORD: Int = Int::new(4, false);
/// Where the token of `park` is in a record, and where its result begins.
const TOKEN: i64 = 16;
const RESULT: i64 = 32;
/// How a count or a token is read and changed in one step.
const CHANGES: Access = Access::Update(Order::AcqRel, Order::Acquire);
/// Counts of references that stay above 0.
const MANY: i64 = 1 << 30;

/// Functions of `std::thread` whose code is read; all others are modelled or refused by name.
const READ: &[&str] = &[
    "std::thread::functions::spawn",
    "std::thread::scoped::scope",
    "<std::thread::scoped::Scope>::spawn",
    "<std::thread::scoped::ScopedJoinHandle>::join",
    "<std::thread::scoped::ScopedJoinHandle>::thread",
    "<std::thread::join_handle::JoinHandle>::join",
    "<std::thread::join_handle::JoinHandle>::thread",
    "<std::thread::builder::Builder>::new",
    "<std::thread::builder::Builder>::stack_size",
    "<std::thread::builder::Builder>::spawn",
    "<std::thread::builder::Builder>::spawn_unchecked",
    "<std::thread::builder::Builder>::spawn_scoped",
];

pub(super) fn model(name: &str) -> Option<Model> {
    let path = without_types(name);
    Some(match path.as_str() {
        "std::thread::lifecycle::spawn_unchecked" if !name.ends_with('}') => spawns,
        "<std::thread::lifecycle::JoinInner>::join" => joins,
        "std::thread::current::current_or_unnamed" | "std::thread::current::current" => current,
        "std::thread::functions::park" => parks_self,
        "<std::thread::thread::Thread>::park" => parks,
        "<std::thread::thread::Thread>::unpark" => unparks,
        "std::thread::functions::yield_now" | "std::thread::functions::sleep" => nothing,
        "<std::thread::scoped::ScopeData>::increment_num_running_threads" => nothing,
        "core::ptr::drop_in_place" if is_handle(name) => drops,
        _ if is_refused(name, &path) => refused,
        _ => return None,
    })
}

/// Returns whether a function is one whose calls stay, though its code is read.
pub(super) fn is_kept(name: &str) -> bool {
    without_types(name) == "std::sys::backtrace::__rust_begin_short_backtrace"
}

fn is_handle(name: &str) -> bool {
    let handles =
        ["join_handle::JoinHandle", "scoped::ScopedJoinHandle", "lifecycle::JoinInner", "thread::Thread"];
    let dropped = name.strip_prefix("core::ptr::drop_in_place::<std::thread::").unwrap_or_default();
    handles.iter().any(|handle| dropped.starts_with(handle))
}

/// What reads a record as the standard library lays it out, or what it does not have.
fn is_refused(name: &str, path: &str) -> bool {
    let own = path.strip_prefix('<').unwrap_or(path);
    let modules = [
        "std::thread::thread::Thread",
        "std::thread::join_handle",
        "std::thread::scoped",
        "std::thread::id",
        "std::thread::builder",
        "std::thread::lifecycle",
    ];
    let is_method =
        path.starts_with('<') && !path.contains(" as ") && modules.iter().any(|m| own.starts_with(m));
    is_method && !READ.contains(&path) && !name.contains('{')
}

fn refused<'t>(_: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    Err(Problem::unsupported(format!("`{}`", without_types(&site.name))))
}

fn nothing<'t>(_: &mut Writer<'_, '_, 't>, _: &Site<'_, 't>) -> Result<()> {
    Ok(())
}

/// A thread whose handle is dropped goes on.
fn drops<'t>(w: &mut Writer<'_, '_, 't>, _: &Site<'_, 't>) -> Result<()> {
    w.lower.assume("the result of a thread that is not joined is not dropped");
    Ok(())
}

fn moved(e: &Expr, by: i64) -> Expr {
    Expr::bin(BinOp::Add, e.clone(), Expr::Const(by), PTR)
}

/// Allocates a record.
fn record<'t>(w: &mut Writer<'_, '_, 't>, result: u64) -> Expr {
    let r = w.register(PTR, None);
    w.emit(Instr::Alloc(r, Expr::Const(RESULT + result as i64)));
    let record = Expr::Reg(r);
    for at in [0, 8] {
        w.emit(Instr::Store(moved(&record, at), Expr::Const(MANY), PTR));
    }
    w.emit(Instr::Store(moved(&record, TOKEN), Expr::Const(0), WORD));
    record
}

/// The record of the running thread: where a thread keeps it.
fn own_place<'t>(w: &mut Writer<'_, '_, 't>) -> Expr {
    Expr::Const(w.lower.thread_record())
}

fn own<'t>(w: &mut Writer<'_, '_, 't>) -> Expr {
    let place = own_place(w);
    let r = w.register(PTR, None);
    let (new, end) = (w.label(), w.label());
    w.emit_as(Access::Internal, Instr::Load(r, place.clone(), PTR));
    w.emit(Instr::Branch(Expr::Reg(r), end, new));
    w.place_label(new);
    let made = record(w, 0);
    w.emit(Instr::Let(r, made));
    w.emit_as(Access::Internal, Instr::Store(place, Expr::Reg(r), PTR));
    w.place_label(end);
    Expr::Reg(r)
}

fn current<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let record = own(w);
    w.finish(site, record)
}

/// `park` may return for no reason: all that is left of it is that it takes the token.
fn park<'t>(w: &mut Writer<'_, '_, 't>, record: &Expr) -> Result<()> {
    if w.lower.asked.question.exact_waits() {
        return Err(Problem::unsupported("`park`, where it is asked whether threads get stuck,"));
    }
    w.lower.program.waits = true;
    w.emit(Instr::AtomicBegin);
    let r = w.register(WORD, None);
    w.emit_as(CHANGES, Instr::Load(r, moved(record, TOKEN), WORD));
    w.emit_as(CHANGES, Instr::Store(moved(record, TOKEN), Expr::Const(0), WORD));
    w.emit(Instr::AtomicEnd);
    Ok(())
}

fn parks_self<'t>(w: &mut Writer<'_, '_, 't>, _: &Site<'_, 't>) -> Result<()> {
    let record = own(w);
    park(w, &record)
}

/// `Thread::park(&self)`
fn parks<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let record = thread(w, site)?;
    park(w, &record)
}

/// The record that the first argument, a `&Thread`, points to.
fn thread<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<Expr> {
    let of = w.argument(site, 0)?;
    let r = w.register(PTR, None);
    w.emit(Instr::Load(r, of, PTR));
    Ok(Expr::Reg(r))
}

fn unparks<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let record = thread(w, site)?;
    w.emit_as(Access::Atomic(Order::Release), Instr::Store(moved(&record, TOKEN), Expr::Const(1), WORD));
    Ok(())
}

/// What is known of the function that a thread runs: `__rust_begin_short_backtrace::<F, T>`.
struct Body {
    id: Id,
    /// How many of its arguments its closure takes, and the size of the closure if it is one that is
    /// passed by its address.
    closure: Vec<Leaf>,
    by_address: Option<u64>,
    /// Whether the result is written to an address that comes first.
    written: bool,
    /// The size of the result.
    result: u64,
}

/// Returns the function that a thread runs, by the types of `spawn_unchecked::<F, T>`.
fn body<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<Body> {
    let unknown = || Problem::unsupported(format!("a thread that is started by `{}`", site.name));
    let (_, types) = site.name.split_once("spawn_unchecked").ok_or_else(unknown)?;
    let name = format!("std::sys::backtrace::__rust_begin_short_backtrace{types}");
    let id = w.lower.function_written(&name).ok_or_else(unknown)?;
    let function = w.lower.linked.function(id);
    let debug = w.lower.debug(id.module);
    let sizes = debug.type_sizes(function.described);
    let [closure, result] = sizes[..] else { return Err(unknown()) };
    let written = function.result == Type::Void && result > 0;
    let mut parts = Vec::new();
    for p in function.parameters.iter().skip(usize::from(written)) {
        let ty = w.lower.resolved(id.module, &p.ty)?;
        parts.extend(leaves(&ty).map_err(Problem::unsupported)?.into_iter().map(|(_, leaf)| leaf));
    }
    let by_address = (closure > 8 && parts.len() == 1).then_some(closure);
    Ok(Body { id, closure: parts, by_address, written, result })
}

/// `spawn_unchecked(name, stack size, hooks, scope, f) -> Result<JoinInner<T>>`
fn spawns<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    w.lower.assume("threads can be created");
    let body = body(w, site)?;
    let to = w.argument(site, 0)?;
    let to = w.keep(PTR, to);
    let mut closure = Vec::new();
    let first = site.call.arguments.len() - body.closure.len();
    for n in 0..body.closure.len() {
        let e = w.argument(site, first + n)?;
        closure.push(w.keep(body.closure[n].int(), e));
    }
    if let (Some(size), [address]) = (body.by_address, &mut closure[..]) {
        let r = w.register(PTR, None);
        w.emit(Instr::Alloc(r, Expr::Const(size as i64)));
        w.copy_known(&Expr::Reg(r), address, size, 8);
        *address = Expr::Reg(r);
    }
    let scope = w.argument(site, first - 1)?;
    let scope = w.keep(PTR, scope);
    let record = record(w, body.result);
    scoped(w, &scope, 1)?;
    let template = starter(w, &body)?;
    let number = w.register(PTR, None);
    w.lower.program.numbered = true;
    let arguments = closure.into_iter().chain([record.clone(), scope]).collect();
    w.emit(Instr::Spawn(template, arguments, number));
    let places = w.debug().places("JoinInner", &[&["native"], &["thread"], &["packet"]]);
    let Some(&[native, thread, packet]) = places.as_deref() else {
        return Err(Problem::unsupported("a `JoinHandle` of this standard library"));
    };
    let handle = Expr::bin(BinOp::Add, Expr::Reg(number), Expr::Const(1), PTR);
    for (at, e) in [(native, handle), (thread, record.clone()), (packet, record)] {
        w.emit(Instr::Store(moved(&to, at as i64), e, PTR));
    }
    Ok(())
}

/// Counts the threads of a scope, if there is one, and none of them is lost.
fn scoped<'t>(w: &mut Writer<'_, '_, 't>, scope: &Expr, by: i64) -> Result<()> {
    if *scope == Expr::Const(0) {
        return Ok(());
    }
    let Some(&[running]) = w.debug().places("ScopeData", &[&["num_running_threads"]]).as_deref() else {
        // There is no scope in the program.
        return Ok(());
    };
    let (some, none) = (w.label(), w.label());
    w.emit(Instr::Branch(scope.clone(), some, none));
    w.place_label(some);
    // Behind the counts of references of the `Arc` that it is in.
    let at = moved(scope, 16 + running as i64);
    w.emit(Instr::AtomicBegin);
    let r = w.register(PTR, None);
    w.emit_as(CHANGES, Instr::Load(r, at.clone(), PTR));
    let new = Expr::bin(BinOp::Add, Expr::Reg(r), Expr::Const(by), PTR);
    w.emit_as(CHANGES, Instr::Store(at, new, PTR));
    w.emit(Instr::AtomicEnd);
    w.place_label(none);
    Ok(())
}

/// Returns the template that a thread starts in: it takes the closure, the record and the scope.
fn starter<'t>(w: &mut Writer<'_, '_, 't>, body: &Body) -> Result<usize> {
    let function = w.lower.template(body.id, Role::Called);
    let place = own_place(w);
    let result = w.lower.linked.function(body.id).result.clone();
    let result = w.lower.resolved(body.id.module, &result)?;
    let parts = leaves(&result).map_err(Problem::unsupported)?;
    let (closure, written) = (body.closure.clone(), body.written);
    w.lower.hidden("thread", |w| {
        let mut given: Vec<Expr> =
            closure.iter().map(|leaf| Expr::Reg(w.register(leaf.int(), None))).collect();
        let record = Expr::Reg(w.register(PTR, None));
        let scope = Expr::Reg(w.register(PTR, None));
        w.template.arguments = given.len() + 2;
        w.emit_as(Access::Internal, Instr::Store(place, record.clone(), PTR));
        let to = moved(&record, RESULT);
        if written {
            given.insert(0, to.clone());
        }
        match &parts[..] {
            [] => w.emit(Instr::Call { function, arguments: given, result: None }),
            [(_, leaf)] => {
                let r = w.register(leaf.int(), None);
                w.emit(Instr::Call { function, arguments: given, result: Some(r) });
                w.emit(Instr::Store(to, Expr::cast(Expr::Reg(r), leaf.stored()), leaf.stored()));
            }
            _ => {
                w.emit(Instr::Call { function, arguments: given, result: None });
                let values = w.take_over(&parts)?;
                for ((at, leaf), value) in parts.iter().zip(values) {
                    let e = w.number(value, leaf.int());
                    w.emit(Instr::Store(moved(&to, *at as i64), Expr::cast(e, leaf.stored()), leaf.stored()));
                }
            }
        }
        scoped(w, &scope, -1)?;
        w.emit(Instr::End(Expr::Const(0)));
        Ok(())
    })
}

/// `JoinInner<T>::join(self) -> Result<T, Box<dyn Any + Send>>`: a thread that ends does not panic.
fn joins<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let unknown = || Problem::unsupported(format!("the result of `{}`", site.name));
    let id = w.lower.function_written(&site.name).ok_or_else(unknown)?;
    let debug = w.lower.debug(id.module);
    let described = w.lower.linked.function(id).described;
    let Variant { tag, at, size: payload } = debug.result_variant(described, "Ok").ok_or_else(unknown)?;
    let places = w.debug().places("JoinInner", &[&["native"], &["packet"]]);
    let Some(&[native, packet]) = places.as_deref() else { return Err(unknown()) };
    let result = w.leaves(&site.call.result)?;
    let own = w.argument(site, usize::from(result.is_empty()))?;
    let own = w.keep(PTR, own);
    let (number, record, ended) = (w.register(PTR, None), w.register(PTR, None), w.register(PTR, None));
    w.emit(Instr::Load(number, moved(&own, native as i64), PTR));
    w.emit(Instr::Load(record, moved(&own, packet as i64), PTR));
    w.lower.program.numbered = true;
    let number = Expr::bin(BinOp::Sub, Expr::Reg(number), Expr::Const(1), PTR);
    w.emit(Instr::Join(number, ended));
    let from = moved(&Expr::Reg(record), RESULT);
    if !result.is_empty() {
        let mut parts = Vec::new();
        for (offset, leaf) in result {
            parts.push(match tag {
                Some((at, _, value)) if at == offset => Operand::Is(Expr::Const(value)),
                _ if (at..at + payload).contains(&offset) => {
                    let r = w.register(leaf.stored(), None);
                    w.emit(Instr::Load(r, moved(&from, (offset - at) as i64), leaf.stored()));
                    Operand::Is(Expr::Reg(r))
                }
                _ => Operand::Undefined,
            });
        }
        w.set(site.result, parts);
        return Ok(());
    }
    let to = w.argument(site, 0)?;
    let to = w.keep(PTR, to);
    if payload > 0 {
        w.copy_known(&moved(&to, at as i64), &from, payload, 1);
    }
    if let Some((at, bytes, value)) = tag {
        let int = Int::new(bytes as u8, false);
        w.emit(Instr::Store(moved(&to, at as i64), Expr::Const(value), int));
    }
    Ok(())
}
