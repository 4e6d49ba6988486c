//! Writes the monitor into the code of a template.

use throng_goto::program::{
    Access, BOOL, BinOp, Expr, Instr, Int, PTR, Program, Reg, Side, Template, Violation,
};
use throng_goto::waiting::WaitingLoop;
use throng_memory::Order;
use throng_memory::rules::{Access as Rule, Bit, Formula, Kind, Mine, Of};

use super::bits::{BIT, Ghosts, OTHER, Shared, TARGET, without_order};
use super::places::{Places, Section, sections};
use super::shadow;
use super::{Asks, Slice, is_internal};

/// What a template is written with.
pub struct Context<'a> {
    /// The program without the monitor.
    pub program: &'a Program,
    /// Its addresses.
    pub places: &'a Places,
    /// The variables of the monitor.
    pub ghosts: &'a Ghosts,
    /// What is asked.
    pub slice: Slice,
    /// The waiting loops of the template.
    pub waiting: &'a [&'a WaitingLoop],
}

/// Returns a template with the monitor. `begins`: its threads are there from the start, and know
/// nothing; others know what their parents do.
pub fn template(context: &Context<'_>, k: usize, begins: bool) -> Result<Template, String> {
    let old = &context.program.templates[k];
    let sections = sections(old)?;
    let mut writer = Writer::new(context, k, &sections);
    if begins {
        writer.origin = old.origins.first().copied().unwrap_or(0);
        writer.begin();
    }
    for pc in 0..old.code.len() {
        writer.place(pc);
        writer.origin = old.origins[pc];
        writer.instruction(pc)?;
    }
    match context.slice.asks {
        Asks::Robust => shadow::write(&mut writer)?,
        Asks::Race => shadow::ends(&mut writer),
    }
    Ok(writer.finish())
}

/// A place in the code to come: first the old instructions, then those of the shadow, then others.
pub type Label = usize;

/// Writes the code of a template.
pub struct Writer<'a> {
    /// What it is written with.
    pub context: &'a Context<'a>,
    /// The number of the template.
    pub template: usize,
    /// The template without the monitor.
    pub old: &'a Template,
    sections: &'a [Section],
    new: Template,
    labels: Vec<usize>,
    /// Where the instructions to come are from.
    pub origin: u32,
    /// The first register of the monitor's bits.
    first: Reg,
    /// Whether an operation has read and not written yet, and the address.
    pending: Reg,
    pending_at: Reg,
    /// In the shadow: whether the next write of an operation is behind the stale one.
    pub direct: Reg,
    /// Whether a section goes on from an access to what is said about it.
    open: bool,
    /// The program is not robust.
    pub bad: Label,
    /// The thread goes no further.
    pub stops: Label,
}

impl<'a> Writer<'a> {
    fn new(context: &'a Context<'a>, k: usize, sections: &'a [Section]) -> Writer<'a> {
        let old = &context.program.templates[k];
        let n = old.code.len();
        let mut new = Template {
            code: Vec::new(),
            origins: Vec::new(),
            access: Vec::new(),
            doubts: Vec::new(),
            copies: Vec::new(),
            bits: Vec::new(),
            ..old.clone()
        };
        let first = old.arguments;
        for (place, mine) in context.ghosts.own.iter().enumerate() {
            if new.owners.len() == new.names.len() {
                new.owners.insert(first + place, String::new());
            }
            new.registers.insert(first + place, BIT);
            new.names.insert(first + place, Some(format!("monitor.{}", format!("{mine:?}").to_lowercase())));
        }
        new.arguments += context.ghosts.own.len();
        let mut writer = Writer {
            context,
            template: k,
            old,
            sections,
            new,
            labels: vec![usize::MAX; 2 * n + 2],
            origin: 0,
            first: first as Reg,
            pending: 0,
            pending_at: 0,
            direct: 0,
            open: false,
            bad: 2 * n,
            stops: 2 * n + 1,
        };
        writer.pending = writer.register(BIT);
        writer.pending_at = writer.register(PTR);
        writer.direct = writer.register(BIT);
        writer
    }

    /// A new register.
    pub fn register(&mut self, ty: Int) -> Reg {
        if self.new.owners.len() == self.new.names.len() {
            self.new.owners.push(String::new());
        }
        self.new.registers.push(ty);
        self.new.names.push(None);
        self.new.registers.len() as Reg - 1
    }

    /// A new label.
    pub fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        self.labels.len() - 1
    }

