//! The variables of a program as predicates see them: cells of shared memory, and registers and
//! private memory of each template.

use rustc_hash::{FxHashMap, FxHashSet};
use throng_goto::program::{
    Expr, FUNCTION, Instr, Int, PRIVATE, Program, Reg, address, is_private, object_of, offset_of, writes,
};
use throng_goto::step::OPEN;

use super::elements::arrays;

/// Numbers of variables of a bystander are this much larger.
pub const OTHER: u32 = 1 << 24;
/// Numbers of inputs of a step begin here.
pub const INPUT: u32 = 1 << 25;

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// What people call it.
    pub name: String,
    /// Its type.
    pub ty: Int,
    /// The template whose threads have one each; `None`: it is shared.
    pub template: Option<usize>,
    /// Its value at the start of the program or of the thread, if that is known.
    pub initial: Option<i64>,
    register: Option<Reg>,
}

/// All variables of a program.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// By number.
    pub list: Vec<Variable>,
    shared: FxHashMap<i64, u32>,
    private: FxHashMap<(usize, i64), u32>,
    registers: Vec<u32>,
    own: Vec<u32>,
    /// Registers that have one value only.
    constants: Vec<FxHashMap<Reg, i64>>,
    written: FxHashSet<u32>,
    /// Cells of objects whose addresses are computed with.
    pointed: Vec<i64>,
    /// For an array, the variable that stands for any of its elements (see `elements.rs`).
    elements: FxHashMap<i64, u32>,
    /// Objects whose parts are all variables.
    split: FxHashSet<i64>,
}

impl Variables {
    /// Finds them; `Err`: memory is read in pieces that overlap, or functions are called, which
    /// have variables for each call.
    pub fn of(program: &Program) -> Result<Variables, String> {
        if let Some(why) = program.not_flat() {
            return Err(why);
        }
        let constants = (0..program.templates.len()).map(|t| constants(program, t)).collect();
        let mut v = Variables { constants, ..Variables::default() };
        let mut cells: FxHashMap<(Option<usize>, i64), Int> = FxHashMap::default();
        let mut pointed = FxHashSet::default();
        let mut clash = None;
        let mut cell = |owner: Option<usize>, a: i64, at: Int| {
            let ty = Int::new(at.size, at.signed);
            if cells.entry((owner, a)).or_insert(ty).size != at.size {
                clash.get_or_insert(a);
            }
        };
        for (k, t) in program.templates.iter().enumerate() {
            let mut escape = |e: &Expr| {
                v.fold(k, e).constants(&mut |c| {
                    if is_object(program, c) {
                        pointed.insert(object_of(c));
                    }
                });
            };
            for i in &t.code {
                match i {
                    Instr::Load(_, a, at) | Instr::Store(a, _, at) => match v.fold(k, a) {
                        Expr::Const(a) if is_private(a) => cell(Some(k), a, *at),
                        Expr::Const(a) if is_object(program, a) => cell(None, a, *at),
                        Expr::Const(_) => {}
                        a => escape(&a),
                    },
                    Instr::Let(r, e) if !v.constants[k].contains_key(r) => escape(e),
                    Instr::Spawn(_, args, _) => args.iter().for_each(&mut escape),
                    Instr::End(e) if program.results => escape(e),
                    _ => {}
                }
                if let Instr::Store(_, e, _) = i {
                    escape(e);
                }
            }
        }
        for o in &program.objects {
            for chunk in o.init.chunks_exact(8) {
                let a = chunk.iter().rev().fold(0i64, |n, &b| n << 8 | i64::from(b & 255));
                if is_object(program, a) {
                    pointed.insert(object_of(a));
                }
            }
        }
        for &o in &pointed {
            let object = &program.objects[o as usize - 1];
            if object.parts.len() <= 64 && !object.library {
                v.split.insert(o);
                for (offset, ty, _) in &object.parts {
                    cell(None, address(o, i64::from(*offset)), *ty);
                }
            }
        }
        if let Some(a) = clash {
            return Err(format!("{} is accessed in different sizes", name(program, a)));
        }
        v.lay_out(program, cells, &pointed)?;
        v.find_written(program);
        for (object, ty, initial) in arrays(program, &v) {
            let id = v.list.len() as u32;
            let name = format!("{}[any]", program.objects[object as usize - 1].name);
            v.list.push(Variable { name, ty, template: None, initial: Some(initial), register: None });
            v.elements.insert(object, id);
            v.written.insert(id);
        }
        Ok(v)
    }

