//! What each instruction requires of the places where addresses may be: the inclusion constraints,
//! written once. The search adds what is missing until nothing is; the checker asks whether
//! something is.
//!
//! A number that is not an address points to nothing, so that what an address is computed from and
//! cannot be followed (a number that was read, say) has no place of its own in the sets: memory is
//! taken to be accessed only where an object is. An access of which no object is known is reported.

use std::collections::HashMap;

use throng_goto::program::{
    BinOp, Doubt, Expr, FUNCTION, Instr, Int, PRIVATE, Program, Reg, Template, object_of, offset_of,
};

use super::points::{Offsets, Place, Pointers, Points, Site};

/// Where addresses may be that are required to be somewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holder {
    /// A register of a template.
    Register(usize, Reg),
    /// An object at these offsets.
    Memory(Site, Offsets),
    /// What a template returns.
    Returned(usize),
}

/// The number of a thread of which nothing is known.
pub const SOME_THREAD: Site = Site::Thread((u32::MAX, u32::MAX));

/// What is looked up often in a program.
#[derive(Clone, Debug)]
pub struct Index {
    /// The templates that threads start in.
    pub starts: Vec<usize>,
    /// The templates of functions that pointers may point to, by the number of the function.
    functions: HashMap<u32, usize>,
}

impl Index {
    /// Goes through a program.
    pub fn of(program: &Program) -> Index {
        let pointed = |(t, template): (usize, &Template)| template.pointer.map(|n| (n, t));
        let functions = program.templates.iter().enumerate().filter_map(pointed).collect();
        Index { starts: program.starts(), functions }
    }
}

/// What a value may be, given what registers may be.
#[derive(Clone, Copy)]
pub struct Values<'a> {
    /// The program.
    pub program: &'a Program,
    /// What is looked up in it.
    pub index: &'a Index,
    /// Where addresses may be.
    pub points: &'a Points,
}

