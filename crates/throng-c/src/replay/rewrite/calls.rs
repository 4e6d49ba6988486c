//! Calls, with what stands for functions that have a meaning of their own.

use crate::syntax::ast::*;

use super::Rewriter;
use crate::library::prelude::{defines, is_pure};
use crate::library::row::Returns;
use crate::library::special::{Allocate, Bytes, Meaning, Scan, Thread, Wait, is_atomic_function};

/// Returns the argument at a position, as text.
fn arg(args: &[String], n: usize) -> &str {
    args.get(n).map_or("0", String::as_str)
}

impl Rewriter<'_> {
    pub(super) fn call(&mut self, e: &Node<Expression>, c: &CallExpression) -> String {
        let Expression::Identifier(callee) = &c.callee.node else {
            let f = self.value(&c.callee);
            let mut parts = vec![(c.callee.span, f)];
            let texts: Vec<String> = c.arguments.iter().map(|a| self.value(a)).collect();
            parts.extend(c.arguments.iter().map(|a| a.span).zip(texts));
            return self.around(e.span, &parts);
        };
        let name = callee.node.name.clone();
        let site = self.sites.at(e.span).map_or(0, |s| s.0);
        let seen: Vec<bool> = c.arguments.iter().map(|a| self.is_seen(a)).collect();
        let mut before = String::new();
        let mut arguments = Vec::new();
        for (a, seen) in c.arguments.iter().zip(&seen) {
            let text = self.value(a);
            if *seen {
                let n = self.name();
                before += &format!("__auto_type {n} = ({text}); ");
                arguments.push(n);
            } else {
                arguments.push(text);
            }
        }
        let call = self.called(&name, &arguments, e, site);
        if before.is_empty() { call } else { format!("({{ {before}{call}; }})") }
    }

    fn called(&mut self, name: &str, args: &[String], e: &Node<Expression>, site: usize) -> String {
        let defined = self.defined.get(name);
        let list = args.join(", ");
        let error = self.question.error_function.as_deref();
        let library = self.library.clone();
        let meaning = match library.meaning(name, defined.is_some()) {
            _ if error == Some(name) => Some(Meaning::Error),
            Some(Meaning::Error) if error.is_some() => None,
            Some(Meaning::FailedAssertion(_)) if error.is_some() => Some(Meaning::Halt),
            meaning => meaning,
        };
        match meaning {
            None if defined.is_some() => self.defined_call(name, &list),
            None => self.library_call(name, args, e, site),
            Some(Meaning::Input | Meaning::Refused) => self.input(name, args, e, site),
            Some(Meaning::Errno) => {
                self.errno = true;
                format!("{name}()")
            }
            Some(Meaning::Error) => format!("__throng_failed_assertion(\"{name} is called\")"),
            Some(Meaning::FailedAssertion(n)) => {
                let text = args.get(n).filter(|text| text.starts_with('"'));
                format!("__throng_failed_assertion({})", text.map_or("0", String::as_str))
            }
            Some(Meaning::Assert) if error.is_some() => {
                format!("((void)(({}) || (__throng_park(), 0)))", arg(args, 0))
            }
            Some(Meaning::Assert) => format!("__throng_assert(!!({}))", arg(args, 0)),
            Some(Meaning::Assume) => format!("__throng_assume(!!({}))", arg(args, 0)),
            Some(Meaning::Halt) => "__throng_park()".into(),
            Some(Meaning::AtomicBegin) => format!("__throng_begin({site})"),
            Some(Meaning::AtomicEnd) => "__throng_end()".into(),
            Some(Meaning::Allocate(Allocate::Zeroed)) => {
                format!("__throng_malloc({site}, ({}) * ({}))", arg(args, 0), arg(args, 1))
            }
            Some(Meaning::Allocate(Allocate::Again)) => {
                format!("__throng_realloc({site}, {}, {})", arg(args, 0), arg(args, 1))
            }
            Some(Meaning::Allocate(_)) => format!("__throng_malloc({site}, {})", arg(args, 0)),
            Some(Meaning::Free) => format!("__throng_give_back({site}, {})", arg(args, 0)),
            Some(
                Meaning::Unreachable
                | Meaning::Expect
                | Meaning::IsConstant
                | Meaning::Variadic(_)
                | Meaning::Count(_)
                | Meaning::SwapBytes(_)
                | Meaning::Compiler(_),
            ) => format!("{name}({list})"),
            Some(Meaning::Overflows(_)) => {
                let names = [self.name(), self.name(), self.name()];
                let declared = |(n, v): (&String, &String)| format!("__auto_type {n} = ({v}); ");
                let declared: String = names.iter().zip(args).map(declared).collect();
                format!("({{ {declared}__throng_maybe({site}, 1); {name}({}); }})", names.join(", "))
            }
            Some(Meaning::Number(_) | Meaning::Complex(_)) => format!("{name}({list})"),
            Some(Meaning::Hint) => match args.is_empty() {
                true => "((void)0)".into(),
                false => format!("((void)({list}))"),
            },
            Some(Meaning::Predicate) => "((void)0)".into(),
            Some(Meaning::Print(_)) => format!("({{ __throng_call({site}); {name}({list}); }})"),
            Some(Meaning::Bytes(function)) => bytes(function, library.plain(name), args, site),
            Some(Meaning::Thread(function)) => self.thread(function, args, site),
            Some(Meaning::Atomic | Meaning::StandardAtomic) => {
                self.atomic(library.plain(name), &list, e, site)
            }
            Some(Meaning::Scan(source)) => self.scan(source, args, site),
        }
    }

    /// Calls a function that the program defines. What happens to it as a whole has its name as
    /// passage.
    fn defined_call(&mut self, name: &str, list: &str) -> String {
        let call = format!("{name}({list})");
        let (site, void) = match self.defined.get(name) {
            Some(known) => (self.sites.at(known.at).map_or(0, |s| s.0), known.void),
            None => (0, false),
        };
        let inside = |names: &String| names.split(',').any(|n| n.trim() == name);
        let (enter, leave) = match self.question.exclusive.iter().position(inside) {
            _ if is_atomic_function(name) => {
                (format!("__throng_begin({site});"), "__throng_end();".to_string())
            }
            Some(p) => (format!("__throng_enter({site}, {p});"), format!("__throng_leave({site}, {p});")),
            None => return call,
        };
        if void {
            return format!("({{ {enter} {call}; {leave} }})");
        }
        let r = self.name();
        format!("({{ {enter} __auto_type {r} = {call}; {leave} {r}; }})")
    }

    /// Calls a function that the library knows by its row, or by its code in C.
    fn library_call(&mut self, name: &str, args: &[String], e: &Node<Expression>, site: usize) -> String {
        let library = self.library.clone();
        let plain = library.plain(name);
        let short = plain.strip_prefix("__builtin_").unwrap_or(plain);
        if is_pure(short) {
            return format!("({{ __throng_call({site}); {short}({}); }})", args.join(", "));
        }
        let Some(function) = library.known(name).filter(|_| !defines(plain)) else {
            if defines(plain) {
                self.refused.get_or_insert(name.to_string());
            }
            return self.input(name, args, e, site);
        };
        self.sets_errno |= function.errno;
        match function.returns {
            _ if !function.is_replayed() => {
                self.refused.get_or_insert(name.to_string());
                self.input(name, args, e, site)
            }
            Returns::Argument(n) => {
                self.inputs.insert(site);
                format!("({{ __throng_call({site}); {}; }})", arg(args, n))
            }
            // What is chosen is by how much the result is larger than the least one.
            Returns::Between(..) => match function.returns.two() {
                Some((least, true)) => format!("({} + ({least}))", self.input(name, args, e, site)),
                Some((only, false)) => format!("({{ __throng_call({site}); {only}; }})"),
                None => self.input(name, args, e, site),
            },
            _ => self.input(name, args, e, site),
        }
    }

    /// Takes an input in place of a call of a function that is not defined.
    fn input(&mut self, name: &str, args: &[String], e: &Node<Expression>, site: usize) -> String {
        self.inputs.insert(site);
        let mut effects: String =
            args.iter().filter(|a| a.starts_with("__throng_")).map(|a| format!("(void){a}, ")).collect();
        if self.kinds(e.span).1 {
            effects += &format!("__throng_call({site}), ");
        }
        let raw = self.raw(e.span);
        let ty = if self.declared.contains(name) { format!("__typeof__({raw})") } else { "int".into() };
        format!("({effects}__throng_input_as({ty}, {site}))")
    }

    /// Takes the turns of an atomic operation: a read of another operand may come first, and a
    /// write of the result last.
    fn atomic(&mut self, name: &str, list: &str, e: &Node<Expression>, site: usize) -> String {
        let main = match self.kinds(e.span) {
            (_, _, _, true) => 2,
            (_, true, true, false) if name.contains("load") => 0,
            (_, _, true, false) => 1,
            _ => 0,
        };
        let first = if main > 0 { format!("__throng_maybe({site}, 0); ") } else { String::new() };
        let last = if main != 1 { format!("__throng_maybe({site}, 1); ") } else { String::new() };
        format!("({{ {first}__throng_turn({site}, {main}); {last}{name}({list}); }})")
    }

    /// Takes inputs for `scanf` and its like: how many conversions succeed, and a value for each.
    fn scan(&mut self, source: Scan, args: &[String], site: usize) -> String {
        self.inputs.insert(site);
        let done = self.name();
        let text = if source == Scan::Text { format!("__throng_call({site}); ") } else { String::new() };
        let each = args.iter().skip(source.format() + 1).enumerate();
        let each =
            each.map(|(i, a)| format!("if ({i} < {done}) __throng_scan({site}, {a}, sizeof *({a})); "));
        format!("({{ {text}int {done} = (int)__throng_input({site}); {}{done}; }})", each.collect::<String>())
    }

    /// Takes the turn of a function about threads, locks and their like.
    fn thread(&mut self, function: Thread, args: &[String], site: usize) -> String {
        let arg = |n: usize| arg(args, n);
        let lock = arg(0);
        let steps = if self.question.exact_waits() { 3 } else { 2 };
        // A mutex with room for it knows its owner and its kind, if any can be recursive.
        let known = |lock: &str| format!("__THRONG_KNOWS({lock})");
        match function {
            Thread::Create | Thread::PlainCreate => {
                let first = if function == Thread::Create { 2 } else { 1 };
                let null = matches!(lock.replace([' ', '(', ')'], "").as_str(), "0" | "void*0");
                let size = if null { "0".into() } else { format!("sizeof *({lock})") };
                format!(
                    "__throng_create({site}, (void *)({lock}), {size}, (void *)({}), (void *)({}))",
                    arg(first),
                    arg(first + 1)
                )
            }
            Thread::PlainJoin => {
                let (r, to) = (self.name(), self.name());
                format!(
                    "({{ void *{r}; int *{to} = ({}); __throng_join({site}, (unsigned long)({}), &{r}); if ({to}) *{to} = (int)(long){r}; 0; }})",
                    arg(1),
                    arg(0)
                )
            }
            Thread::Join => {
                format!("__throng_join({site}, (unsigned long)({}), (void **)({}))", arg(0), arg(1))
            }
            Thread::Exit => format!("__throng_exit({site}, (void *)(long)({}))", arg(0)),
            Thread::KeyCreate => {
                format!(
                    "__throng_key_create({site}, (void *)({lock}), sizeof *({lock}), (void *)({}))",
                    arg(1)
                )
            }
            Thread::KeyDelete => format!("__throng_key_delete({site}, {lock})"),
            Thread::SetSpecific => format!("__throng_set_specific({lock}, (void *)({}))", arg(1)),
            Thread::GetSpecific => format!("__throng_get_specific({lock})"),
            Thread::Own => "__throng_self()".into(),
            Thread::Equal => format!("(({}) == ({}))", arg(0), arg(1)),
            Thread::MutexLock(wait) => {
                busy(wait, format!("__throng_lock({site}, {lock}, {}, {})", waits(wait), known(lock)))
            }
            Thread::MutexUnlock => format!("__throng_unlock({site}, {lock}, {})", known(lock)),
            Thread::SpinLock(wait) => format!("__throng_lock({site}, {lock}, {}, 0)", waits(wait)),
            Thread::SpinUnlock => format!("__throng_unlock({site}, {lock}, 0)"),
            Thread::ReadWriteUnlock => format!("__throng_rw_unlock({site}, {lock})"),
            Thread::MutexInit => format!("__throng_init({site}, {lock}, {}, {})", arg(1), known(lock)),
            Thread::PlainMutexInit => {
                let kind = self.name();
                format!(
                    "({{ int {kind} = ({}) & 1; __throng_init({site}, {lock}, &{kind}, {}); }})",
                    arg(1),
                    known(lock)
                )
            }
            Thread::MutexType => format!("__throng_reset({site}, {lock}, {})", arg(1)),
            Thread::ConditionInit => format!("__throng_cond_init({site}, {lock}, sizeof *({lock}))"),
            Thread::MutexDestroy => format!("__throng_destroy({site}, {lock})"),
            Thread::ReadLock(wait) => {
                busy(wait, format!("__throng_read_lock({site}, {lock}, {})", waits(wait)))
            }
            Thread::WriteLock(wait) => {
                busy(wait, format!("__throng_write_lock({site}, {lock}, {})", waits(wait)))
            }
            Thread::ConditionWait(how) => {
                let wait = format!("__throng_wait({site}, {lock}, {}, {steps}, {})", arg(1), known(arg(1)));
                let Wait::Else(code) = how else { return wait };
                self.inputs.insert(site);
                format!("({wait}, (int)__throng_input({site}) * {code})")
            }
            Thread::ConditionSignal => format!("__throng_signal({site}, {lock}, 0)"),
            Thread::ConditionBroadcast => format!("__throng_signal({site}, {lock}, 1)"),
            Thread::BarrierInit => format!("__throng_barrier_init({site}, {lock}, {})", arg(2)),
            Thread::BarrierWait => format!("__throng_barrier({site}, {lock})"),
            Thread::Once => format!("__throng_once({site}, {lock}, {})", arg(1)),
            Thread::SemaphoreInit => format!("__throng_reset({site}, {lock}, {})", arg(2)),
            Thread::SemaphorePost => format!("__throng_sem_post({site}, {lock})"),
            Thread::SemaphoreWait(wait) => {
                format!("__throng_sem_wait({site}, {lock}, {})", waits(wait))
            }
            Thread::SemaphoreValue => format!("__throng_sem_value({site}, {lock}, {})", arg(1)),
            Thread::MutexAttribute | Thread::LockInit => format!("__throng_reset({site}, {lock}, 0)"),
            Thread::Nothing { .. } => format!("__throng_pass({site})"),
        }
    }
}

/// Returns whether a function waits, as an argument.
fn waits(wait: Wait) -> u8 {
    u8::from(wait == Wait::Ever)
}

/// Returns a call with what it returns where a lock is not free, in place of `EBUSY`.
fn busy(wait: Wait, call: String) -> String {
    match wait {
        Wait::Ever | Wait::Else(16) => call,
        Wait::Else(code) => format!("({call} ? {code} : 0)"),
    }
}

/// Takes the turns of a function on bytes or texts.
fn bytes(function: Bytes, name: &str, args: &[String], site: usize) -> String {
    let list = args.join(", ");
    match function {
        Bytes::Set => format!("__throng_fill({site}, {list})"),
        Bytes::Zero => format!("((void)__throng_fill({site}, {}, 0, {}))", arg(args, 0), arg(args, 1)),
        Bytes::CopyText => format!("__throng_copy_text({site}, {}, {})", arg(args, 0), arg(args, 1)),
        _ => {
            let short = name.strip_prefix("__builtin_").unwrap_or(name);
            format!("({{ __throng_call({site}); __builtin_{short}({list}); }})")
        }
    }
}
