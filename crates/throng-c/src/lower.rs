//! From the syntax tree to the goto program: names, types, declarations; functions are inlined
//! where they are called.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::syntax::ast::*;
use crate::syntax::visit;

use crate::constructs::On;
use crate::library::special::{MUTEX_TYPE, OWNED_MUTEXES, is_atomic_function};
use crate::preprocess::Prepared;
use crate::types::{Func, Struct, Ty};
use attributes::Said;
use throng_goto::program::{
    Access, Doubt, Expr, FUNCTION, Instr, Int, Object, Origin, PRIVATE, PTR, PointerUse, Private, Program,
    Reg, Start, Template, Violation, address,
};
use throng_goto::question::Question;
use throng_goto::step::OPEN;
use throng_model::assumption::Assumption;

mod assembly;
mod atomics;
mod attributes;
mod blocks;
mod builtins;
mod bytes;
mod calls;
mod cleanup;
mod conditions;
mod copies;
mod counters;
mod declarators;
mod entries;
mod exclusion;
mod expressions;
mod initial;
mod keys;
mod labels;
mod layout;
mod library;
mod linkage;
mod literals;
mod locks;
mod startup;
mod statements;
mod threads;
mod unmodelled;
mod uses;
mod variable;

pub(crate) use linkage::written_name;

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

/// The most instructions, bytes of one object, and bytes of private memory.
const MOST_CODE: usize = 100_000;
const MOST_BYTES: u64 = 1 << 20;
const MOST_FRAME: u64 = 1 << 16;

/// What a name means.
#[derive(Clone, Debug)]
enum Symbol {
    /// With the alignment that it has instead of its type's own one.
    Typedef(Ty, Option<u64>),
    Constant(i64, Int),
    Function(Rc<Func>),
    /// At a fixed address.
    Memory(i64, Ty),
    Register(Reg, Ty),
    /// A local array whose size is not constant, by the register that has its address.
    Array(Reg, Ty),
    /// A structure, under `struct NAME`.
    Tag(usize),
    /// An enumeration, under `struct NAME` as well, because tags are one name space.
    Enumeration(Int),
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
    BitField(Ty),
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
}

/// A function being inlined.
struct Frame {
    name: String,
    /// Where it is called, in the preprocessed text.
    call: usize,
    result: Option<Place>,
    /// How many blocks are open around it.
    outer: usize,
    exit: usize,
    labels: HashMap<String, usize>,
    addressed: Rc<HashSet<String>>,
    bare: Rc<HashSet<String>>,
    /// Where `break` and `continue` lead, and how many blocks are open there.
    breaks: Vec<(usize, usize)>,
    continues: Vec<(usize, usize)>,
    switches: Vec<Switch>,
    /// For each `goto` its label, where it leads first, and the blocks that are open.
    gotos: Vec<(String, usize, Vec<Block>)>,
    /// The blocks that are open at each label, with what was declared before it.
    targets: HashMap<String, Vec<Block>>,
}

struct Switch {
    cases: Vec<(i64, i64, usize)>,
    default: Option<usize>,
    ty: Int,
    /// How many blocks are open around it.
    outer: usize,
}

/// Variables that were declared in a block so far: those in memory, and registers.
type Declared = (Vec<(i64, u32)>, Vec<Reg>);

/// A block being written.
#[derive(Clone, Default)]
struct Block {
    number: usize,
    variables: Vec<(i64, u32)>,
    registers: Vec<Reg>,
    cleanups: Vec<cleanup::Cleanup>,
    /// The labels that are declared in it, and their names in the function.
    labels: Vec<(String, String)>,
}

/// The template being written.
#[derive(Default)]
struct Current {
    template: Template,
    /// Instructions refer to labels; where these are.
    labels: Vec<usize>,
    frames: Vec<Frame>,
    frame_top: u64,
    /// For each open block, from the outside in, the local variables in memory that end with it.
    blocks: Vec<Block>,
    /// All local variables in memory of functions being inlined, with the number of their block.
    lifetimes: Vec<(usize, (i64, u32))>,
    computed_gotos: Vec<labels::ComputedGoto>,
    next_block: usize,
    /// Labels of the functions being inlined: the instruction for what is not alive there, and the
    /// blocks that are open.
    crossings: Vec<(usize, Vec<usize>)>,
}

