//! Where addresses go, whatever the order of instructions: which objects other threads may come to
//! know, which pointers may point to what ceases to exist, and which functions they may point to.

use std::collections::{BTreeSet, HashMap};

use super::{
    BinOp, Expr, FUNCTION, Instr, Int, LocalPlace, Object, PRIVATE, PointerUse, Program, Reg, address,
    is_private, object_of,
};

/// The objects whose addresses a value may be.
type Objects = BTreeSet<i64>;

/// Stands for all allocated objects.
const HEAP: i64 = -1;

/// Stands for all that memory holds.
const MEMORY: i64 = i64::MIN;

/// Stands for the results of all threads.
const RESULTS: i64 = i64::MIN + 1;

/// What the analysis calls a local variable of a function, whichever call it belongs to.
pub(crate) fn local_key(template: usize, local: usize) -> i64 {
    -2 - ((template as i64) << 24 | local as i64)
}

/// Where addresses of objects may be that cease to exist: local variables, and all that is
/// allocated. What is nowhere on the list need not be looked at, and a number that happens to look
/// like such an address is left alone.
#[derive(Clone, Debug, Default)]
pub struct Holders {
    registers: Vec<Held>,
    memory: Objects,
    results: Objects,
    /// Whether memory may hold any address.
    pub any: bool,
}

/// Where addresses are in the registers of a template.
#[derive(Clone, Debug, Default)]
struct Held {
    /// By object, the registers that may hold an address in it.
    by_object: HashMap<i64, Vec<Reg>>,
    /// Those that may hold whatever memory holds.
    loaded: Vec<Reg>,
    /// Those that may hold the result of any thread.
    joined: Vec<Reg>,
}

impl Holders {
    /// The name of an object in the analysis: its number, or that of [`local_key`].
    fn key(p: &Program, object: i64) -> i64 {
        if object > p.objects.len() as i64 && object < FUNCTION { HEAP } else { object }
    }

    /// The registers of a template that may hold an address in an object; some several times.
    pub fn registers(&self, p: &Program, template: usize, object: i64) -> impl Iterator<Item = Reg> {
        let key = Self::key(p, object);
        self.registers.get(template).into_iter().flat_map(move |held| {
            let loaded = held.loaded.iter().filter(move |_| self.memory.contains(&key));
            let joined = held.joined.iter().filter(move |_| self.results.contains(&key));
            held.by_object.get(&key).into_iter().flatten().chain(loaded).chain(joined).copied()
        })
    }

    /// Returns whether memory may hold an address in an object.
    pub fn in_memory(&self, p: &Program, object: i64) -> bool {
        self.memory.contains(&Self::key(p, object))
    }
}

/// Where addresses go, whatever the order of instructions: a set of objects for each register, one
/// for everything in memory, one for what other threads are handed.
pub(super) struct Flow {
    registers: Vec<Vec<Objects>>,
    /// What each function returns.
    returned: Vec<Objects>,
    memory: Objects,
    published: Objects,
    results: Objects,
    /// What is stored in local variables.
    inside: HashMap<i64, Objects>,
    /// The functions that threads start in: what they return is the result of a thread.
    starts: Vec<bool>,
}

