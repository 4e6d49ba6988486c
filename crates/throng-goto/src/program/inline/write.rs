//! One template being written: the code of a function and of those that it calls.

use super::Inliner;
use crate::program::{
    Access, BinOp, Expr, FUNCTION, Instr, Int, Local, Object, Origin, PRIVATE, PTR, PointerUse, Private, Reg,
    Template, address, object_of,
};
use crate::step::OPEN;

/// The template being written, and where in it we are.
struct Writer<'i, 'p> {
    inliner: &'i mut Inliner<'p>,
    out: Template,
    /// Whether threads start in it: what is in memory has a fixed place.
    fixed: bool,
    /// The functions whose code is being written, the outermost first.
    path: Vec<usize>,
}

/// A copy of the code of a function.
struct Body {
    function: usize,
    /// What stands for its registers and its variables in memory.
    registers: Vec<Expr>,
    locals: Vec<Expr>,
    /// Bytes of private memory that it and its callers take.
    top: u32,
    /// The calls that lead here: a number, and their functions and lines.
    path: (u32, String, Vec<u32>),
    /// Where its result goes.
    result: Option<Reg>,
    /// Where each of its instructions begins.
    begins: Vec<usize>,
    /// Jumps of it that were written, to be resolved.
    jumps: Vec<usize>,
    /// Jumps to its end.
    exits: Vec<usize>,
}

/// A call: what is called with what.
struct Called {
    function: usize,
    arguments: Vec<Expr>,
    result: Option<Reg>,
}

impl Inliner<'_> {
    /// Writes the code of a function, and in it that of those that it calls.
    pub(super) fn template(&mut self, function: usize, fixed: bool) -> Template {
        let t = &self.program.templates[function];
        let out = Template {
            name: t.name.clone(),
            arguments: t.arguments,
            pointer: t.pointer.filter(|_| !fixed),
            single: t.single && fixed,
            ..Template::default()
        };
        let mut writer = Writer { inliner: self, out, fixed, path: Vec::new() };
        // The registers of the function keep their numbers.
        let registers = writer.registers(function, &[]);
        let mut copy = writer.copy(function, registers, 0);
        copy.path = (0, String::new(), Vec::new());
        writer.body(&mut copy);
        writer.out
    }
}

impl Writer<'_, '_> {
    /// Makes registers for those of a function; those of which something is known already stay.
    fn registers(&mut self, function: usize, known: &[Option<Expr>]) -> Vec<Expr> {
        let t = &self.inliner.program.templates[function];
        let one = |r: usize| match known.get(r).cloned().flatten() {
            Some(e) => e,
            None => {
                self.out.registers.push(t.registers[r]);
                self.out.names.push(t.names[r].clone());
                self.out.owners.push(t.owners[r].clone());
                Expr::Reg(self.out.registers.len() as Reg - 1)
            }
        };
        (0..t.registers.len()).map(one).collect()
    }

    fn register(&mut self, at: Int) -> Reg {
        self.out.registers.push(at);
        self.out.names.push(None);
        self.out.owners.push(String::new());
        self.out.registers.len() as Reg - 1
    }

    /// Prepares a copy of a function, behind `base` bytes of private memory.
    fn copy(&mut self, function: usize, registers: Vec<Expr>, base: u32) -> Body {
        let mut copy = Body {
            function,
            registers,
            locals: Vec::new(),
            top: base,
            path: (0, String::new(), Vec::new()),
            result: None,
            begins: Vec::new(),
            jumps: Vec::new(),
            exits: Vec::new(),
        };
        for local in &self.inliner.program.templates[function].locals {
            let place = self.place(&mut copy.top, local, function);
            copy.locals.push(place);
        }
        self.out.frame = if self.fixed { self.out.frame.max(copy.top) } else { 0 };
        copy
    }

    /// Returns the address of a variable in memory.
    fn place(&mut self, top: &mut u32, local: &Local, function: usize) -> Expr {
        if !self.fixed {
            self.out.locals.push(local.clone());
            return Expr::Local(self.out.locals.len() as u32 - 1);
        }
        let inliner = &mut *self.inliner;
        if self.out.single && local.addressed {
            inliner.objects.push((object(local), Some(function)));
            return Expr::Const(address(inliner.objects.len() as i64, 0));
        }
        let at = top.next_multiple_of(local.align.max(1));
        *top = at + local.size;
        let base = inliner.program.private.len() as u32 + at;
        inliner.private.push(Private {
            name: local.name.clone(),
            base,
            size: local.size,
            align: local.align,
        });
        Expr::Const(address(PRIVATE + inliner.private.len() as i64 - 1, 0))
    }