    fn lay_out(
        &mut self,
        program: &Program,
        cells: FxHashMap<(Option<usize>, i64), Int>,
        pointed: &FxHashSet<i64>,
    ) -> Result<(), String> {
        let mut cells: Vec<((Option<usize>, i64), Int)> = cells.into_iter().collect();
        cells.sort_unstable_by_key(|c| c.0);
        for pair in cells.windows(2) {
            let (((o, a), at), ((p, b), _)) = (pair[0], pair[1]);
            if o == p && b < a + i64::from(at.size) {
                return Err(format!("{} is accessed in pieces that overlap", name(program, a)));
            }
        }
        for ((owner, a), ty) in cells {
            let (object, from, size) = (object_of(a), offset_of(a), i64::from(ty.size));
            let (bytes, base, length): (&[u16], i64, i64) = match owner {
                Some(_) => {
                    let Some(l) = program.locals.get((object - PRIVATE) as usize) else { continue };
                    (&program.private, l.base.into(), l.size.into())
                }
                None => {
                    let init = &program.objects[object as usize - 1].init;
                    (init, 0, init.len() as i64)
                }
            };
            if from < 0 || from + size > length {
                continue;
            }
            let bytes = bytes.get((base + from) as usize..(base + from + size) as usize);
            let known = bytes.filter(|b| !b.contains(&OPEN));
            let initial = known.map(|b| ty.wrap(b.iter().rev().fold(0i64, |n, &b| n << 8 | i64::from(b))));
            let id = self.list.len() as u32;
            match owner {
                Some(k) => self.private.insert((k, a), id),
                None => self.shared.insert(a, id),
            };
            if owner.is_none() && pointed.contains(&object_of(a)) {
                self.pointed.push(a);
            }
            self.list.push(Variable { name: name(program, a), ty, template: owner, initial, register: None });
        }
        for (k, t) in program.templates.iter().enumerate() {
            self.registers.push(self.list.len() as u32);
            for (r, &ty) in t.registers.iter().enumerate() {
                let name = t.names[r].clone().unwrap_or_else(|| format!("t{r}"));
                let register = Some(r as Reg);
                self.list.push(Variable { name, ty, template: Some(k), initial: None, register });
            }
            self.own.push(self.list.len() as u32);
            let ty = Int::new(4, true);
            self.list.push(Variable {
                name: "self".into(),
                ty,
                template: Some(k),
                initial: None,
                register: None,
            });
        }
        match self.list.len() < 1 << 16 {
            true => Ok(()),
            false => Err("there are more than 65535 variables".into()),
        }
    }

    fn find_written(&mut self, program: &Program) {
        let mut written = FxHashSet::default();
        for (k, t) in program.templates.iter().enumerate() {
            for i in &t.code {
                let Instr::Store(a, ..) = i else { continue };
                match self.fold(k, a) {
                    Expr::Const(a) => written.extend(self.cell(k, a)),
                    a => written.extend(self.candidates(k, &a).iter().filter_map(|&a| self.cell(k, a))),
                }
            }
        }
        self.written = written;
    }

    /// A variable that no thread sees, and that is 0 at the start.
    pub(crate) fn counter(&mut self, name: String) -> u32 {
        let ty = Int::new(8, true);
        self.list.push(Variable { name, ty, template: None, initial: Some(0), register: None });
        self.list.len() as u32 - 1
    }

    /// The variable that stands for any element of an array.
    pub fn any_element(&self, object: i64) -> Option<u32> {
        self.elements.get(&object).copied()
    }

    /// Returns whether a variable stands for any element of an array.
    pub fn is_any_element(&self, id: u32) -> bool {
        self.elements.values().any(|&e| e == id)
    }

