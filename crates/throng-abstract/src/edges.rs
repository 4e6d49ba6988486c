//! The goto program as a graph: between two points at which other threads may move lies a path, and a path is one guard and one
//! parallel assignment over the variables before it.

use rustc_hash::{FxHashMap, FxHashSet};
use throng_c::goto::{
    BinOp, Expr, FUNCTION, Instr, Int, PRIVATE, Program, Reg, Start, Violation, address, next,
};

use crate::copies::copies;
use crate::simplify::{binary, cast, fits, negate, partial, substitute};
use crate::variables::{INPUT, Variables};

/// A point at which threads may take turns, or at which paths meet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The template.
    pub template: usize,
    /// The next instruction.
    pub pc: usize,
    /// Whether no other thread moves here.
    pub atomic: bool,
}

/// Where a path leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum To {
    /// To a place, by number.
    Place(usize),
    /// Into a violation, or, if there is none, into what is not defined or not modelled.
    Fail(Option<Violation>, String),
    /// To the end of the thread.
    End,
}

/// A path.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it begins, by number.
    pub from: usize,
    /// Where it leads.
    pub to: To,
    /// What holds before it.
    pub guard: Vec<Expr>,
    /// The variables that it changes, and their values, over the variables before it. Those of another template are of the thread that it starts.
    pub updates: Vec<(u32, Expr)>,
    /// Templates of threads that it starts.
    pub starts: Vec<usize>,
    /// The types of its inputs.
    pub inputs: Vec<Int>,
    /// Its instructions.
    pub path: Vec<usize>,
}

impl Edge {
    /// The type of a variable or input in it.
    pub fn ty(&self, variables: &Variables, id: u32) -> Int {
        match id.checked_sub(INPUT) {
            Some(n) => self.inputs.get(n as usize).copied().unwrap_or(Int::new(8, true)),
            None => variables.ty(id),
        }
    }
}

/// The graph of a program.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The variables.
    pub variables: Variables,
    /// The places.
    pub places: Vec<Place>,
    /// The paths between them.
    pub edges: Vec<Edge>,
    /// What the shared variables are at the start.
    pub initial: Edge,
    /// Whether it is taken for granted that computed accesses stay inside their objects.
    pub trusts: bool,
    /// Whether what is read at a computed place of a small array is open, though its parts are variables.
    pub summarises: bool,
    /// Whether threads are counted.
    pub counts: bool,
    /// For each place, variables that are equal to others there; no path speaks of them.
    pub copies: Vec<Vec<(u32, u32)>>,
    /// The numbers in the guards and assignments of paths.
    pub constants: FxHashSet<i64>,
    /// For each template the place at which its threads begin, and what its variables are there.
    pub entries: Vec<(usize, Edge)>,
}

/// More paths from one place than this are too many.
const MOST_PATHS: usize = 48;
/// More edges than this are too many.
const MOST_EDGES: usize = 4000;
/// A computed address may be one of so many variables.
const MOST_TARGETS: usize = 8;

/// How accesses with computed addresses are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// It is taken for granted that an access that is computed from one object is inside of it; else, being outside is a failure.
    pub trusting: bool,
    /// An access to an array is not one to each of its parts, however few they are: what is read is open, and all parts are when it is written.
    pub summarising: bool,
    /// Threads are counted (see `counting.rs`).
    pub counting: bool,
}

