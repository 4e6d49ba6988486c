//! What is accessed, where, and in which sections.

use std::collections::BTreeMap;

use throng_goto::program::{
    Access, Expr, FUNCTION, Instr, Int, PRIVATE, Program, Template, is_private, next, object_of,
};
use throng_memory::Order;
use throng_memory::rules::{Access as Rule, Kind};

use crate::abstraction::variables::Variables;

/// How an address is used, in the whole program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// By accesses that are not atomic.
    pub plain: bool,
    /// By atomic ones.
    pub atomic: bool,
    /// By the library, or as a lock.
    pub internal: bool,
    /// Whether a plain or atomic access writes.
    pub written: bool,
    /// The type of its accesses.
    pub ty: Option<Int>,
}

impl Used {
    /// Returns whether accesses hand on what threads know.
    pub fn is_source(&self) -> bool {
        self.atomic || self.internal
    }
}

/// The addresses that several threads may access.
pub struct Places {
    variables: Variables,
    /// By address.
    pub used: BTreeMap<i64, Used>,
}

impl Places {
    /// Finds them.
    pub fn of(program: &Program) -> Result<Places, String> {
        let mut places = Places { variables: Variables::of(program)?, used: BTreeMap::new() };
        if program.unclear_orders {
            return Err("a memory order is not a constant, or is memory_order_consume".into());
        }
        for (k, t) in program.templates.iter().enumerate() {
            for (i, access) in t.code.iter().zip(&t.access) {
                let (a, at, writes) = match i {
                    Instr::Load(_, a, at) => (a, Some(*at), false),
                    Instr::Store(a, _, at) => (a, Some(*at), true),
                    Instr::Acquire(a) | Instr::Release(a) | Instr::Meets(a, _) => (a, None, false),
                    Instr::Alloc(..) | Instr::Resize(..) => return Err("memory is allocated".into()),
                    _ => continue,
                };
                for address in places.resolve(program, k, a)? {
                    places.note(program, address, at, *access, writes)?;
                }
            }
        }
        Ok(places)
    }

    fn note(
        &mut self,
        program: &Program,
        address: i64,
        at: Option<Int>,
        access: Access,
        writes: bool,
    ) -> Result<(), String> {
        let used = self.used.entry(address).or_default();
        let Some(at) = at else {
            used.internal = true;
            return Ok(());
        };
        let name = || program.name_of(address).unwrap_or_else(|| "memory".into());
        if used.ty.get_or_insert(at).size != at.size {
            return Err(format!("{} is accessed in different sizes", name()));
        }
        used.plain |= access == Access::Plain;
        used.atomic |= access.is_atomic();
        used.internal |= access == Access::Internal;
        used.written |= writes && access != Access::Internal;
        if program.is_scoped(address) {
            return Err(format!("{} begins to exist again and again", name()));
        }
        Ok(())
    }

    /// Returns the addresses that an access may be to, as far as several threads see them.
    pub fn resolve(&self, program: &Program, template: usize, a: &Expr) -> Result<Vec<i64>, String> {
        let visible = |&c: &i64| {
            let object = object_of(c);
            let fixed = usize::try_from(object - 1).ok().and_then(|o| program.objects.get(o));
            (1..FUNCTION).contains(&object) && !is_private(c) && fixed.is_none_or(|o| o.visible)
        };
        let folded = self.fold(template, a);
        let mut shared = false;
        let locals = &program.templates[template].locals;
        folded.locals(&mut |k| shared |= locals[k as usize].place.is_shared());
        match folded {
            _ if shared => Err("a variable of a function is known to other threads".into()),
            Expr::Const(c) => Ok(Some(c).filter(visible).into_iter().collect()),
            // Its places are those of the thread alone.
            Expr::Local(_) => Ok(Vec::new()),
            e => {
                let found: Vec<i64> =
                    self.variables.candidates(template, &e).into_iter().filter(visible).collect();
                self.is_complete(program, &e)?;
                Ok(found)
            }
        }
    }