    /// The variable at an address, for a thread of this template.
    pub fn cell(&self, template: usize, a: i64) -> Option<u32> {
        self.shared.get(&a).or_else(|| self.private.get(&(template, a))).copied()
    }

    /// The variable that a register is.
    pub fn register(&self, template: usize, r: Reg) -> u32 {
        self.registers[template] + r
    }

    /// The register that a variable is.
    pub fn register_of(&self, id: u32) -> Option<Reg> {
        self.list.get(id as usize).and_then(|v| v.register)
    }

    /// The number of the running thread.
    pub fn own(&self, template: usize) -> u32 {
        self.own[template]
    }

    /// The value that a variable never loses, if it is never written.
    pub fn constant(&self, id: u32) -> Option<i64> {
        let v = &self.list[id as usize];
        v.initial.filter(|_| v.register.is_none() && !self.written.contains(&id))
    }

    /// The type of a variable of the thread that moves or of a bystander; inputs have types of
    /// their own.
    pub fn ty(&self, id: u32) -> Int {
        self.list.get((id % OTHER) as usize).map_or(Int::new(8, true), |v| v.ty)
    }

    /// Addresses that a computed address may have, as far as variables are known there.
    pub fn candidates(&self, template: usize, a: &Expr) -> Vec<i64> {
        let mut bases = Vec::new();
        a.constants(&mut |c| {
            if (1..FUNCTION).contains(&object_of(c)) || is_private(c) {
                bases.push(object_of(c));
            }
        });
        let private = self.private.keys().filter(|(k, a)| *k == template && bases.contains(&object_of(*a)));
        let mut found: Vec<i64> = private.map(|c| c.1).collect();
        let fits = |a: &&i64| bases.is_empty() || bases.contains(&object_of(**a));
        found.extend(self.pointed.iter().filter(fits));
        found.sort_unstable();
        found
    }

    /// Returns whether every part of a shared object is a variable.
    pub fn is_split(&self, object: i64) -> bool {
        self.split.contains(&object)
    }

    /// An expression with registers that have one value only replaced by it.
    pub fn fold(&self, template: usize, e: &Expr) -> Expr {
        match e {
            Expr::Reg(r) => match self.constants[template].get(r) {
                Some(v) => Expr::Const(*v),
                None => e.clone(),
            },
            Expr::Cast(e, to) => Expr::cast(self.fold(template, e), *to),
            Expr::Bin(op, a, b, at) => Expr::bin(*op, self.fold(template, a), self.fold(template, b), *at),
            Expr::Float(op, a, b, at) => {
                Expr::float(*op, self.fold(template, a), self.fold(template, b), *at)
            }
            Expr::Convert(e, conversion) => Expr::convert(self.fold(template, e), *conversion),
            Expr::Const(_) | Expr::SelfId | Expr::Local(_) => e.clone(),
        }
    }
}

fn is_object(program: &Program, a: i64) -> bool {
    let o = object_of(a);
    o >= 1 && o <= program.objects.len() as i64
}

fn name(program: &Program, a: i64) -> String {
    program.name_of(a).unwrap_or_else(|| format!("{a:#x}"))
}

/// Registers that are written once, with a constant, and not read before.
pub(super) fn constants(program: &Program, template: usize) -> FxHashMap<Reg, i64> {
    let t = &program.templates[template];
    let mut count = vec![0u32; t.registers.len()];
    for r in t.code.iter().filter_map(writes) {
        count[r as usize] += 1;
    }
    let mut known = Variables { constants: vec![FxHashMap::default(); template + 1], ..Variables::default() };
    loop {
        let before = known.constants[template].len();
        for i in &t.code {
            if let Instr::Let(r, e) = i
                && count[*r as usize] == 1
                && *r as usize >= t.arguments
                && !t.live.first().is_some_and(|l| l.contains(r))
                && let Expr::Const(v) = known.fold(template, e)
            {
                known.constants[template].insert(*r, v);
            }
        }
        if known.constants[template].len() == before {
            return known.constants.swap_remove(template);
        }
    }
}
