//! Functions with a meaning of their own, by name: assertions, atomic sections, memory, threads.
//!
//! This is the one list of them. The reader, the replay and the mutants ask it what a call means,
//! so that none of them knows a function that another one does not.

use super::math::{Complex, Math, Size, complex, math};

/// What a call means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// The call is an error, unless the question names another function as the error.
    Error,
    /// `assert` calls it when its condition is false, with the condition as text in this argument.
    FailedAssertion(usize),
    /// Its argument must hold.
    Assert,
    /// Runs in which its argument does not hold are not looked at.
    Assume,
    /// No run gets there.
    Unreachable,
    /// It ends the program.
    Halt,
    /// It begins an atomic section.
    AtomicBegin,
    /// It ends an atomic section.
    AtomicEnd,
    /// It allocates memory.
    Allocate(Allocate),
    /// It frees memory.
    Free,
    /// Its first argument is its value.
    Expect,
    /// It tells whether its argument is constant.
    IsConstant,
    /// It counts bits of a number.
    Count(Count),
    /// It reverses the bytes of a number of this size.
    SwapBytes(u8),
    /// It computes and tells whether the result fits.
    Overflows(Overflows),
    /// It is about the program as it is compiled.
    Compiler(Compiler),
    /// It is about variable arguments.
    Variadic(Variadic),
    /// It reads input as a format says.
    Scan(Scan),
    /// It writes text to memory as a format says.
    Print(Print),
    /// It works on bytes or texts in memory, or on a number.
    Bytes(Bytes),
    /// It computes with floating-point numbers.
    Number((Math, Size)),
    /// It computes with complex numbers.
    Complex((Complex, Size)),
    /// It is about threads, or about what they synchronise with.
    Thread(Thread),
    /// It is an operation of the compiler, `__atomic_*` or `__sync_*`: the rest of the name says
    /// which one.
    Atomic,
    /// It is a function of `<stdatomic.h>`: the rest of the name says which one.
    StandardAtomic,
    /// It returns the address of `errno`, which each thread has for itself.
    Errno,
    /// Its result is an input.
    Input,
    /// It is a hint for another tool: its arguments are evaluated.
    Hint,
    /// It names predicates for another tool: its arguments are not evaluated.
    Predicate,
    /// It is refused.
    Refused,
}

/// What bits of a number are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Count {
    /// Those that are 1.
    Ones,
    /// Whether those are an odd number.
    Parity,
    /// Zeros before the first 1.
    LeadingZeros,
    /// Zeros behind the last 1.
    TrailingZeros,
    /// The position of the last 1 from the end, from 1; or 0.
    First,
    /// Those behind the sign that are like it.
    SignBits,
}

/// What is computed exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
}

/// A function such as `__builtin_add_overflow`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Overflows {
    pub(crate) op: Arithmetic,
    /// Its name, which ends with a size.
    pub(crate) name: &'static str,
    /// Whether its operands have a sign, if their type is not their own.
    pub(crate) of: Option<bool>,
    /// Whether the result goes where the third argument points to.
    pub(crate) stores: bool,
}

const fn overflows(op: Arithmetic, name: &'static str, of: Option<bool>, stores: bool) -> Meaning {
    Meaning::Overflows(Overflows { op, name, of, stores })
}

/// A function about the program as it is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compiler {
    /// `__builtin_prefetch`: it has no effect.
    Prefetch,
    /// `__builtin_choose_expr`: one of two expressions.
    Choose,
    /// `__builtin_classify_type`
    Classify,
    /// `__builtin_object_size`
    ObjectSize,
    /// `__builtin_assume_aligned`: its first argument, which is aligned.
    Aligned,
    /// `__builtin_LINE`
    Line,
    /// `__builtin_FUNCTION`
    Function,
    /// `__builtin_frame_address` and the like: an address of which nothing is known.
    Frame,
}

/// What happens to a `va_list`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Variadic {
    Start,
    End,
    Copy,
}

/// What memory a function allocates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Allocate {
    /// `malloc`
    Any,
    /// `calloc`
    Zeroed,
    /// `alloca`
    Block,
    /// `realloc`
    Again,
}

