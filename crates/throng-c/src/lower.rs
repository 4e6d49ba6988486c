//! From the syntax tree to the goto program: names, types, declarations. Each function that is
//! reached becomes a template, and its calls stay calls ([`functions`]).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::syntax::ast::*;
use crate::syntax::visit;

use crate::constructs::On;
use crate::library::Library;
use crate::library::prelude::Prelude;
use crate::library::special::{ERRNO, MUTEX_TYPE, OWNED_MUTEXES};
use crate::preprocess::Prepared;
use crate::types::{Bits, Func, Struct, Ty};
use functions::Role;
use throng_goto::program::{
    Access, Budget, Doubt, Expr, FUNCTION, Instr, Int, Origin, PointerUse, Program, Reg, Template, Violation,
    address, object_of,
};
use throng_goto::question::Question;
use throng_model::assumption::Assumption;

mod alignment;
pub(crate) mod arguments;
mod assembly;
mod atomics;
mod attributes;
mod bits;
mod blocks;
mod builtins;
mod bytes;
mod calls;
mod cleanup;
mod compiler;
mod complex;
mod conditions;
mod constants;
mod conversions;
mod copies;
mod counters;
mod declarations;
mod declarators;
mod entries;
mod exclusion;
mod expressions;
mod floating;
mod functions;
mod initial;
mod keys;
mod labels;
mod layout;
mod library;
mod linkage;
mod literals;
mod locks;
mod nested;
mod numbers;
mod operators;
mod places;
mod prelude;
mod printing;
mod startup;
mod statements;
mod threads;
mod unmodelled;
mod uses;
mod variable;
mod variadic;
mod vectors;

pub(crate) use linkage::{declared_at, declared_name, written_name};

use declarations::Base;

/// What is wrong with the program, and where.
#[derive(Clone, Debug)]
pub struct Problem {
    pub code: &'static str,
    pub span: Span,
    pub message: String,
    pub hint: Option<String>,
}

pub type Result<T> = std::result::Result<T, Problem>;

/// What is said of a construct behind its name.
const NOT_SUPPORTED: &str = " is not supported";

impl Problem {
    /// Returns the construct that is not supported, if that is the problem.
    fn construct(&self) -> Option<String> {
        let what = (self.code == "E803").then(|| self.message.strip_suffix(NOT_SUPPORTED))?;
        Some(what.unwrap_or(&self.message).to_string())
    }
}

/// A construct that is not supported.
fn unsupported<T>(span: Span, what: impl Into<String>) -> Result<T> {
    Err(Problem { code: "E803", span, message: what.into() + NOT_SUPPORTED, hint: None })
}

/// A mistake in the program.
fn wrong<T>(span: Span, message: impl Into<String>) -> Result<T> {
    Err(Problem { code: "E804", span, message: message.into(), hint: None })
}

/// Maximum number of bytes of one object, of all variables outside functions, and of those of one
/// function.
const MOST_BYTES: u64 = 1 << 26;

/// Functions that are called where others begin and return, if the compiler is told so: a program
/// that defines them does not mean what it says without that.
const INSTRUMENTS: [&str; 2] = ["__cyg_profile_func_enter", "__cyg_profile_func_exit"];

/// What a name means.
#[derive(Clone, Debug)]
enum Symbol {
    /// With the alignment that it has instead of its type's own one.
    Typedef(Ty, Option<u64>),
    Constant(i64, Int),
    Function(Rc<Func>),
    /// A function inside a function, and what it is called in the program.
    Nested(Rc<Func>, String),
    /// At a fixed address.
    Memory(i64, Ty),
    /// A variable in memory of the function, by its number in [`Template::locals`].
    Local(u32, Ty),
    Register(Reg, Ty),
    /// A local array whose size is not constant, by the register that has its address.
    Array(Reg, Ty),
    /// A structure, under `struct NAME`.
    Tag(usize),
    /// An enumeration, under `struct NAME` as well, because tags are one name space.
    Enumeration(Int),
    /// A parameter of a function of the library whose code stands in place of its call.
    Argument(Value),
    /// Of a block, and declared with something that is not modelled.
    Refused(String),
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
    /// A bit-field of the structure at an address, and its declared type.
    Bits(Expr, Int, Rc<Bits>),
}

impl Place {
    /// Returns its type.
    fn ty(&self) -> Ty {
        match self {
            Place::Register(_, t) | Place::Memory(_, t) => t.clone(),
            Place::Bits(_, of, bits) => bits::value_type(*of, bits),
        }
    }
}