impl Flow {
    pub(super) fn of(p: &Program) -> Flow {
        let registers = p.templates.iter().map(|t| vec![Objects::new(); t.registers.len()]);
        let mut starts = vec![false; p.templates.len()];
        p.starts().into_iter().for_each(|t| starts[t] = true);
        let mut flow = Flow {
            registers: registers.collect(),
            returned: vec![Objects::new(); p.templates.len()],
            memory: Objects::new(),
            published: Objects::new(),
            results: Objects::new(),
            inside: HashMap::new(),
            starts,
        };
        for o in &p.objects {
            // Addresses have a first byte that is not 0.
            for bytes in o.init.windows(8).filter(|bytes| bytes[7] & 255 != 0) {
                let v = bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b & 255));
                flow.memory.extend(named(p, v));
            }
        }
        flow.published = flow.memory.clone();
        while flow.pass(p) {}
        flow
    }

    /// Goes through all instructions once; whether some set has grown.
    fn pass(&mut self, p: &Program) -> bool {
        let before = self.size();
        for (k, t) in p.templates.iter().enumerate() {
            t.code.iter().for_each(|i| self.instruction(p, k, i));
        }
        for (o, contents) in &self.inside {
            if self.published.contains(o) {
                self.published.extend(contents);
            }
        }
        if self.published.contains(&MEMORY) {
            self.published.extend(&self.memory);
        }
        if self.published.contains(&RESULTS) {
            self.published.extend(&self.results);
        }
        self.size() != before
    }

    fn instruction(&mut self, p: &Program, k: usize, i: &Instr) {
        match i {
            Instr::Let(r, e) => {
                let from = self.sources(p, k, e);
                self.registers[k][*r as usize].extend(from);
            }
            Instr::Load(r, _, at) if at.size == 8 => _ = self.registers[k][*r as usize].insert(MEMORY),
            Instr::Alloc(r, _) | Instr::Resize(r, ..) => _ = self.registers[k][*r as usize].insert(HEAP),
            Instr::Join(_, r) => _ = self.registers[k][*r as usize].insert(RESULTS),
            Instr::Store(a, e, at) if at.size == 8 => self.store(p, k, a, e),
            Instr::Spawn(child, arguments, _) => {
                let handed: Vec<Objects> = arguments.iter().map(|e| self.sources(p, k, e)).collect();
                handed.iter().for_each(|set| self.published.extend(set));
                self.hand(*child, handed);
            }
            Instr::Call { function, arguments, result } => {
                let handed = arguments.iter().map(|e| self.sources(p, k, e)).collect();
                self.call(*function, handed, (k, *result));
            }
            Instr::CallPointer { address, arguments, result } => {
                let handed: Vec<Objects> = arguments.iter().map(|(e, _)| self.sources(p, k, e)).collect();
                let types: Vec<_> = arguments.iter().map(|(_, at)| *at).collect();
                for function in self.functions(p, k, address, &types) {
                    self.call(function, handed.clone(), (k, *result));
                }
            }
            Instr::Return(Some(e)) => {
                let returned = self.sources(p, k, e);
                if self.starts[k] {
                    self.ends_with(&returned);
                }
                self.returned[k].extend(returned);
            }
            Instr::End(e) => {
                let ended = self.sources(p, k, e);
                self.ends_with(&ended);
            }
            _ => {}
        }
    }

    fn store(&mut self, p: &Program, k: usize, a: &Expr, e: &Expr) {
        let stored = self.sources(p, k, e);
        match a {
            Expr::Const(a) if is_private(*a) => {}
            // A local variable may stay unknown to others, and what is in it, too.
            Expr::Const(a) if p.object_at(*a).is_some_and(Object::is_local) => {
                self.inside.entry(object_of(*a)).or_default().extend(&stored);
            }
            a if variable(a).is_some() => {
                let local = variable(a).unwrap_or(0);
                self.inside.entry(local_key(k, local as usize)).or_default().extend(&stored);
            }
            _ => self.published.extend(&stored),
        }
        self.memory.extend(stored.into_iter().filter(|&o| o != MEMORY));
    }

    /// A thread ends with such a value.
    fn ends_with(&mut self, set: &Objects) {
        self.published.extend(set);
        self.results.extend(set.iter().filter(|&&o| o != RESULTS));
    }

    /// Arguments become parameters.
    fn hand(&mut self, function: usize, arguments: Vec<Objects>) {
        for (r, set) in self.registers[function].iter_mut().zip(arguments) {
            r.extend(set);
        }
    }

    fn call(&mut self, function: usize, arguments: Vec<Objects>, (k, result): (usize, Option<Reg>)) {
        self.hand(function, arguments);
        if let Some(r) = result {
            self.registers[k][r as usize].extend(&self.returned[function]);
        }
    }

    /// Returns the functions that a pointer may point to and that take arguments of these types.
    pub(super) fn functions(&self, p: &Program, k: usize, pointer: &Expr, types: &[Int]) -> Vec<usize> {
        let objects = self.objects(p, k, pointer);
        let known = objects.iter().filter_map(|&o| p.function_at(address(o, 0)));
        known.filter(|&t| p.templates[t].takes(types)).collect()
    }

    fn size(&self) -> usize {
        let registers: usize = self.registers.iter().flatten().map(Objects::len).sum();
        let inside: usize = self.inside.values().map(Objects::len).sum();
        let returned: usize = self.returned.iter().map(Objects::len).sum();
        registers + inside + returned + self.memory.len() + self.published.len() + self.results.len()
    }

    /// Returns the objects of which an expression may be an address, where [`MEMORY`] stands for
    /// all that memory may hold, and [`RESULTS`] for the results of threads.
    fn sources(&self, p: &Program, template: usize, e: &Expr) -> Objects {
        let mut found = Objects::new();
        e.registers(&mut |r| found.extend(&self.registers[template][r as usize]));
        e.constants(&mut |c| found.extend(named(p, c)));
        e.locals(&mut |k| _ = found.insert(local_key(template, k as usize)));
        found
    }

    /// Returns the objects of which an expression may be an address.
    fn objects(&self, p: &Program, template: usize, e: &Expr) -> Objects {
        let mut found = self.sources(p, template, e);
        self.spell_out(&mut found);
        found
    }

    fn spell_out(&self, set: &mut Objects) {
        if set.remove(&RESULTS) {
            set.extend(&self.results);
        }
        if set.remove(&MEMORY) {
            set.extend(&self.memory);
        }
        // Memory may hold results, and results be in memory.
        if set.remove(&RESULTS) {
            set.extend(self.results.iter().filter(|&&o| o != MEMORY));
        }
    }

    /// Returns all that memory may hold, or that threads may end with.
    fn all_of(&self, p: &Program, name: i64) -> Spelled {
        let mut objects = Objects::from([name]);
        self.spell_out(&mut objects);
        let end = objects.iter().any(|&o| ends(p, o));
        Spelled { name, objects, end }
    }

    /// Returns whether a use of addresses is defined, whatever the values are.
    fn is_defined(&self, p: &Program, template: usize, using: &PointerUse, all: &[Spelled; 2]) -> bool {
        if matches!(using, PointerUse::Moved(..)) {
            return false;
        }
        let mut found = Objects::new();
        using.operands(&mut |e| found.extend(self.sources(p, template, e)));
        // Sets that many values have are not copied for each.
        let among: Vec<&Spelled> = all.iter().filter(|set| found.remove(&set.name)).collect();
        match using {
            PointerUse::Moved(..) => false,
            PointerUse::Ordered(..) if among.iter().any(|set| set.objects.len() > 1) => false,
            PointerUse::Ordered(..) => {
                among.iter().for_each(|set| found.extend(&set.objects));
                found.len() <= 1 && !found.iter().any(|&o| is_several(o))
            }
            PointerUse::Compared(..) => {
                !among.iter().any(|set| set.end) && !found.iter().any(|&o| ends(p, o))
            }
            PointerUse::Number(_) => found.is_empty() && among.iter().all(|set| set.objects.is_empty()),
            PointerUse::Bytes => self.memory.is_empty(),
        }
    }
}