    /// Writes the code of a copy.
    fn body(&mut self, copy: &mut Body) {
        self.path.push(copy.function);
        let program = self.inliner.program;
        let t = &program.templates[copy.function];
        for pc in 0..t.code.len() {
            copy.begins.push(self.out.code.len());
            if let Some(doubt) = t.doubt(pc) {
                self.out.doubts.push((self.out.code.len(), doubt.clone()));
            }
            if t.copies.binary_search(&pc).is_ok() {
                self.out.copies.push(self.out.code.len());
            }
            if let Some(mask) = t.field(pc) {
                self.out.bits.push((self.out.code.len(), mask));
            }
            self.instruction(copy, pc);
        }
        let end = self.out.code.len();
        for &at in &copy.jumps {
            let moved = |to: &mut usize| *to = copy.begins.get(*to).copied().unwrap_or(end);
            match &mut self.out.code[at] {
                Instr::Branch(_, a, b) => {
                    moved(a);
                    moved(b);
                }
                Instr::Jump(a) => moved(a),
                _ => {}
            }
        }
        for &at in &copy.exits {
            self.out.code[at] = Instr::Jump(end);
        }
        self.path.pop();
    }

    fn instruction(&mut self, copy: &mut Body, pc: usize) {
        let program = self.inliner.program;
        let t = &program.templates[copy.function];
        let (origin, access) = (self.origin(copy, t.origins[pc]), t.access[pc]);
        match &t.code[pc] {
            Instr::Return(e) => {
                let e = e.as_ref().map(|e| copy.expr(e));
                self.returns(copy, e, pc + 1 == t.code.len(), origin);
            }
            Instr::Call { function, arguments, result } => {
                let arguments = arguments.iter().map(|e| copy.expr(e)).collect();
                let result = result.and_then(|r| copy.register(r));
                self.call(copy, Called { function: *function, arguments, result }, origin);
            }
            Instr::CallPointer { address, arguments, result } => {
                let types: Vec<Int> = arguments.iter().map(|(_, at)| *at).collect();
                let known = self.inliner.flow.functions(program, copy.function, address, &types);
                let pointer = (copy.expr(address), known, types);
                let arguments = arguments.iter().map(|(e, _)| copy.expr(e)).collect();
                let result = result.and_then(|r| copy.register(r));
                self.call_pointer(copy, pointer, Called { function: 0, arguments, result }, origin);
            }
            Instr::Let(r, e) if self.passes(copy, *r, e) => copy.registers[*r as usize] = copy.expr(e),
            i => {
                let i = self.translated(copy, i);
                if matches!(i, Instr::Branch(..) | Instr::Jump(_)) {
                    copy.jumps.push(self.out.code.len());
                }
                if !matches!(&i, Instr::Pointer(PointerUse::Moved(a, b)) if is_near(a, b)) {
                    self.emit(i, origin, access);
                }
            }
        }
    }

    /// Returns whether a register only hands a constant on, so that nothing need be written.
    fn passes(&self, copy: &Body, r: Reg, e: &Expr) -> bool {
        let e = copy.expr(e);
        self.inliner.passing[copy.function][r as usize] && (e.constant().is_some() || is_place(&e))
    }

    fn emit(&mut self, i: Instr, origin: u32, access: Access) {
        self.inliner.written += 1;
        self.out.code.push(i);
        self.out.origins.push(origin);
        self.out.access.push(access);
    }

    /// Returns an instruction with new registers, variables and templates.
    fn translated(&self, copy: &Body, i: &Instr) -> Instr {
        let r = |r: Reg| copy.register(r).unwrap_or(r);
        match i.mapped(&|e| copy.expr(e), &r) {
            Instr::Branch(Expr::Const(v), yes, no) => Instr::Jump(if v != 0 { yes } else { no }),
            Instr::Spawn(t, arguments, to) => {
                let child = self.inliner.starts.iter().position(|&s| s == t).unwrap_or(0);
                Instr::Spawn(child, arguments, to)
            }
            i => i,
        }
    }

