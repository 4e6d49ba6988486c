//! From the syntax tree to the goto program: names, types, declarations; functions are inlined where they are called.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lang_c::ast::*;
use lang_c::span::{Node, Span};

use crate::goto::{
    Access, Expr, FUNCTION, Instr, Int, Object, Origin, PRIVATE, PTR, Program, Reg, Start, Template,
    Violation, address,
};
use crate::preprocess::Prepared;
use crate::question::Question;
use crate::step::OPEN;
use crate::types::{Func, Struct, Ty};

mod atomics;
mod builtins;
mod calls;
mod declarators;
mod exclusion;
mod expressions;
mod initial;
mod keys;
mod statements;
mod threads;
mod uses;

/// What is wrong with the program, and where.
#[derive(Clone, Debug)]
pub struct Problem {
    pub code: &'static str,
    pub span: Span,
    pub message: String,
    pub hint: Option<String>,
}

pub type Result<T> = std::result::Result<T, Problem>;

/// A construct that is not supported.
fn unsupported<T>(span: Span, what: impl Into<String>) -> Result<T> {
    Err(Problem { code: "E803", span, message: format!("{} is not supported", what.into()), hint: None })
}

/// A mistake in the program.
fn wrong<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(Problem { code: "E804", span, message: message.into(), hint: None })
}

/// The most instructions, bytes of one object, and bytes of private memory.
const MOST_CODE: usize = 100_000;
const MOST_BYTES: u64 = 1 << 20;
const MOST_FRAME: u64 = 1 << 16;

/// What a name means.
#[derive(Clone, Debug)]
enum Symbol {
    Typedef(Ty),
    Constant(i64),
    Function(Rc<Func>),
    /// At a fixed address.
    Memory(i64, Ty),
    Register(Reg, Ty),
    /// A structure, under `struct NAME`.
    Tag(usize),
}

/// A value: of a scalar type, or the address of a structure.
#[derive(Clone, Debug)]
pub struct Value {
    expr: Expr,
    ty: Ty,
}

/// Something that can be assigned to.
#[derive(Clone, Debug)]
enum Place {
    Register(Reg, Ty),
    Memory(Expr, Ty),
    BitField(Ty),
}

#[derive(Clone)]
struct Definition<'a> {
    node: &'a FunctionDefinition,
    ty: Rc<Func>,
    /// Names whose address is taken, and names that are used other than by subscript or member.
    addressed: Rc<HashSet<String>>,
    bare: Rc<HashSet<String>>,
}

/// A function being inlined.
struct Frame {
    name: String,
    /// Where it is called, in the preprocessed text.
    call: usize,
    result: Option<Place>,
    exit: usize,
    labels: HashMap<String, usize>,
    addressed: Rc<HashSet<String>>,
    bare: Rc<HashSet<String>>,
    breaks: Vec<usize>,
    continues: Vec<usize>,
    switches: Vec<Switch>,
}

struct Switch {
    cases: Vec<(i64, i64, usize)>,
    default: Option<usize>,
    ty: Int,
}

/// The template being written.
#[derive(Default)]
struct Current {
    template: Template,
    /// Instructions refer to labels; where these are.
    labels: Vec<usize>,
    frames: Vec<Frame>,
    frame_top: u64,
    /// Addresses of local arrays whose size is not constant.
    variable_arrays: HashSet<Reg>,
}

pub struct Lower<'a> {
    prepared: &'a Prepared,
    question: &'a Question,
    /// For each of [`Question::exclusive`], its names and the variable that counts the threads there.
    exclusive: Vec<(Vec<String>, i64)>,
    /// Labels that were seen.
    labels: HashSet<String>,
    /// What kind of access the next instructions make.
    access: Access,
    globals: HashMap<String, Symbol>,
    scopes: Vec<HashMap<String, Symbol>>,
    structs: Vec<Struct>,
    definitions: HashMap<String, Definition<'a>>,
    program: Program,
    /// Templates by function; those to be written.
    templates: HashMap<String, usize>,
    waiting: Vec<String>,
    current: Current,
    origins: HashMap<(usize, usize, Vec<usize>), u32>,
    here: Span,
    statics: HashMap<(usize, usize), (i64, Ty)>,
    strings: HashMap<Vec<u8>, i64>,
    types: HashMap<(usize, usize), Ty>,
    /// Only types are asked for.
    dry: bool,
    /// Functions whose address was taken.
    pointed: Vec<String>,
    recursive_locks: bool,
    /// Objects that are variables of functions, and the function.
    local_objects: Vec<(usize, String)>,
    /// The keys of `pthread_key_create`, if there are any.
    keys: Option<keys::Keys>,
    pub problems: Vec<Problem>,
    pub notes: Vec<String>,
}