#[derive(Clone)]
struct Definition<'a> {
    node: &'a Node<FunctionDefinition>,
    ty: Rc<Func>,
    /// The translation unit that it is in.
    unit: usize,
    weak: bool,
    /// Names whose address is taken, and names that are used other than by subscript or member.
    addressed: Rc<HashSet<String>>,
    bare: Rc<HashSet<String>>,
    /// What it needs to know of the functions that it is inside of.
    environment: Option<Rc<nested::Environment>>,
}

/// A `switch` being written.
struct Switch {
    cases: Vec<(i64, i64, usize)>,
    default: Option<usize>,
    ty: Int,
    /// How many blocks are open around it.
    outer: usize,
}

/// Variables that were declared in a block so far: those in memory, and registers.
type Declared = (Vec<u32>, Vec<Reg>);

/// A block being written.
#[derive(Clone, Default)]
struct Block {
    number: usize,
    /// The numbers of its local variables in memory.
    variables: Vec<u32>,
    registers: Vec<Reg>,
    cleanups: Vec<cleanup::Cleanup>,
    /// The labels that are declared in it, and their names in the function.
    labels: Vec<(String, String)>,
}

/// The template being written. Its name is empty outside functions.
#[derive(Default)]
struct Current {
    template: Template,
    role: Role,
    /// Instructions refer to labels; where these are.
    labels: Vec<usize>,
    /// The labels of the program, by name.
    named: HashMap<String, usize>,
    addressed: Rc<HashSet<String>>,
    bare: Rc<HashSet<String>>,
    result: Option<Place>,
    exit: usize,
    /// How many blocks are open around each call whose code stands here.
    outer: Vec<usize>,
    /// The parameter that has the address of the arguments behind the named ones.
    variable_arguments: Option<Reg>,
    /// The parameters that have addresses of variables of functions around it.
    captured: BTreeMap<nested::Captured, Reg>,
    /// The parts of complex numbers that are constant, by the variable that has them.
    complex_constants: HashMap<u32, (Expr, Expr)>,
    /// Where `break` and `continue` lead, and how many blocks are open there.
    breaks: Vec<(usize, usize)>,
    continues: Vec<(usize, usize)>,
    switches: Vec<Switch>,
    /// For each `goto` its label, where it leads first, and the blocks that are open.
    gotos: Vec<(String, usize, Vec<Block>)>,
    /// The blocks that are open at each label, with what was declared before it.
    targets: HashMap<String, Vec<Block>>,
    /// The open blocks, from the outside in.
    blocks: Vec<Block>,
    computed_gotos: Vec<labels::ComputedGoto>,
    /// For each local variable in memory, the number of its block.
    lifetimes: Vec<usize>,
    next_block: usize,
    /// The labels of the program: the instruction for what is not alive there, and the blocks that
    /// are open.
    crossings: Vec<(usize, Vec<usize>)>,
    origins: HashMap<(usize, usize), u32>,
}

pub struct Lower<'a> {
    prepared: &'a Prepared,
    question: &'a Question,
    /// For each of [`Question::exclusive`], where threads are to be alone.
    exclusive: Vec<exclusion::Exclusive>,
    /// Labels that were seen.
    labels: HashSet<String>,
    /// What kind of access the next instructions make.
    access: Access,
    linkage: linkage::Linkage,
    scopes: Vec<HashMap<String, Symbol>>,
    structs: Vec<Struct>,
    /// Which of them are complex numbers.
    complex_types: Vec<usize>,
    /// The parts of complex numbers in constant expressions.
    pairs: Vec<(Expr, Expr)>,
    definitions: HashMap<String, Definition<'a>>,
    program: Program,
    /// Templates by function; those to be written.
    templates: HashMap<(String, Role), usize>,
    waiting: Vec<(String, Role)>,
    current: Current,
    here: Span,
    statics: HashMap<(usize, usize), (i64, Ty)>,
    strings: HashMap<Vec<u8>, i64>,
    /// Strings of larger characters, by their bytes and the size of a character.
    wide_strings: HashMap<(Vec<u8>, u8), i64>,
    types: HashMap<(usize, usize), Ty>,
    /// A function of [`INSTRUMENTS`] that the program defines, and where.
    instruments: Option<(String, Span)>,
    /// How variables and functions of a name are aligned.
    alignments: HashMap<String, BTreeSet<alignment::Declared>>,
    /// Only types are asked for.
    dry: bool,
    /// For each function, its labels whose addresses are taken.
    label_addresses: HashMap<String, Vec<String>>,
    /// Types of parameters are read: sizes in them are not evaluated.
    in_prototype: bool,
    /// Where constants are expected, whether something else was found.
    constants: Option<bool>,
    /// What initial values do with addresses: C says only sometimes what that means.
    fixed_uses: Vec<PointerUse>,
    /// Positions in [`Program::functions`].
    function_numbers: HashMap<String, i64>,
    /// Functions whose address is somewhere in the program, and whether some pointer is called.
    pointed: BTreeSet<i64>,
    calls_pointers: bool,
    /// Names that are used other than to call them, anywhere.
    values: HashSet<String>,
    recursive_locks: bool,
    /// Objects that are variables of functions, and the function.
    local_objects: Vec<(usize, String)>,
    startup: startup::Startup,
    /// The keys of `pthread_key_create`, if there are any.
    keys: Option<keys::Keys>,
    library: Arc<Library>,
    prelude: &'a Prelude,
    /// The translation units of its files that were read.
    prelude_units: Vec<Option<usize>>,
    /// Where everything that is written comes from, if it stands in place of a call.
    frozen: Option<Span>,
    /// Objects that functions of the library return, by function.
    library_objects: HashMap<String, i64>,
    /// The address of `errno`, if the program uses it.
    errno: Option<i64>,
    /// The objects of variables that are declared `volatile`.
    volatiles: BTreeSet<i64>,
    pub problems: Vec<Problem>,
    pub notes: Vec<Assumption>,
}