    /// That all the places that a computed address may have are known.
    fn is_complete(&self, program: &Program, e: &Expr) -> Result<(), String> {
        let mut bases = Vec::new();
        e.constants(&mut |c| bases.push(object_of(c)));
        let object = |o: &i64| usize::try_from(o - 1).ok().and_then(|o| program.objects.get(o));
        bases.retain(|o| object(o).is_some() || *o >= PRIVATE);
        let hidden = |o: &i64| *o >= PRIVATE || object(o).is_some_and(|o| !o.visible);
        match bases.iter().find(|o| !hidden(o) && !self.variables.is_split(**o)) {
            Some(o) => {
                let name = object(o).map_or("memory", |o| &o.name);
                Err(format!("the parts of {name} are too many"))
            }
            None if bases.is_empty() && !self.variables.splits_all() => {
                Err("a pointer may point to an object with too many parts".into())
            }
            None => Ok(()),
        }
    }

    /// An expression with registers that have one value only replaced by it.
    pub fn fold(&self, template: usize, e: &Expr) -> Expr {
        self.variables.fold(template, e)
    }

    /// How an address is used.
    pub fn at(&self, address: i64) -> Used {
        self.used.get(&address).copied().unwrap_or_default()
    }

    /// The atomic accesses and fences of a program; of atomic objects, plain ones count as relaxed.
    pub fn rules(&self, program: &Program) -> Vec<Rule> {
        let mut all = Vec::new();
        for (k, t) in program.templates.iter().enumerate() {
            for (i, access) in t.code.iter().zip(&t.access) {
                let (a, kind) = match i {
                    Instr::Fence(order) => {
                        all.push(Rule::fence(*order));
                        continue;
                    }
                    Instr::Load(_, a, _) => (a, Kind::Load),
                    Instr::Store(a, ..) => (a, Kind::Store),
                    _ => continue,
                };
                let of = |kind, order| Rule { kind, location: super::bits::OTHER, order };
                match access {
                    Access::Atomic(order) => all.push(of(kind, *order)),
                    Access::Update(done, failed) => {
                        all.extend([of(Kind::Update, *done), of(Kind::Load, *failed)]);
                    }
                    Access::Plain => {
                        let addresses = self.resolve(program, k, a).unwrap_or_default();
                        if addresses.iter().any(|a| self.at(*a).atomic) {
                            all.push(of(kind, Order::Relaxed));
                        }
                    }
                    Access::Internal => {}
                }
            }
        }
        all
    }
}

/// For each instruction of a template, whether it is in an atomic section, and the read of an
/// operation in it that has not written yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Section {
    /// Whether it is in one, or begins one behind it.
    pub inside: bool,
    /// The instruction that has read.
    pub read: Option<usize>,
}

/// Finds the sections of a template.
pub fn sections(t: &Template) -> Result<Vec<Section>, String> {
    let mut found: Vec<Option<Section>> = vec![None; t.code.len()];
    let mut work = vec![(0, Section::default())];
    while let Some((pc, new)) = work.pop() {
        let Some(slot) = found.get_mut(pc) else { continue };
        let old = *slot;
        let joined = match old {
            None => new,
            Some(old) if old.inside != new.inside => return Err("an atomic section is left half-way".into()),
            Some(old) if old.read.is_some() && new.read.is_some() && old.read != new.read => {
                return Err(SEVERAL.into());
            }
            Some(old) => Section { read: old.read.or(new.read), ..new },
        };
        if old == Some(joined) {
            continue;
        }
        *slot = Some(joined);
        let after = after(t, pc, joined)?;
        work.extend(next(&t.code, pc).into_iter().map(|to| (to, after)));
    }
    Ok(found.into_iter().map(Option::unwrap_or_default).collect())
}

const SEVERAL: &str = "an atomic section has several atomic operations";

fn after(t: &Template, pc: usize, at: Section) -> Result<Section, String> {
    let update = matches!(t.access[pc], Access::Update(..));
    Ok(match &t.code[pc] {
        Instr::AtomicBegin if at.inside => return Err("atomic sections are nested".into()),
        Instr::AtomicBegin => Section { inside: true, read: None },
        Instr::AtomicEnd => Section::default(),
        Instr::Load(..) if update && at.read.is_some() => return Err(SEVERAL.into()),
        Instr::Load(..) | Instr::Store(..) if update && !at.inside => {
            return Err("an operation that reads and writes is not one step".into());
        }
        Instr::Load(..) if update => Section { read: Some(pc), ..at },
        Instr::Store(..) if update => Section { read: None, ..at },
        Instr::Load(..) | Instr::Store(..) if at.inside && matches!(t.access[pc], Access::Atomic(_)) => {
            return Err("memory is accessed in an atomic section, which has no meaning under C11".into());
        }
        _ => at,
    })
}