    /// Writes a return: the function goes on behind its call.
    fn returns(&mut self, copy: &mut Body, e: Option<Expr>, is_last: bool, origin: u32) {
        let is_root = self.path.len() == 1;
        if is_root {
            let end = match self.fixed {
                true => Instr::End(e.unwrap_or(Expr::Const(0))),
                false => Instr::Return(e),
            };
            return self.emit(end, origin, Access::Plain);
        }
        match (copy.result, e) {
            (Some(to), Some(e)) if e != Expr::Reg(to) => {
                let e = e.converted(self.out.registers[to as usize], &self.out.registers);
                self.emit(Instr::Let(to, e), origin, Access::Plain);
            }
            (Some(to), None) => self.emit(Instr::Any(to), origin, Access::Plain),
            // What it computes may be undefined.
            (None, Some(e @ (Expr::Bin(..) | Expr::Cast(..) | Expr::Convert(..)))) => {
                let unused = self.register(PTR);
                self.emit(Instr::Let(unused, e), origin, Access::Plain);
            }
            _ => {}
        }
        if !is_last {
            copy.exits.push(self.out.code.len());
            self.emit(Instr::Jump(usize::MAX), origin, Access::Plain);
        }
    }

    /// Returns whether a function may be put in place of a call.
    fn may_inline(&self, copy: &Body, function: usize) -> bool {
        let inliner = &*self.inliner;
        let t = &inliner.program.templates[function];
        let frame: u64 = t.locals.iter().map(|l| u64::from(l.size) + u64::from(l.align)).sum();
        !inliner.recursive[function]
            && !self.path.contains(&function)
            && self.path.len() < inliner.budget.depth
            && inliner.written + t.code.len() <= inliner.budget.instructions
            && u64::from(copy.top) + frame <= u64::from(inliner.budget.frame)
    }

    /// Writes a call, or the function in its place.
    fn call(&mut self, copy: &Body, called: Called, origin: u32) {
        let Called { function, arguments, result } = called;
        if !self.may_inline(copy, function) {
            let function = self.inliner.number_called(function);
            return self.emit(Instr::Call { function, arguments, result }, origin, Access::Plain);
        }
        let path = self.path_from(origin);
        let here = self.origin_of_call(&path, function, origin);
        let program = self.inliner.program;
        let t = &program.templates[function];
        let (mut known, mut left) = (vec![None; t.registers.len()], Vec::new());
        for (r, (e, at)) in arguments.into_iter().zip(&t.registers).take(t.arguments).enumerate() {
            match e {
                Expr::Const(v) if !self.inliner.assigned[function][r] => {
                    known[r] = Some(Expr::Const(at.wrap(v)));
                }
                e if !self.inliner.assigned[function][r] && is_place(&e) => known[r] = Some(e),
                e => left.push((r, e, *at)),
            }
        }
        let given = left.iter().map(|(r, ..)| *r).chain((0..known.len()).filter(|&r| known[r].is_some()));
        let given: Vec<usize> = given.collect();
        self.share_result(t, result, &mut known);
        let registers = self.registers(function, &known);
        for r in (0..t.arguments).filter(|r| !given.contains(r)) {
            if let Expr::Reg(r) = registers[r] {
                self.emit(Instr::Any(r), here, Access::Plain);
            }
        }
        for (r, e, at) in left {
            if let Expr::Reg(to) = registers[r] {
                let e = e.converted(at, &self.out.registers);
                self.emit(Instr::Let(to, e), here, Access::Plain);
            }
        }
        let mut inner = self.copy(function, registers, copy.top);
        (inner.path, inner.result) = (path, result);
        self.body(&mut inner);
        if !program.starvation.is_empty() {
            // Between two calls in a row, the thread is in neither.
            self.emit(Instr::Jump(self.out.code.len() + 1), origin, Access::Plain);
        }
    }

    /// Where a function has one return, of a register without a name, this is the register of the
    /// result.
    fn share_result(&self, t: &Template, result: Option<Reg>, known: &mut [Option<Expr>]) {
        let mut returns = t.code.iter().filter_map(|i| match i {
            Instr::Return(e) => Some(e),
            _ => None,
        });
        let (Some(to), Some(Some(Expr::Reg(r))), None) = (result, returns.next(), returns.next()) else {
            return;
        };
        let (r, to) = (*r as usize, to as usize);
        let alike = t.registers[r] == self.out.registers[to];
        if r >= t.arguments && alike && t.names[r].is_none() && self.out.names[to].is_none() {
            known[r] = Some(Expr::Reg(to as Reg));
        }
    }