    /// The label is here.
    pub fn place(&mut self, label: Label) {
        self.labels[label] = self.new.code.len();
    }

    /// Adds an instruction of the monitor.
    pub fn emit(&mut self, i: Instr) {
        self.emit_as(i, Access::Plain);
    }

    fn emit_as(&mut self, i: Instr, access: Access) {
        self.new.code.push(i);
        self.new.access.push(access);
        self.new.origins.push(self.origin);
    }

    /// Adds the instruction at a place of the old code, perhaps with another address.
    pub fn keep(&mut self, pc: usize, i: Instr) {
        let at = self.new.code.len();
        let doubts = self.old.doubts.iter().filter(|d| d.0 == pc).map(|d| (at, d.1.clone()));
        self.new.doubts.extend(doubts);
        if self.old.copies.binary_search(&pc).is_ok() {
            self.new.copies.push(at);
        }
        if let Some(bits) = self.old.field(pc) {
            self.new.bits.push((at, bits));
        }
        self.emit_as(i, self.old.access[pc]);
    }

    fn finish(self) -> Template {
        let Writer { mut new, labels, .. } = self;
        let to = |l: &mut usize| *l = labels[*l];
        for i in &mut new.code {
            match i {
                Instr::Branch(_, a, b) => {
                    to(a);
                    to(b);
                }
                Instr::Jump(a) => to(a),
                _ => {}
            }
        }
        new
    }

    /// A register of the old code.
    pub fn shifted(&self, r: Reg) -> Reg {
        if r < self.first { r } else { r + self.context.ghosts.own.len() as Reg }
    }

    /// An expression of the old code.
    pub fn own(&self, e: &Expr) -> Expr {
        let leaf = |e: &Expr| match e {
            Expr::Reg(r) => Some(Expr::Reg(self.shifted(*r))),
            _ => None,
        };
        e.replaced(&leaf)
    }

    /// An instruction of the old code. Labels are as in the old code.
    pub fn moved(&self, i: &Instr) -> Result<Instr, String> {
        let (e, r) = (|e: &Expr| self.own(e), |r: &Reg| self.shifted(*r));
        let own = self.context.ghosts.own.iter();
        Ok(match i {
            Instr::Let(x, a) => Instr::Let(r(x), e(a)),
            Instr::Any(x) => Instr::Any(r(x)),
            Instr::Load(x, a, at) => Instr::Load(r(x), e(a), *at),
            Instr::Store(a, v, at) => Instr::Store(e(a), e(v), *at),
            Instr::Branch(c, a, b) => Instr::Branch(e(c), *a, *b),
            Instr::Assume(c) => Instr::Assume(e(c)),
            Instr::Spawn(t, args, x) => {
                let bits = own.map(|mine| self.of_child(*mine));
                Instr::Spawn(*t, args.iter().map(e).chain(bits).collect(), r(x))
            }
            Instr::Join(a, x) => Instr::Join(e(a), r(x)),
            Instr::Free(a) => Instr::Free(e(a)),
            Instr::Begins(a, size) => Instr::Begins(e(a), *size),
            Instr::Ends(list) => Instr::Ends(list.iter().map(|(a, size)| (e(a), *size)).collect()),
            Instr::Pointer(_) => Instr::Pointer(self.used(i)?),
            Instr::Meets(a, side) => Instr::Meets(e(a), *side),
            Instr::Acquire(a) => Instr::Acquire(e(a)),
            Instr::Release(a) => Instr::Release(e(a)),
            Instr::End(a) => Instr::End(e(a)),
            Instr::Return(a) => Instr::Return(a.as_ref().map(e)),
            // The thread goes on behind it, unless that is asked about.
            Instr::Fail(Violation::Locks, _) if !self.context.program.asked.contains(&Violation::Locks) => {
                i.clone()
            }
            // It was asked about without the monitor.
            Instr::Fail(..) => Instr::Assume(Expr::Const(0)),
            Instr::Jump(_)
            | Instr::AtomicBegin
            | Instr::AtomicEnd
            | Instr::Fence(_)
            | Instr::Unmodelled(_)
            | Instr::Halt => i.clone(),
            Instr::Alloc(..) | Instr::Resize(..) | Instr::Call { .. } | Instr::CallPointer { .. } => {
                return Err("memory is allocated, or a function is called".into());
            }
        })
    }