/// A program, or what is wrong with it; and notes about what was assumed.
pub fn lower(
    units: &[TranslationUnit],
    prepared: &Prepared,
    question: &Question,
) -> std::result::Result<(Program, Vec<String>), Vec<Problem>> {
    let mut l = Lower {
        prepared,
        question,
        exclusive: Vec::new(),
        labels: HashSet::new(),
        access: Access::Plain,
        globals: HashMap::new(),
        scopes: Vec::new(),
        structs: Vec::new(),
        definitions: HashMap::new(),
        program: Program::default(),
        templates: HashMap::new(),
        waiting: Vec::new(),
        current: Current::default(),
        origins: HashMap::new(),
        here: Span::none(),
        statics: HashMap::new(),
        strings: HashMap::new(),
        types: HashMap::new(),
        dry: false,
        pointed: Vec::new(),
        recursive_locks: false,
        local_objects: Vec::new(),
        keys: None,
        problems: Vec::new(),
        notes: Vec::new(),
    };
    l.program.asked = question.violations();
    if question.ilp32 {
        l.note("pointers take 8 bytes, though `long` takes 4".into());
    }
    for unit in units {
        l.unit(unit);
    }
    l.recursive_locks = l.has_recursive_locks();
    l.program.recursive_locks = l.recursive_locks;
    l.make_keys();
    if l.problems.is_empty() {
        l.exclusive_places();
        l.templates();
        l.missing_labels();
    }
    if !l.problems.is_empty() {
        return Err(l.problems);
    }
    l.tell_objects_apart();
    let mut base = 0;
    for o in &mut l.program.objects {
        o.base = base;
        base += o.init.len();
    }
    if base > MOST_BYTES as usize {
        let message = format!("the variables take {base} bytes; at most {MOST_BYTES} are supported");
        return Err(vec![Problem { code: "E807", span: Span::none(), message, hint: None }]);
    }
    if !l.program.asserts && (l.program.asked.len() > 1 || question.deadlock) {
        // Nothing can be found out about assertions that are not there.
        l.program.asked.retain(|&what| what != Violation::Assertion);
    }
    l.program.finish();
    Ok((l.program, l.notes))
}

