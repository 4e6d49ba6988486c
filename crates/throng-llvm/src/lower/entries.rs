//! Where threads start.

use super::function::Writer;
use super::{Lower, Problem, Result, Role};
use crate::link::Id;
use crate::names::{demangled, ends_with};
use crate::syntax::tree::{Function, Type};
use throng_goto::program::{BOOL, Expr, Instr, PTR, Start, Template};
use throng_lang::similar::did_you_mean;

/// The number of functions that a message lists.
const MOST: usize = 12;

impl<'a, 't> Lower<'a, 't> {
    /// Writes the functions that threads start in, and all that they use.
    pub(super) fn start(&mut self) -> Result<()> {
        let asked = self.asked;
        let (entries, roles) = (&asked.question.entries, asked.roles);
        let plain = roles.setup.is_none() && roles.one.is_empty();
        if entries.is_empty() && plain {
            let main = self.main()?;
            self.roots = vec![main];
            let template = self.template(main, Role::Main);
            self.write_all();
            self.program.start = Start::One(template);
            return Ok(());
        }
        let find = |l: &Self, names: &[String]| names.iter().map(|n| l.entry(n)).collect::<Result<Vec<_>>>();
        let any = find(self, entries)?;
        let one = find(self, &roles.one)?;
        let setup = find(self, roles.setup.as_slice())?;
        self.roots = [&any[..], &one, &setup].concat();
        let numbers = |l: &mut Self, ids: &[Id], role| -> Vec<usize> {
            ids.iter().map(|&id| l.template(id, role)).collect()
        };
        let (any, one) = (numbers(self, &any, Role::Entry), numbers(self, &one, Role::Entry));
        let setup = numbers(self, &setup, Role::Called);
        self.write_all();
        // What one thread runs alone may have variables that it shows to others.
        for &t in &one {
            let once = one.iter().filter(|&&other| other == t).count() == 1;
            self.program.templates[t].single = once && !any.contains(&t);
        }
        self.program.start = match plain && !self.program.numbered {
            true => Start::Any(any),
            false => {
                self.program.numbered |= !any.is_empty();
                Start::One(self.starter(&setup, &one, &any))
            }
        };
        Ok(())
    }

    /// Returns the function in which a program begins: `main` of a crate, or that of C.
    fn main(&self) -> Result<Id> {
        let named = |id: &Id| {
            let name = demangled(self.linked.function(*id).name);
            name.split("::").count() == 2 && name.ends_with("::main") && !name.starts_with('<')
        };
        let of_crate: Vec<Id> = self.linked.defined().filter(named).collect();
        if let [one] = of_crate[..] {
            return Ok(one);
        }
        let plain = self.linked.defined().find(|&id| self.linked.function(id).name == "main");
        plain.ok_or_else(|| self.no_function("main", false))
    }

    /// Returns the function that was asked for by its path, or the end of that.
    fn entry(&self, asked: &str) -> Result<Id> {
        let all: Vec<(Id, String)> =
            self.linked.defined().map(|id| (id, demangled(self.linked.function(id).name))).collect();
        let named = |(id, path): &&(Id, String)| self.linked.function(*id).name == asked || path == asked;
        let mut found: Vec<&(Id, String)> = all.iter().filter(named).collect();
        if found.is_empty() {
            found = all.iter().filter(|(_, path)| ends_with(path, asked)).collect();
        }
        match found[..] {
            [] => Err(self.no_function(asked, true)),
            [(id, _)] => self.usable(*id).map(|()| *id),
            _ => {
                let paths: Vec<&str> = found.iter().map(|f| f.1.as_str()).collect();
                let hint = format!("there are {}", paths.join(", "));
                let message = format!("several functions are called `{asked}`");
                Err(Problem { hint: Some(hint), ..Problem::new("E853", message) })
            }
        }
    }