    fn used(&self, i: &Instr) -> Result<throng_goto::program::PointerUse, String> {
        use throng_goto::program::PointerUse as Use;
        let Instr::Pointer(using) = i else { return Err("not a use of a pointer".into()) };
        let e = |e: &Expr| self.own(e);
        Ok(match using {
            Use::Moved(a, b) => Use::Moved(e(a), e(b)),
            Use::Ordered(a, b) => Use::Ordered(e(a), e(b)),
            Use::Compared(a, b) => Use::Compared(e(a), e(b)),
            Use::Number(a) => Use::Number(e(a)),
            Use::Bytes => Use::Bytes,
        })
    }

    /// What a new thread knows: what its parent does; it has made no fence yet.
    fn of_child(&self, mine: Mine) -> Expr {
        match mine {
            Mine::Aware | Mine::Current => self.bit(mine),
            Mine::Acquired => self.bit(Mine::Current),
            Mine::Released | Mine::Fenced | Mine::Pending | Mine::Ordered => Expr::Const(1),
        }
    }

    /// Threads that are there from the start know nothing.
    fn begin(&mut self) {
        for (n, mine) in self.context.ghosts.own.iter().enumerate() {
            let value = Expr::Const(i64::from(*mine != Mine::Aware));
            self.emit(Instr::Let(self.first + n as Reg, value));
        }
    }

    /// A bit of the thread; what is not kept is not known.
    fn bit(&self, mine: Mine) -> Expr {
        match self.context.ghosts.place(mine) {
            Some(n) => Expr::Reg(self.first + n as Reg),
            None => Expr::Const(i64::from(mine != Mine::Aware)),
        }
    }

    fn set(&mut self, mine: Mine, to: Expr) {
        if let Some(n) = self.context.ghosts.place(mine) {
            self.emit(Instr::Let(self.first + n as Reg, to));
        }
    }

    /// The value of a shared variable of the monitor.
    pub fn get(&mut self, which: Shared) -> Expr {
        let ty = if which == Shared::Value { self.target_type() } else { BIT };
        let r = self.register(ty);
        self.emit(Instr::Load(r, Expr::Const(self.context.ghosts.shared(which)), ty));
        Expr::Reg(r)
    }

    fn put(&mut self, which: Shared, to: Expr) {
        let ty = if which == Shared::Value { self.target_type() } else { BIT };
        self.emit(Instr::Store(Expr::Const(self.context.ghosts.shared(which)), to, ty));
    }

    fn target_type(&self) -> Int {
        self.context.places.at(self.context.slice.address).ty.unwrap_or(BIT)
    }

    /// Any truth value.
    fn choice(&mut self) -> Expr {
        let r = self.register(BOOL);
        self.emit(Instr::Any(r));
        Expr::Reg(r)
    }

    /// The program is not robust, or has a race.
    pub fn fails(&mut self) {
        let slice = self.context.slice;
        let name = self.context.program.name_of(slice.address).unwrap_or_else(|| "memory".into());
        let why = match slice.asks {
            Asks::Robust => format!("an older value of `{name}` may be met"),
            Asks::Race => format!("accesses of `{name}` may race"),
        };
        self.emit(Instr::Fail(Violation::Assertion, why));
    }

    /// The next instruction is for a thread of which all of this holds; others go on at the label
    /// that is returned. Each condition has a branch of its own: each is a fact that a proof can
    /// use alone.
    pub fn where_all(&mut self, conditions: Vec<Expr>) -> Label {
        let otherwise = self.label();
        for condition in conditions {
            let next = self.label();
            self.emit(Instr::Branch(condition, next, otherwise));
            self.place(next);
        }
        otherwise
    }