impl Graph {
    /// The graph of a program; `Err` says what is in the way. [`Graph::trusts`] and [`Graph::summarises`] say whether the reading matters.
    pub fn of(program: &Program, reading: Reading) -> Result<Graph, String> {
        let variables = Variables::of(program)?;
        let plain = |v: &Violation| matches!(v, Violation::Assertion | Violation::Exclusion(_));
        if !program.asked.iter().all(plain) {
            return Err("only assertions, labels and exclusion are proved by abstraction".into());
        }
        let shared = |id: &u32| variables.list[*id as usize].template.is_none();
        let initial = start_edge(&variables, shared);
        let mut builder = Builder {
            program,
            cuts: (0..program.templates.len()).map(|t| loop_heads(&program.templates[t].code)).collect(),
            numbers: FxHashMap::default(),
            places: Vec::new(),
            edges: Vec::new(),
            joined: vec![false; program.templates.len()],
            copies: (0..program.templates.len()).map(|t| copies(program, &variables, t)).collect(),
            variables: &variables,
            reading,
            trusted: false,
            summarised: false,
        };
        let entries = (0..program.templates.len()).map(|template| {
            let of = |id: &u32| variables.list[*id as usize].template == Some(template);
            let place = builder.number(Place { template, pc: 0, atomic: false });
            (place, start_edge(&variables, of))
        });
        let entries: Vec<(usize, Edge)> = entries.collect();
        let mut done = 0;
        while done < builder.places.len() {
            builder.paths(done)?;
            done += 1;
            if builder.edges.len() > MOST_EDGES {
                return Err(format!("there are more than {MOST_EDGES} paths between visible steps"));
            }
        }
        let (trusts, summarises) = (builder.trusted, builder.summarised);
        let (places, edges) = (builder.places, builder.edges);
        let mut constants = FxHashSet::default();
        for e in edges.iter().chain([&initial]).chain(entries.iter().map(|e| &e.1)) {
            for x in e.guard.iter().chain(e.updates.iter().map(|u| &u.1)) {
                x.constants(&mut |c| {
                    constants.insert(c);
                });
            }
        }
        let copies = places.iter().map(|p| copied(&builder.copies, &variables, p)).collect();
        let counts = false;
        let mut graph = Graph {
            places,
            edges,
            initial,
            entries,
            variables,
            trusts,
            summarises,
            counts,
            constants,
            copies,
        };
        graph.counts = reading.counting && crate::counting::count(program, &mut graph);
        Ok(graph)
    }

    /// The reading, as far as it matters.
    pub fn reading(&self) -> Reading {
        Reading { trusting: self.trusts, summarising: self.summarises, counting: self.counts }
    }

    /// The templates that threads run at the start, and whether any number of them does.
    pub fn first(program: &Program) -> (Vec<usize>, bool) {
        match &program.start {
            Start::One(t) => (vec![*t], false),
            Start::Any(list) => (list.clone(), true),
        }
    }
}

/// Variables get their initial values, or any.
fn start_edge(variables: &Variables, which: impl Fn(&u32) -> bool) -> Edge {
    let mut inputs = Vec::new();
    let ids = (0..variables.list.len() as u32).filter(which);
    let updates = ids.map(|id| match variables.list[id as usize].initial {
        Some(v) => (id, Expr::Const(v)),
        None => {
            inputs.push(variables.ty(id));
            (id, Expr::Reg(INPUT + inputs.len() as u32 - 1))
        }
    });
    let updates = updates.collect();
    Edge { from: 0, to: To::Place(0), guard: vec![], updates, starts: vec![], inputs, path: vec![] }
}

/// The copies at a place, as variables.
fn copied(all: &[Vec<FxHashMap<Reg, Reg>>], v: &Variables, place: &Place) -> Vec<(u32, u32)> {
    let at = &all[place.template][place.pc];
    at.iter().map(|(&r, &of)| (v.register(place.template, r), v.register(place.template, of))).collect()
}

/// Instructions that a loop comes back to.
fn loop_heads(code: &[Instr]) -> FxHashSet<usize> {
    let mut heads = FxHashSet::default();
    let (mut seen, mut open) = (vec![false; code.len()], vec![false; code.len()]);
    let mut stack = vec![(0usize, 0usize)];
    if let Some(first) = seen.first_mut() {
        (*first, open[0]) = (true, true);
    }
    while let Some((pc, child)) = stack.pop() {
        match next(code, pc).get(child) {
            None => open[pc] = false,
            Some(&to) => {
                stack.push((pc, child + 1));
                if to >= code.len() {
                    continue;
                }
                if open[to] {
                    heads.insert(to);
                } else if !seen[to] {
                    (seen[to], open[to]) = (true, true);
                    stack.push((to, 0));
                }
            }
        }
    }
    heads
}

struct Builder<'a> {
    program: &'a Program,
    variables: &'a Variables,
    reading: Reading,
    trusted: bool,
    summarised: bool,
    /// Instructions at which paths end, though no other thread sees them.
    cuts: Vec<FxHashSet<usize>>,
    /// Whether paths end where they meet, because there were too many.
    joined: Vec<bool>,
    /// For each template and instruction, registers that are equal to others.
    copies: Vec<Vec<FxHashMap<Reg, Reg>>>,
    numbers: FxHashMap<Place, usize>,
    places: Vec<Place>,
    edges: Vec<Edge>,
}