/// What [`MEMORY`] or [`RESULTS`] stands for.
struct Spelled {
    name: i64,
    objects: Objects,
    /// Whether some of the objects may cease to exist while their threads go on.
    end: bool,
}

/// The object that a constant is an address in.
fn named(p: &Program, v: i64) -> Option<i64> {
    let o = object_of(v);
    let known = (1..=p.objects.len() as i64).contains(&o)
        || (FUNCTION..FUNCTION + p.functions.len() as i64).contains(&o)
        || (PRIVATE..PRIVATE + p.locals.len() as i64).contains(&o);
    known.then_some(o)
}

/// Returns the local variable that an address is in, whatever else it depends on.
fn variable(a: &Expr) -> Option<u32> {
    match a {
        Expr::Local(k) => Some(*k),
        Expr::Bin(BinOp::Add, a, b, _) if matches!(**b, Expr::Const(_)) => variable(a),
        _ => None,
    }
}

/// Returns whether the analysis has one name for several objects.
fn is_several(object: i64) -> bool {
    object < 0
}

/// Returns whether an object may cease to exist while its thread goes on.
fn ends(p: &Program, object: i64) -> bool {
    object < 0 || p.scoped.binary_search(&object).is_ok()
}

/// Finds out which objects other threads may come to know, and removes checks of pointers that
/// cannot fail.
pub(super) fn addresses(p: &mut Program) {
    let flow = Flow::of(p);
    for (o, object) in p.objects.iter_mut().enumerate() {
        object.leaves = flow.published.contains(&(o as i64 + 1));
    }
    places(p, &flow);
    let all = [flow.all_of(p, MEMORY), flow.all_of(p, RESULTS)];
    p.holders = holders(p, &flow, &all);
    for k in 0..p.templates.len() {
        for pc in 0..p.templates[k].code.len() {
            if let Instr::Pointer(using) = &p.templates[k].code[pc]
                && flow.is_defined(p, k, using, &all)
            {
                p.templates[k].code[pc] = Instr::Jump(pc + 1);
            }
        }
    }
}

/// Decides where local variables are: in shared memory only if other threads may come to know
/// them.
fn places(p: &mut Program, flow: &Flow) {
    for (k, t) in p.templates.iter_mut().enumerate() {
        let (mut private, mut shared, mut offset) = (0, 0, 0u32);
        for (n, local) in t.locals.iter_mut().enumerate() {
            if flow.published.contains(&local_key(k, n)) {
                local.place = LocalPlace::Shared(shared);
                shared += 1;
            } else {
                offset = offset.next_multiple_of(local.align.max(1));
                local.place = LocalPlace::Private { number: private, offset };
                (private, offset) = (private + 1, offset + local.size);
            }
        }
    }
}

fn holders(p: &Program, flow: &Flow, [memory, results]: &[Spelled; 2]) -> Holders {
    // Local variables in shared memory are allocated objects.
    let name = |o: i64| match local_of(p, o) {
        Some(place) if place.is_shared() => HEAP,
        _ => o,
    };
    let registers = flow.registers.iter().map(|registers| {
        let mut held = Held::default();
        for (r, objects) in (0..).zip(registers) {
            for &o in objects {
                match o {
                    MEMORY => held.loaded.push(r),
                    RESULTS => held.joined.push(r),
                    o if ends(p, o) => held.by_object.entry(name(o)).or_default().push(r),
                    _ => {}
                }
            }
        }
        held
    });
    let end = |set: &Spelled| set.objects.iter().copied().filter(|&o| ends(p, o)).map(name).collect();
    Holders {
        registers: registers.collect(),
        any: !memory.objects.is_empty(),
        memory: end(memory),
        results: end(results),
    }
}

/// Returns the place of a local variable, by its name in the analysis.
fn local_of(p: &Program, key: i64) -> Option<LocalPlace> {
    let n = usize::try_from(-2 - key).ok().filter(|_| key > RESULTS)?;
    let local = p.templates.get(n >> 24)?.locals.get(n & 0xff_ffff)?;
    Some(local.place)
}
