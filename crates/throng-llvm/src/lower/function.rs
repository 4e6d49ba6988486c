//! One function being written as a template: its values, its blocks, and where instructions come
//! from.
//!
//! A value is an expression over registers, or has no value (`undef`). What is computed from
//! registers alone is written where it is used, if it is used once: the registers that it reads
//! still have the same values there, because a use is dominated by its definition, and between the
//! two no edge is taken that assigns them again.

use rustc_hash::FxHashMap;

use super::demanded::Demanded;
use super::reach::Reach;
use super::{Lower, Problem, Result, Role};
use crate::debug::{Debug, Frame};
use crate::layout::{Leaf, leaves};
use crate::names::demangled;
use crate::syntax::tree::{Block, Function, Instruction, Op, Type, Typed, Value};
use throng_goto::program::{Access, Expr, Instr, Int, Origin, Reg, Template, Violation};

/// A part of a value: a number.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Operand {
    Is(Expr),
    /// It has no value, and may be anything.
    Undefined,
}

/// The most operators of an expression that is written where it is used.
const LARGEST: usize = 24;

/// Maximum number of instructions of one function.
const LONGEST: usize = 1 << 18;

/// The kinds of locks of the standard library whose words have models.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Family {
    /// One thread has it.
    Mutex,
    /// One writer has it, or some readers.
    RwLock,
}

/// What a compare-exchange, an exchange or a subtraction of a word does in a function of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Words {
    /// Takes a mutex, once it is free.
    Locks,
    /// Takes a mutex, if it is free.
    TriesToLock,
    /// Leaves a mutex.
    Unlocks,
    /// Takes a lock for readers and writers alone.
    LocksToWrite,
    /// Leaves a lock for readers and writers as a reader.
    UnlocksReader,
    /// Leaves a lock for readers and writers as a writer.
    UnlocksWriter,
    /// Goes on whatever the word of a lock for readers and writers is: it is read as it is compiled.
    Sees,
}