impl<'a> Lower<'a> {
    fn record<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(v) => Some(v),
            Err(p) => {
                let known = |q: &Problem| q.span == p.span && q.message == p.message;
                if self.problems.len() < 50 && !self.problems.iter().any(known) {
                    self.problems.push(p);
                }
                None
            }
        }
    }

    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Variables of functions whose names other variables have, too, are called
    /// `function::variable`.
    fn tell_objects_apart(&mut self) {
        let mut count: HashMap<String, usize> = HashMap::new();
        self.program.objects.iter().for_each(|o| *count.entry(o.name.clone()).or_default() += 1);
        for (o, function) in &self.local_objects {
            let name = &mut self.program.objects[*o].name;
            if count[name] > 1 && !name.starts_with('"') {
                *name = format!("{function}::{name}");
            }
        }
    }

    /// Whether some mutex may be anything but a normal one: only then threads need numbers to lock them.
    fn has_recursive_locks(&self) -> bool {
        let by_attribute = self.definitions.values().any(|d| d.bare.contains("pthread_mutexattr_settype"));
        // The header has each of these names twice.
        let by_initial_value = ["PTHREAD_MUTEX_RECURSIVE_NP", "PTHREAD_MUTEX_ERRORCHECK_NP"]
            .iter()
            .any(|name| self.prepared.text.matches(name).count() > 2);
        by_attribute || by_initial_value
    }

    /// Declarations first, so that functions may be used before they are defined.
    fn unit(&mut self, unit: &'a TranslationUnit) {
        for item in &unit.0 {
            self.here = item.span;
            let done = match &item.node {
                ExternalDeclaration::Declaration(d) => self.declaration(d),
                ExternalDeclaration::StaticAssert(_) => Ok(()),
                ExternalDeclaration::FunctionDefinition(f) => self.define(f),
            };
            self.record(done);
        }
    }

    fn define(&mut self, f: &'a Node<FunctionDefinition>) -> Result<()> {
        let base = self.specifiers(&f.node.specifiers, f.span)?;
        let (name, ty) = self.declarator(base.ty, &f.node.declarator)?;
        let (Some(name), Ty::Func(mut ty)) = (name, ty) else {
            return wrong(f.span, "this is not a function");
        };
        if !f.node.declarations.is_empty() {
            // Parameters in the old style.
            let mut types: HashMap<String, Ty> = HashMap::new();
            for d in &f.node.declarations {
                let base = self.specifiers(&d.node.specifiers, d.span)?;
                for i in &d.node.declarators {
                    if let (Some(n), t) = self.declarator(base.ty.clone(), &i.node.declarator)? {
                        types.insert(n, decay(t));
                    }
                }
            }
            let mut new = Func::clone(&ty);
            for (n, t) in &mut new.parameters {
                if let Some(found) = n.as_ref().and_then(|n| types.get(n)) {
                    *t = found.clone();
                }
            }
            ty = Rc::new(new);
        }
        let mut uses = uses::Uses::default();
        uses.statement(&f.node.statement.node);
        self.globals.insert(name.clone(), Symbol::Function(ty.clone()));
        self.function_number(&name);
        let definition =
            Definition { node: &f.node, ty, addressed: Rc::new(uses.addressed), bare: Rc::new(uses.bare) };
        self.definitions.insert(name, definition);
        Ok(())
    }

    fn function_number(&mut self, name: &str) -> i64 {
        let known = self.program.functions.iter().position(|f| f == name);
        known.unwrap_or_else(|| {
            self.program.functions.push(name.to_string());
            self.program.functions.len() - 1
        }) as i64
    }

    fn function_address(&mut self, name: &str) -> i64 {
        if !self.pointed.iter().any(|f| f == name) {
            self.pointed.push(name.to_string());
        }
        address(FUNCTION + self.function_number(name), 0)
    }

    // ---- declarations ----

    fn declaration(&mut self, d: &'a Node<Declaration>) -> Result<()> {
        let base = self.specifiers(&d.node.specifiers, d.span)?;
        for item in &d.node.declarators {
            let span = item.span;
            if base.class.is_none() && self.variable_array(&base.ty, item)? {
                continue;
            }
            let (name, mut ty) = self.declarator(base.ty.clone(), &item.node.declarator)?;
            let Some(name) = name else { continue };
            if base.class == Some(StorageClassSpecifier::Typedef) {
                if name != "__auto_type" || ty == Ty::Auto {
                    self.bind(name, Symbol::Typedef(ty));
                }
                continue;
            }
            if let Ty::Func(f) = &ty {
                if !matches!(self.lookup(&name), Some(Symbol::Function(_)) if self.definitions.contains_key(&name))
                {
                    let f = f.clone();
                    self.globals.insert(name, Symbol::Function(f));
                }
                continue;
            }
            if let (Ty::Array(t, None), Some(init)) = (&ty, &item.node.initializer) {
                let n = self.initial_length(t, init)?;
                ty = Ty::Array(t.clone(), Some(n));
            }
            if ty == Ty::Auto {
                match &item.node.initializer {
                    Some(Node { node: Initializer::Expression(e), .. }) => ty = decay(self.type_of(e)?),
                    _ => return wrong(span, "`__auto_type` needs an initial value"),
                }
            }
            let global = self.scopes.is_empty();
            let fixed = global
                || matches!(base.class, Some(StorageClassSpecifier::Static | StorageClassSpecifier::Extern));
            if fixed {
                self.fixed_variable(&base, name, ty, item, d.span)?;
            } else {
                self.local_variable(name, ty, item)?;
            }
        }
        Ok(())
    }

    fn fixed_variable(
        &mut self,
        base: &Base,
        name: String,
        ty: Ty,
        item: &'a Node<InitDeclarator>,
        declared: Span,
    ) -> Result<()> {
        let span = item.span;
        let global = self.scopes.is_empty();
        let is_extern = base.class == Some(StorageClassSpecifier::Extern) && item.node.initializer.is_none();
        if is_extern
            && !global
            && let Some(known @ Symbol::Memory(..)) = self.globals.get(&name).cloned()
        {
            self.bind(name, known);
            return Ok(());
        }
        if is_extern && ty.layout(&self.structs).is_none() {
            // Only known elsewhere; an error where it is used.
            return Ok(());
        }
        if global && let Some(Symbol::Memory(a, _)) = self.globals.get(&name).cloned() {
            // Declared again, perhaps with its value this time.
            self.globals.insert(name, Symbol::Memory(a, ty.clone()));
            if !is_extern && let Some(o) = self.program.objects.get_mut((a >> 32) as usize - 1) {
                // Known by `extern` only so far.
                o.init.iter_mut().filter(|b| **b == OPEN).for_each(|b| *b = 0);
            }
            self.fixed_initial(a, &ty, item, span)?;
            return Ok(());
        }
        let size = self.size_of(&ty, span)?;
        if base.thread_local {
            if !global {
                return unsupported(span, "a thread-local variable inside a function");
            }
            let (_, align) = ty.layout(&self.structs).unwrap_or((1, 1));
            let at = (self.program.private.len() as u64).next_multiple_of(align.max(1));
            self.program.private.resize((at + size) as usize, 0);
            let a = address(PRIVATE, at as i64);
            self.bind(name, Symbol::Memory(a, ty.clone()));
            return self.fixed_initial(a, &ty, item, span);
        }
        if !global && let Some((a, ty)) = self.statics.get(&(declared.start, span.start)).cloned() {
            self.bind(name, Symbol::Memory(a, ty));
            return Ok(());
        }
        // What is defined elsewhere may have any value.
        let byte = if is_extern { OPEN } else { 0 };
        let a = self.object(name.clone(), &ty, vec![byte; size as usize]);
        if let Some(object) = self.program.objects.last_mut() {
            object.global = global;
        }
        if !global {
            self.statics.insert((declared.start, span.start), (a, ty.clone()));
        }
        self.bind(name.clone(), Symbol::Memory(a, ty.clone()));
        self.fixed_initial(a, &ty, item, span)
    }

    /// A new object in shared memory.
    fn object(&mut self, name: String, ty: &Ty, init: Vec<u16>) -> i64 {
        let mut parts = Vec::new();
        ty.parts(&self.structs, 0, "", &mut parts);
        let object = Object { name, init, base: 0, parts, visible: true, global: false, library: false };
        self.program.objects.push(object);
        if let Some(frame) = self.current.frames.last() {
            self.local_objects.push((self.program.objects.len() - 1, frame.name.clone()));
        }
        address(self.program.objects.len() as i64, 0)
    }

    fn local_variable(&mut self, name: String, ty: Ty, item: &'a Node<InitDeclarator>) -> Result<()> {
        let place = self.variable(&name, &ty, item.span)?;
        match &item.node.initializer {
            Some(init) => self.initialise(&place, &ty, init),
            None => {
                match place {
                    Place::Register(r, _) => self.emit(Instr::Any(r)),
                    Place::Memory(Expr::Const(a), _) if a >> 32 >= PRIVATE => {
                        let from = (a & 0xffff_ffff) - self.program.private.len() as i64;
                        let size = self.size_of(&ty, item.span)?;
                        self.emit(Instr::Clear(from as u32, size as u32));
                    }
                    _ => {}
                }
                Ok(())
            }
        }
    }

    /// A new variable of the function that is being inlined.
    fn variable(&mut self, name: &str, ty: &Ty, span: Span) -> Result<Place> {
        let frame = self.current.frames.last();
        let addressed = frame.is_some_and(|f| f.addressed.contains(name));
        let bare = frame.is_some_and(|f| f.bare.contains(name));
        if let (Some(i), false) = (ty.scalar(), addressed) {
            let r = self.register(i, Some(name.to_string()));
            self.bind(name.to_string(), Symbol::Register(r, ty.clone()));
            return Ok(Place::Register(r, ty.clone()));
        }
        let size = self.size_of(ty, span)?;
        let array = matches!(ty, Ty::Array(..));
        let a = if self.current.template.single && (addressed || bare && array) && !self.dry {
            self.object(name.to_string(), ty, vec![OPEN; size as usize])
        } else {
            self.frame_space(ty, span)?
        };
        self.bind(name.to_string(), Symbol::Memory(a, ty.clone()));
        Ok(Place::Memory(Expr::Const(a), ty.clone()))
    }

    /// Space in private memory.
    fn frame_space(&mut self, ty: &Ty, span: Span) -> Result<i64> {
        let size = self.size_of(ty, span)?;
        let align = ty.layout(&self.structs).map_or(1, |l| l.1).max(1);
        let at = self.current.frame_top.next_multiple_of(align);
        self.current.frame_top = at + size;
        if self.current.frame_top > MOST_FRAME {
            return Err(Problem {
                code: "E807",
                span,
                message: format!("the local variables of a thread take more than {MOST_FRAME} bytes"),
                hint: None,
            });
        }
        let t = &mut self.current.template;
        t.frame = t.frame.max(self.current.frame_top as u32);
        Ok(address(PRIVATE, self.program.private.len() as i64 + at as i64))
    }

    // ---- code ----

    fn register(&mut self, ty: Int, name: Option<String>) -> Reg {
        self.current.template.registers.push(ty);
        let owner = self.current.frames.last().filter(|_| name.is_some()).map(|f| f.name.clone());
        self.current.template.names.push(name);
        self.current.template.owners.push(owner.unwrap_or_default());
        self.current.template.registers.len() as Reg - 1
    }

    fn emit(&mut self, i: Instr) {
        if self.dry {
            return;
        }
        let calls: Vec<usize> = self.current.frames.iter().map(|f| f.call).collect();
        let key = (self.here.start, self.here.end, calls);
        let origin = match self.origins.get(&key) {
            Some(&o) => o,
            None => {
                let (file, line, column, text) = self.prepared.origin(key.0, key.1);
                let span = (key.0, key.1);
                let names: Vec<&str> = self.current.frames.iter().map(|f| f.name.as_str()).collect();
                // The outermost function is not called.
                let calls = key.2.iter().skip(1).map(|&at| self.prepared.origin(at, at + 1).1).collect();
                let function = names.join(" > ");
                let origin = Origin { file, line, column, text, function, calls, labels: Vec::new(), span };
                self.program.origins.push(origin);
                let o = self.program.origins.len() as u32 - 1;
                self.origins.insert(key, o);
                o
            }
        };
        self.program.asserts |= matches!(i, Instr::Fail(Violation::Assertion, _));
        self.current.template.code.push(i);
        self.current.template.origins.push(origin);
        self.current.template.access.push(self.access);
    }

    fn label(&mut self) -> usize {
        self.current.labels.push(usize::MAX);
        self.current.labels.len() - 1
    }

    fn place_label(&mut self, label: usize) {
        self.current.labels[label] = self.current.template.code.len();
    }

    /// Writes every template that a thread can start in.
    fn templates(&mut self) {
        let main = ["main".to_string()];
        let question = self.question;
        let first = if question.entries.is_empty() { &main[..] } else { &question.entries[..] };
        for name in first {
            if !self.definitions.contains_key(name) {
                let hint = question.entries.is_empty().then(|| {
                    "name the functions that threads call (on the command line: `--entry F`), or define `main`, which starts them".to_string()
                });
                let message = format!("there is no function `{name}`");
                self.problems.push(Problem { code: "E804", span: Span::none(), message, hint });
                return;
            }
        }
        let numbers: Vec<usize> = first.iter().map(|name| self.template(name)).collect();
        while let Some(name) = self.waiting.pop() {
            let done = self.write_template(&name);
            self.record(done);
        }
        if !question.entries.is_empty() && self.problems.is_empty() {
            self.program.start = match self.program.numbered {
                true => Start::One(self.starter(&numbers)),
                false => Start::Any(numbers),
            };
        }
    }

    /// A template that starts any number of threads: they get numbers as they are started.
    fn starter(&mut self, templates: &[usize]) -> usize {
        self.current = Current::default();
        self.current.template.name = "start".into();
        self.current.template.single = true;
        let head = self.label();
        self.place_label(head);
        for &t in templates {
            let more = self.register(Int { size: 1, signed: false, truth: true }, None);
            let (here, next) = (self.label(), self.label());
            self.emit(Instr::Any(more));
            self.emit(Instr::Branch(Expr::Reg(more), here, next));
            self.place_label(here);
            let types = self.program.templates[t].registers.clone();
            let mut arguments = Vec::new();
            for &at in &types[..self.program.templates[t].arguments] {
                let r = self.register(at, None);
                self.emit(Instr::Any(r));
                arguments.push(Expr::Reg(r));
            }
            let number = self.register(PTR, None);
            self.emit(Instr::Spawn(t, arguments, number));
            self.place_label(next);
        }
        self.emit(Instr::Jump(head));
        let template = self.finished_template();
        self.program.templates.push(template);
        self.program.starts_any = true;
        self.program.templates.len() - 1
    }

    /// The template that was written, with its labels resolved.
    fn finished_template(&mut self) -> Template {
        let labels = std::mem::take(&mut self.current.labels);
        let mut template = std::mem::take(&mut self.current.template);
        for i in &mut template.code {
            match i {
                Instr::Branch(_, a, b) => {
                    *a = labels[*a];
                    *b = labels[*b];
                }
                Instr::Jump(a) => *a = labels[*a],
                _ => {}
            }
        }
        template
    }

    /// The number of the template for a function.
    fn template(&mut self, name: &str) -> usize {
        if let Some(&n) = self.templates.get(name) {
            return n;
        }
        let n = self.program.templates.len();
        self.program.templates.push(Template::default());
        self.templates.insert(name.to_string(), n);
        self.waiting.push(name.to_string());
        n
    }

    fn write_template(&mut self, name: &str) -> Result<()> {
        let number = self.templates[name];
        let definition = self.definitions[name].clone();
        self.current = Current::default();
        self.current.template.name = name.to_string();
        let entry = self.question.entries.iter().any(|e| e == name);
        self.current.template.single = name == "main" && self.question.entries.is_empty();
        self.current.template.arguments = definition.ty.parameters.len();
        self.here = definition.node.declarator.span;
        let mut arguments = Vec::new();
        for (n, t) in &definition.ty.parameters {
            let Some(i) = t.scalar() else {
                return unsupported(self.here, "a thread that starts with a structure as argument");
            };
            let r = self.register(i, n.clone());
            self.current.template.owners[r as usize] = name.to_string();
            arguments.push(Value { expr: Expr::Reg(r), ty: t.clone() });
        }
        for (r, (_, t)) in definition.ty.parameters.iter().enumerate() {
            // Nothing is known that a pointer could point to.
            if entry && matches!(t.plain(), Ty::Ptr(_)) {
                self.emit(Instr::Let(r as Reg, Expr::Const(0)));
            }
        }
        if self.current.template.single {
            // Its arguments are inputs.
            self.current.template.arguments = 0;
        }
        let result = self.inline(name, arguments, self.here)?;
        if self.current.template.single {
            self.emit(Instr::Halt);
        } else {
            self.end_keys(self.here)?;
            let value = match result {
                Some(v) if v.ty.scalar().is_some() => v.expr,
                _ => Expr::Const(0),
            };
            self.emit(Instr::End(value));
        }
        let template = self.finished_template();
        if template.code.len() > MOST_CODE {
            return Err(too_long(self.here));
        }
        self.program.templates[number] = template;
        Ok(())
    }

    /// The body of a function in place of a call.
    fn inline(&mut self, name: &str, arguments: Vec<Value>, span: Span) -> Result<Option<Value>> {
        if self.current.frames.iter().any(|f| f.name == name) {
            return Err(Problem {
                code: "E805",
                span,
                message: format!("`{name}` calls itself: recursion is not supported"),
                hint: Some("write it as a loop".into()),
            });
        }
        if self.current.template.code.len() > MOST_CODE || self.current.frames.len() > 100 {
            return Err(too_long(span));
        }
        let definition = self.definitions[name].clone();
        let result = match &definition.ty.result {
            Ty::Void => None,
            t => Some(match t.scalar() {
                Some(i) => {
                    let r = self.register(i, None);
                    self.emit(Instr::Any(r));
                    Place::Register(r, t.clone())
                }
                None if matches!(t.plain(), Ty::Float(_)) => Place::BitField(t.clone()),
                None => {
                    let a = self.frame_space(t, span)?;
                    Place::Memory(Expr::Const(a), t.clone())
                }
            }),
        };
        let scopes = std::mem::replace(&mut self.scopes, vec![HashMap::new()]);
        let here = self.here;
        let top = self.current.frame_top;
        let exit = self.label();
        self.current.frames.push(Frame {
            name: name.to_string(),
            call: span.start,
            result: result.clone(),
            exit,
            labels: HashMap::new(),
            addressed: definition.addressed.clone(),
            bare: definition.bare.clone(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
        });
        let inside = self.enter_function(name);
        let done = self.body(&definition, arguments, span);
        self.record(done);
        if let Some(place) = inside {
            self.leave_place(place);
        }
        let frame = self.current.frames.pop();
        for (label, at) in frame.into_iter().flat_map(|f| f.labels) {
            if self.current.labels[at] == usize::MAX {
                self.current.labels[at] = self.current.template.code.len();
                let missing = wrong::<()>(span, format!("there is no label `{label}` in `{name}`"));
                self.record(missing);
            }
        }
        self.scopes = scopes;
        self.here = here;
        let used = self.current.template.frame as u64;
        if used > top && !self.current.frames.is_empty() {
            self.emit(Instr::Clear(top as u32, (used - top) as u32));
        }
        self.current.frame_top = top;
        Ok(match result {
            None | Some(Place::BitField(_)) => None,
            Some(Place::Register(r, ty)) => Some(Value { expr: Expr::Reg(r), ty: unatomic(ty) }),
            Some(Place::Memory(a, ty)) => Some(Value { expr: a, ty }),
        })
    }

    fn body(&mut self, definition: &Definition<'a>, arguments: Vec<Value>, span: Span) -> Result<()> {
        let mut arguments = arguments.into_iter();
        for (name, ty) in &definition.ty.parameters {
            let name = name.clone().unwrap_or_default();
            let place = self.variable(&name, ty, span)?;
            match arguments.next() {
                Some(v) => {
                    // In memory, it is written where the function begins: a replay takes its turn there.
                    let at = match place {
                        Place::Memory(..) => definition.node.declarator.span,
                        _ => self.here,
                    };
                    let here = std::mem::replace(&mut self.here, at);
                    let done = self.assign(&place, v, span);
                    self.here = here;
                    done?;
                }
                // Old style: too few arguments leave a parameter open.
                None => {
                    if let Place::Register(r, _) = place {
                        self.emit(Instr::Any(r));
                    }
                }
            }
        }
        let name = self.current.frames.last().map_or_else(String::new, |f| f.name.clone());
        let atomic = name.starts_with("__VERIFIER_atomic_");
        if atomic {
            self.emit(Instr::AtomicBegin);
        }
        self.statement(&definition.node.statement);
        let exit = self.current.frames.last().map_or(0, |f| f.exit);
        self.place_label(exit);
        if atomic {
            self.emit(Instr::AtomicEnd);
        }
        Ok(())
    }
}

fn too_long(span: Span) -> Problem {
    Problem {
        code: "E807",
        span,
        message: format!("with calls inlined the program has more than {MOST_CODE} instructions"),
        hint: None,
    }
}

struct Base {
    ty: Ty,
    class: Option<StorageClassSpecifier>,
    thread_local: bool,
}

/// Arrays and functions as parameters and values are pointers.
fn decay(ty: Ty) -> Ty {
    match ty {
        Ty::Array(t, _) => Ty::Ptr(t),
        Ty::Func(_) => Ty::ptr(ty),
        t => t,
    }
}

fn unatomic(ty: Ty) -> Ty {
    ty.plain().clone()
}
