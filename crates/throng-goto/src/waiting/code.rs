//! What is known of a template before its loops are executed: which of its accesses are private,
//! and which registers and private variables are constant where.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::{Expr, Instr, Int, Program, Reg, Template, expressions, next, object_of, reads, writes};

/// Numbers of private variables in memory, as registers, begin here; numbers of values that were
/// read begin at [`super::Read::FIRST`].
pub(super) const CELLS: Reg = 1 << 23;

/// Maximum number of instructions that are looked at for where a value comes from.
const FAR: usize = 4096;
/// Maximum number of copies that are followed.
const DEEP: u32 = 16;

/// An address, and the number of bytes there.
type Cell = (i64, u8);

/// What an access may be to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A private variable of which all accesses have this address and size.
    Cell(Reg),
    /// Some other part of private memory.
    Private,
    /// What other threads may see.
    Shared,
}

/// The values of objects in shared memory, once they are asked for: of each address and size those
/// that are ever stored there, `None` if not all of them are known.
#[derive(Default)]
pub(super) struct Values(RefCell<FxHashMap<Cell, Option<Vec<i64>>>>);

pub(super) struct Code<'p> {
    pub(super) program: &'p Program,
    pub(super) template: usize,
    pub(super) t: &'p Template,
    /// Templates whose calls only read.
    pub(super) quiet: &'p [bool],
    values: &'p Values,
    before: Vec<Vec<usize>>,
    /// The private variables: address and size.
    cells: Vec<Cell>,
    /// Objects whose addresses are values.
    addressed: FxHashSet<i64>,
    constants: RefCell<FxHashMap<(usize, Reg), Option<i64>>>,
}