/// A function being written.
pub(crate) struct Writer<'l, 'a, 't> {
    pub lower: &'l mut Lower<'a, 't>,
    pub module: usize,
    pub function: &'a Function<'t>,
    pub role: Role,
    debug: Debug<'a, 't>,
    pub template: Template,
    /// Instructions refer to labels; where these are.
    labels: Vec<usize>,
    /// The labels of blocks.
    blocks: FxHashMap<&'t str, usize>,
    values: FxHashMap<&'t str, Vec<Operand>>,
    /// How often values are used.
    pub uses: FxHashMap<&'t str, u32>,
    /// What values are called in the source.
    names: FxHashMap<&'t str, &'t str>,
    /// Where the instruction that is written comes from.
    pub here: Option<u32>,
    span: (usize, usize),
    known: FxHashMap<(Option<u32>, usize), u32>,
    pub access: Access,
    /// What operations on words do in it.
    pub words: Option<Words>,
    /// Local variables in memory, by the name of their address.
    pub variables: FxHashMap<&'t str, u32>,
    /// Those whose lifetimes are marked.
    pub marked: Vec<u32>,
    /// Where and as what numbers variables are accessed, by the name of their address.
    pub shapes: FxHashMap<&'t str, Vec<(i64, u8)>>,
    /// The largest numbers that registers can be.
    pub bounds: FxHashMap<Reg, i64>,
    /// Where control may come.
    pub reach: Reach<'a, 't>,
    /// Which bits of values matter.
    pub demanded: Demanded<'t>,
    /// The instructions that define values.
    pub definitions: FxHashMap<&'t str, &'a Instruction<'t>>,
}

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    pub fn new(
        lower: &'l mut Lower<'a, 't>,
        module: usize,
        function: &'a Function<'t>,
        role: Role,
    ) -> Writer<'l, 'a, 't> {
        let debug = lower.debug(module);
        let name = match debug.function(function.described) {
            Some(frame) => plain(frame.function).to_string(),
            None => demangled(function.name),
        };
        let template = Template { name, single: role == Role::Main, ..Template::default() };
        Writer {
            lower,
            module,
            function,
            role,
            debug,
            template,
            labels: Vec::new(),
            blocks: FxHashMap::default(),
            values: FxHashMap::default(),
            uses: FxHashMap::default(),
            names: FxHashMap::default(),
            here: None,
            span: (function.span.start as usize, function.span.end as usize),
            known: FxHashMap::default(),
            access: Access::Plain,
            words: crate::models::words(&demangled(function.name)),
            variables: FxHashMap::default(),
            marked: Vec::new(),
            shapes: FxHashMap::default(),
            bounds: FxHashMap::default(),
            reach: Reach::default(),
            demanded: Demanded::default(),
            definitions: FxHashMap::default(),
        }
    }

    /// Writes the template of the function.
    pub fn write(mut self) -> Result<Template> {
        self.reach = Reach::of(self.function)?;
        let order = self.reach.order.clone();
        self.count_uses(&order);
        self.demanded = Demanded::of(&self.reach);
        self.parameters()?;
        self.variables(&order)?;
        for block in &order {
            let label = self.label();
            self.blocks.insert(block.label, label);
        }
        // Values that come from several blocks have registers.
        for i in order.iter().flat_map(|b| &b.code) {
            if let (Op::Phi(ty, _), Some(name)) = (&i.op, i.result) {
                self.at(i);
                if let Some(known) = self.reach.number(ty, &Value::Local(name)) {
                    self.set(Some(name), vec![Operand::Is(Expr::Const(known))]);
                    continue;
                }
                let registers = self.leaves(ty)?;
                let parts = registers
                    .into_iter()
                    .map(|(_, leaf)| Operand::Is(Expr::Reg(self.named_register(leaf.int(), name))));
                let parts: Vec<Operand> = parts.collect();
                if let (Some(most), [Operand::Is(Expr::Reg(r))]) =
                    (self.bound_of(&Value::Local(name), 0), &parts[..])
                {
                    self.bounds.insert(*r, most);
                }
                self.values.insert(name, parts);
            }
        }
        for block in order {
            let label = self.blocks[block.label];
            self.place_label(label);
            for (n, i) in block.code.iter().enumerate() {
                self.at(i);
                self.instruction(block, n, i).map_err(|p| self.placed(p))?;
                if self.template.code.len() > LONGEST {
                    return Err(self.placed(Problem::new("E854", "a function of this many instructions")));
                }
            }
        }
        Ok(self.finished())
    }

    /// Notes where what is written next comes from.
    fn at(&mut self, i: &Instruction<'t>) {
        self.here = i.place.or(self.here.filter(|_| matches!(i.op, Op::Debug { .. })));
        self.span = (i.span.start as usize, i.span.end as usize);
    }

    /// Returns a problem with the place in the source where it is.
    pub fn placed(&self, p: Problem) -> Problem {
        match p.place {
            Some(_) => p,
            None => {
                let frame = self.user_frames().into_iter().next();
                let place = frame.map(|f| (f.file, f.line, f.column)).or_else(|| {
                    let f = self.debug.function(self.function.described)?;
                    Some((f.file, f.line, 1))
                });
                Problem { place, ..p }
            }
        }
    }

    // ---- what the function says about its values ----

    fn count_uses(&mut self, order: &[&'a Block<'t>]) {
        for i in order.iter().flat_map(|b| &b.code) {
            self.definitions.extend(i.result.map(|name| (name, i)));
            if let Op::Debug { what: (_, Value::Local(name)), variable, whole: true, declares: false } = &i.op
                && let Some((written, true, _)) = self.debug.variable(*variable)
            {
                self.names.entry(name).or_insert(written);
            }
            if !matches!(i.op, Op::Debug { .. }) {
                operands(&i.op, &mut |v| {
                    if let Value::Local(name) = v {
                        *self.uses.entry(name).or_default() += 1;
                    }
                });
            }
        }
    }

    pub fn debug(&self) -> Debug<'a, 't> {
        self.debug
    }

    // ---- values ----

    pub fn resolved(&self, ty: &Type<'t>) -> Result<Type<'t>> {
        self.lower.resolved(self.module, ty)
    }

    /// Returns the numbers that a value of a type consists of.
    pub fn leaves(&self, ty: &Type<'t>) -> Result<Vec<(u64, Leaf)>> {
        leaves(&self.resolved(ty)?).map_err(Problem::unsupported)
    }

    /// Returns the parts of a value.
    pub fn parts(&mut self, ty: &Type<'t>, value: &Value<'t>) -> Result<Vec<Operand>> {
        match value {
            Value::Local(name) => match self.values.get(name) {
                Some(parts) => Ok(parts.clone()),
                None => Err(Problem::new("E853", format!("`%{name}` is used before it is defined"))),
            },
            Value::Undef | Value::Poison => Ok(self.leaves(ty)?.iter().map(|_| Operand::Undefined).collect()),
            Value::Parts(parts) => {
                let mut found = Vec::new();
                for (ty, v) in parts {
                    found.extend(self.parts(ty, v)?);
                }
                Ok(found)
            }
            _ => {
                let resolved = self.resolved(ty)?;
                let numbers = self.lower.constant(self.module, &resolved, value)?;
                Ok(numbers.into_iter().map(|v| Operand::Is(Expr::Const(v))).collect())
            }
        }
    }

    /// Returns a value that is one number.
    pub fn scalar(&mut self, ty: &Type<'t>, value: &Value<'t>) -> Result<Expr> {
        let parts = self.parts(ty, value)?;
        let leaves = self.leaves(ty)?;
        match (&parts[..], &leaves[..]) {
            ([one], [(_, leaf)]) => Ok(self.number(one.clone(), leaf.int())),
            _ => Err(Problem::unsupported(format!("an operation on {}", crate::syntax::name_of(ty)))),
        }
    }

    pub fn typed(&mut self, (ty, value): &Typed<'t>) -> Result<Expr> {
        self.scalar(ty, value)
    }

    /// Returns the number that a part of a value is; one without a value may be any.
    pub fn number(&mut self, part: Operand, at: Int) -> Expr {
        match part {
            Operand::Is(e) => e,
            Operand::Undefined => {
                let r = self.register(at, None);
                self.emit(Instr::Any(r));
                Expr::Reg(r)
            }
        }
    }

    /// Gives a result its parts. What has been loaded or chosen must be in registers already.
    pub fn set(&mut self, result: Option<&'t str>, parts: Vec<Operand>) {
        if let Some(name) = result {
            self.values.insert(name, parts);
        }
    }

    /// Gives a result that is one number, computed from registers alone.
    pub fn define(&mut self, result: Option<&'t str>, at: Int, e: Expr) {
        let Some(name) = result else { return };
        let uses = self.uses.get(name).copied().unwrap_or(0);
        let plain = matches!(e, Expr::Const(_) | Expr::Reg(_) | Expr::Local(_) | Expr::SelfId);
        let named = self.names.contains_key(name) && at != throng_goto::program::PTR;
        // An address in a variable stays what it is: provers then see which variable it is in.
        let place = at == throng_goto::program::PTR && is_place(&e);
        let e = match plain || place || uses == 0 && !named || uses <= 1 && !named && size(&e) <= LARGEST {
            true => e,
            false => {
                let r = self.named_register(at, name);
                self.bounds.extend(self.bound(&e).map(|most| (r, most)));
                self.emit(Instr::Let(r, e));
                Expr::Reg(r)
            }
        };
        self.values.insert(name, vec![Operand::Is(e)]);
    }

    // ---- code ----

    /// Returns a new register for a value, called as in the source.
    pub fn named_register(&mut self, at: Int, value: &str) -> Reg {
        let name = self.names.get(value).map(|name| name.to_string());
        self.register(at, name)
    }

    pub fn register(&mut self, at: Int, name: Option<String>) -> Reg {
        let t = &mut self.template;
        t.registers.push(at);
        t.owners.push(if name.is_some() { t.name.clone() } else { String::new() });
        t.names.push(name);
        t.registers.len() as Reg - 1
    }

    /// Computes a number now, into a register of its own.
    pub fn keep(&mut self, at: Int, e: Expr) -> Expr {
        if matches!(e, Expr::Const(_) | Expr::Local(_) | Expr::Reg(_)) {
            return e;
        }
        let r = self.register(at, None);
        self.bounds.extend(self.bound(&e).map(|most| (r, most)));
        self.emit(Instr::Let(r, e));
        Expr::Reg(r)
    }

    pub fn emit(&mut self, i: Instr) {
        self.lower.calls_pointers |= matches!(i, Instr::CallPointer { .. });
        let origin = self.origin();
        self.template.code.push(i);
        self.template.origins.push(origin);
        self.template.access.push(self.access);
    }

    /// Emits an instruction that makes an access of a kind.
    pub fn emit_as(&mut self, kind: Access, i: Instr) {
        let before = std::mem::replace(&mut self.access, kind);
        self.emit(i);
        self.access = before;
    }

    pub fn label(&mut self) -> usize {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }

    pub fn place_label(&mut self, label: usize) {
        let t = &mut self.template;
        // A jump to the next instruction is none.
        if t.code.last() == Some(&Instr::Jump(label)) {
            t.code.pop();
            t.origins.pop();
            t.access.pop();
        }
        self.labels[label] = self.template.code.len();
    }

    /// Emits a branch, and what is executed where the condition does not hold, which does not go on.
    pub fn unless(&mut self, condition: Expr, otherwise: impl FnOnce(&mut Self)) {
        match condition {
            Expr::Const(0) => return otherwise(self),
            Expr::Const(_) => return,
            _ => {}
        }
        let (good, bad) = (self.label(), self.label());
        self.emit(Instr::Branch(condition, good, bad));
        self.place_label(bad);
        otherwise(self);
        self.place_label(good);
    }

    /// The program violates an assertion here.
    pub fn fail(&mut self, why: impl Into<String>) {
        self.emit(Instr::Fail(Violation::Assertion, why.into()));
    }

    /// Returns the template that was written, with its labels resolved.
    pub fn finished(mut self) -> Template {
        let end = self.template.code.len();
        let ends = matches!(
            self.template.code.last(),
            Some(
                Instr::Jump(_)
                    | Instr::Branch(..)
                    | Instr::Return(_)
                    | Instr::End(_)
                    | Instr::Halt
                    | Instr::Fail(..)
                    | Instr::Unmodelled(_)
            )
        );
        if !ends || self.labels.contains(&end) {
            self.emit(Instr::Unmodelled("the end of a function".into()));
        }
        let mut template = self.template;
        for i in &mut template.code {
            match i {
                Instr::Branch(_, a, b) => {
                    *a = self.labels[*a];
                    *b = self.labels[*b];
                }
                Instr::Jump(a) => *a = self.labels[*a],
                _ => {}
            }
        }
        template.copies.sort_unstable();
        template.bits.sort_unstable();
        template
    }

    /// Returns the label of a block.
    pub fn block_label(&self, name: &str) -> Result<usize> {
        // The first block need not have a name where it is defined.
        let found = self.blocks.get(name).or_else(|| self.blocks.get(""));
        found.copied().ok_or_else(|| Problem::new("E853", format!("there is no block `{name}`")))
    }

    // ---- origins ----

    /// Returns the places of the instruction, from the innermost one in a file of the user's.
    fn user_frames(&self) -> Vec<Frame<'t>> {
        let frames = self.debug.frames(self.here);
        let named = |f: &Frame<'_>| f.line > 0;
        let own = frames.iter().position(|f| named(f) && self.lower.asked.sources.is_main(&f.file));
        let other = || frames.iter().position(|f| named(f) && !f.is_library());
        let first = own.or_else(other).or_else(|| frames.iter().position(named)).unwrap_or(0);
        frames.into_iter().skip(first).collect()
    }

    fn origin(&mut self) -> u32 {
        let key = (self.here, self.span.0);
        if let Some(&n) = self.known.get(&key) {
            return n;
        }
        let frames = self.user_frames();
        let sources = self.lower.asked.sources;
        let origin = match &frames[..] {
            [] => self.origin_of_function(),
            [frame, ..] => {
                let text = sources.line(&frame.file, frame.line).unwrap_or_default();
                let path: Vec<&str> = frames.iter().rev().map(|f| plain(f.function)).collect();
                Origin {
                    file: (!sources.is_main(&frame.file)).then(|| shortened(&frame.file)),
                    line: frame.line,
                    column: frame.column,
                    text: text.to_string(),
                    function: path.join(" > "),
                    calls: frames[1..].iter().rev().map(|f| f.line).collect(),
                    labels: Vec::new(),
                    span: self.span,
                }
            }
        };
        let n = self.lower.origin(origin);
        self.known.insert(key, n);
        n
    }

    /// The origin of what has no place of its own.
    fn origin_of_function(&self) -> Origin {
        let of = self.debug.function(self.function.described);
        let sources = self.lower.asked.sources;
        let (file, line) = of.map_or((None, 0), |f| (Some(f.file), f.line));
        let text = file.as_deref().and_then(|f| sources.line(f, line)).unwrap_or_default().to_string();
        let file = file.filter(|f| !sources.is_main(f)).map(|f| shortened(&f));
        Origin {
            file,
            line,
            text,
            function: self.template.name.clone(),
            span: self.span,
            ..Origin::default()
        }
    }
}