impl Values<'_> {
    /// Returns the addresses that a constant may be.
    pub fn constant(&self, v: i64) -> Pointers {
        let object = object_of(v);
        let site = if (1..=self.program.objects.len() as i64).contains(&object) {
            Site::Object(object)
        } else if (FUNCTION..FUNCTION + self.program.functions.len() as i64).contains(&object) {
            Site::Function((object - FUNCTION) as u32)
        } else if (PRIVATE..PRIVATE + self.program.locals.len() as i64).contains(&object) {
            Site::Private(object)
        } else {
            return Pointers::default();
        };
        Pointers::one(site, Offsets::one(offset_of(v)))
    }

    /// Returns the addresses that an expression of a template may be.
    pub fn of(&self, template: usize, e: &Expr) -> Pointers {
        match e {
            Expr::Const(v) => self.constant(*v),
            Expr::Reg(r) => self.points.register(template, *r).clone(),
            Expr::Local(k) => Pointers::one(Site::Local(template as u32, *k), Offsets::one(0)),
            Expr::SelfId => Pointers::one(SOME_THREAD, Offsets::one(0)),
            Expr::Cast(e, _) => self.of(template, e),
            Expr::Bin(op, ..) if op.compares() => Pointers::default(),
            Expr::Bin(op @ (BinOp::Add | BinOp::Sub), a, b, _) => {
                let (x, y) = (self.of(template, a), self.of(template, b));
                let mut found = moved(&x, b, *op == BinOp::Sub);
                found.extend(&moved(&y, a, false));
                found
            }
            Expr::Bin(_, a, b, _) | Expr::Float(_, a, b, _) => {
                let mut found = self.of(template, a).anywhere();
                found.extend(&self.of(template, b).anywhere());
                found
            }
            Expr::Convert(e, _) => self.of(template, e).anywhere(),
        }
    }

    /// Returns the templates that a call through a pointer may call, and whether it may call
    /// something else.
    pub fn called(&self, template: usize, address: &Expr, types: &[Int]) -> (Vec<usize>, bool) {
        let (mut found, mut other) = (Vec::new(), false);
        for site in self.of(template, address).sites() {
            let defined = match site {
                Site::Function(n) => self.index.functions.get(&n).copied(),
                _ => None,
            };
            match defined {
                Some(t) if self.program.templates[t].takes(types) => found.push(t),
                _ => other = true,
            }
        }
        let other = other || found.is_empty();
        (found, other)
    }

    /// Returns the threads whose numbers a value may be, as the instructions that start them;
    /// `None`: it may be any.
    pub fn threads(&self, template: usize, e: &Expr) -> Option<Vec<Place>> {
        let threads = |site| match site {
            SOME_THREAD => None,
            Site::Thread(place) => Some(place),
            _ => None,
        };
        self.of(template, e).sites().map(threads).collect()
    }

    /// Calls `add` on everything that the initial memory requires.
    pub fn at_start(&self, add: &mut dyn FnMut(Holder, Pointers)) {
        for (n, o) in self.program.objects.iter().enumerate() {
            let site = Site::Object(n as i64 + 1);
            for (at, bytes) in o.init.windows(8).enumerate().filter(|(_, bytes)| bytes[7] & 255 != 0) {
                let v = bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b & 255));
                let pointers = self.constant(v);
                if !pointers.is_empty() {
                    add(Holder::Memory(site, Offsets::one(at as i64)), pointers);
                }
            }
            if o.external {
                add(Holder::Memory(site, Offsets::ANY), Pointers::one(Site::Unknown, Offsets::ANY));
            }
        }
    }

    /// Calls `add` on everything that an instruction requires.
    pub fn requires(&self, template: usize, pc: usize, add: &mut dyn FnMut(Holder, Pointers)) {
        let place = (template as u32, pc as u32);
        let t = &self.program.templates[template];
        let mut register = |r: Reg, pointers| add(Holder::Register(template, r), pointers);
        match &t.code[pc] {
            Instr::Let(r, e) => register(*r, self.of(template, e)),
            Instr::Any(r) if t.registers[*r as usize].size == 8 => {
                // What a function returns that is not known may be an address; an input is a number.
                if let Some(Doubt::Undefined(_) | Doubt::Result(_)) = t.doubt(pc) {
                    register(*r, Pointers::one(Site::Unknown, Offsets::ANY));
                }
            }
            Instr::Load(r, a, _) => register(*r, self.points.loaded(&self.of(template, a))),
            Instr::Alloc(r, _) => register(*r, Pointers::one(Site::Heap(place), Offsets::one(0))),
            Instr::Resize(r, a, _) => {
                register(*r, Pointers::one(Site::Heap(place), Offsets::one(0)));
                for site in self.of(template, a).sites() {
                    for (at, content) in self.points.memory.get(&site).into_iter().flatten() {
                        add(Holder::Memory(Site::Heap(place), *at), content.clone());
                    }
                }
            }
            Instr::Store(a, e, _) => {
                let value = self.of(template, e);
                if !value.is_empty() {
                    for (site, at) in self.of(template, a).all() {
                        add(Holder::Memory(site, at), value.clone());
                    }
                }
            }
            Instr::Spawn(child, arguments, r) => {
                register(*r, Pointers::one(Site::Thread(place), Offsets::one(0)));
                let expressions: Vec<&Expr> = arguments.iter().collect();
                self.hand(template, *child, &expressions, add);
            }
            Instr::Join(e, r) => {
                let starts = match self.threads(template, e) {
                    Some(places) => places.into_iter().filter_map(|p| started(self.program, p)).collect(),
                    None => self.index.starts.clone(),
                };
                starts.into_iter().for_each(|t| register(*r, self.points.returned[t].clone()));
            }
            Instr::Call { function, arguments, result } => {
                let arguments: Vec<&Expr> = arguments.iter().collect();
                self.call(template, *function, &arguments, *result, add);
            }
            Instr::CallPointer { address, arguments, result } => {
                let types: Vec<Int> = arguments.iter().map(|(_, at)| *at).collect();
                let arguments: Vec<&Expr> = arguments.iter().map(|(e, _)| e).collect();
                for function in self.called(template, address, &types).0 {
                    self.call(template, function, &arguments, *result, add);
                }
            }
            Instr::Return(Some(e)) => add(Holder::Returned(template), self.of(template, e)),
            Instr::End(e) => {
                let value = self.of(template, e);
                self.index.starts.iter().for_each(|&t| add(Holder::Returned(t), value.clone()));
            }
            _ => {}
        }
    }

    fn call(
        &self,
        template: usize,
        function: usize,
        arguments: &[&Expr],
        result: Option<Reg>,
        add: &mut dyn FnMut(Holder, Pointers),
    ) {
        self.hand(template, function, arguments, add);
        if let Some(r) = result {
            add(Holder::Register(template, r), self.points.returned[function].clone());
        }
    }

    fn hand(
        &self,
        template: usize,
        function: usize,
        arguments: &[&Expr],
        add: &mut dyn FnMut(Holder, Pointers),
    ) {
        for (r, e) in (0..).zip(arguments) {
            add(Holder::Register(function, r), self.of(template, e));
        }
    }

    /// Returns whether a holder has all that is required of it.
    pub fn holds(&self, holder: Holder, required: &Pointers) -> bool {
        match holder {
            Holder::Register(t, r) => self.points.register(t, r).covers(required),
            Holder::Returned(t) => self.points.returned[t].covers(required),
            Holder::Memory(site, at) => {
                let entries = || self.points.memory.get(&site).into_iter().flatten();
                required.is_empty()
                    || entries().any(|(place, content)| place.covers(at) && content.covers(required))
            }
        }
    }
}