    /// Threads that are not created in the program start with numbers as arguments.
    fn usable(&self, id: Id) -> Result<()> {
        let f = self.linked.function(id);
        match f.parameters.iter().all(|p| matches!(p.ty, Type::Int(1..=64))) {
            true => Ok(()),
            false => {
                let place = self.place_of(id);
                let hint = "name a function without parameters that calls it".to_string();
                let message = format!("`{}` takes arguments that are not numbers", demangled(f.name));
                Err(Problem { hint: Some(hint), place, ..Problem::new("E853", message) })
            }
        }
    }

    fn place_of(&self, id: Id) -> Option<(String, u32, u32)> {
        let frame = self.debug(id.module).function(self.linked.function(id).described)?;
        Some((frame.file, frame.line, 1))
    }

    fn no_function(&self, asked: &str, wanted: bool) -> Problem {
        let own = |id: Id| {
            let file = self.place_of(id).map(|p| p.0);
            file.is_none_or(|f| self.asked.sources.text(&f).is_some() || !f.starts_with("/rustc/"))
        };
        let defined = self.linked.defined().filter(|&id| own(id));
        let mut names: Vec<String> = defined.map(|id| demangled(self.linked.function(id).name)).collect();
        names.retain(|n| !n.starts_with(['<', '_']) && !n.contains("::<") && !n.contains('{'));
        names.sort();
        let meant = did_you_mean(asked, names.iter().map(String::as_str)).filter(|_| wanted);
        let listed = || {
            let more = if names.len() > MOST { " …" } else { "" };
            let first: Vec<&str> = names.iter().take(MOST).map(String::as_str).collect();
            (!first.is_empty()).then(|| {
                format!(
                    "name the functions that threads call (on the command line: `--entry {}`); there are {}{more}",
                    first[0],
                    first.join(", ")
                )
            })
        };
        let message = format!("there is no function `{asked}`");
        Problem { hint: meant.or_else(listed), ..Problem::new("E853", message) }
    }

    /// A template that calls the function that comes first, and then starts threads: one in each of
    /// some functions, any number of them in others.
    fn starter(&mut self, setup: &[usize], one: &[usize], any: &[usize]) -> usize {
        const START: &Function<'static> = &Function {
            name: "start",
            result: Type::Void,
            parameters: Vec::new(),
            variadic: false,
            blocks: Vec::new(),
            described: None,
            internal: false,
            weak: false,
            groups: Vec::new(),
            span: throng_lang::source::Span { start: 0, end: 0 },
        };
        let types = |l: &Self, t: usize| {
            let Template { registers, arguments, .. } = &l.program.templates[t];
            registers[..*arguments].to_vec()
        };
        let known: Vec<_> = one.iter().chain(any).map(|&t| (t, types(self, t))).collect();
        let mut w = Writer::new(self, 0, START, Role::Main);
        for &function in setup {
            w.emit(Instr::Call { function, arguments: Vec::new(), result: None });
        }
        let spawn = |w: &mut Writer<'_, '_, '_>, at: usize| {
            let (template, types) = &known[at];
            let mut arguments = Vec::new();
            for &ty in types {
                let r = w.register(ty, None);
                w.emit(Instr::Any(r));
                arguments.push(Expr::Reg(r));
            }
            let number = w.register(PTR, None);
            w.emit(Instr::Spawn(*template, arguments, number));
        };
        (0..one.len()).for_each(|at| spawn(&mut w, at));
        let head = w.label();
        w.place_label(head);
        for at in one.len()..known.len() {
            let more = w.register(BOOL, None);
            let (here, next) = (w.label(), w.label());
            w.emit(Instr::Any(more));
            w.emit(Instr::Branch(Expr::Reg(more), here, next));
            w.place_label(here);
            spawn(&mut w, at);
            w.place_label(next);
        }
        if any.is_empty() {
            w.emit(Instr::End(Expr::Const(0)));
        } else {
            w.emit(Instr::Jump(head));
        }
        let template = w.finished();
        self.program.templates.push(template);
        self.program.starts_any = setup.is_empty() && one.is_empty();
        self.program.templates.len() - 1
    }
}
