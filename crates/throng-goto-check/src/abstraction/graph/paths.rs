//! The paths from a place to the next ones: instructions are executed with expressions for values.

use rustc_hash::{FxHashMap, FxHashSet};
use throng_goto::program::{
    self, BinOp, Expr, FUNCTION, Instr, Int, PRIVATE, PointerUse, Program, Reg, Violation, address,
    is_private, next,
};

use super::super::copies::Copies;
use super::super::elements::object_of;
use super::super::simplify::{binary, cast, fits, negate, opaque, partial, substitute};
use super::super::variables::{INPUT, Variables};
use super::{Edge, Place, Reading, To, copied};

/// Maximum number of paths from one place.
const MOST_PATHS: usize = 48;
/// Maximum number of variables that a computed address may refer to.
const MOST_TARGETS: usize = 8;

/// Goes along the paths from every place.
pub(super) struct Builder<'a> {
    pub(super) program: &'a Program,
    pub(super) variables: &'a Variables,
    pub(super) reading: Reading,
    pub(super) trusted: bool,
    pub(super) summarised: bool,
    /// Instructions at which paths end, though no other thread sees them.
    pub(super) cuts: Vec<FxHashSet<usize>>,
    /// Whether paths end where they meet, because there were too many.
    pub(super) joined: Vec<bool>,
    /// For each template and instruction, registers that are equal to others or to addresses.
    pub(super) copies: Vec<Vec<Copies>>,
    pub(super) numbers: FxHashMap<Place, usize>,
    pub(super) places: Vec<Place>,
    pub(super) edges: Vec<Edge>,
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
    reads: Vec<(u32, u32)>,
    taken: Vec<usize>,
    /// Local variables whose lifetime has ended on the path.
    ended: Vec<i64>,
}

/// An access to memory.
struct Access {
    address: Expr,
    at: Int,
    what: What,
}

/// What an access does.
enum What {
    Load(Reg),
    /// Stores this value.
    Store(Expr),
}

const ESCAPES: &str = "the address of a private variable is made known to other threads";