/// Returns the template that an instruction starts threads in.
pub fn started(program: &Program, place: Place) -> Option<usize> {
    match program.templates.get(place.0 as usize)?.code.get(place.1 as usize)? {
        Instr::Spawn(child, ..) => Some(*child),
        _ => None,
    }
}

/// Returns pointers to which a number is added.
fn moved(pointers: &Pointers, by: &Expr, minus: bool) -> Pointers {
    match by {
        _ if pointers.is_empty() => Pointers::default(),
        Expr::Const(c) if object_of(*c) == 0 => pointers.moved(if minus { c.wrapping_neg() } else { *c }, 0),
        _ => {
            let (start, multiple) = form(by);
            pointers.moved(if minus { start.wrapping_neg() } else { start }, multiple)
        }
    }
}

/// Returns numbers, such that a value is the first one and a multiple of the second.
fn form(e: &Expr) -> (i64, i64) {
    match e {
        Expr::Const(c) => (*c, 0),
        Expr::Bin(BinOp::Mul, a, b, at) if at.size == 8 => match (&**a, &**b) {
            (e, Expr::Const(c)) | (Expr::Const(c), e) => {
                let (start, multiple) = form(e);
                (start.wrapping_mul(*c), multiple.wrapping_mul(*c).saturating_abs())
            }
            _ => (0, 1),
        },
        Expr::Bin(BinOp::Shl, a, b, at) if at.size == 8 => match &**b {
            Expr::Const(c) if (0..32).contains(c) => {
                let (start, multiple) = form(a);
                (start.wrapping_shl(*c as u32), multiple.wrapping_shl(*c as u32).saturating_abs())
            }
            _ => (0, 1),
        },
        Expr::Bin(op @ (BinOp::Add | BinOp::Sub), a, b, at) if at.size == 8 => {
            let ((x, m), (y, n)) = (form(a), form(b));
            let y = if *op == BinOp::Sub { y.wrapping_neg() } else { y };
            let both = Offsets { start: 0, stride: 0 }.moved(0, m).moved(0, n).stride;
            (x.wrapping_add(y), both)
        }
        Expr::Cast(e, to) if to.size == 8 => form(e),
        _ => (0, 1),
    }
}