/// Where a function like `scanf` finds what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scan {
    /// `scanf`: the format is the first argument.
    Input,
    /// `fscanf`: a stream comes before the format.
    Stream,
    /// `sscanf`: a text comes before the format.
    Text,
}

impl Scan {
    /// Returns the position of the format.
    pub(crate) fn format(self) -> usize {
        usize::from(self != Scan::Input)
    }
}

/// A function like `sprintf`: the positions of its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Print {
    /// The format.
    pub(crate) format: usize,
    /// The number of bytes that there is room for, if it is told.
    pub(crate) room: Option<usize>,
}

/// A function on bytes or texts in memory, or on a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bytes {
    /// `memset`
    Set,
    /// `bzero`
    Zero,
    /// `memcpy`
    Copy,
    /// `memmove`
    Move,
    /// `memcmp`, and texts: with a limit or not, up to a zero or not.
    Compare { limited: bool, at_zero: bool },
    /// `strlen`
    Length,
    /// `strchr`
    Find,
    /// `strcpy`
    CopyText,
    /// `strcat`
    Append,
    /// `abs`
    Absolute,
    /// `labs`
    AbsoluteLong,
    /// `llabs`
    AbsoluteLongLong,
}

/// How long a function waits for what is not free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wait {
    /// Until it is.
    Ever,
    /// Not at all, or for a time that may be over whenever it is not: the function returns this, or
    /// -1 with this as `errno`.
    Else(i64),
}

/// `EBUSY`, `EAGAIN` and `ETIMEDOUT`.
const BUSY: Wait = Wait::Else(16);
const AGAIN: Wait = Wait::Else(11);
const LATE: Wait = Wait::Else(110);
/// `thrd_busy` and `thrd_timedout`.
const STANDARD_BUSY: Wait = Wait::Else(1);
const STANDARD_LATE: Wait = Wait::Else(4);

/// A function about threads, or about what they synchronise with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Thread {
    Create,
    /// `thrd_create`, which takes no attributes.
    PlainCreate,
    Join,
    /// `thrd_join`, for a result that is an `int`.
    PlainJoin,
    Exit,
    /// `pthread_self`
    Own,
    Equal,
    MutexInit,
    MutexDestroy,
    MutexLock(Wait),
    /// `mtx_init`: its second argument is the kind.
    PlainMutexInit,
    MutexUnlock,
    MutexAttribute,
    MutexType,
    SpinLock(Wait),
    SpinUnlock,
    ReadLock(Wait),
    WriteLock(Wait),
    ReadWriteUnlock,
    /// It makes a lock free.
    LockInit,
    ConditionInit,
    ConditionWait(Wait),
    ConditionSignal,
    ConditionBroadcast,
    BarrierInit,
    BarrierWait,
    Once,
    KeyCreate,
    KeyDelete,
    SetSpecific,
    GetSpecific,
    SemaphoreInit,
    SemaphorePost,
    SemaphoreWait(Wait),
    SemaphoreValue,
    /// It changes nothing that is modelled, unless this argument is the address of a variable.
    Nothing {
        unless: Option<usize>,
    },
}

impl Thread {
    /// Returns whether it takes or releases a lock, which is its first argument.
    pub(crate) fn locks(self) -> bool {
        use Thread::*;
        matches!(
            self,
            MutexLock(_)
                | MutexUnlock
                | SpinLock(_)
                | SpinUnlock
                | ReadLock(_)
                | WriteLock(_)
                | ReadWriteUnlock
        )
    }
}

/// A function whose body is an atomic section has a name that begins like this.
pub(crate) const ATOMIC_FUNCTION: &str = "__VERIFIER_atomic_";
/// A function whose result is an input of a type has a name that begins like this.
pub(crate) const INPUT: &str = "__VERIFIER_nondet_";
/// The statement behind such a label runs in a thread of its own.
pub(crate) const ASYNC_LABEL: &str = "__CPROVER_ASYNC";
/// Names in programs with mutexes that know their owners: those of kinds in initial values, and of
/// `<threads.h>`.
pub(crate) const OWNED_MUTEXES: [&str; 3] =
    ["PTHREAD_MUTEX_RECURSIVE_NP", "PTHREAD_MUTEX_ERRORCHECK_NP", "mtx_recursive"];