    fn fails_if(&mut self, conditions: Vec<Expr>) {
        let otherwise = self.where_all(conditions);
        self.emit(Instr::Jump(self.bad));
        self.place(otherwise);
    }
}

fn and(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Const(0), _) | (_, Expr::Const(0)) => Expr::Const(0),
        (Expr::Const(_), e) | (e, Expr::Const(_)) => e,
        (a, b) => Expr::bin(BinOp::And, a, b, BIT),
    }
}

fn or(a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (Expr::Const(0), e) | (e, Expr::Const(0)) => e,
        (Expr::Const(_), _) | (_, Expr::Const(_)) => Expr::Const(1),
        (a, b) => Expr::bin(BinOp::Or, a, b, BIT),
    }
}

fn not(e: Expr) -> Expr {
    Expr::bin(BinOp::Eq, e, Expr::Const(0), BIT)
}

impl Writer<'_> {
    fn instruction(&mut self, pc: usize) -> Result<(), String> {
        let (old, context) = (self.old, self.context);
        match &old.code[pc] {
            Instr::Load(_, a, _) | Instr::Store(a, ..) => self.access(pc, a),
            Instr::Fence(order) => {
                self.section(pc, true);
                self.rule(Rule::fence(self.order(*order)), 0);
                self.section(pc, false);
                let moved = self.moved(&old.code[pc])?;
                self.keep(pc, moved);
                Ok(())
            }
            Instr::Acquire(a) | Instr::Release(a) | Instr::Meets(a, _) => {
                let acquires = matches!(old.code[pc], Instr::Acquire(_) | Instr::Meets(_, Side::Acquires));
                let found = context.places.resolve(context.program, self.template, a)?;
                if !std::mem::take(&mut self.open) {
                    self.section(pc, true);
                }
                let a = self.own(&context.places.fold(self.template, a));
                self.one_of(a, &found, &mut |w, address| {
                    w.lock(acquires, address);
                    Ok(())
                })?;
                let moved = self.moved(&old.code[pc])?;
                self.keep(pc, moved);
                self.section(pc, false);
                Ok(())
            }
            Instr::AtomicEnd => {
                if let Some(read) = self.sections[pc].read {
                    self.failed(read)?;
                }
                self.keep(pc, Instr::AtomicEnd);
                Ok(())
            }
            i => {
                let moved = self.moved(i)?;
                self.keep(pc, moved);
                Ok(())
            }
        }
    }

    /// Begins or ends an atomic section for what is not in one.
    fn section(&mut self, pc: usize, begins: bool) {
        if !self.sections[pc].inside {
            self.emit(if begins { Instr::AtomicBegin } else { Instr::AtomicEnd });
        }
    }

    /// Does something for each place that an address may be.
    fn one_of(
        &mut self,
        a: Expr,
        places: &[i64],
        act: &mut dyn FnMut(&mut Self, i64) -> Result<(), String>,
    ) -> Result<(), String> {
        if let ([one], Expr::Const(_)) = (places, &a) {
            return act(self, *one);
        }
        let done = self.label();
        for &place in places {
            let (here, rest) = (self.label(), self.label());
            let is = Expr::bin(BinOp::Eq, a.clone(), Expr::Const(place), Int::new(8, true));
            self.emit(Instr::Branch(is, here, rest));
            self.place(here);
            act(self, place)?;
            self.emit(Instr::Jump(done));
            self.place(rest);
        }
        self.place(done);
        Ok(())
    }

    /// Returns whether an access to an address matters to the slice.
    fn matters(&self, address: i64) -> bool {
        address == self.context.slice.address || self.context.places.at(address).is_source()
    }

    fn access(&mut self, pc: usize, a: &Expr) -> Result<(), String> {
        let (context, old) = (self.context, self.old);
        let found = context.places.resolve(context.program, self.template, a)?;
        let found: Vec<i64> = found.into_iter().filter(|&a| self.matters(a)).collect();
        let moved = self.moved(&old.code[pc])?;
        if found.is_empty() {
            self.keep(pc, moved);
            return Ok(());
        }
        let folded = self.own(&context.places.fold(self.template, a));
        self.section(pc, true);
        let done = self.label();
        let constant = folded.constant().is_some();
        self.one_of(folded, &found, &mut |w, address| {
            w.effect(pc, address)?;
            let here = match moved.clone() {
                Instr::Load(r, _, at) => Instr::Load(r, Expr::Const(address), at),
                Instr::Store(_, e, at) => Instr::Store(Expr::Const(address), e, at),
                i => i,
            };
            w.keep(pc, here);
            if !constant {
                w.emit(Instr::Jump(done));
            }
            Ok(())
        })?;
        if !constant {
            self.keep(pc, moved);
        }
        self.place(done);
        self.open = self.unlocks(pc);
        if !self.open {
            self.section(pc, false);
        }
        Ok(())
    }

    /// Returns whether an access takes or gives back a lock outside of a section, and the next
    /// instruction says so: they are one step.
    fn unlocks(&self, pc: usize) -> bool {
        let code = &self.old.code;
        let says = matches!(code.get(pc + 1), Some(Instr::Acquire(_) | Instr::Release(_)));
        let enters = |i: &Instr| match i {
            Instr::Branch(_, a, b) => *a == pc + 1 || *b == pc + 1,
            Instr::Jump(a) => *a == pc + 1,
            _ => false,
        };
        let alone = !self.sections[pc].inside && is_internal(self.old.access[pc]);
        says && alone && !code.iter().any(enters)
    }

    fn order(&self, order: Order) -> Order {
        if self.context.slice.asks == Asks::Race { without_order(order) } else { order }
    }

    /// The monitor's part of an access.
    fn effect(&mut self, pc: usize, address: i64) -> Result<(), String> {
        let access = self.old.access[pc];
        let writes = matches!(self.old.code[pc], Instr::Store(..));
        let used = self.context.places.at(address);
        let hits = address == self.context.slice.address;
        if is_internal(access) {
            self.internal(address, writes);
            return Ok(());
        }
        if hits && self.context.slice.asks == Asks::Race {
            self.racing(access, writes);
        }
        if access == Access::Plain && !used.atomic {
            return Ok(());
        }
        let (kind, order) = match (access, writes) {
            (Access::Atomic(order), true) => (Kind::Store, order),
            (Access::Atomic(order), false) => (Kind::Load, order),
            (Access::Update(done, _), true) => (Kind::Update, done),
            (Access::Update(done, _), false) => {
                self.emit(Instr::Let(self.pending, Expr::Const(1)));
                self.emit(Instr::Let(self.pending_at, Expr::Const(address)));
                (Kind::Update, done)
            }
            (Access::Plain | Access::Internal, true) => (Kind::Store, Order::Relaxed),
            (Access::Plain | Access::Internal, false) => (Kind::Load, Order::Relaxed),
        };
        let location = if hits && self.context.slice.asks == Asks::Robust { TARGET } else { OTHER };
        let rule = Rule { kind, location, order: self.order(order) };
        let update = matches!(access, Access::Update(..));
        match (location == TARGET, writes) {
            (true, false) => self.may_be_stale(pc, rule, update),
            (true, true) => self.target_written(rule),
            (false, _) => {}
        }
        if update && !writes {
            return Ok(());
        }
        if update {
            self.emit(Instr::Let(self.pending, Expr::Const(0)));
        }
        if !(location == TARGET && writes) {
            self.rule(rule, address);
        }
        Ok(())
    }

    /// At the end of a section whose operation has read and may not have written.
    fn failed(&mut self, read: usize) -> Result<(), String> {
        let (context, old) = (self.context, self.old);
        let (Instr::Load(_, a, _), Access::Update(_, failed)) = (&old.code[read], old.access[read]) else {
            return Ok(());
        };
        let found = context.places.resolve(context.program, self.template, a)?;
        let found: Vec<i64> = found.into_iter().filter(|&a| self.matters(a)).collect();
        if found.is_empty() {
            return Ok(());
        }
        let (only_read, done) = (self.label(), self.label());
        self.emit(Instr::Branch(Expr::Reg(self.pending), only_read, done));
        self.place(only_read);
        let order = self.order(failed);
        let a = match context.places.fold(self.template, a) {
            Expr::Const(a) => Expr::Const(a),
            _ => Expr::Reg(self.pending_at),
        };
        self.one_of(a, &found, &mut |w, address| {
            let hits = address == context.slice.address && context.slice.asks == Asks::Robust;
            let location = if hits { TARGET } else { OTHER };
            w.rule(Rule { kind: Kind::Load, location, order }, address);
            Ok(())
        })?;
        self.emit(Instr::Let(self.pending, Expr::Const(0)));
        self.place(done);
        Ok(())
    }

    /// The library's own accesses: all threads agree on their order.
    fn internal(&mut self, address: i64, writes: bool) {
        if self.context.slice.asks == Asks::Race {
            return;
        }
        let its = |w: &mut Self, of: Of| w.value(Bit::Location(of, OTHER), address);
        let known = its(self, if writes { Of::ReaderAware } else { Of::WriterAware });
        self.set(Mine::Aware, or(self.bit(Mine::Aware), known));
        let changed: &[Of] = if writes { &[Of::ReaderAware, Of::WriterAware] } else { &[Of::ReaderAware] };
        for &of in changed {
            let now = or(its(self, of), self.bit(Mine::Aware));
            self.assign(Bit::Location(of, OTHER), address, now);
        }
    }

    /// A lock is taken or released.
    fn lock(&mut self, acquires: bool, address: i64) {
        let message = self.value(Bit::Location(Of::Message, OTHER), address);
        if acquires {
            for mine in [Mine::Current, Mine::Acquired] {
                self.set(mine, and(self.bit(mine), message.clone()));
            }
        } else {
            let now = and(message, self.bit(Mine::Current));
            self.assign(Bit::Location(Of::Message, OTHER), address, now);
        }
    }

    /// The address of a bit of a location.
    fn cell(&self, of: Of, address: i64) -> Option<i64> {
        self.context.ghosts.of(of, address)
    }

    /// The value of a bit.
    fn value(&mut self, bit: Bit, address: i64) -> Expr {
        match bit {
            Bit::Thread(mine) => self.bit(mine),
            Bit::Location(of, _) => match self.cell(of, address) {
                Some(cell) => {
                    let r = self.register(BIT);
                    self.emit(Instr::Load(r, Expr::Const(cell), BIT));
                    Expr::Reg(r)
                }
                // Who does not hand on anything lets others be aware and ignorant.
                None => Expr::Const(i64::from(!matches!(of, Of::WriterAware | Of::ReaderAware))),
            },
            Bit::Nothing => Expr::Const(1),
        }
    }

    fn assign(&mut self, bit: Bit, address: i64, to: Expr) {
        match bit {
            Bit::Thread(mine) => self.set(mine, to),
            Bit::Location(of, _) => {
                if let Some(cell) = self.cell(of, address) {
                    self.emit(Instr::Store(Expr::Const(cell), to, BIT));
                }
            }
            Bit::Nothing => {}
        }
    }

    fn formula(&mut self, f: &Formula, address: i64) -> Expr {
        match f {
            Formula::Constant(value) => Expr::Const(i64::from(*value)),
            Formula::Bit(bit) => self.value(*bit, address),
            // The stale write is the one that was chosen, and no later one.
            Formula::Old => Expr::Const(0),
            Formula::And(parts) => {
                parts.iter().fold(Expr::Const(1), |e, part| and(e, self.formula(part, address)))
            }
            Formula::Or(parts) => {
                parts.iter().fold(Expr::Const(0), |e, part| or(e, self.formula(part, address)))
            }
        }
    }

    /// Changes the bits for an access or a fence. What one knows by an access of the target counts
    /// only if the stale write was chosen before, or the last one.
    fn rule(&mut self, rule: Rule, address: i64) {
        let hits = rule.kind != Kind::Fence && rule.location == TARGET;
        let update = self.context.ghosts.monitor.step(&rule);
        let mut to: Vec<(Bit, Expr)> = Vec::new();
        let (begun, last) = match hits {
            true => (self.get(Shared::Begun), self.get(Shared::Last)),
            false => (Expr::Const(1), Expr::Const(1)),
        };
        for (bit, f) in &update.own {
            // Bits of other locations are those of the last write, behind which none comes.
            let elsewhere = matches!(bit, Bit::Location(_, l) if *l != rule.location);
            if elsewhere && rule.kind != Kind::Fence {
                continue;
            }
            let value = self.formula(f, address);
            let value = match is_awareness(bit) {
                true => and(value, last.clone()),
                false => or(value, not(begun.clone())),
            };
            let r = self.register(BIT);
            self.emit(Instr::Let(r, value));
            to.push((*bit, Expr::Reg(r)));
        }
        for (bit, value) in to {
            self.assign(bit, address, value);
        }
    }

    /// A thread is about to read the target: it may meet the stale write.
    fn may_be_stale(&mut self, pc: usize, rule: Rule, update: bool) {
        let Instr::Load(r, ..) = self.old.code[pc] else { return };
        let mut conditions = self.stale(rule, update);
        conditions.push(self.choice());
        let does_not = self.where_all(conditions);
        let value = self.get(Shared::Value);
        self.emit(Instr::Let(self.shifted(r), value));
        self.emit(Instr::Let(self.direct, Expr::Const(i64::from(update))));
        self.emit(Instr::Jump(shadow::goes(self, pc, pc + 1)));
        self.place(does_not);
    }

    /// The thread is aware of the last write, and the stale one is not ruled out.
    fn stale(&mut self, rule: Rule, may_fail: bool) -> Vec<Expr> {
        let mut all = vec![self.get(Shared::Last), self.bit(Mine::Aware), self.bit(Mine::Current)];
        if rule.order == Order::SeqCst && !may_fail {
            all.push(self.bit(Mine::Ordered));
        }
        all
    }

    /// The target is about to be written.
    fn target_written(&mut self, rule: Rule) {
        let update = rule.kind == Kind::Update;
        if !update {
            let read = self.get(Shared::Read);
            let mut conditions = self.stale(rule, false);
            conditions.push(not(read));
            self.fails_if(conditions);
        }
        let last = self.get(Shared::Last);
        self.emit(Instr::Assume(not(last)));
        let known = self.get(Shared::Begun);
        let begun = self.where_all(vec![not(known)]);
        let chosen = self.choice();
        let done = self.where_all(vec![chosen]);
        let (ty, old) = (self.target_type(), self.register(self.target_type()));
        self.emit(Instr::Load(old, Expr::Const(self.context.slice.address), ty));
        self.put(Shared::Value, Expr::Reg(old));
        self.put(Shared::Read, Expr::Const(i64::from(update)));
        self.put(Shared::Begun, Expr::Const(1));
        self.place(begun);
        self.rule(rule, self.context.slice.address);
        let last = self.choice();
        let goes_on = self.where_all(vec![last]);
        self.put(Shared::Last, Expr::Const(1));
        self.set(Mine::Aware, Expr::Const(1));
        self.place(goes_on);
        self.place(done);
    }

    /// An access of the target may race, or become the earlier one.
    fn racing(&mut self, access: Access, writes: bool) {
        let atomic = access.is_atomic();
        let begun = self.get(Shared::Begun);
        let mut races = vec![begun.clone(), self.bit(Mine::Current)];
        if !writes {
            races.push(self.get(Shared::Writes));
        }
        if atomic {
            let other = self.get(Shared::Atomic);
            races.push(not(other));
        }
        self.fails_if(races);
        let chosen = self.choice();
        let done = self.where_all(vec![not(begun), chosen]);
        self.put(Shared::Begun, Expr::Const(1));
        self.put(Shared::Writes, Expr::Const(i64::from(writes)));
        self.put(Shared::Atomic, Expr::Const(i64::from(atomic)));
        for mine in [Mine::Current, Mine::Acquired] {
            self.set(mine, Expr::Const(0));
        }
        self.place(done);
    }
}

fn is_awareness(bit: &Bit) -> bool {
    matches!(bit, Bit::Thread(Mine::Aware) | Bit::Location(Of::WriterAware | Of::ReaderAware, _))
}