/// Returns what a program means, or what is wrong with it.
pub fn lower(
    units: &[TranslationUnit],
    prepared: &Prepared,
    question: &Question,
    library: &Arc<Library>,
) -> std::result::Result<Lowered, Vec<Problem>> {
    let prelude = Prelude::default();
    let files: Vec<String> = prepared.units.iter().map(|(_, file)| file.clone()).collect();
    let mut l = Lower {
        prepared,
        question,
        exclusive: Vec::new(),
        labels: HashSet::new(),
        access: Access::Plain,
        linkage: linkage::Linkage::new(units, &files),
        scopes: Vec::new(),
        structs: Vec::new(),
        complex_types: Vec::new(),
        pairs: Vec::new(),
        definitions: HashMap::new(),
        program: Program::default(),
        templates: HashMap::new(),
        waiting: Vec::new(),
        current: Current::default(),
        here: Span::none(),
        statics: HashMap::new(),
        strings: HashMap::new(),
        wide_strings: HashMap::new(),
        types: HashMap::new(),
        instruments: None,
        alignments: HashMap::new(),
        dry: false,
        label_addresses: HashMap::new(),
        in_prototype: false,
        constants: None,
        fixed_uses: Vec::new(),
        function_numbers: HashMap::new(),
        pointed: BTreeSet::new(),
        calls_pointers: false,
        values: HashSet::new(),
        recursive_locks: false,
        local_objects: Vec::new(),
        startup: startup::Startup::default(),
        keys: None,
        library: library.clone(),
        prelude: &prelude,
        prelude_units: vec![None; prelude.files()],
        frozen: None,
        library_objects: HashMap::new(),
        errno: None,
        volatiles: BTreeSet::new(),
        problems: Vec::new(),
        notes: Vec::new(),
    };
    l.program.asked = question.violations();
    l.program.stuck.clone_from(&question.stuck);
    l.program.starvation.clone_from(&question.starvation);
    l.program.about.clone_from(&question.about);
    l.program.user.clone_from(&prepared.user.name);
    l.program.memory_errors = question.reports_memory_errors();
    if question.ilp32 {
        l.assume("pointers take 8 bytes, though `long` takes 4");
    }
    for (n, unit) in units.iter().enumerate() {
        l.linkage.unit = n;
        l.unit(unit);
    }
    l.finish_linkage();
    l.recursive_locks = l.has_recursive_locks();
    l.program.recursive_locks = l.recursive_locks;
    l.make_keys();
    l.make_errno();
    if l.problems.is_empty() {
        l.exclusive_places();
        l.templates();
        l.missing_labels();
    }
    if !l.problems.is_empty() {
        return Err(l.problems);
    }
    l.tell_objects_apart();
    l.program.place_objects();
    let base = l.program.shared_size() as u64;
    if base > MOST_BYTES {
        let message = format!("the variables take {base} bytes; at most {MOST_BYTES} are supported");
        return Err(vec![Problem { code: "E807", span: Span::none(), message, hint: None }]);
    }
    if question.volatile_atomic {
        l.volatile_accesses();
        l.assume("accesses to variables that are declared `volatile` are atomic");
    }
    let mut whole = (question.race || question.deadlock).then(|| l.program.clone());
    l.program = l.program.flat(&Budget::default());
    let fails = |i: &Instr| matches!(i, Instr::Fail(Violation::Assertion, _));
    l.program.asserts = l.program.templates.iter().any(|t| t.code.iter().any(fails));
    if !l.program.asserts && (l.program.asked.len() > 1 || question.asks_who_waits()) && !question.only {
        // Nothing can be found out about assertions that are not there.
        l.program.asked.retain(|&what| what != Violation::Assertion);
    }
    l.program.finish();
    if let Some(whole) = &mut whole {
        (whole.asserts, whole.asked) = (l.program.asserts, l.program.asked.clone());
        whole.finish();
    }
    Ok(Lowered { program: l.program, whole, notes: l.notes })
}