/// Returns a name of a function without the types that it was made for.
fn plain(name: &str) -> &str {
    if name.starts_with('{') { name } else { name.split('<').next().unwrap_or(name) }
}

/// Returns the name of a file of the standard library without where the compiler was built.
fn shortened(file: &str) -> String {
    match file.strip_prefix("/rustc/").and_then(|rest| rest.split_once('/')) {
        Some((_, rest)) => rest.to_string(),
        None => file.to_string(),
    }
}

/// Returns whether an expression is the address of a variable, or of a place in it.
fn is_place(e: &Expr) -> bool {
    use throng_goto::program::BinOp;
    match e {
        Expr::Bin(BinOp::Add, a, b, _) => {
            matches!(**a, Expr::Local(_) | Expr::Reg(_)) && matches!(**b, Expr::Const(_))
        }
        _ => false,
    }
}

/// Returns how many operators an expression has.
fn size(e: &Expr) -> usize {
    match e {
        Expr::Cast(a, _) | Expr::Convert(a, _) => 1 + size(a),
        Expr::Bin(_, a, b, _) | Expr::Float(_, a, b, _) => 1 + size(a) + size(b),
        _ => 0,
    }
}

/// Returns whether a register is in an expression.
pub(super) fn reads(e: &Expr, r: Reg) -> bool {
    let mut found = false;
    e.registers(&mut |x| found |= x == r);
    found
}