/// A path that is being built.
#[derive(Clone)]
struct Path {
    pc: usize,
    depth: u32,
    values: FxHashMap<u32, Expr>,
    guard: Vec<Expr>,
    starts: Vec<usize>,
    children: Vec<(u32, Expr)>,
    inputs: Vec<Int>,
    taken: Vec<usize>,
}

impl Builder<'_> {
    fn number(&mut self, place: Place) -> usize {
        let next = self.places.len();
        let n = *self.numbers.entry(place).or_insert(next);
        if n == next {
            self.places.push(place);
        }
        n
    }

    /// Adds the paths from a place.
    fn paths(&mut self, from: usize) -> Result<(), String> {
        let place = self.places[from];
        let template = place.template;
        let before = self.edges.len();
        let copies = copied(&self.copies, self.variables, &place);
        loop {
            let first = Path {
                pc: place.pc,
                depth: u32::from(place.atomic),
                values: copies.iter().map(|&(id, of)| (id, Expr::Reg(of))).collect(),
                guard: Vec::new(),
                starts: Vec::new(),
                children: Vec::new(),
                inputs: Vec::new(),
                taken: Vec::new(),
            };
            let mut work = vec![first];
            while let Some(path) = work.pop() {
                self.follow(from, path, &mut work)?;
                if self.edges.len() - before > MOST_PATHS && !self.joined[template] {
                    break;
                }
            }
            if self.edges.len() - before <= MOST_PATHS || self.joined[template] {
                return Ok(());
            }
            // Too many: cut where paths meet. Places that were done are right as they are.
            self.edges.truncate(before);
            self.joined[template] = true;
            let code = &self.program.templates[template].code;
            let mut into = vec![0u32; code.len() + 1];
            (0..code.len()).flat_map(|pc| next(code, pc)).for_each(|to| into[to] += 1);
            self.cuts[template].extend((0..code.len()).filter(|&pc| into[pc] > 1));
        }
    }

    fn follow(&mut self, from: usize, mut path: Path, work: &mut Vec<Path>) -> Result<(), String> {
        let template = self.places[from].template;
        let code = &self.program.templates[template].code;
        loop {
            let pc = path.pc;
            let Some(i) = code.get(pc) else { return Err("control leaves the code".into()) };
            let cut = self.cuts[template].contains(&pc) || path.depth == 0 && self.is_visible(template, i);
            if cut && !path.taken.is_empty() {
                let to = self.number(Place { template, pc, atomic: path.depth > 0 });
                self.add(from, path, To::Place(to));
                return Ok(());
            }
            path.taken.push(pc);
            if !self.execute(from, &mut path, i, work)? {
                return Ok(());
            }
        }
    }

    /// Executes an instruction; `false`: the path has ended, or continues in `work`.
    fn execute(
        &mut self,
        from: usize,
        path: &mut Path,
        i: &Instr,
        work: &mut Vec<Path>,
    ) -> Result<bool, String> {
        let template = self.places[from].template;
        let v = self.variables;
        path.pc += 1;
        match i {
            Instr::Let(r, e) => {
                let e = self.value(from, path, e);
                self.set_register(path, template, *r, e)?;
            }
            Instr::Any(r) => self.open(path, v.register(template, *r)),
            Instr::Join(e, r) => {
                self.value(from, path, e);
                self.open(path, v.register(template, *r));
            }
            Instr::Load(r, a, at) => {
                let a = self.value(from, path, a);
                return self.access(from, path, &a, *at, Some(*r), work, |this, path, cell| {
                    let e = match v.constant(cell) {
                        Some(c) => Expr::Const(at.wrap(c)),
                        None => {
                            let now = path.values.get(&cell).cloned().unwrap_or(Expr::Reg(cell));
                            let (ty, inputs) = (at, path.inputs.clone());
                            cast(now, *ty, &|id| type_in(v, &inputs, id))
                        }
                    };
                    this.set_register(path, template, *r, e)
                });
            }
            Instr::Store(a, e, at) => {
                let (a, e) = (self.value(from, path, a), self.value(from, path, e));
                let mut private = false;
                e.constants(&mut |c| private |= at.size == 8 && c >> 32 == PRIVATE);
                if private && !matches!(a, Expr::Const(a) if a >> 32 == PRIVATE) {
                    self.undefined(
                        from,
                        path.clone(),
                        "the address of a private variable is made known to other threads",
                    );
                    return Ok(false);
                }
                return self.access(from, path, &a, *at, None, work, |_, path, cell| {
                    let inputs = path.inputs.clone();
                    let e = cast(e.clone(), v.ty(cell), &|id| type_in(v, &inputs, id));
                    path.values.insert(cell, e);
                    Ok(())
                });
            }
            Instr::Branch(e, yes, no) => {
                let e = self.value(from, path, e);
                if let Expr::Const(value) = e {
                    path.pc = if value != 0 { *yes } else { *no };
                    return Ok(true);
                }
                let mut other = path.clone();
                (other.pc, path.pc) = (*no, *yes);
                let inputs = path.inputs.clone();
                let is_zero = binary(BinOp::Eq, e.clone(), Expr::Const(0), Int::new(8, true), &|id| {
                    type_in(v, &inputs, id)
                });
                if assume(&mut other, is_zero) {
                    work.push(other);
                }
                return Ok(assume(path, e));
            }
            Instr::Jump(to) => path.pc = *to,
            Instr::Assume(e) => {
                let e = self.value(from, path, e);
                // Outside of atomic sections, what came before is done, and the thread is stuck.
                if path.depth == 0 {
                    let mut stuck = path.clone();
                    let inputs = path.inputs.clone();
                    let is_zero = binary(BinOp::Eq, e.clone(), Expr::Const(0), Int::new(8, true), &|id| {
                        type_in(v, &inputs, id)
                    });
                    if assume(&mut stuck, is_zero) {
                        self.add(from, stuck, To::End);
                    }
                }
                return Ok(assume(path, e));
            }
            Instr::AtomicBegin => path.depth += 1,
            Instr::AtomicEnd => path.depth = path.depth.saturating_sub(1),
            Instr::Spawn(child, args, r) => {
                let args: Vec<Expr> = args.iter().map(|e| self.value(from, path, e)).collect();
                let mut private = false;
                args.iter().for_each(|e| e.constants(&mut |c| private |= c >> 32 == PRIVATE));
                if private {
                    self.undefined(
                        from,
                        path.clone(),
                        "the address of a private variable is made known to other threads",
                    );
                    return Ok(false);
                }
                path.starts.push(*child);
                // A thread of the same template would have to be told apart from this one.
                if *child != template && path.starts.len() == 1 {
                    self.start_values(path, *child, &args)?;
                } else {
                    path.children.clear();
                }
                self.open(path, v.register(template, *r));
            }
            Instr::Clear(first, n) => {
                let base = self.program.private.len() as i64;
                let (low, high) = (base + i64::from(*first), base + i64::from(*first + *n));
                for offset in low..high {
                    if let Some(cell) = v.cell(template, (PRIVATE << 32) + offset) {
                        self.open(path, cell);
                    }
                }
            }
            Instr::Fail(Violation::Locks, _) | Instr::Acquire(_) | Instr::Release(_) => {}
            Instr::Fail(what, why) => {
                if self.program.asked.contains(what) {
                    self.add(from, path.clone(), To::Fail(Some(*what), why.clone()));
                }
                return Ok(false);
            }
            Instr::Alloc(..) | Instr::Free(_) => {
                self.undefined(from, path.clone(), "memory is allocated, which is not abstracted");
                return Ok(false);
            }
            Instr::Unmodelled(why) => {
                self.undefined(from, path.clone(), why);
                return Ok(false);
            }
            Instr::Halt | Instr::End(_) => {
                self.add(from, path.clone(), To::End);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The variables of a thread that is started.
    fn start_values(&mut self, path: &mut Path, child: usize, args: &[Expr]) -> Result<(), String> {
        let v = self.variables;
        for id in 0..v.list.len() as u32 {
            if v.list[id as usize].template != Some(child) {
                continue;
            }
            let argument = v
                .register_of(id)
                .filter(|&r| (r as usize) < self.program.templates[child].arguments)
                .and_then(|r| args.get(r as usize));
            let value = match (argument, v.list[id as usize].initial) {
                (Some(e), _) => {
                    let inputs = path.inputs.clone();
                    if !fits(e, v.ty(id), &|id| type_in(v, &inputs, id)) {
                        return Err("an argument of a thread does not fit its type".into());
                    }
                    e.clone()
                }
                (None, Some(value)) => Expr::Const(value),
                (None, None) => {
                    path.inputs.push(v.ty(id));
                    Expr::Reg(INPUT + path.inputs.len() as u32 - 1)
                }
            };
            path.children.push((id, value));
        }
        Ok(())
    }

    fn set_register(&self, path: &mut Path, template: usize, r: u32, e: Expr) -> Result<(), String> {
        let (v, inputs) = (self.variables, &path.inputs);
        let id = v.register(template, r);
        if !fits(&e, v.ty(id), &|id| type_in(v, inputs, id)) {
            return Err(format!("a value of {} does not fit its type", v.list[id as usize].name));
        }
        path.values.insert(id, e);
        Ok(())
    }

    /// Any value.
    fn open(&self, path: &mut Path, id: u32) {
        path.inputs.push(self.variables.ty(id));
        path.values.insert(id, Expr::Reg(INPUT + path.inputs.len() as u32 - 1));
    }

    /// An expression over the variables before the path. Where C leaves its value open, that is an edge of its own.
    fn value(&mut self, from: usize, path: &mut Path, e: &Expr) -> Expr {
        let (v, template) = (self.variables, self.places[from].template);
        let e = own(&v.fold(template, e), v.own(template) - v.register(template, 0));
        let inputs = path.inputs.clone();
        let types = |id| type_in(v, &inputs, id);
        let values = &path.values;
        let with = |r: u32| {
            let id = v.register(template, r);
            Some(values.get(&id).cloned().unwrap_or(Expr::Reg(id)))
        };
        let e = substitute(&e, &with, &types);
        let mut conditions = Vec::new();
        partial(&e, &mut |operand, limit| {
            let wide = Int::new(8, true);
            conditions.push(match limit {
                None => binary(BinOp::Eq, operand.clone(), Expr::Const(0), wide, &types),
                Some(bits) => {
                    let last = Expr::Const(i64::from(bits) - 1);
                    binary(BinOp::Lt, last, operand.clone(), Int::new(8, false), &types)
                }
            });
        });
        for bad in conditions {
            let mut failing = path.clone();
            if assume(&mut failing, bad.clone()) {
                self.undefined(from, failing, "division by zero, or a shift that is too far");
            }
            assume(path, negate(bad));
        }
        e
    }

    /// Does something with the variable at an address, for each that it may be.
    #[allow(clippy::too_many_arguments)] // one access has no part with a name of its own
    fn access(
        &mut self,
        from: usize,
        path: &mut Path,
        a: &Expr,
        at: Int,
        loaded: Option<Reg>,
        work: &mut Vec<Path>,
        act: impl Fn(&mut Self, &mut Path, u32) -> Result<(), String>,
    ) -> Result<bool, String> {
        let (v, template) = (self.variables, self.places[from].template);
        if let Expr::Const(a) = a {
            match v.cell(template, *a).filter(|&c| v.ty(c).size == at.size) {
                Some(cell) => act(self, path, cell)?,
                None => {
                    self.undefined(from, path.clone(), "an access is outside its object, or not abstracted");
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let candidates = v.candidates(template, a);
        let same_size =
            candidates.iter().all(|&c| v.cell(template, c).is_some_and(|c| v.ty(c).size == at.size));
        let mut rest = path.clone();
        if let Some((object, size)) = self.large_object(a, candidates.len()) {
            // Somewhere in a large object: what is read is open, and all that is known about it is lost when it is written.
            let inputs = path.inputs.clone();
            let types = |id| type_in(v, &inputs, id);
            let (plain, wide) = (Expr::Const(address(object, 0)), Int::new(8, false));
            let offset = binary(BinOp::Sub, a.clone(), plain, wide, &types);
            let last = Expr::Const(size as i64 - i64::from(at.size));
            let inside = binary(BinOp::Le, offset, last, wide, &types);
            let mut within = path.clone();
            if assume(&mut within, inside.clone()) {
                match loaded {
                    Some(r) => self.open(&mut within, v.register(template, r)),
                    None => candidates
                        .iter()
                        .filter_map(|&a| v.cell(template, a))
                        .for_each(|cell| self.open(&mut within, cell)),
                }
                work.push(within);
            }
            if assume(&mut rest, negate(inside)) {
                self.outside(from, rest);
            }
            return Ok(false);
        }
        if candidates.len() <= MOST_TARGETS {
            for candidate in candidates {
                let Some(cell) = v.cell(template, candidate).filter(|&c| v.ty(c).size == at.size) else {
                    continue;
                };
                let inputs = path.inputs.clone();
                let here = binary(BinOp::Eq, a.clone(), Expr::Const(candidate), Int::new(8, true), &|id| {
                    type_in(v, &inputs, id)
                });
                let mut one = path.clone();
                if assume(&mut one, here.clone()) {
                    act(self, &mut one, cell)?;
                    work.push(one);
                }
                if !assume(&mut rest, negate(here)) {
                    return Ok(false);
                }
            }
        }
        match base(a).filter(|&o| v.is_split(o) && same_size) {
            Some(_) => self.outside(from, rest),
            None => self.undefined(from, rest, "a computed address may be outside of what is abstracted"),
        }
        Ok(false)
    }

    /// An access outside of the object that its address is computed from.
    fn outside(&mut self, from: usize, path: Path) {
        if self.reading.trusting {
            self.trusted = true;
        } else {
            self.undefined(from, path, "an access may be outside its object");
        }
    }

    /// The one shared object that an address is computed from, and its size, if it is not split into a few variables.
    fn large_object(&mut self, a: &Expr, candidates: usize) -> Option<(i64, usize)> {
        let object = base(a)?;
        let found = self.program.objects.get(usize::try_from(object).ok()?.checked_sub(1)?)?;
        let large = candidates == 0 || candidates > MOST_TARGETS;
        if found.init.len() < 8 || !large && (!self.reading.summarising || candidates == 1) {
            return None;
        }
        self.summarised |= !large;
        Some((object, found.init.len()))
    }

    fn undefined(&mut self, from: usize, path: Path, why: &str) {
        self.add(from, path, To::Fail(None, why.into()));
    }

    fn add(&mut self, from: usize, path: Path, to: To) {
        let mut updates: Vec<(u32, Expr)> = path.values.into_iter().collect();
        // A copy that is left alone keeps its value.
        let copies = copied(&self.copies, self.variables, &self.places[from]);
        let same = |id: u32, e: &Expr| {
            *e == Expr::Reg(id) || copies.iter().any(|&(copy, of)| copy == id && *e == Expr::Reg(of))
        };
        updates.retain(|(id, e)| !same(*id, e));
        updates.extend(path.children);
        updates.sort_unstable_by_key(|u| u.0);
        let (guard, starts, inputs) = (path.guard, path.starts, path.inputs);
        self.edges.push(Edge { from, to, guard, updates, starts, inputs, path: path.taken });
    }

    /// Whether another thread could tell when this instruction is executed.
    fn is_visible(&self, template: usize, i: &Instr) -> bool {
        match i {
            Instr::Load(_, a, _) | Instr::Store(a, ..) => match self.variables.fold(template, a) {
                Expr::Const(a) => {
                    let object = a >> 32;
                    (1..FUNCTION).contains(&object)
                        && self.program.objects.get(object as usize - 1).is_none_or(|o| o.visible)
                }
                _ => true,
            },
            Instr::AtomicBegin | Instr::Spawn(..) | Instr::Join(..) | Instr::Alloc(..) | Instr::Free(_) => {
                true
            }
            _ => false,
        }
    }
}

/// The one object whose address is in an expression.
fn base(a: &Expr) -> Option<i64> {
    let mut bases = Vec::new();
    a.constants(&mut |c| {
        if c >> 32 > 0 {
            bases.push(c >> 32);
        }
    });
    match bases[..] {
        [object] => Some(object),
        _ => None,
    }
}

/// The number of the thread is a register behind the others.
fn own(e: &Expr, register: u32) -> Expr {
    match e {
        Expr::SelfId => Expr::Reg(register),
        Expr::Cast(e, to) => Expr::Cast(Box::new(own(e, register)), *to),
        Expr::Bin(op, a, b, at) => {
            Expr::Bin(*op, Box::new(own(a, register)), Box::new(own(b, register)), *at)
        }
        Expr::Const(_) | Expr::Reg(_) => e.clone(),
    }
}

fn type_in(v: &Variables, inputs: &[Int], id: u32) -> Int {
    match id.checked_sub(INPUT) {
        Some(n) => inputs[n as usize],
        None => v.ty(id),
    }
}

/// Adds to the guard; `false` if it cannot hold.
fn assume(path: &mut Path, e: Expr) -> bool {
    match e {
        Expr::Const(v) => v != 0,
        e => {
            if !path.guard.contains(&e) {
                path.guard.push(e);
            }
            true
        }
    }
}