/// What a program means.
pub struct Lowered {
    /// The program, with functions in place of their calls where a budget allows it.
    pub program: Program,
    /// The program with its calls, for questions that a static analysis answers.
    pub whole: Option<Program>,
    /// What was left open in reading it.
    pub notes: Vec<Assumption>,
}

impl<'a> Lower<'a> {
    fn record<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(v) => Some(v),
            Err(mut p) => {
                p.span = self.frozen.unwrap_or(p.span);
                let known = |q: &Problem| q.span == p.span && q.message == p.message;
                if self.problems.len() < 50 && !self.problems.iter().any(known) {
                    self.problems.push(p);
                }
                None
            }
        }
    }

    fn note(&mut self, note: Assumption) {
        if !self.dry && !self.notes.contains(&note) {
            self.notes.push(note);
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

    /// Verdicts say that this is taken for granted.
    fn assume(&mut self, what: &'static str) {
        self.note(Assumption::Reader(what));
    }

    /// `errno` is a variable of each thread, whose address a function of the library returns.
    fn make_errno(&mut self) {
        let named = |d: &Definition<'_>| ERRNO.iter().any(|name| d.bare.contains(*name));
        if self.definitions.values().any(named) {
            self.errno = Some(self.thread_local("errno", 4, 4));
        }
    }

    /// Returns whether some mutex may be anything but a normal one: only then threads need numbers
    /// to lock them.
    fn has_recursive_locks(&self) -> bool {
        let by_attribute = self.definitions.values().any(|d| d.bare.contains(MUTEX_TYPE));
        let by_initial_value = OWNED_MUTEXES.iter().any(|name| self.values.contains(*name));
        by_attribute || by_initial_value
    }

    /// Declarations first, so that functions may be used before they are defined.
    fn unit(&mut self, unit: &'a TranslationUnit) {
        for item in &unit.0 {
            self.here = item.span;
            let mut uses = uses::Uses::default();
            visit::external(&mut uses, item);
            self.values.extend(std::mem::take(&mut uses.values));
            let done = match &item.node {
                ExternalDeclaration::Declaration(d) => self.declaration(d),
                ExternalDeclaration::StaticAssert(a) => self.static_assert(a),
                ExternalDeclaration::FunctionDefinition(f) => self.function(f, uses),
                ExternalDeclaration::Asm(_) => unsupported(item.span, "assembly outside functions"),
                ExternalDeclaration::Pragma(text) => attributes::pragma(text, item.span),
            };
            self.record(done);
        }
    }

    /// A definition of a function. One that is not modelled is refused where it is used.
    fn function(&mut self, f: &'a Node<FunctionDefinition>, uses: uses::Uses) -> Result<()> {
        let name = declared_name(&f.node.declarator.node).unwrap_or_default();
        self.define(f, uses).or_else(|p| self.refuse(name, false, true, p))
    }

    fn define(&mut self, f: &'a Node<FunctionDefinition>, uses: uses::Uses) -> Result<()> {
        let base = self.specifiers(&f.node.specifiers)?;
        let attributes = base.attributes.iter().copied().chain(&f.node.declarator.node.attributes);
        let said = self.said(attributes, On::Function)?;
        let (name, ty) = self.declarator(base.ty, &f.node.declarator)?;
        let (Some(name), Ty::Func(mut ty)) = (name, ty) else {
            return wrong(f.span, "this is not a function");
        };
        if !f.node.declarations.is_empty() {
            // Parameters in the old style.
            let mut types: HashMap<String, Ty> = HashMap::new();
            for d in &f.node.declarations {
                let base = self.specifiers(&d.node.specifiers)?;
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
        self.declare_function(&name, &ty, f.node.declarator.span)?;
        self.function_attributes(&name, &said, f.node.declarator.span)?;
        if said.aligned.is_some() {
            self.note_alignment(&name, &Base::default(), said.aligned, false);
        }
        let link = self.linked(&name);
        self.function_number(&link);
        if INSTRUMENTS.contains(&name.as_str()) {
            self.instruments.get_or_insert((name.clone(), f.node.declarator.span));
        }
        let unit = self.linkage.unit;
        let mut uses = uses;
        let mut inner = nested::Inner::default();
        visit::function(&mut inner, f);
        uses.addressed.extend(inner.names);
        let (addressed, bare) = (Rc::new(uses.addressed), Rc::new(uses.bare));
        let definition =
            Definition { node: f, ty, unit, weak: said.weak, addressed, bare, environment: None };
        match self.definitions.get(&link) {
            // Another unit may have a definition that is not weak.
            Some(known) if known.unit != unit && said.weak => return Ok(()),
            Some(known) if known.unit != unit && known.weak => {}
            Some(_) => return wrong(f.node.declarator.span, format!("`{name}` is defined twice")),
            None => {}
        }
        self.definitions.insert(link, definition);
        Ok(())
    }

    /// `_Static_assert`
    fn static_assert(&mut self, a: &'a Node<StaticAssert>) -> Result<()> {
        match self.constant(&a.node.expression)? {
            0 => wrong(a.span, "the static assertion fails"),
            _ => Ok(()),
        }
    }

    fn function_number(&mut self, name: &str) -> i64 {
        if let Some(&n) = self.function_numbers.get(name) {
            return n;
        }
        let n = self.program.functions.len() as i64;
        self.program.functions.push(name.to_string());
        self.function_numbers.insert(name.to_string(), n);
        n
    }

    fn function_address(&mut self, name: &str) -> i64 {
        address(FUNCTION + self.function_number(name), 0)
    }

    /// Takes note of a value in the program: the address of a function may be called.
    fn note_function(&mut self, v: i64) {
        let number = object_of(v) - FUNCTION;
        if (0..self.program.functions.len() as i64).contains(&number) {
            self.pointed.insert(number);
        }
    }

    // ---- declarations ----

    // ---- code ----

    fn register(&mut self, ty: Int, name: Option<String>) -> Reg {
        self.current.template.registers.push(ty);
        // Variables of the library are none of the program.
        let name = name.filter(|_| self.frozen.is_none());
        let owner = name.as_ref().map(|_| self.current.template.name.clone());
        self.current.template.names.push(name);
        self.current.template.owners.push(owner.unwrap_or_default());
        self.current.template.registers.len() as Reg - 1
    }

    fn emit(&mut self, i: Instr) {
        if self.dry || self.is_constant_use(&i) {
            return;
        }
        self.calls_pointers |= matches!(i, Instr::CallPointer { .. });
        let origin = self.origin();
        self.current.template.code.push(i);
        self.current.template.origins.push(origin);
        self.current.template.access.push(self.access);
    }

    /// Returns the number of the origin of what is written here.
    fn origin(&mut self) -> u32 {
        let here = self.frozen.unwrap_or(self.here);
        let span = (here.start, here.end);
        if let Some(&o) = self.current.origins.get(&span) {
            return o;
        }
        let (file, line, column, text) = self.prepared.origin(span.0, span.1);
        let function = self.current.template.name.clone();
        let origin = Origin { file, line, column, text, function, span, ..Origin::default() };
        self.program.origins.push(origin);
        let o = self.program.origins.len() as u32 - 1;
        self.current.origins.insert(span, o);
        o
    }

    /// Emits `r = any value`, which stands for more than the program can do.
    fn emit_doubtful(&mut self, r: Reg, doubt: Doubt) {
        if !self.dry {
            self.current.template.doubts.push((self.current.template.code.len(), doubt));
            self.emit(Instr::Any(r));
        }
    }

    fn label(&mut self) -> usize {
        self.current.labels.push(usize::MAX);
        self.current.labels.len() - 1
    }

    fn place_label(&mut self, label: usize) {
        self.current.labels[label] = self.current.template.code.len();
    }
}

impl Default for Base<'_> {
    fn default() -> Self {
        Base {
            ty: Ty::int(),
            class: None,
            thread_local: false,
            noreturn: false,
            volatile: false,
            aligned: None,
            type_aligned: None,
            attributes: Vec::new(),
        }
    }
}

/// Arrays and functions as parameters and values are pointers.
fn decay(ty: Ty) -> Ty {
    match ty {
        Ty::Array(t, _) | Ty::Variable(t, _) => Ty::Ptr(t),
        Ty::Func(_) => Ty::ptr(ty),
        t => t,
    }
}

fn unatomic(ty: Ty) -> Ty {
    ty.plain().clone()
}