use Meaning::{AtomicBegin, AtomicEnd, Expect, Halt, IsConstant, Refused};

/// The functions, by name. Those with `true` have this meaning even if the program defines them.
const TABLE: &[(&str, Meaning, bool)] = &[
    ("reach_error", Meaning::Error, true),
    ("__VERIFIER_error", Meaning::Error, true),
    ("__assert_fail", Meaning::FailedAssertion(0), true),
    ("__assert_rtn", Meaning::FailedAssertion(3), false),
    ("__assert", Meaning::FailedAssertion(0), false),
    ("assert", Meaning::Assert, false),
    ("__CPROVER_assert", Meaning::Assert, false),
    ("__VERIFIER_assert", Meaning::Assert, false),
    ("unsafe_assert", Meaning::Assert, false),
    ("__VERIFIER_assume", Meaning::Assume, false),
    ("__CPROVER_assume", Meaning::Assume, false),
    ("assume", Meaning::Assume, false),
    ("__builtin_assume", Meaning::Assume, false),
    ("__builtin_unreachable", Meaning::Unreachable, false),
    ("abort", Halt, false),
    ("exit", Halt, false),
    ("_exit", Halt, false),
    ("_Exit", Halt, false),
    ("__builtin_trap", Halt, false),
    ("__builtin_abort", Halt, false),
    ("__VERIFIER_atomic_begin", AtomicBegin, true),
    ("__VERIFIER_atomic_end", AtomicEnd, true),
    ("__CPROVER_atomic_begin", AtomicBegin, true),
    ("__CPROVER_atomic_end", AtomicEnd, true),
    // Hints for other verifiers.
    ("__VERIFIER_loop_begin", Meaning::Hint, false),
    ("__VERIFIER_spin_start", Meaning::Hint, false),
    ("__VERIFIER_spin_end", Meaning::Hint, false),
    (PLAIN_BEGIN, AtomicBegin, false),
    ("atomic_end", AtomicEnd, false),
    // Memory.
    ("malloc", Meaning::Allocate(Allocate::Any), false),
    ("__builtin_malloc", Meaning::Allocate(Allocate::Any), false),
    ("calloc", Meaning::Allocate(Allocate::Zeroed), false),
    ("alloca", Meaning::Allocate(Allocate::Block), false),
    ("__builtin_alloca", Meaning::Allocate(Allocate::Block), false),
    ("free", Meaning::Free, false),
    ("realloc", Meaning::Allocate(Allocate::Again), false),
    // The compiler.
    ("__builtin_expect", Expect, false),
    ("__builtin_constant_p", IsConstant, false),
    ("__builtin_expect_with_probability", Expect, false),
    ("__builtin_prefetch", Meaning::Compiler(Compiler::Prefetch), false),
    ("__builtin_choose_expr", Meaning::Compiler(Compiler::Choose), false),
    ("__builtin_classify_type", Meaning::Compiler(Compiler::Classify), false),
    ("__builtin_object_size", Meaning::Compiler(Compiler::ObjectSize), false),
    ("__builtin_dynamic_object_size", Meaning::Compiler(Compiler::ObjectSize), false),
    ("__builtin_assume_aligned", Meaning::Compiler(Compiler::Aligned), false),
    ("__builtin_LINE", Meaning::Compiler(Compiler::Line), false),
    ("__builtin_FUNCTION", Meaning::Compiler(Compiler::Function), false),
    ("__builtin_frame_address", Meaning::Compiler(Compiler::Frame), false),
    ("__builtin_return_address", Meaning::Compiler(Compiler::Frame), false),
    ("__builtin_popcount", Meaning::Count(Count::Ones), false),
    ("__builtin_popcountl", Meaning::Count(Count::Ones), false),
    ("__builtin_popcountll", Meaning::Count(Count::Ones), false),
    ("__builtin_parity", Meaning::Count(Count::Parity), false),
    ("__builtin_parityl", Meaning::Count(Count::Parity), false),
    ("__builtin_parityll", Meaning::Count(Count::Parity), false),
    ("__builtin_clz", Meaning::Count(Count::LeadingZeros), false),
    ("__builtin_clzl", Meaning::Count(Count::LeadingZeros), false),
    ("__builtin_clzll", Meaning::Count(Count::LeadingZeros), false),
    ("__builtin_ctz", Meaning::Count(Count::TrailingZeros), false),
    ("__builtin_ctzl", Meaning::Count(Count::TrailingZeros), false),
    ("__builtin_ctzll", Meaning::Count(Count::TrailingZeros), false),
    ("__builtin_ffs", Meaning::Count(Count::First), false),
    ("__builtin_ffsl", Meaning::Count(Count::First), false),
    ("__builtin_ffsll", Meaning::Count(Count::First), false),
    ("__builtin_clrsb", Meaning::Count(Count::SignBits), false),
    ("__builtin_clrsbl", Meaning::Count(Count::SignBits), false),
    ("__builtin_clrsbll", Meaning::Count(Count::SignBits), false),
    ("__builtin_bswap16", Meaning::SwapBytes(2), false),
    ("__builtin_bswap32", Meaning::SwapBytes(4), false),
    ("__builtin_bswap64", Meaning::SwapBytes(8), false),
    ("__builtin_sadd_overflow", overflows(Arithmetic::Add, "add_overflow", Some(true), true), false),
    ("__builtin_saddl_overflow", overflows(Arithmetic::Add, "addl_overflow", Some(true), true), false),
    ("__builtin_saddll_overflow", overflows(Arithmetic::Add, "addll_overflow", Some(true), true), false),
    ("__builtin_uadd_overflow", overflows(Arithmetic::Add, "add_overflow", Some(false), true), false),
    ("__builtin_uaddl_overflow", overflows(Arithmetic::Add, "addl_overflow", Some(false), true), false),
    ("__builtin_uaddll_overflow", overflows(Arithmetic::Add, "addll_overflow", Some(false), true), false),
    ("__builtin_ssub_overflow", overflows(Arithmetic::Sub, "sub_overflow", Some(true), true), false),
    ("__builtin_ssubl_overflow", overflows(Arithmetic::Sub, "subl_overflow", Some(true), true), false),
    ("__builtin_ssubll_overflow", overflows(Arithmetic::Sub, "subll_overflow", Some(true), true), false),
    ("__builtin_usub_overflow", overflows(Arithmetic::Sub, "sub_overflow", Some(false), true), false),
    ("__builtin_usubl_overflow", overflows(Arithmetic::Sub, "subl_overflow", Some(false), true), false),
    ("__builtin_usubll_overflow", overflows(Arithmetic::Sub, "subll_overflow", Some(false), true), false),
    ("__builtin_smul_overflow", overflows(Arithmetic::Mul, "mul_overflow", Some(true), true), false),
    ("__builtin_smull_overflow", overflows(Arithmetic::Mul, "mull_overflow", Some(true), true), false),
    ("__builtin_smulll_overflow", overflows(Arithmetic::Mul, "mulll_overflow", Some(true), true), false),
    ("__builtin_umul_overflow", overflows(Arithmetic::Mul, "mul_overflow", Some(false), true), false),
    ("__builtin_umull_overflow", overflows(Arithmetic::Mul, "mull_overflow", Some(false), true), false),
    ("__builtin_umulll_overflow", overflows(Arithmetic::Mul, "mulll_overflow", Some(false), true), false),
    ("__builtin_add_overflow", overflows(Arithmetic::Add, "", None, true), false),
    ("__builtin_add_overflow_p", overflows(Arithmetic::Add, "", None, false), false),
    ("__builtin_sub_overflow", overflows(Arithmetic::Sub, "", None, true), false),
    ("__builtin_sub_overflow_p", overflows(Arithmetic::Sub, "", None, false), false),
    ("__builtin_mul_overflow", overflows(Arithmetic::Mul, "", None, true), false),
    ("__builtin_mul_overflow_p", overflows(Arithmetic::Mul, "", None, false), false),
    ("__builtin_va_arg_pack", Refused, false),
    ("__builtin_va_arg_pack_len", Refused, false),
    ("__builtin_apply", Refused, false),
    ("__builtin_apply_args", Refused, false),
    ("__builtin_return", Refused, false),
    ("__builtin_setjmp", Refused, false),
    ("__builtin_longjmp", Refused, false),
    ("__builtin_va_start", Meaning::Variadic(Variadic::Start), false),
    ("__builtin_c23_va_start", Meaning::Variadic(Variadic::Start), false),
    ("__builtin_va_end", Meaning::Variadic(Variadic::End), false),
    ("__builtin_va_copy", Meaning::Variadic(Variadic::Copy), false),
    (ERRNO[0], Meaning::Errno, false),
    (ERRNO[1], Meaning::Errno, false),
    // Control.
    ("setjmp", Refused, false),
    ("_setjmp", Refused, false),
    ("__sigsetjmp", Refused, false),
    ("longjmp", Refused, false),
    ("_longjmp", Refused, false),
    ("siglongjmp", Refused, false),
    ("fork", Refused, false),
    ("__futex", Refused, false),
    // How often another tool unfolds a loop.
    ("__VERIFIER_loop_bound", Meaning::Hint, false),
    ("__more_than_8_threads_at_futexes", Refused, false),
    ("__more_than_32_exit_handlers", Refused, false),
    ("vfork", Refused, false),
    // Input.
    ("scanf", Meaning::Scan(Scan::Input), false),
    ("__isoc99_scanf", Meaning::Scan(Scan::Input), false),
    ("__isoc23_scanf", Meaning::Scan(Scan::Input), false),
    ("fscanf", Meaning::Scan(Scan::Stream), false),
    ("__isoc99_fscanf", Meaning::Scan(Scan::Stream), false),
    ("__isoc23_fscanf", Meaning::Scan(Scan::Stream), false),
    ("sscanf", Meaning::Scan(Scan::Text), false),
    ("__isoc99_sscanf", Meaning::Scan(Scan::Text), false),
    ("__isoc23_sscanf", Meaning::Scan(Scan::Text), false),
    ("__VERIFIER_nondet_memory", Refused, false),
    // Bytes and texts.
    ("memset", Meaning::Bytes(Bytes::Set), false),
    ("bzero", Meaning::Bytes(Bytes::Zero), false),
    ("memcpy", Meaning::Bytes(Bytes::Copy), false),
    ("memmove", Meaning::Bytes(Bytes::Move), false),
    ("memcmp", Meaning::Bytes(Bytes::Compare { limited: true, at_zero: false }), false),
    ("bcmp", Meaning::Bytes(Bytes::Compare { limited: true, at_zero: false }), false),
    ("strcmp", Meaning::Bytes(Bytes::Compare { limited: false, at_zero: true }), false),
    ("strncmp", Meaning::Bytes(Bytes::Compare { limited: true, at_zero: true }), false),
    ("strlen", Meaning::Bytes(Bytes::Length), false),
    ("strchr", Meaning::Bytes(Bytes::Find), false),
    ("strcpy", Meaning::Bytes(Bytes::CopyText), false),
    ("strcat", Meaning::Bytes(Bytes::Append), false),
    ("sprintf", Meaning::Print(Print { format: 1, room: None }), false),
    ("snprintf", Meaning::Print(Print { format: 2, room: Some(1) }), false),
    // The size of the object is not looked at: what is written behind the object is an error.
    ("__sprintf_chk", Meaning::Print(Print { format: 3, room: None }), false),
    ("__snprintf_chk", Meaning::Print(Print { format: 4, room: Some(1) }), false),
    ("abs", Meaning::Bytes(Bytes::Absolute), false),
    ("labs", Meaning::Bytes(Bytes::AbsoluteLong), false),
    ("llabs", Meaning::Bytes(Bytes::AbsoluteLongLong), false),
    // Threads.
    ("pthread_create", Meaning::Thread(Thread::Create), false),
    ("pthread_join", Meaning::Thread(Thread::Join), false),
    (THREAD_EXIT, Meaning::Thread(Thread::Exit), false),
    ("pthread_self", Meaning::Thread(Thread::Own), false),
    ("pthread_equal", Meaning::Thread(Thread::Equal), false),
    ("pthread_mutex_init", Meaning::Thread(Thread::MutexInit), false),
    ("pthread_mutex_destroy", Meaning::Thread(Thread::MutexDestroy), false),
    ("pthread_mutex_lock", Meaning::Thread(Thread::MutexLock(Wait::Ever)), false),
    ("pthread_mutex_trylock", Meaning::Thread(Thread::MutexLock(BUSY)), false),
    ("pthread_mutex_unlock", Meaning::Thread(Thread::MutexUnlock), false),
    ("pthread_mutexattr_init", Meaning::Thread(Thread::MutexAttribute), false),
    (MUTEX_TYPE, Meaning::Thread(Thread::MutexType), false),
    ("pthread_spin_init", Meaning::Thread(Thread::LockInit), false),
    ("pthread_spin_lock", Meaning::Thread(Thread::SpinLock(Wait::Ever)), false),
    ("pthread_spin_trylock", Meaning::Thread(Thread::SpinLock(BUSY)), false),
    ("pthread_spin_unlock", Meaning::Thread(Thread::SpinUnlock), false),
    ("pthread_rwlock_init", Meaning::Thread(Thread::LockInit), false),
    ("pthread_rwlock_rdlock", Meaning::Thread(Thread::ReadLock(Wait::Ever)), false),
    ("pthread_rwlock_tryrdlock", Meaning::Thread(Thread::ReadLock(BUSY)), false),
    ("pthread_rwlock_wrlock", Meaning::Thread(Thread::WriteLock(Wait::Ever)), false),
    ("pthread_rwlock_trywrlock", Meaning::Thread(Thread::WriteLock(BUSY)), false),
    ("pthread_rwlock_unlock", Meaning::Thread(Thread::ReadWriteUnlock), false),
    ("pthread_cond_init", Meaning::Thread(Thread::ConditionInit), false),
    ("pthread_cond_wait", Meaning::Thread(Thread::ConditionWait(Wait::Ever)), false),
    ("pthread_cond_timedwait", Meaning::Thread(Thread::ConditionWait(LATE)), false),
    ("pthread_cond_signal", Meaning::Thread(Thread::ConditionSignal), false),
    ("pthread_cond_broadcast", Meaning::Thread(Thread::ConditionBroadcast), false),
    ("pthread_barrier_init", Meaning::Thread(Thread::BarrierInit), false),
    ("pthread_barrier_wait", Meaning::Thread(Thread::BarrierWait), false),
    ("pthread_once", Meaning::Thread(Thread::Once), false),
    (KEY_CREATE[0], Meaning::Thread(Thread::KeyCreate), false),
    ("pthread_key_delete", Meaning::Thread(Thread::KeyDelete), false),
    ("pthread_setspecific", Meaning::Thread(Thread::SetSpecific), false),
    ("pthread_getspecific", Meaning::Thread(Thread::GetSpecific), false),
    ("pthread_setcancelstate", Meaning::Thread(Thread::Nothing { unless: Some(1) }), false),
    ("pthread_setcanceltype", Meaning::Thread(Thread::Nothing { unless: Some(1) }), false),
    ("pthread_detach", Meaning::Thread(Thread::Nothing { unless: None }), false),
    ("pthread_testcancel", Meaning::Thread(Thread::Nothing { unless: None }), false),
    ("pthread_yield", Meaning::Thread(Thread::Nothing { unless: None }), false),
    ("pthread_mutex_timedlock", Meaning::Thread(Thread::MutexLock(LATE)), false),
    ("pthread_rwlock_timedrdlock", Meaning::Thread(Thread::ReadLock(LATE)), false),
    ("pthread_rwlock_timedwrlock", Meaning::Thread(Thread::WriteLock(LATE)), false),
    ("sem_timedwait", Meaning::Thread(Thread::SemaphoreWait(LATE)), false),
    ("pthread_spin_destroy", Meaning::Thread(Thread::Nothing { unless: None }), false),
    ("pthread_rwlock_destroy", Meaning::Thread(Thread::Nothing { unless: None }), false),
    ("pthread_cond_destroy", Meaning::Thread(Thread::Nothing { unless: None }), false),
    ("pthread_barrier_destroy", Meaning::Thread(Thread::Nothing { unless: None }), false),
    // `<threads.h>`
    ("thrd_create", Meaning::Thread(Thread::PlainCreate), false),
    ("thrd_join", Meaning::Thread(Thread::PlainJoin), false),
    ("thrd_exit", Meaning::Thread(Thread::Exit), false),
    ("thrd_current", Meaning::Thread(Thread::Own), false),
    ("thrd_equal", Meaning::Thread(Thread::Equal), false),
    ("thrd_detach", Meaning::Thread(Thread::Nothing { unless: None }), false),
    ("mtx_init", Meaning::Thread(Thread::PlainMutexInit), false),
    ("mtx_destroy", Meaning::Thread(Thread::MutexDestroy), false),
    ("mtx_lock", Meaning::Thread(Thread::MutexLock(Wait::Ever)), false),
    ("mtx_trylock", Meaning::Thread(Thread::MutexLock(STANDARD_BUSY)), false),
    ("mtx_timedlock", Meaning::Thread(Thread::MutexLock(STANDARD_LATE)), false),
    ("mtx_unlock", Meaning::Thread(Thread::MutexUnlock), false),
    ("cnd_init", Meaning::Thread(Thread::ConditionInit), false),
    ("cnd_destroy", Meaning::Thread(Thread::Nothing { unless: None }), false),
    ("cnd_wait", Meaning::Thread(Thread::ConditionWait(Wait::Ever)), false),
    ("cnd_timedwait", Meaning::Thread(Thread::ConditionWait(STANDARD_LATE)), false),
    ("cnd_signal", Meaning::Thread(Thread::ConditionSignal), false),
    ("cnd_broadcast", Meaning::Thread(Thread::ConditionBroadcast), false),
    ("call_once", Meaning::Thread(Thread::Once), false),
    (KEY_CREATE[1], Meaning::Thread(Thread::KeyCreate), false),
    ("tss_delete", Meaning::Thread(Thread::KeyDelete), false),
    ("tss_set", Meaning::Thread(Thread::SetSpecific), false),
    ("tss_get", Meaning::Thread(Thread::GetSpecific), false),
    ("sem_init", Meaning::Thread(Thread::SemaphoreInit), false),
    ("sem_post", Meaning::Thread(Thread::SemaphorePost), false),
    ("sem_wait", Meaning::Thread(Thread::SemaphoreWait(Wait::Ever)), false),
    ("sem_trywait", Meaning::Thread(Thread::SemaphoreWait(AGAIN)), false),
    ("sem_getvalue", Meaning::Thread(Thread::SemaphoreValue), false),
    ("sem_destroy", Meaning::Thread(Thread::Nothing { unless: None }), false),
];

