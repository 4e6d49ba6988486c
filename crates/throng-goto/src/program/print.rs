//! Programs as text.

use std::fmt::Write as _;

use super::{Expr, Instr, Int, PointerUse, Program, Reg, Side, Template};

impl Program {
    fn show(&self, t: &Template, e: &Expr) -> String {
        match e {
            Expr::Const(v) => match self.name_of(*v) {
                Some(name) => format!("&{name}"),
                None => v.to_string(),
            },
            Expr::Reg(r) => register_name(t, *r),
            Expr::Cast(e, to) => format!("{}({})", to.name(), self.show(t, e)),
            Expr::Bin(op, a, b, _) => {
                format!("({} {} {})", self.show(t, a), op.symbol(), self.show(t, b))
            }
            Expr::SelfId => "self".into(),
            Expr::Local(k) => format!("&{}", local_name(t, *k)),
            Expr::Float(op, a, b, at) => {
                format!("({} {} {} as {})", self.show(t, a), op.symbol(), self.show(t, b), at.name())
            }
            Expr::Convert(e, conversion) => format!("{}({})", conversion.name(), self.show(t, e)),
        }
    }

    fn cell(&self, t: &Template, a: &Expr, at: Int) -> String {
        match a {
            Expr::Const(v) if self.name_of(*v).is_some() => self.name_of(*v).unwrap_or_default(),
            Expr::Local(k) => local_name(t, *k),
            a => format!("*({}*){}", at.name(), self.show(t, a)),
        }
    }

    /// One instruction as text.
    pub fn instruction(&self, t: &Template, i: &Instr) -> String {
        let show = |e: &Expr| self.show(t, e);
        let reg = |r: &Reg| register_name(t, *r);
        match i {
            Instr::Let(r, e) => format!("{} = {}", reg(r), show(e)),
            Instr::Any(r) => format!("{} = any {}", reg(r), t.registers[*r as usize].name()),
            Instr::Load(r, a, at) => format!("{} = load {}", reg(r), self.cell(t, a, *at)),
            Instr::Store(a, e, at) => format!("store {} = {}", self.cell(t, a, *at), show(e)),
            Instr::Branch(e, a, b) => format!("if {} goto {a} else {b}", show(e)),
            Instr::Jump(a) => format!("goto {a}"),
            Instr::Assume(e) => format!("assume {}", show(e)),
            Instr::Fence(order) => format!("fence {order}"),
            Instr::AtomicBegin => "atomic begin".into(),
            Instr::AtomicEnd => "atomic end".into(),
            Instr::Spawn(k, args, r) => {
                let args: Vec<String> = args.iter().map(show).collect();
                format!("{} = start {}({})", reg(r), self.templates[*k].name, args.join(", "))
            }
            Instr::Join(e, r) => format!("{} = join {}", reg(r), show(e)),
            Instr::Alloc(r, e) => format!("{} = allocate {}", reg(r), show(e)),
            Instr::Free(e) => format!("free {}", show(e)),
            Instr::Resize(r, a, size) => format!("{} = resize {} to {}", reg(r), show(a), show(size)),
            Instr::Begins(a, _) => format!("begins {}", self.variable(t, a)),
            Instr::Ends(list) => {
                let names: Vec<String> = list.iter().map(|l| self.variable(t, &l.0)).collect();
                format!("ends {}", names.join(", "))
            }
            Instr::Pointer(PointerUse::Moved(a, b)) => format!("near {}: {}", show(a), show(b)),
            Instr::Pointer(PointerUse::Ordered(a, b)) => format!("one object: {}, {}", show(a), show(b)),
            Instr::Pointer(PointerUse::Compared(a, b)) => format!("exist: {}, {}", show(a), show(b)),
            Instr::Pointer(PointerUse::Bytes) => "bytes as numbers".into(),
            Instr::Pointer(PointerUse::Number(a)) => format!("a number: {}", show(a)),
            Instr::Fail(_, why) => format!("fail: {why}"),
            Instr::Meets(e, Side::Acquires) => format!("has met {}", show(e)),
            Instr::Meets(e, Side::Releases) => format!("meets {}", show(e)),
            Instr::Acquire(e) => format!("acquired {}", show(e)),
            Instr::Release(e) => format!("released {}", show(e)),
            Instr::Unmodelled(why) => format!("not modelled: {why}"),
            Instr::Halt => "exit".into(),
            Instr::End(e) => format!("end {}", show(e)),
            Instr::Call { function, arguments, result } => {
                let arguments: Vec<String> = arguments.iter().map(show).collect();
                let name = &self.templates[*function].name;
                format!("{}call {name}({})", received(t, *result), arguments.join(", "))
            }
            Instr::CallPointer { address, arguments, result } => {
                let arguments: Vec<String> = arguments.iter().map(|(e, _)| show(e)).collect();
                format!("{}call *{}({})", received(t, *result), show(address), arguments.join(", "))
            }
            Instr::Return(None) => "return".into(),
            Instr::Return(Some(e)) => format!("return {}", show(e)),
        }
    }

    /// A local variable in memory, by its address.
    fn variable(&self, t: &Template, a: &Expr) -> String {
        match a {
            Expr::Local(k) => local_name(t, *k),
            a => a.constant().and_then(|a| self.name_of(a)).unwrap_or_default(),
        }
    }

    /// The program as text, with the C lines it comes from.
    pub fn print(&self) -> String {
        let mut out = String::new();
        for o in &self.objects {
            let seen = if o.visible { "" } else { "  // no other thread sees accesses to it" };
            _ = writeln!(out, "object {}: {} bytes{seen}", o.name, o.init.len());
        }
        let starts = self.starts();
        for (k, t) in self.templates.iter().enumerate() {
            let kind = if starts.contains(&k) { "thread" } else { "function" };
            let args: Vec<String> = (0..t.arguments).map(|r| register_name(t, r as Reg)).collect();
            _ = writeln!(out, "\n{kind} {}({}):", t.name, args.join(", "));
            let mut last = (0, String::new());
            for (pc, i) in t.code.iter().enumerate() {
                let origin = &self.origins[t.origins[pc] as usize];
                let here = (origin.line, origin.function.clone());
                if here != last {
                    _ = writeln!(out, "  // {}:{} {}", origin.function, origin.line, origin.text);
                    last = here;
                }
                _ = writeln!(out, "{pc:5}: {}", self.instruction(t, i));
            }
        }
        out
    }
}

fn local_name(t: &Template, k: u32) -> String {
    t.locals.get(k as usize).map_or_else(|| format!("local{k}"), |l| l.name.clone())
}

/// Where the result of a call goes, as text before the call.
fn received(t: &Template, result: Option<Reg>) -> String {
    result.map_or_else(String::new, |r| format!("{} = ", register_name(t, r)))
}

fn register_name(t: &Template, r: Reg) -> String {
    match &t.names[r as usize] {
        Some(name) => format!("{name}.{r}"),
        None => format!("t{r}"),
    }
}