/// Calls `f` on the operands of an instruction.
pub(crate) fn operands<'t>(op: &Op<'t>, f: &mut impl FnMut(&Value<'t>)) {
    let mut value = |v: &Value<'t>| inner(v, f);
    match op {
        Op::Binary(_, _, _, a, b) | Op::Compare { a, b, .. } => {
            value(a);
            value(b);
        }
        Op::Cast(_, _, (_, v), _) | Op::Negate((_, v)) | Op::Freeze((_, v)) | Op::Load { from: v, .. } => {
            value(v);
        }
        Op::Store { what: (_, v), to, .. } => {
            value(v);
            value(to);
        }
        Op::Alloca { count, .. } => count.iter().for_each(|(_, v)| value(v)),
        Op::Element { base, indices, .. } => {
            value(base);
            indices.iter().for_each(|(_, v)| value(v));
        }
        Op::Select { condition, yes, no } => [condition, yes, no].into_iter().for_each(|(_, v)| value(v)),
        Op::Phi(_, ways) => ways.iter().for_each(|(v, _)| value(v)),
        Op::Call(call) => {
            value(&call.callee);
            call.arguments.iter().for_each(|a| value(&a.value));
        }
        Op::Return(v) => v.iter().for_each(|(_, v)| value(v)),
        Op::BranchIf(v, ..) | Op::Switch { on: (_, v), .. } => value(v),
        Op::Extract { from: (_, v), .. } => value(v),
        Op::Insert { into: (_, a), what: (_, b), .. } => {
            value(a);
            value(b);
        }
        Op::ReadModifyWrite { at, with: (_, v), .. } => {
            value(at);
            value(v);
        }
        Op::CompareExchange { at, expected: (_, v), new, .. } => [at, v, new].into_iter().for_each(value),
        Op::Debug { what: (_, v), .. } => value(v),
        Op::Branch(_) | Op::Unreachable | Op::Fence(_) | Op::Other(_) => {}
    }
}

fn inner<'t>(v: &Value<'t>, f: &mut impl FnMut(&Value<'t>)) {
    match v {
        Value::Parts(parts) => parts.iter().for_each(|(_, v)| inner(v, f)),
        v => f(v),
    }
}

impl<'l, 'a, 't> Writer<'l, 'a, 't> {
    /// Returns the parts of a value that was defined.
    pub(super) fn values_of(&self, name: &str) -> Option<&[Operand]> {
        self.values.get(name).map(Vec::as_slice)
    }
}