/// The function that begins an atomic section in some benchmarks, which do not say so.
pub(crate) const PLAIN_BEGIN: &str = "atomic_begin";
/// The function with which mutexes come to know their owners.
pub(crate) const MUTEX_TYPE: &str = "pthread_mutexattr_settype";
/// The functions that create a key of values that each thread has for itself.
pub(crate) const KEY_CREATE: [&str; 2] = ["pthread_key_create", "tss_create"];

/// The functions that tell where `errno` is.
pub(crate) const ERRNO: [&str; 2] = ["__errno_location", "__error"];
/// The function that ends the thread which calls it.
pub(crate) const THREAD_EXIT: &str = "pthread_exit";

/// Returns what a call of this name means, for a program that defines a function of the name or
/// does not.
pub(crate) fn special(name: &str, defined: bool) -> Option<Meaning> {
    let plain = name.strip_prefix("__builtin_").unwrap_or(name);
    let row = |name: &str| TABLE.iter().find(|row| row.0 == name);
    match row(name).or_else(|| row(plain)) {
        Some(&(_, meaning, always)) => (always || !defined).then_some(meaning),
        None if defined => None,
        None => math(name)
            .map(Meaning::Number)
            .or_else(|| complex(name).map(Meaning::Complex))
            .or_else(|| family(name)),
    }
}