pub struct Lower<'a> {
    prepared: &'a Prepared,
    question: &'a Question,
    /// For each of [`Question::exclusive`], its names and the variable that counts the threads
    /// there.
    exclusive: Vec<(Vec<String>, i64)>,
    /// Labels that were seen.
    labels: HashSet<String>,
    /// What kind of access the next instructions make.
    access: Access,
    linkage: linkage::Linkage,
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
    /// Functions whose address was taken.
    pointed: HashSet<String>,
    /// Names that are used other than to call them, anywhere.
    values: HashSet<String>,
    recursive_locks: bool,
    /// Objects that are variables of functions, and the function.
    local_objects: Vec<(usize, String)>,
    /// Private variables whose place is counted from where those of all threads end.
    frame_variables: Vec<usize>,
    startup: startup::Startup,
    /// The keys of `pthread_key_create`, if there are any.
    keys: Option<keys::Keys>,
    pub problems: Vec<Problem>,
    pub notes: Vec<Assumption>,
}

/// A program, or what is wrong with it; and notes about what was assumed.
pub fn lower(
    units: &[TranslationUnit],
    prepared: &Prepared,
    question: &Question,
) -> std::result::Result<(Program, Vec<Assumption>), Vec<Problem>> {
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
        label_addresses: HashMap::new(),
        in_prototype: false,
        constants: None,
        fixed_uses: Vec::new(),
        function_numbers: HashMap::new(),
        pointed: HashSet::new(),
        values: HashSet::new(),
        recursive_locks: false,
        local_objects: Vec::new(),
        frame_variables: Vec::new(),
        startup: startup::Startup::default(),
        keys: None,
        problems: Vec::new(),
        notes: Vec::new(),
    };
    l.program.asked = question.violations();
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
    if l.problems.is_empty() {
        l.exclusive_places();
        l.templates();
        l.missing_labels();
    }
    if !l.problems.is_empty() {
        return Err(l.problems);
    }
    l.tell_objects_apart();
    l.place_frames();
    let mut base = 0;
    for o in &mut l.program.objects {
        o.base = base;
        base += o.init.len();
    }
    if base > MOST_BYTES as usize {
        let message = format!("the variables take {base} bytes; at most {MOST_BYTES} are supported");
        return Err(vec![Problem { code: "E807", span: Span::none(), message, hint: None }]);
    }
    if !l.program.asserts && (l.program.asked.len() > 1 || question.deadlock) && !question.only {
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

    /// Local variables come behind the private variables that threads have from their start.
    fn place_frames(&mut self) {
        let start = self.program.private.len() as u32;
        for &local in &self.frame_variables {
            self.program.locals[local].base += start;
        }
    }

    /// Verdicts say that this is taken for granted.
    fn assume(&mut self, what: &'static str) {
        self.note(Assumption::Reader(what));
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
        let name = linkage::declared_name(&f.node.declarator.node).unwrap_or_default();
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
        let link = self.linked(&name);
        self.function_number(&link);
        let unit = self.linkage.unit;
        let (addressed, bare) = (Rc::new(uses.addressed), Rc::new(uses.bare));
        let definition = Definition { node: f, ty, unit, weak: said.weak, addressed, bare };
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
        if !self.pointed.contains(name) {
            self.pointed.insert(name.to_string());
        }
        address(FUNCTION + self.function_number(name), 0)
    }

    // ---- declarations ----

    fn declaration(&mut self, d: &'a Node<Declaration>) -> Result<()> {
        if let ([], [s]) = (&d.node.declarators[..], &d.node.specifiers[..])
            && let DeclarationSpecifier::TypeSpecifier(Node { node: TypeSpecifier::Struct(s), .. }) = &s.node
        {
            self.declare_tag(s);
        }
        let base = match self.specifiers(&d.node.specifiers) {
            Ok(base) => base,
            Err(p) => return self.refuse_all(d, p),
        };
        for item in &d.node.declarators {
            self.each_declared(|s| {
                s.declare(&base, item, d.span).or_else(|p| s.refuse_on_use(item, base.class, p))
            })?;
        }
        Ok(())
    }

    /// A declaration whose specifiers are not modelled.
    fn refuse_all(&mut self, d: &'a Node<Declaration>, p: Problem) -> Result<()> {
        let class = d.node.specifiers.iter().find_map(|s| match s.node {
            DeclarationSpecifier::StorageClass(c) if c != StorageClassSpecifier::ThreadLocal => Some(c),
            _ => None,
        });
        match &d.node.declarators[..] {
            // Structures and enumerations know it themselves.
            [] if p.construct().is_some() => Ok(()),
            [] => Err(p),
            all => all
                .iter()
                .try_for_each(|item| self.each_declared(|s| s.refuse_on_use(item, class, p.clone()))),
        }
    }

    /// One of the names of a declaration; what is wrong with it does not concern the others.
    fn each_declared(&mut self, declare: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.scopes.is_empty() {
            return declare(self);
        }
        self.attempt(declare);
        Ok(())
    }

    /// Something in a declaration of the file scope is not modelled, which matters where the name
    /// is used; elsewhere it is an error.
    fn refuse_on_use(
        &mut self,
        item: &'a Node<InitDeclarator>,
        class: Option<StorageClassSpecifier>,
        p: Problem,
    ) -> Result<()> {
        if !self.scopes.is_empty() {
            return self.refuse_local(item, class, p);
        }
        let declarator = &item.node.declarator.node;
        let Some(name) = linkage::declared_name(declarator) else { return Err(p) };
        let is_type = class == Some(StorageClassSpecifier::Typedef);
        let is_function = matches!(
            declarator.derived.last().map(|d| &d.node),
            Some(DerivedDeclarator::Function(_) | DerivedDeclarator::KRFunction(_))
        );
        let declares = is_function || class == Some(StorageClassSpecifier::Extern);
        self.refuse(name, is_type, !declares || item.node.initializer.is_some(), p)
    }

    fn declare(&mut self, base: &Base<'a>, item: &'a Node<InitDeclarator>, declared: Span) -> Result<()> {
        let (span, declarator) = (item.span, &item.node.declarator);
        let fixed = self.scopes.is_empty()
            || matches!(base.class, Some(StorageClassSpecifier::Extern | StorageClassSpecifier::Static));
        let (name, ty) = self.declarator(base.ty.clone(), declarator)?;
        let Some(name) = name else { return Ok(()) };
        let on = match &ty {
            _ if base.class == Some(StorageClassSpecifier::Typedef) => On::Type,
            Ty::Func(_) => On::Function,
            _ if fixed => On::Variable,
            _ => On::Local,
        };
        let attributes = base.attributes.iter().copied().chain(&declarator.node.attributes);
        let said = self.said(attributes, on)?;
        self.check_label(&name, declarator)?;
        let mut ty = self.in_mode(ty, said.mode, span)?;
        match on {
            On::Type => return self.declare_type(name, ty, base, item, &said),
            On::Function => {
                let Ty::Func(f) = &ty else { return Ok(()) };
                self.declare_function(&name, f, span)?;
                let noreturn = said.noreturn || base.noreturn;
                return self.function_attributes(&name, &Said { noreturn, ..said }, span);
            }
            _ => {}
        }
        if matches!(ty, Ty::Variable(..)) && on == On::Local {
            return self.variable_array(name, ty, item, said.cleanup.is_some());
        }
        if let Some(init) = &item.node.initializer {
            ty = self.sized(ty, init)?;
        }
        if ty == Ty::Auto {
            match &item.node.initializer {
                Some(Node { node: Initializer::Expression(e), .. }) => ty = decay(self.type_of(e)?),
                _ => return wrong(span, "a type or an initial value is missing"),
            }
        }
        if self.scopes.is_empty() || base.class == Some(StorageClassSpecifier::Extern) {
            self.check_weak(&name, base, item, &said)?;
            self.linked_variable(base, &name, &ty, item)
        } else if base.class == Some(StorageClassSpecifier::Static) {
            self.static_local(base, name, ty, item, declared)
        } else {
            self.local_variable(name, ty, item, said.cleanup)
        }
    }

    fn declare_type(
        &mut self,
        name: String,
        ty: Ty,
        base: &Base<'a>,
        item: &'a Node<InitDeclarator>,
        said: &Said<'a>,
    ) -> Result<()> {
        match self.scopes.last().unwrap_or(self.linkage.names()).get(&name) {
            Some(Symbol::Typedef(known, _)) if !self.same_type(known, &ty) => {
                return wrong(item.span, format!("`{name}` is declared with two types"));
            }
            Some(Symbol::Typedef(..)) | None => {}
            Some(_) => return wrong(item.span, format!("`{name}` is declared as something else as well")),
        }
        if let (true, Ty::Struct(s)) = (said.transparent, &ty) {
            self.structs[*s].transparent = true;
        }
        let inherited = base.type_aligned.filter(|_| item.node.declarator.node.derived.is_empty());
        self.bind(name, Symbol::Typedef(ty, said.aligned.or(inherited)));
        Ok(())
    }

    /// A variable of a function that lives as long as the program.
    fn static_local(
        &mut self,
        base: &Base,
        name: String,
        ty: Ty,
        item: &'a Node<InitDeclarator>,
        declared: Span,
    ) -> Result<()> {
        let span = item.span;
        if let Some((a, ty)) = self.statics.get(&(declared.start, span.start)).cloned() {
            self.bind(name, Symbol::Memory(a, ty));
            return Ok(());
        }
        let size = self.size_of(&ty, span)?;
        if self.dry {
            // Only its type is asked for.
            self.bind(name, Symbol::Memory(address(PRIVATE, 0), ty));
            return Ok(());
        }
        let align = ty.layout(&self.structs).map_or(1, |l| l.1);
        let a = match base.thread_local {
            true => self.thread_local(&name, size, align),
            false => self.object(name.clone(), &ty, vec![0; size as usize]),
        };
        self.bind(name, Symbol::Memory(a, ty.clone()));
        self.fixed_initial(a, &ty, item, span)?;
        self.statics.insert((declared.start, span.start), (a, ty));
        Ok(())
    }

    /// A new variable that every thread has from its start.
    fn thread_local(&mut self, name: &str, size: u64, align: u64) -> i64 {
        let at = (self.program.private.len() as u64).next_multiple_of(align.max(1));
        self.program.private.resize((at + size) as usize, 0);
        self.private(name, at, size)
    }

    /// A new private variable with a place in private memory.
    fn private(&mut self, name: &str, at: u64, size: u64) -> i64 {
        let local = Private { name: name.to_string(), base: at as u32, size: size as u32 };
        self.program.locals.push(local);
        address(PRIVATE + self.program.locals.len() as i64 - 1, 0)
    }

    /// A new object in shared memory.
    fn object(&mut self, name: String, ty: &Ty, init: Vec<u16>) -> i64 {
        let mut parts = Vec::new();
        ty.parts(&self.structs, 0, "", &mut parts);
        let object = Object {
            name,
            init,
            base: 0,
            parts,
            visible: true,
            global: false,
            library: false,
            leaves: false,
            external: false,
        };
        self.program.objects.push(object);
        if let Some(frame) = self.current.frames.last() {
            self.local_objects.push((self.program.objects.len() - 1, frame.name.clone()));
        }
        address(self.program.objects.len() as i64, 0)
    }

    fn local_variable(
        &mut self,
        name: String,
        ty: Ty,
        item: &'a Node<InitDeclarator>,
        cleanup: Option<&'a Node<Identifier>>,
    ) -> Result<()> {
        if self.scopes.last().is_some_and(|scope| scope.contains_key(&name)) {
            return wrong(item.span, format!("`{name}` is declared twice"));
        }
        let place = self.variable(&name, &ty, cleanup.is_some(), item.span)?;
        match &item.node.initializer {
            Some(init) => self.initialise(&place, &ty, init)?,
            None => {
                if let Place::Register(r, _) = place {
                    self.emit(Instr::Any(r));
                }
            }
        }
        match (cleanup, place) {
            (Some(function), Place::Memory(a, ty)) => self.clean_up_later(function, a, ty, item.span),
            _ => Ok(()),
        }
    }

    /// A new variable of the function that is being inlined.
    fn variable(&mut self, name: &str, ty: &Ty, addressed: bool, span: Span) -> Result<Place> {
        let frame = self.current.frames.last();
        let addressed = addressed || frame.is_some_and(|f| f.addressed.contains(name));
        let bare = frame.is_some_and(|f| f.bare.contains(name));
        if let (Some(i), false) = (ty.scalar(), addressed) {
            let r = self.register(i, Some(name.to_string()));
            if let Some(block) = self.current.blocks.last_mut().filter(|_| !self.dry) {
                block.registers.push(r);
            }
            self.bind(name.to_string(), Symbol::Register(r, ty.clone()));
            return Ok(Place::Register(r, ty.clone()));
        }
        let size = self.size_of(ty, span)?;
        let array = matches!(ty, Ty::Array(..));
        let a = if self.current.template.single && (addressed || bare && array) && !self.dry {
            let a = self.object(name.to_string(), ty, vec![OPEN; size as usize]);
            self.begins(a, size as u32);
            a
        } else {
            self.frame_space(name, ty, span)?
        };
        self.bind(name.to_string(), Symbol::Memory(a, ty.clone()));
        Ok(Place::Memory(Expr::Const(a), ty.clone()))
    }

    /// Space in private memory.
    fn frame_space(&mut self, name: &str, ty: &Ty, span: Span) -> Result<i64> {
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
        if self.dry {
            return Ok(address(PRIVATE, 0));
        }
        let a = self.private(name, at, size);
        self.frame_variables.push(self.program.locals.len() - 1);
        self.begins(a, size as u32);
        Ok(a)
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
        if self.dry || self.is_constant_use(&i) {
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

    /// Writes every template that a thread can start in.
    fn templates(&mut self) {
        let main = ["main".to_string()];
        let question = self.question;
        let first = if question.entries.is_empty() { &main[..] } else { &question.entries[..] };
        let first: Vec<String> = first.iter().map(|name| self.linkage.entry(name)).collect();
        for name in &first {
            if !self.definitions.contains_key(name) {
                if let Err(p) = self.linkage.usable_entry(written_name(name)) {
                    self.problems.push(p);
                    return;
                }
                self.no_function(name);
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

    /// Returns the template that was written, with its labels resolved.
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

    /// Returns the number of the template for a function.
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
        let entry = self.question.entries.iter().any(|e| self.linkage.entry(e) == name);
        self.current.template.single = name == "main" && self.question.entries.is_empty();
        self.current.template.arguments = definition.ty.parameters.len();
        self.here = definition.node.node.declarator.span;
        let mut arguments = Vec::new();
        for (n, t) in &definition.ty.parameters {
            let r = self.register(t.scalar().unwrap_or(PTR), n.clone());
            self.current.template.owners[r as usize] = name.to_string();
            arguments.push(Value { expr: Expr::Reg(r), ty: t.clone() });
        }
        self.attempt(|s| match definition.ty.parameters.iter().all(|(_, t)| t.scalar().is_some()) {
            true => Ok(()),
            false => unsupported(s.here, "a thread that starts with a structure as argument"),
        });
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
        if entry || self.current.template.single {
            self.emit_fixed_uses();
        }
        let mut result = None;
        self.attempt(|s| {
            if s.current.template.single {
                s.construct()?;
            }
            result = s.inline(name, arguments, s.here)?;
            Ok(())
        });
        if self.current.template.single {
            self.attempt(|s| s.exit_program());
        } else {
            self.attempt(|s| s.end_keys(s.here));
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

    /// Returns the place for the result of a function, if it has one.
    fn result_place(&mut self, name: &str, ty: &Ty, span: Span) -> Result<Option<Place>> {
        Ok(match ty {
            Ty::Void => None,
            t => Some(match t.scalar() {
                Some(i) => {
                    let r = self.register(i, None);
                    self.emit(Instr::Any(r));
                    Place::Register(r, t.clone())
                }
                None if matches!(t.plain(), Ty::Float(_)) => Place::BitField(t.clone()),
                None => {
                    let a = self.frame_space(name, t, span)?;
                    Place::Memory(Expr::Const(a), t.clone())
                }
            }),
        })
    }

    /// Puts the body of a function in place of a call.
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
        let result = self.result_place(name, &definition.ty.result, span)?;
        let scopes = std::mem::take(&mut self.scopes);
        let (lifetimes, crossings) = (self.current.lifetimes.len(), self.current.crossings.len());
        let outer = self.current.blocks.len();
        self.enter_block();
        let unit = std::mem::replace(&mut self.linkage.unit, definition.unit);
        let here = self.here;
        let top = self.current.frame_top;
        let exit = self.label();
        self.current.frames.push(Frame {
            name: name.to_string(),
            call: span.start,
            result: result.clone(),
            outer,
            exit,
            labels: HashMap::new(),
            addressed: definition.addressed.clone(),
            bare: definition.bare.clone(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            gotos: Vec::new(),
            targets: HashMap::new(),
        });
        let inside = self.enter_function(written_name(name));
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
        self.linkage.unit = unit;
        self.here = here;
        self.current.blocks.truncate(outer);
        self.end_function(lifetimes, crossings);
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
            let place = self.variable(&name, ty, false, span)?;
            match arguments.next() {
                Some(v) => {
                    // In memory, it is written where the function begins: a replay takes its turn
                    // there.
                    let at = match place {
                        Place::Memory(..) => definition.node.node.declarator.span,
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
        self.variable_parameters(&definition.node.node.declarator.node)?;
        let name = self.current.frames.last().map_or_else(String::new, |f| f.name.clone());
        let atomic = is_atomic_function(written_name(&name));
        if atomic {
            self.emit(Instr::AtomicBegin);
        }
        self.statement(&definition.node.node.statement);
        let exit = self.current.frames.last().map_or(0, |f| f.exit);
        self.finish_jumps(exit);
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

/// What the specifiers of a declaration say.
struct Base<'a> {
    ty: Ty,
    class: Option<StorageClassSpecifier>,
    thread_local: bool,
    noreturn: bool,
    /// `_Alignas`
    aligned: Option<u64>,
    /// The alignment that a `typedef` gives the type.
    type_aligned: Option<u64>,
    attributes: Vec<&'a Attribute>,
}

impl Default for Base<'_> {
    fn default() -> Self {
        Base {
            ty: Ty::int(),
            class: None,
            thread_local: false,
            noreturn: false,
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