    /// Writes a call of whichever function a pointer points to.
    fn call_pointer(
        &mut self,
        copy: &Body,
        (pointer, known, types): (Expr, Vec<usize>, Vec<Int>),
        called: Called,
        origin: u32,
    ) {
        let program = self.inliner.program;
        if let Expr::Const(a) = pointer {
            return match program.function_at(a).filter(|&f| program.templates[f].takes(&types)) {
                Some(function) => self.call(copy, Called { function, ..called }, origin),
                None => self.unknown(origin),
            };
        }
        let pointer = match pointer {
            e @ Expr::Reg(_) => e,
            e => {
                let r = self.register(PTR);
                self.emit(Instr::Let(r, e), origin, Access::Plain);
                Expr::Reg(r)
            }
        };
        let mut ends = Vec::new();
        for function in known {
            let number = i64::from(program.templates[function].pointer.unwrap_or(0));
            let is = Expr::bin(BinOp::Eq, pointer.clone(), Expr::Const(address(FUNCTION + number, 0)), PTR);
            let branch = self.out.code.len();
            self.emit(Instr::Branch(is, branch + 1, usize::MAX), origin, Access::Plain);
            let arguments = called.arguments.clone();
            self.call(copy, Called { function, arguments, result: called.result }, origin);
            ends.push(self.out.code.len());
            self.emit(Instr::Jump(usize::MAX), origin, Access::Plain);
            let here = self.out.code.len();
            if let Instr::Branch(_, _, no) = &mut self.out.code[branch] {
                *no = here;
            }
        }
        self.unknown(origin);
        let end = self.out.code.len();
        ends.into_iter().for_each(|at| self.out.code[at] = Instr::Jump(end));
    }

    fn unknown(&mut self, origin: u32) {
        let why = "a pointer is called that is not a known function";
        self.emit(Instr::Unmodelled(why.into()), origin, Access::Plain);
    }

    // ---- origins ----

    /// Returns the path into a function that is called here: its number, the functions and the
    /// lines of the calls.
    fn path_from(&mut self, call: u32) -> (u32, String, Vec<u32>) {
        self.inliner.paths += 1;
        let origin = &self.inliner.origins[call as usize];
        let mut calls = origin.calls.clone();
        calls.push(origin.line);
        (self.inliner.paths, format!("{} > ", origin.function), calls)
    }

    /// Returns the origin of what hands the arguments over: the call, inside of the function.
    fn origin_of_call(&mut self, path: &(u32, String, Vec<u32>), function: usize, call: u32) -> u32 {
        let function = format!("{}{}", path.1, self.inliner.program.templates[function].name);
        let origin = &self.inliner.origins[call as usize];
        let inside = Origin { function, calls: path.2.clone(), labels: Vec::new(), ..origin.clone() };
        self.inliner.origins.push(inside);
        self.inliner.origins.len() as u32 - 1
    }

    /// Returns the origin of an instruction of a copy.
    fn origin(&mut self, copy: &Body, of: u32) -> u32 {
        let inliner = &mut *self.inliner;
        let (path, prefix, calls) = &copy.path;
        let next = inliner.origins.len() as u32;
        let n = *inliner.known_origins.entry((of, *path)).or_insert(next);
        if n == next {
            let mut origin = inliner.program.origins[of as usize].clone();
            origin.function = format!("{prefix}{}", origin.function);
            origin.calls = calls.iter().chain(&origin.calls).copied().collect();
            inliner.origins.push(origin);
        }
        n
    }
}

impl Body {
    /// Returns an expression with new registers and variables.
    fn expr(&self, e: &Expr) -> Expr {
        e.replaced(&|e| match e {
            Expr::Reg(r) => Some(self.registers[*r as usize].clone()),
            Expr::Local(k) => Some(self.locals[*k as usize].clone()),
            _ => None,
        })
    }

    /// Returns the register that stands for one that is assigned to.
    fn register(&self, r: Reg) -> Option<Reg> {
        match self.registers[r as usize] {
            Expr::Reg(r) => Some(r),
            _ => None,
        }
    }
}

/// Returns whether an expression is an address in a variable of a function.
fn is_place(e: &Expr) -> bool {
    match e {
        Expr::Local(_) => true,
        Expr::Bin(BinOp::Add, a, b, _) => is_place(a) && b.constant().is_some(),
        _ => false,
    }
}

/// Returns whether one constant address is near another.
fn is_near(a: &Expr, b: &Expr) -> bool {
    matches!((a, b), (Expr::Const(a), Expr::Const(b)) if object_of(*a) == object_of(*b))
}

/// A variable of a function as an object.
fn object(local: &Local) -> Object {
    Object {
        name: local.name.clone(),
        init: vec![OPEN; local.size as usize],
        base: 0,
        align: local.align,
        parts: local.parts.clone(),
        visible: true,
        global: false,
        library: false,
        leaves: false,
        external: false,
    }
}