/// Returns what functions of many names mean, by a part of the name.
fn family(name: &str) -> Option<Meaning> {
    let threads = ["pthread_", "sem_"].iter().any(|part| name.starts_with(part));
    if threads {
        return super::built_in(name).is_none().then_some(Refused);
    }
    Some(match name {
        _ if name.starts_with("__atomic_") || name.starts_with("__sync_") => Meaning::Atomic,
        _ if name.starts_with("atomic_") => Meaning::StandardAtomic,
        _ if name.starts_with(INPUT) => Meaning::Input,
        _ if name.starts_with("__CPROVER_")
            && (name.ends_with("predicate") || name.ends_with("_predicates")) =>
        {
            Meaning::Predicate
        }
        _ => return None,
    })
}

/// Returns whether a function that ends the program calls those that run after `main`.
pub(crate) fn runs_destructors(name: &str) -> bool {
    name == "exit"
}

/// Returns whether the result of a function without a body is an input, by its name.
pub(crate) fn is_input(name: &str) -> bool {
    name.starts_with(INPUT) || name.starts_with("nondet")
}

/// Returns whether the body of a function is an atomic section, by its name.
pub(crate) fn is_atomic_function(name: &str) -> bool {
    name.starts_with(ATOMIC_FUNCTION) && !matches!(special(name, true), Some(AtomicBegin | AtomicEnd))
}