impl<'p> Code<'p> {
    pub(super) fn new(
        program: &'p Program,
        template: usize,
        quiet: &'p [bool],
        values: &'p Values,
    ) -> Code<'p> {
        let t = &program.templates[template];
        let mut before = vec![Vec::new(); t.code.len() + 1];
        for pc in 0..t.code.len() {
            next(&t.code, pc).into_iter().for_each(|to| before[to].push(pc));
        }
        let mut code = Code {
            program,
            template,
            t,
            quiet,
            values,
            before,
            cells: Vec::new(),
            addressed: FxHashSet::default(),
            constants: RefCell::default(),
        };
        code.find_cells();
        code
    }

    /// Finds the private variables that are only accessed as a whole.
    fn find_cells(&mut self) {
        let mut sizes = Sizes::default();
        for (pc, i) in self.t.code.iter().enumerate() {
            let mut taken = |e: &Expr| {
                e.constants(&mut |v| _ = self.addressed.insert(object_of(v)));
            };
            match i {
                // Bits of a number are no variable of their own.
                Instr::Load(_, Expr::Const(a), at) | Instr::Store(Expr::Const(a), _, at)
                    if self.t.field(pc).is_some() =>
                {
                    note(&mut sizes, *a, *at);
                    note(&mut sizes, *a, Int::new(0, false));
                    expressions(i, &mut taken);
                }
                Instr::Load(_, Expr::Const(a), at) => note(&mut sizes, *a, *at),
                Instr::Store(Expr::Const(a), e, at) => {
                    note(&mut sizes, *a, *at);
                    taken(e);
                }
                Instr::Begins(Expr::Const(_), _) | Instr::Ends(_) | Instr::Pointer(_) => {}
                i => expressions(i, &mut taken),
            }
        }
        let cells = sizes.into_values().filter(|all| are_apart(all)).flatten();
        self.cells = cells.filter(|c| self.is_own(c.0)).collect();
        self.cells.sort_unstable();
    }

    /// Returns whether only one thread can ever access what is at an address.
    fn is_own(&self, a: i64) -> bool {
        self.program.is_private(a) || self.program.object_at(a).is_some_and(|o| !o.visible && !o.global)
    }

    /// Returns what an access to a constant address is to.
    pub(super) fn place(&self, a: i64, at: Int) -> Place {
        if !self.is_own(a) {
            return Place::Shared;
        }
        match self.cells.binary_search(&(a, at.size)) {
            Ok(n) => Place::Cell(CELLS + n as Reg),
            Err(_) => Place::Private,
        }
    }

    /// Returns the private variables in an object.
    pub(super) fn cells_of(&self, object: i64) -> impl Iterator<Item = Reg> + '_ {
        let inside = move |c: &(usize, &Cell)| object_of(c.1.0) == object;
        self.cells.iter().enumerate().filter(inside).map(|(n, _)| CELLS + n as Reg)
    }

    /// Returns all private variables.
    pub(super) fn all_cells(&self) -> impl Iterator<Item = Reg> + use<> {
        (0..self.cells.len() as Reg).map(|n| CELLS + n)
    }

    /// Returns whether accesses with unknown addresses may be to a private variable.
    pub(super) fn is_addressed(&self, cell: Reg) -> bool {
        self.addressed.contains(&object_of(self.cells[(cell - CELLS) as usize].0))
    }

    /// Returns what an instruction accesses, if it is a load or store.
    pub(super) fn accessed(&self, pc: usize) -> Option<Place> {
        self.accessed_within(pc, DEEP)
    }

    fn accessed_within(&self, pc: usize, depth: u32) -> Option<Place> {
        let (Instr::Load(_, a, at) | Instr::Store(a, _, at)) = &self.t.code[pc] else { return None };
        Some(match self.value(pc, a, depth) {
            Some(a) => self.place(a, *at),
            None => self.place_of_unknown(a),
        })
    }

    /// Returns what an access to an address may be to of which only the expression is known.
    pub(super) fn place_of_unknown(&self, a: &Expr) -> Place {
        match a {
            Expr::Local(k) if !self.t.locals[*k as usize].place.is_shared() => Place::Private,
            _ => Place::Shared,
        }
    }

    /// Returns the value of a register or private variable before an instruction, if it is the same
    /// whenever control comes there.
    pub(super) fn constant(&self, pc: usize, v: Reg) -> Option<i64> {
        self.constant_within(pc, v, DEEP)
    }

    fn constant_within(&self, pc: usize, v: Reg, depth: u32) -> Option<i64> {
        if let Some(&known) = self.constants.borrow().get(&(pc, v)) {
            return known;
        }
        let found = self.reaching(pc, v, depth);
        // What was not followed far enough may be found out on another way.
        if found.is_some() || depth == DEEP {
            self.constants.borrow_mut().insert((pc, v), found);
        }
        found
    }

    /// Follows a variable back to the instructions that gave it its value.
    fn reaching(&self, pc: usize, v: Reg, depth: u32) -> Option<i64> {
        let depth = depth.checked_sub(1)?;
        let (mut seen, mut found) = (FxHashSet::default(), None);
        let mut work = vec![pc];
        // A value from outside: of a parameter, or of an earlier call.
        if pc == 0 {
            return None;
        }
        while let Some(at) = work.pop() {
            for &from in &self.before[at] {
                match self.assigned(from, v, depth) {
                    Assigned::No if from == 0 => return None,
                    Assigned::No => {
                        if seen.insert(from) {
                            work.push(from);
                        }
                    }
                    Assigned::Constant(c) if found.is_none_or(|f| f == c) => found = Some(c),
                    Assigned::Constant(_) | Assigned::Open => return None,
                }
            }
            if seen.len() > FAR {
                return None;
            }
        }
        found
    }

    fn value(&self, pc: usize, e: &Expr, depth: u32) -> Option<i64> {
        let leaf = |e: &Expr| match e {
            Expr::Reg(r) => self.constant_within(pc, *r, depth).map(Expr::Const),
            _ => None,
        };
        e.replaced(&leaf).constant()
    }

    fn assigned(&self, pc: usize, v: Reg, depth: u32) -> Assigned {
        let i = &self.t.code[pc];
        if v < CELLS {
            if writes(i) != Some(v) {
                return Assigned::No;
            }
            return match i {
                Instr::Let(_, e) => {
                    let of = self.t.registers[v as usize];
                    Assigned::of(self.value(pc, e, depth).map(|c| of.wrap(c)))
                }
                Instr::Load(..) => match self.accessed_within(pc, depth) {
                    Some(Place::Cell(c)) => Assigned::of(self.constant_within(pc, c, depth)),
                    _ => Assigned::Open,
                },
                _ => Assigned::Open,
            };
        }
        match i {
            Instr::Store(_, e, at) => match self.accessed_within(pc, depth) {
                Some(Place::Cell(c)) if c == v => Assigned::of(self.value(pc, e, depth).map(|c| at.wrap(c))),
                Some(Place::Cell(_)) => Assigned::No,
                Some(Place::Private) => Assigned::Open,
                _ if self.is_addressed(v) && !self.is_elsewhere(pc, depth) => Assigned::Open,
                _ => Assigned::No,
            },
            Instr::Begins(..) | Instr::Ends(_) if self.changes_lifetime(pc, v) => Assigned::Open,
            Instr::Call { .. } | Instr::CallPointer { .. } => Assigned::Open,
            _ => Assigned::No,
        }
    }

    /// Returns whether the address of an access is known.
    fn is_elsewhere(&self, pc: usize, depth: u32) -> bool {
        match &self.t.code[pc] {
            Instr::Load(_, a, _) | Instr::Store(a, ..) => self.value(pc, a, depth).is_some(),
            _ => false,
        }
    }

    /// Returns whether the lifetime of a private variable begins or ends at an instruction.
    pub(super) fn changes_lifetime(&self, pc: usize, cell: Reg) -> bool {
        let object = object_of(self.cells[(cell - CELLS) as usize].0);
        let is = |e: &Expr| e.constant().is_some_and(|a| object_of(a) == object);
        match &self.t.code[pc] {
            Instr::Begins(a, _) => is(a),
            Instr::Ends(list) => list.iter().any(|l| is(&l.0)),
            _ => false,
        }
    }

    /// Returns whether the value that a register or private variable has before an instruction may
    /// be read from there on.
    pub(super) fn is_live(&self, pc: usize, v: Reg) -> bool {
        if v < CELLS {
            return self.t.live.get(pc).is_some_and(|live| live.contains(&v));
        }
        let (mut seen, mut work) = (FxHashSet::default(), vec![pc]);
        while let Some(at) = work.pop() {
            if at >= self.t.code.len() || !seen.insert(at) {
                continue;
            }
            match self.use_of_cell(at, v) {
                Use::Reads => return true,
                Use::Overwrites => {}
                Use::None => work.extend(next(&self.t.code, at)),
            }
            if seen.len() > FAR {
                return true;
            }
        }
        false
    }

    fn use_of_cell(&self, pc: usize, v: Reg) -> Use {
        match &self.t.code[pc] {
            Instr::Load(..) => match self.accessed(pc) {
                Some(Place::Cell(c)) if c == v => Use::Reads,
                Some(Place::Private) => Use::Reads,
                Some(Place::Cell(_)) => Use::None,
                _ if self.is_addressed(v) && !self.is_elsewhere(pc, DEEP) => Use::Reads,
                _ => Use::None,
            },
            Instr::Store(..) if self.accessed(pc) == Some(Place::Cell(v)) => Use::Overwrites,
            Instr::Begins(..) | Instr::Ends(_) if self.changes_lifetime(pc, v) => Use::Overwrites,
            Instr::Call { .. } | Instr::CallPointer { .. } => Use::Reads,
            // What is not a variable of a running function outlives it.
            Instr::Return(_) if !self.program.is_flat() => Use::Reads,
            _ => Use::None,
        }
    }

    /// Returns the values that are ever at an address in shared memory, if they are known.
    pub(super) fn values_at(&self, a: i64, at: Int) -> Option<Vec<i64>> {
        if let Some(known) = self.values.0.borrow().get(&(a, at.size)) {
            return known.clone();
        }
        let found = self.all_values(a, at);
        self.values.0.borrow_mut().insert((a, at.size), found.clone());
        found
    }

    fn all_values(&self, a: i64, at: Int) -> Option<Vec<i64>> {
        let object = self.program.object_at(a)?;
        let from = usize::try_from(crate::program::offset_of(a)).ok()?;
        let bytes = object.init.get(from..from + usize::from(at.size))?;
        if bytes.iter().any(|&b| b > 255) {
            return None;
        }
        let mut found = vec![at.wrap(bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b)))];
        for template in 0..self.program.templates.len() {
            let code = Code::new(self.program, template, self.quiet, self.values);
            for (pc, i) in code.t.code.iter().enumerate() {
                let Instr::Store(to, e, size) = i else { continue };
                let to = match code.value(pc, to, DEEP) {
                    Some(to) => to,
                    None if code.place_of_unknown(to) == Place::Shared => return None,
                    None => continue,
                };
                let apart = object_of(to) != object_of(a)
                    || to + i64::from(size.size) <= a
                    || a + i64::from(at.size) <= to;
                if !apart {
                    let whole = to == a && size.size == at.size && code.t.field(pc).is_none();
                    found.push(at.wrap(code.value(pc, e, DEEP).filter(|_| whole)?));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Returns the registers and private variables that an instruction reads.
    pub(super) fn reads(&self, pc: usize) -> Vec<Reg> {
        let mut found = Vec::new();
        reads(&self.t.code[pc], &mut |r| found.push(r));
        if let (Instr::Load(..), Some(Place::Cell(c))) = (&self.t.code[pc], self.accessed(pc)) {
            found.push(c);
        }
        found
    }

    /// Returns the register or private variable that an instruction writes, and nothing else that
    /// matters; `None` if it does something else.
    pub(super) fn writes(&self, pc: usize) -> Option<Reg> {
        match (&self.t.code[pc], self.accessed(pc)) {
            (Instr::Let(r, _) | Instr::Any(r), _) => Some(*r),
            (Instr::Load(r, ..), Some(Place::Cell(_) | Place::Private)) => Some(*r),
            (Instr::Store(..), Some(Place::Cell(c))) => Some(c),
            _ => None,
        }
    }
}

enum Assigned {
    No,
    Constant(i64),
    Open,
}

impl Assigned {
    fn of(v: Option<i64>) -> Assigned {
        v.map_or(Assigned::Open, Assigned::Constant)
    }
}

enum Use {
    Reads,
    Overwrites,
    None,
}

/// The accesses to each object, each once: address and size.
type Sizes = FxHashMap<i64, Vec<Cell>>;

fn note(sizes: &mut Sizes, a: i64, at: Int) {
    let all = sizes.entry(object_of(a)).or_default();
    if !all.contains(&(a, at.size)) {
        all.push((a, at.size));
    }
}

/// Returns whether no two accesses overlap: then each is to a variable of its own.
fn are_apart(all: &[Cell]) -> bool {
    let ends = |&(a, size): &Cell| a + i64::from(size.max(1));
    all.iter()
        .enumerate()
        .all(|(n, one)| all[..n].iter().all(|other| ends(one) <= other.0 || ends(other) <= one.0))
}
