//! Random Rust programs of two or three threads that share atomics and locks of the standard
//! library, and always end: what each returns is one number, or a panic.

use std::fmt::Write;

/// A source of choices.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}

/// What all programs share. `pause` gives the others a chance where the program is really run.
const SHARED: &str = r#"
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex, Once, OnceLock, RwLock};
use std::thread;

pub static OUT: AtomicU32 = AtomicU32::new(0);

pub struct State {
    a: AtomicU8, b: AtomicU8, list: [AtomicU8; 2], done: AtomicBool,
    m: Mutex<u8>, r: RwLock<u8>, o: OnceLock<u8>, once: Once, c: Condvar,
}

impl State {
    fn new() -> State {
        State {
            a: AtomicU8::new(0), b: AtomicU8::new(1), list: [AtomicU8::new(0), AtomicU8::new(1)],
            done: AtomicBool::new(false), m: Mutex::new(0), r: RwLock::new(1), o: OnceLock::new(),
            once: Once::new(), c: Condvar::new(),
        }
    }
    fn sum(&self) -> u32 {
        let list = self.list.iter().fold(0u32, |sum, x| sum * 5 + x.load(SeqCst) as u32);
        self.a.load(SeqCst) as u32 + 7 * self.b.load(SeqCst) as u32 + 49 * list
            + 1001 * *self.m.lock().unwrap_or_else(|e| e.into_inner()) as u32
            + 5003 * *self.r.read().unwrap_or_else(|e| e.into_inner()) as u32
            + 20011 * self.o.get().copied().unwrap_or(9) as u32
    }
}

fn half(x: u8) -> Option<u8> { if x % 2 == 0 { Some(x / 2) } else { None } }
fn less(x: u8, y: u8) -> Result<u8, u8> { x.checked_sub(y).ok_or(y) }
"#;

/// What a program is about beside its shared variables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Threads may panic.
    Panics,
    Condvar,
    Barrier,
    Park,
}