/// Returns the names of the functions in the table that have one of these meanings.
pub(crate) fn names(is_one: fn(Meaning) -> bool) -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(move |row| is_one(row.1)).map(|row| row.0)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn no_function_has_two_meanings() {
        for (i, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..i].iter().all(|other| other.0 != row.0), "{}", row.0);
            assert!(crate::library::built_in(row.0).is_none(), "{} is in both tables", row.0);
        }
    }

    #[test]
    fn meanings_depend_on_definitions_and_families() {
        assert_eq!(special("__assert_fail", true), Some(Meaning::FailedAssertion(0)));
        assert_eq!((special("assert", true), special("assert", false)), (None, Some(Meaning::Assert)));
        assert_eq!(special("__builtin_memset", false), Some(Meaning::Bytes(Bytes::Set)));
        assert_eq!(special("__builtin_free", false), Some(Meaning::Free));
        assert_eq!(special("pthread_attr_getstacksize", false), None);
        assert_eq!(special("pthread_cancel", false), Some(Refused));
        assert_eq!(special("atomic_begin", false), Some(AtomicBegin));
        assert_eq!(special("atomic_load", false), Some(Meaning::StandardAtomic));
        assert!(is_atomic_function("__VERIFIER_atomic_take") && !is_atomic_function("__VERIFIER_atomic_end"));
    }

    /// Returns the string literals of a text, other than those in comments.
    fn literals(text: &str) -> Vec<&str> {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|l| !l.trim_start().starts_with("//"));
        lines.flat_map(|line| line.split('"').skip(1).step_by(2)).collect()
    }

    fn sources(path: &Path, found: &mut Vec<PathBuf>) {
        match path.is_dir() {
            true => fs::read_dir(path).unwrap().for_each(|e| sources(&e.unwrap().path(), found)),
            false if path.extension().is_some_and(|e| e == "rs") => found.push(path.to_path_buf()),
            false => {}
        }
    }

    /// Everything else of the crate learns from the table what a function means: no other file
    /// names one.
    #[test]
    fn no_other_file_names_a_special_function() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        sources(&root, &mut files);
        // Attributes may have the names of functions, and so have headers and words of the syntax.
        let others =
            |file: &PathBuf| file.ends_with("constructs.rs") || file.starts_with(root.join("syntax"));
        files.retain(|file| !file.ends_with("library/special.rs") && !others(file));
        let families = ["__VERIFIER_", "__CPROVER_", "pthread_", "sem_", "thrd_", "mtx_", "cnd_", "__assert"];
        let types = ["pthread_mutex_t", "pthread_cond_t"];
        let mut seen = 0;
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for literal in literals(&text).into_iter().filter(|literal| !types.contains(literal)) {
                seen += 1;
                let is_special = TABLE.iter().any(|row| row.0 == literal);
                let begins = families.iter().any(|family| literal.starts_with(family));
                assert!(!is_special && !begins, "{}: \"{literal}\"", file.display());
            }
        }
        assert!(seen > 500, "{seen}");
    }
}