impl Builder<'_> {
    pub(super) fn number(&mut self, place: Place) -> usize {
        let next = self.places.len();
        let n = *self.numbers.entry(place).or_insert(next);
        if n == next {
            self.places.push(place);
        }
        n
    }

    /// Adds the paths from a place.
    pub(super) fn paths(&mut self, from: usize) -> Result<(), String> {
        let place = self.places[from];
        let template = place.template;
        let before = self.edges.len();
        let copies = copied(&self.copies, self.variables, &place);
        loop {
            let first = Path {
                pc: place.pc,
                depth: u32::from(place.atomic),
                values: copies.iter().cloned().collect(),
                guard: Vec::new(),
                starts: Vec::new(),
                children: Vec::new(),
                inputs: Vec::new(),
                reads: Vec::new(),
                taken: Vec::new(),
                ended: Vec::new(),
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
                let address = self.value(from, path, a);
                return self.access(from, path, &Access { address, at: *at, what: What::Load(*r) }, work);
            }
            Instr::Store(a, e, at) => return self.store(from, path, (a, e, *at), work),
            Instr::Branch(e, yes, no) => {
                let e = self.value(from, path, e);
                if let Expr::Const(value) = e {
                    path.pc = if value != 0 { *yes } else { *no };
                    return Ok(true);
                }
                let mut other = path.clone();
                (other.pc, path.pc) = (*no, *yes);
                if assume(&mut other, self.is_zero(path, e.clone())) {
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
                    if assume(&mut stuck, self.is_zero(path, e.clone())) {
                        self.add(from, stuck, To::End);
                    }
                }
                return Ok(assume(path, e));
            }
            Instr::AtomicBegin => path.depth += 1,
            Instr::AtomicEnd => path.depth = path.depth.saturating_sub(1),
            Instr::Spawn(child, args, r) => {
                let args: Vec<Expr> = args.iter().map(|e| self.value(from, path, e)).collect();
                if args.iter().any(|e| self.names_private(e)) {
                    self.undefined(from, path.clone(), ESCAPES);
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
            Instr::Begins(a, size) => {
                if let Some(a) = a.constant() {
                    self.begins(path, template, a, *size);
                }
            }
            Instr::Ends(list) => {
                let gone = list.iter().filter_map(|l| l.0.constant());
                path.ended.extend(gone.map(program::object_of));
            }
            Instr::Pointer(using) => return Ok(self.pointer(from, path, using)),
            Instr::Fail(Violation::Locks, _)
            | Instr::Acquire(_)
            | Instr::Release(_)
            | Instr::Meets(..)
            | Instr::Fence(_) => {}
            Instr::Fail(..)
            | Instr::Alloc(..)
            | Instr::Free(_)
            | Instr::Resize(..)
            | Instr::Unmodelled(_)
            | Instr::Halt
            | Instr::End(_)
            | Instr::Return(_)
            | Instr::Call { .. }
            | Instr::CallPointer { .. } => {
                self.last(from, path, i);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Ends a path with its last instruction.
    fn last(&mut self, from: usize, path: &Path, i: &Instr) {
        match i {
            Instr::Fail(what, why) => {
                if self.program.asked.contains(what) {
                    self.add(from, path.clone(), To::Fail(Some(*what), why.clone()));
                }
            }
            Instr::Alloc(..) | Instr::Free(_) | Instr::Resize(..) => {
                self.undefined(from, path.clone(), "memory is allocated, which is not abstracted");
            }
            Instr::Call { .. } | Instr::CallPointer { .. } => {
                self.undefined(from, path.clone(), "a function is called, which is not abstracted");
            }
            Instr::Unmodelled(why) => self.undefined(from, path.clone(), why),
            _ => self.add(from, path.clone(), To::End),
        }
    }

    /// Stores at an address a value of a type.
    fn store(
        &mut self,
        from: usize,
        path: &mut Path,
        (a, e, at): (&Expr, &Expr, Int),
        work: &mut Vec<Path>,
    ) -> Result<bool, String> {
        let (v, template) = (self.variables, self.places[from].template);
        let any = object_of(&v.fold(template, a)).and_then(|o| v.any_element(o));
        let (address, e) = (self.value(from, path, a), self.value(from, path, e));
        if let Some(any) = any {
            // Of several elements that one path writes, it may be any.
            match path.values.contains_key(&any) {
                true => self.open(path, any),
                false => {
                    let e = self.cast(path, e.clone(), v.ty(any));
                    path.values.insert(any, e);
                }
            }
        }
        let to_private = matches!(address, Expr::Const(a) if is_private(a));
        if at.size == 8 && self.names_private(&e) && !to_private {
            self.undefined(from, path.clone(), ESCAPES);
            return Ok(false);
        }
        self.access(from, path, &Access { address, at, what: What::Store(e) }, work)
    }

    /// Returns whether the address of a private variable is in an expression.
    fn names_private(&self, e: &Expr) -> bool {
        let mut private = false;
        e.constants(&mut |c| private |= self.program.is_private(c));
        private
    }

    /// The lifetime of a local variable begins: nothing is known of its value.
    fn begins(&self, path: &mut Path, template: usize, a: i64, size: u32) {
        path.ended.retain(|&o| o != program::object_of(a));
        for offset in 0..i64::from(size) {
            if let Some(cell) = self.variables.cell(template, a + offset) {
                self.open(path, cell);
            }
        }
    }

    /// An operator on values of a path.
    fn binary(&self, path: &Path, op: BinOp, a: Expr, b: Expr, at: Int) -> Expr {
        binary(op, a, b, at, &|id| type_in(self.variables, &path.inputs, id))
    }

    fn cast(&self, path: &Path, e: Expr, to: Int) -> Expr {
        cast(e, to, &|id| type_in(self.variables, &path.inputs, id))
    }

    fn is_zero(&self, path: &Path, e: Expr) -> Expr {
        self.binary(path, BinOp::Eq, e, Expr::Const(0), Int::new(8, true))
    }

    /// Uses of addresses; where they are not known to be defined, that is an edge of its own.
    fn pointer(&mut self, from: usize, path: &mut Path, using: &PointerUse) -> bool {
        let near = match using {
            PointerUse::Moved(a, b) => {
                let (a, b) = (self.value(from, path, a), self.value(from, path, b));
                // Accesses are compared with the object that the address names.
                if object_of(&a).is_some() && !matches!(b, Expr::Const(_)) {
                    return true;
                }
                self.same_object(path, a, b)
            }
            PointerUse::Ordered(a, b) => {
                let (a, b) = (self.value(from, path, a), self.value(from, path, b));
                self.same_object(path, a, b)
            }
            PointerUse::Number(a) => {
                let a = self.value(from, path, a);
                self.same_object(path, a, Expr::Const(0))
            }
            PointerUse::Compared(..) | PointerUse::Bytes => Expr::Const(0),
        };
        let mut far = path.clone();
        if assume(&mut far, negate(near.clone())) {
            self.undefined(from, far, "an address is used in a way that is not modelled");
        }
        assume(path, near)
    }

    /// Returns the condition that two addresses are in one object.
    fn same_object(&self, path: &Path, a: Expr, b: Expr) -> Expr {
        let wide = Int::new(8, false);
        let object = |e: Expr| {
            let up = self.binary(path, BinOp::Add, e, Expr::Const(1 << 31), wide);
            self.binary(path, BinOp::Shr, up, Expr::Const(32), wide)
        };
        self.binary(path, BinOp::Eq, object(a), object(b), wide)
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

    /// An expression over the variables before the path. Where C leaves its value open, that is an
    /// edge of its own.
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
        let mut operands = Vec::new();
        let mut fresh = |ty: Int| {
            path.inputs.push(ty);
            Expr::Reg(INPUT + path.inputs.len() as u32 - 1)
        };
        let e = opaque(e, &mut fresh, &mut |operand| operands.push(operand));
        let conditions = self.open_conditions(path, operands.iter().chain([&e]));
        for bad in conditions {
            let mut failing = path.clone();
            if assume(&mut failing, bad.clone()) {
                self.undefined(from, failing, "division by zero, or a shift that is too far");
            }
            assume(path, negate(bad));
        }
        e
    }

    /// Returns when C leaves the values of expressions open.
    fn open_conditions<'e>(&self, path: &Path, list: impl Iterator<Item = &'e Expr>) -> Vec<Expr> {
        let types = |id| type_in(self.variables, &path.inputs, id);
        let mut conditions = Vec::new();
        list.for_each(|e| {
            partial(e, &mut |operand, limit| {
                let wide = Int::new(8, true);
                conditions.push(match limit {
                    None => binary(BinOp::Eq, operand.clone(), Expr::Const(0), wide, &types),
                    Some(bits) => {
                        let last = Expr::Const(i64::from(bits) - 1);
                        binary(BinOp::Lt, last, operand.clone(), Int::new(8, false), &types)
                    }
                });
            })
        });
        conditions
    }

    /// Makes an access to the variable at an address, for each that it may be.
    fn access(
        &mut self,
        from: usize,
        path: &mut Path,
        access: &Access,
        work: &mut Vec<Path>,
    ) -> Result<bool, String> {
        let (v, template) = (self.variables, self.places[from].template);
        let has_size = |c: u32| v.ty(c).size == access.at.size;
        if let Expr::Const(a) = access.address {
            let gone = path.ended.contains(&program::object_of(a));
            match v.cell(template, a).filter(|&c| has_size(c) && !gone) {
                Some(cell) => self.access_cell(path, template, access, cell)?,
                None => {
                    self.undefined(from, path.clone(), "an access is outside its object, or not abstracted");
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let object = object_of(&access.address);
        let mut candidates = v.candidates(template, &access.address);
        // An address that names its object is used in the scope of the object; a pointer may be
        // used when the lifetime of a local variable has ended.
        candidates.retain(|&c| match object {
            Some(o) => !path.ended.contains(&o),
            None => !self.program.is_scoped(c),
        });
        let same_size = candidates.iter().all(|&c| v.cell(template, c).is_some_and(has_size));
        if let Some(large) = self.large_object(&access.address, candidates.len()) {
            self.access_somewhere(from, path, access, large, &candidates, work);
            return Ok(false);
        }
        let mut rest = path.clone();
        if candidates.len() <= MOST_TARGETS {
            for candidate in candidates {
                let Some(cell) = v.cell(template, candidate).filter(|&c| has_size(c)) else { continue };
                let (address, wide) = (access.address.clone(), Int::new(8, true));
                let here = self.binary(path, BinOp::Eq, address, Expr::Const(candidate), wide);
                let mut one = path.clone();
                if assume(&mut one, here.clone()) {
                    self.access_cell(&mut one, template, access, cell)?;
                    work.push(one);
                }
                if !assume(&mut rest, negate(here)) {
                    return Ok(false);
                }
            }
        }
        match object.filter(|&o| v.is_split(o) && same_size) {
            Some(_) => self.outside(from, rest),
            None => self.undefined(from, rest, "a computed address may be outside of what is abstracted"),
        }
        Ok(false)
    }

    /// Reads or writes a variable.
    fn access_cell(
        &self,
        path: &mut Path,
        template: usize,
        access: &Access,
        cell: u32,
    ) -> Result<(), String> {
        let v = self.variables;
        match &access.what {
            What::Load(r) => {
                let e = match v.constant(cell) {
                    Some(c) => Expr::Const(access.at.wrap(c)),
                    None => {
                        let now = path.values.get(&cell).cloned().unwrap_or(Expr::Reg(cell));
                        self.cast(path, now, access.at)
                    }
                };
                self.set_register(path, template, *r, e)
            }
            What::Store(e) => {
                let e = self.cast(path, e.clone(), v.ty(cell));
                path.values.insert(cell, e);
                Ok(())
            }
        }
    }

    /// Makes an access somewhere in a large object, given with its size: what is read is open, and
    /// all that is known about the object is lost when it is written.
    fn access_somewhere(
        &mut self,
        from: usize,
        path: &Path,
        access: &Access,
        (object, size): (i64, usize),
        candidates: &[i64],
        work: &mut Vec<Path>,
    ) {
        let (v, template) = (self.variables, self.places[from].template);
        let (plain, wide) = (Expr::Const(address(object, 0)), Int::new(8, false));
        let offset = self.binary(path, BinOp::Sub, access.address.clone(), plain, wide);
        let last = Expr::Const(size as i64 - i64::from(access.at.size));
        let inside = self.binary(path, BinOp::Le, offset, last, wide);
        let mut within = path.clone();
        if assume(&mut within, inside.clone()) {
            match access.what {
                What::Load(r) => {
                    self.open(&mut within, v.register(template, r));
                    // What the path itself has stored may be read.
                    if let Some(any) = v.any_element(object).filter(|any| !within.values.contains_key(any)) {
                        within.reads.push((any, INPUT + within.inputs.len() as u32 - 1));
                    }
                }
                What::Store(_) => candidates
                    .iter()
                    .filter_map(|&a| v.cell(template, a))
                    .for_each(|cell| self.open(&mut within, cell)),
            }
            work.push(within);
        }
        let mut rest = path.clone();
        if assume(&mut rest, negate(inside)) {
            self.outside(from, rest);
        }
    }

    /// An access outside of the object that its address is computed from.
    fn outside(&mut self, from: usize, path: Path) {
        if self.reading.trusting {
            self.trusted = true;
        } else {
            self.undefined(from, path, "an access may be outside its object");
        }
    }

    /// The one object that an address is computed from, and its size, if it is not split
    /// into a few variables.
    fn large_object(&mut self, a: &Expr, candidates: usize) -> Option<(i64, usize)> {
        let object = object_of(a)?;
        let size = match is_private(address(object, 0)) {
            true => self.program.locals.get(usize::try_from(object - PRIVATE).ok()?)?.size as usize,
            false => self.program.objects.get(usize::try_from(object).ok()?.checked_sub(1)?)?.init.len(),
        };
        let large = candidates == 0 || candidates > MOST_TARGETS;
        if size < 8 || !large && (!self.reading.summarising || candidates == 1) {
            return None;
        }
        self.summarised |= !large;
        Some((object, size))
    }

    fn undefined(&mut self, from: usize, path: Path, why: &str) {
        self.add(from, path, To::Fail(None, why.into()));
    }

    fn add(&mut self, from: usize, path: Path, to: To) {
        let mut updates: Vec<(u32, Expr)> = path.values.into_iter().collect();
        // A copy that is left alone keeps its value.
        let copies = copied(&self.copies, self.variables, &self.places[from]);
        let same =
            |id: u32, e: &Expr| *e == Expr::Reg(id) || copies.iter().any(|(copy, of)| *copy == id && e == of);
        updates.retain(|(id, e)| !same(*id, e));
        updates.extend(path.children);
        updates.sort_unstable_by_key(|u| u.0);
        let (guard, starts, inputs, reads) = (path.guard, path.starts, path.inputs, path.reads);
        self.edges.push(Edge { from, to, guard, updates, starts, inputs, reads, path: path.taken });
    }

    /// Returns whether another thread could tell when this instruction is executed.
    fn is_visible(&self, template: usize, i: &Instr) -> bool {
        match i {
            Instr::Load(_, a, _) | Instr::Store(a, ..) => match self.variables.fold(template, a) {
                Expr::Const(a) => {
                    let object = program::object_of(a);
                    (1..FUNCTION).contains(&object)
                        && self.program.objects.get(object as usize - 1).is_none_or(|o| o.visible)
                }
                _ => true,
            },
            Instr::AtomicBegin
            | Instr::Spawn(..)
            | Instr::Join(..)
            | Instr::Alloc(..)
            | Instr::Free(_)
            | Instr::Resize(..) => true,
            _ => false,
        }
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
        Expr::Float(op, a, b, at) => {
            Expr::Float(*op, Box::new(own(a, register)), Box::new(own(b, register)), *at)
        }
        Expr::Convert(e, conversion) => Expr::Convert(Box::new(own(e, register)), *conversion),
        Expr::Const(_) | Expr::Reg(_) | Expr::Local(_) => e.clone(),
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