/// Returns some programs: each is a function `run` in a module of its own that stores its number in
/// `OUT`, and a function `body` that returns it.
pub fn programs(seed: u64, count: usize) -> String {
    let mut text = SHARED.to_string();
    for k in 0..count {
        let mut r = Random((seed * 1000 + k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let kind = [Kind::Panics, Kind::Condvar, Kind::Barrier, Kind::Park][r.below(6).saturating_sub(2)];
        let scoped = r.below(2) == 0;
        let first = thread(&mut r, kind, true);
        let second = thread(&mut r, kind, false);
        let body = if scoped { in_a_scope(kind, &first, &second) } else { joined(kind, &first, &second) };
        writeln!(
            text,
            "pub mod p{k} {{\n use super::*;\n pub fn body() -> u32 {{\n{body} }}\n \
             pub fn run() {{ OUT.store(body(), SeqCst); }}\n}}"
        )
        .expect("text");
    }
    text
}

fn in_a_scope(kind: Kind, first: &str, second: &str) -> String {
    let wakes = match kind {
        Kind::Park => "s.done.store(true, SeqCst); t1.thread().unpark();",
        _ => "",
    };
    format!(
        "  let s = State::new();\n  let barrier = Barrier::new(2);\n  let _ = &barrier;\n  \
         let (x, y) = thread::scope(|scope| {{\n    let t1 = scope.spawn(|| {{ {first} }});\n    \
         let t2 = scope.spawn(|| {{ {second} }});\n    {wakes}\n    \
         (t1.join().unwrap(), t2.join().unwrap())\n  }});\n  \
         x as u32 * 100_000 + y as u32 * 10_000_000 + s.sum()\n"
    )
}

fn joined(kind: Kind, first: &str, second: &str) -> String {
    let wakes = match kind {
        Kind::Park => "all.0.done.store(true, SeqCst); t1.thread().unpark();",
        _ => "",
    };
    let own = "let (s, barrier) = (&all.0, &all.1); let _ = barrier;";
    format!(
        "  let all = Arc::new((State::new(), Barrier::new(2)));\n  let one = all.clone();\n  \
         let t1 = thread::spawn(move || {{ let all = one; {own} {first} }});\n  let two = all.clone();\n  \
         let t2 = thread::Builder::new().spawn(move || {{ let all = two; {own} {second} }}).unwrap();\n  \
         {wakes}\n  let (x, y) = (t1.join().unwrap(), t2.join().unwrap());\n  \
         x as u32 * 100_000 + y as u32 * 10_000_000 + all.0.sum()\n"
    )
}

/// The code of a thread, which returns an `x` that is a small number.
fn thread(r: &mut Random, kind: Kind, first: bool) -> String {
    let mut text = format!("let mut x = {}u8;", r.below(3));
    let count = 2 + r.below(2);
    let at = r.below(count + 1);
    for k in 0..=count {
        if k == at {
            text += match (kind, first) {
                (Kind::Condvar, true) => {
                    " { let mut g = s.m.lock().unwrap(); while *g == 0 { g = s.c.wait(g).unwrap(); } x += *g; }"
                }
                (Kind::Condvar, false) => " { *s.m.lock().unwrap() += 1; } s.c.notify_all();",
                (Kind::Barrier, _) => " if barrier.wait().is_leader() { x += 1; }",
                (Kind::Park, true) => " while !s.done.load(SeqCst) { thread::park(); }",
                _ => "",
            };
        }
        if k < count {
            text += " ";
            text += &statement(r, kind);
            text += " pause();";
        }
    }
    text + " x"
}

fn statement(r: &mut Random, kind: Kind) -> String {
    let n = r.below(3);
    let v = ["a", "a", "b", "list[1]"][r.below(4)];
    match r.below(if kind == Kind::Panics { 22 } else { 19 }) {
        0 => format!("x = x.wrapping_add(s.{v}.fetch_add(1, SeqCst));"),
        1 => format!("s.{v}.store(x, SeqCst);"),
        2 => format!("x = s.{v}.swap(x, SeqCst);"),
        3 => format!("if s.{v}.compare_exchange({n}, x, SeqCst, SeqCst).is_ok() {{ x += 1; }}"),
        4 => format!(
            "match s.{v}.compare_exchange({n}, 4, SeqCst, SeqCst) {{ Ok(old) => x += old, Err(now) => x = now }}"
        ),
        5 => {
            format!("x += s.{v}.fetch_update(SeqCst, SeqCst, |v| v.checked_sub(1)).map_or(3, |old| old % 4);")
        }
        6 => format!("x = s.{v}.fetch_max({n}, SeqCst).max(x);"),
        7 => format!("s.{v}.fetch_xor(x & 3, SeqCst);"),
        8 => "{ let mut g = s.m.lock().unwrap(); *g += 1; x += *g; }".into(),
        9 => "if let Ok(mut g) = s.m.try_lock() { *g += 1; } else { x += 1; }".into(),
        10 => "{ let mut g = s.r.write().unwrap(); *g = *g % 2 + 1; }".into(),
        11 => "x += *s.r.read().unwrap();".into(),
        12 => format!("x += *s.o.get_or_init(|| {n});"),
        13 => format!("if s.o.set({n}).is_err() {{ x += 2; }}"),
        14 => "s.once.call_once(|| { s.b.fetch_add(1, SeqCst); });".into(),
        15 => format!("if let Some(h) = half(s.{v}.load(SeqCst)) {{ x += h; }}"),
        16 => format!("s.list[(x % 2) as usize].fetch_add({n}, SeqCst);"),
        17 => format!("x = match less(x, s.{v}.load(SeqCst)) {{ Ok(d) => d, Err(y) => y % 8 }};"),
        18 => "if let Ok(g) = s.r.try_read() { x += *g; }".into(),
        19 => format!("assert!(s.{v}.load(SeqCst) != {n});"),
        20 => format!("x = s.list[s.{v}.load(SeqCst) as usize].load(SeqCst);"),
        _ => format!("x = 200 + 50 * s.{v}.load(SeqCst) - x;"),
    }
}
