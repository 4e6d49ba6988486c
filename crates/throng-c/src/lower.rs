//! From the syntax tree to the goto program: names, types, declarations; functions are inlined where they are called.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lang_c::ast::*;
use lang_c::span::{Node, Span};

use crate::goto::{
    Expr, FUNCTION, Instr, Int, Object, Origin, PRIVATE, PTR, Program, Reg, Template, address,
};
use crate::preprocess::Prepared;
use crate::step::OPEN;
use crate::types::{Field, Func, Struct, Ty};

mod builtins;
mod expressions;
mod initial;
mod statements;

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
}

pub struct Lower<'a> {
    prepared: &'a Prepared,
    error_labels: &'a [String],
    globals: HashMap<String, Symbol>,
    scopes: Vec<HashMap<String, Symbol>>,
    structs: Vec<Struct>,
    definitions: HashMap<String, Definition<'a>>,
    program: Program,
    /// Templates by function; those to be written.
    templates: HashMap<String, usize>,
    waiting: Vec<String>,
    current: Current,
    origins: HashMap<(usize, usize, String), u32>,
    here: Span,
    statics: HashMap<(usize, usize), (i64, Ty)>,
    strings: HashMap<Vec<u8>, i64>,
    types: HashMap<(usize, usize), Ty>,
    /// Only types are asked for.
    dry: bool,
    /// Functions whose address was taken.
    pointed: Vec<String>,
    recursive_locks: bool,
    pub problems: Vec<Problem>,
    pub notes: Vec<String>,
}

/// A program, or what is wrong with it; and notes about what was assumed.
pub fn lower(
    units: &[TranslationUnit],
    prepared: &Prepared,
    error_labels: &[String],
) -> std::result::Result<(Program, Vec<String>), Vec<Problem>> {
    let mut l = Lower {
        prepared,
        error_labels,
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
        recursive_locks: prepared.text.contains("pthread_mutexattr_settype (")
            || prepared.text.matches("pthread_mutexattr_settype").count() > 1,
        problems: Vec::new(),
        notes: Vec::new(),
    };
    for unit in units {
        l.unit(unit);
    }
    if l.problems.is_empty() {
        l.templates();
    }
    if !l.problems.is_empty() {
        return Err(l.problems);
    }
    let mut base = 0;
    for o in &mut l.program.objects {
        o.base = base;
        base += o.init.len();
    }
    if base > MOST_BYTES as usize {
        let message = format!("the variables take {base} bytes; at most {MOST_BYTES} are supported");
        return Err(vec![Problem { code: "E807", span: Span::none(), message, hint: None }]);
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
        let mut uses = Uses::default();
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

    // ---- types ----

    fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).or_else(|| self.globals.get(name))
    }

    fn bind(&mut self, name: String, symbol: Symbol) {
        match self.scopes.last_mut() {
            Some(scope) => scope.insert(name, symbol),
            None => self.globals.insert(name, symbol),
        };
    }

    fn specifiers(&mut self, list: &'a [Node<DeclarationSpecifier>], span: Span) -> Result<Base> {
        let mut base = Base { ty: Ty::int(), class: None, thread_local: false };
        let mut types = Vec::new();
        let mut atomic = false;
        for s in list {
            match &s.node {
                DeclarationSpecifier::StorageClass(c) => match c.node {
                    StorageClassSpecifier::ThreadLocal => base.thread_local = true,
                    _ => base.class = Some(c.node.clone()),
                },
                DeclarationSpecifier::TypeSpecifier(t) => types.push(t),
                DeclarationSpecifier::TypeQualifier(q) => atomic |= q.node == TypeQualifier::Atomic,
                _ => {}
            }
        }
        base.ty = self.base_type(&types, span)?;
        if atomic {
            base.ty = Ty::Atomic(Rc::new(base.ty));
        }
        Ok(base)
    }

    fn qualified(&mut self, list: &'a [Node<SpecifierQualifier>], span: Span) -> Result<Ty> {
        let mut types = Vec::new();
        let mut atomic = false;
        for s in list {
            match &s.node {
                SpecifierQualifier::TypeSpecifier(t) => types.push(t),
                SpecifierQualifier::TypeQualifier(q) => atomic |= q.node == TypeQualifier::Atomic,
                SpecifierQualifier::Extension(_) => {}
            }
        }
        let ty = self.base_type(&types, span)?;
        Ok(if atomic { Ty::Atomic(Rc::new(ty)) } else { ty })
    }

    fn base_type(&mut self, list: &[&'a Node<TypeSpecifier>], span: Span) -> Result<Ty> {
        let (mut size, mut longs, mut unsigned, mut signed) = (4, 0, false, false);
        let mut float = None;
        for t in list {
            match &t.node {
                TypeSpecifier::Void => return Ok(Ty::Void),
                TypeSpecifier::Char => size = 1,
                TypeSpecifier::Short => size = 2,
                TypeSpecifier::Int => {}
                TypeSpecifier::Long => longs += 1,
                TypeSpecifier::Signed => signed = true,
                TypeSpecifier::Unsigned => unsigned = true,
                TypeSpecifier::Float => float = Some(4),
                TypeSpecifier::Double => float = Some(8),
                TypeSpecifier::Bool => return Ok(Ty::Int(Int { size: 1, signed: false, truth: true })),
                TypeSpecifier::Complex => float = float.or(Some(8)),
                TypeSpecifier::TS18661Float(f) => {
                    float = Some(if f.width <= 32 {
                        4
                    } else if f.width <= 64 {
                        8
                    } else {
                        16
                    })
                }
                TypeSpecifier::Atomic(t) => {
                    let ty = self.type_name(t)?;
                    return Ok(Ty::Atomic(Rc::new(ty)));
                }
                TypeSpecifier::Struct(s) => return self.struct_type(s),
                TypeSpecifier::Enum(e) => {
                    let mut next = 0;
                    for item in &e.node.enumerators {
                        if let Some(v) = &item.node.expression {
                            next = self.constant(v)?;
                        }
                        self.bind(item.node.identifier.node.name.clone(), Symbol::Constant(next));
                        next = next.wrapping_add(1);
                    }
                    return Ok(Ty::Int(Int::new(4, false)));
                }
                TypeSpecifier::TypedefName(n) => {
                    let name = &n.node.name;
                    return match self.lookup(name) {
                        Some(Symbol::Typedef(t)) => Ok(t.clone()),
                        _ if name == "__builtin_va_list" => Ok(Ty::Array(Rc::new(Ty::Int(PTR)), Some(3))),
                        _ => wrong(n.span, format!("`{name}` is not a type")),
                    };
                }
                TypeSpecifier::TypeOf(t) => {
                    return match &t.node {
                        TypeOf::Type(t) => self.type_name(t),
                        TypeOf::Expression(e) => self.type_of(e),
                    };
                }
            }
        }
        if let Some(size) = float {
            return Ok(Ty::Float(if longs > 0 { 16 } else { size }));
        }
        if longs > 0 {
            size = 8;
        }
        _ = (signed, span);
        Ok(Ty::Int(Int::new(size, !unsigned)))
    }

    fn struct_type(&mut self, s: &'a Node<StructType>) -> Result<Ty> {
        let tag = s.node.identifier.as_ref().map(|n| format!("struct {}", n.node.name));
        let known = match &tag {
            // A definition makes a new type in its scope.
            Some(tag) if s.node.declarations.is_some() => {
                let scope = self.scopes.last().unwrap_or(&self.globals);
                scope.get(tag).cloned()
            }
            Some(tag) => self.lookup(tag).cloned(),
            None => None,
        };
        let number = match known {
            Some(Symbol::Tag(n)) => n,
            _ => {
                let name = s.node.identifier.as_ref().map_or_else(String::new, |n| n.node.name.clone());
                if name == "__throng_auto" {
                    return Ok(Ty::Auto);
                }
                self.structs.push(Struct { name, align: 1, ..Struct::default() });
                let n = self.structs.len() - 1;
                if let Some(tag) = tag {
                    self.bind(tag, Symbol::Tag(n));
                }
                n
            }
        };
        let Some(declarations) = &s.node.declarations else { return Ok(Ty::Struct(number)) };
        if self.structs[number].complete {
            return Ok(Ty::Struct(number));
        }
        let union = s.node.kind.node == StructKind::Union;
        let mut fields = Vec::new();
        let (mut size, mut align) = (0u64, 1u64);
        // Bits used of the storage unit that ends at `size`.
        let mut bits_left = 0u64;
        for d in declarations {
            let StructDeclaration::Field(f) = &d.node else { continue };
            let base = self.qualified(&f.node.specifiers, f.span)?;
            let mut members = Vec::new();
            if f.node.declarators.is_empty() {
                members.push((None, base.clone(), None));
            }
            for m in &f.node.declarators {
                let (name, ty) = match &m.node.declarator {
                    Some(d) => self.declarator(base.clone(), d)?,
                    None => (None, base.clone()),
                };
                let width = match &m.node.bit_width {
                    Some(w) => Some(self.constant(w)? as u64),
                    None => None,
                };
                members.push((name, ty, width));
            }
            for (name, ty, width) in members {
                let flexible = matches!(ty, Ty::Array(_, None));
                let layout = if flexible {
                    let Ty::Array(t, _) = &ty else { continue };
                    t.layout(&self.structs).map(|l| (0, l.1))
                } else {
                    ty.layout(&self.structs)
                };
                let Some((bytes, aligned)) = layout else {
                    return wrong(f.span, "a member has a type that is not complete");
                };
                align = align.max(aligned);
                if let Some(width) = width {
                    if width == 0 {
                        bits_left = 0;
                    } else if union {
                        size = size.max(bytes);
                    } else if bits_left >= width {
                        bits_left -= width;
                    } else {
                        size = size.next_multiple_of(aligned) + bytes;
                        bits_left = bytes * 8 - width.min(bytes * 8);
                    }
                    if name.is_some() {
                        fields.push(Field { name, ty, offset: size - bytes.min(size), bits: true });
                    }
                    continue;
                }
                bits_left = 0;
                let offset = if union { 0 } else { size.next_multiple_of(aligned) };
                size = size.max(offset.saturating_add(bytes));
                fields.push(Field { name, ty, offset, bits: false });
            }
        }
        let s = &mut self.structs[number];
        s.fields = fields;
        s.align = align;
        s.size = size.checked_next_multiple_of(align).unwrap_or(u64::MAX);
        s.complete = true;
        Ok(Ty::Struct(number))
    }

    fn type_name(&mut self, t: &'a Node<TypeName>) -> Result<Ty> {
        let base = self.qualified(&t.node.specifiers, t.span)?;
        match &t.node.declarator {
            Some(d) => Ok(self.declarator(base, d)?.1),
            None => Ok(base),
        }
    }

    /// The name and type that a declarator declares.
    fn declarator(&mut self, base: Ty, d: &'a Node<Declarator>) -> Result<(Option<String>, Ty)> {
        let mut ty = base;
        // Pointers come first in the list and bind last; arrays and functions are read from the right.
        let (pointers, rest): (Vec<_>, Vec<_>) = d
            .node
            .derived
            .iter()
            .partition(|x| matches!(x.node, DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_)));
        for p in pointers {
            ty = Ty::ptr(ty);
            if let DerivedDeclarator::Pointer(qualifiers) = &p.node {
                let is_atomic = |q: &Node<PointerQualifier>| matches!(&q.node, PointerQualifier::TypeQualifier(t) if t.node == TypeQualifier::Atomic);
                if qualifiers.iter().any(is_atomic) {
                    ty = Ty::Atomic(Rc::new(ty));
                }
            }
        }
        for x in rest.into_iter().rev() {
            ty = match &x.node {
                DerivedDeclarator::Array(a) => {
                    let size = match &a.node.size {
                        ArraySize::Unknown | ArraySize::VariableUnknown => None,
                        ArraySize::VariableExpression(e) | ArraySize::StaticExpression(e) => {
                            match self.constant(e) {
                                Ok(n) if n >= 0 => Some(n as u64),
                                Ok(_) => return wrong(x.span, "the size of an array is negative"),
                                Err(_) => return unsupported(x.span, "an array whose size is not constant"),
                            }
                        }
                    };
                    Ty::Array(Rc::new(ty), size)
                }
                DerivedDeclarator::Function(f) => {
                    let mut parameters = Vec::new();
                    for p in &f.node.parameters {
                        let base = self.specifiers(&p.node.specifiers, p.span)?;
                        let (name, t) = match &p.node.declarator {
                            Some(d) => self.declarator(base.ty, d)?,
                            None => (None, base.ty),
                        };
                        parameters.push((name, decay(t)));
                    }
                    if matches!(&parameters[..], [(None, Ty::Void)]) {
                        parameters.clear();
                    }
                    let variadic = f.node.ellipsis == Ellipsis::Some;
                    Ty::Func(Rc::new(Func { result: ty, parameters, variadic }))
                }
                DerivedDeclarator::KRFunction(names) => {
                    let parameters = names.iter().map(|n| (Some(n.node.name.clone()), Ty::int())).collect();
                    Ty::Func(Rc::new(Func { result: ty, parameters, variadic: names.is_empty() }))
                }
                DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_) => ty,
            };
        }
        match &d.node.kind.node {
            DeclaratorKind::Abstract => Ok((None, ty)),
            DeclaratorKind::Identifier(n) => Ok((Some(n.node.name.clone()), ty)),
            DeclaratorKind::Declarator(inner) => self.declarator(ty, inner),
        }
    }

    fn size_of(&self, ty: &Ty, span: Span) -> Result<u64> {
        match ty.layout(&self.structs) {
            Some((size, _)) if size <= MOST_BYTES => Ok(size),
            Some(_) => Err(Problem {
                code: "E807",
                span,
                message: format!("an object is larger than {MOST_BYTES} bytes"),
                hint: Some("make the array smaller".into()),
            }),
            None => wrong(span, "the size of this type is not known"),
        }
    }

    // ---- declarations ----

    fn declaration(&mut self, d: &'a Node<Declaration>) -> Result<()> {
        let base = self.specifiers(&d.node.specifiers, d.span)?;
        for item in &d.node.declarators {
            let span = item.span;
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
        if is_extern && !global {
            if let Some(known @ Symbol::Memory(..)) = self.globals.get(&name).cloned() {
                self.bind(name, known);
                return Ok(());
            }
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
        self.program.objects.push(Object { name, init, base: 0, parts, visible: true });
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
        self.current.template.names.push(name);
        self.current.template.registers.len() as Reg - 1
    }

    fn emit(&mut self, i: Instr) {
        if self.dry {
            return;
        }
        let function = self.current.frames.iter().map(|f| f.name.as_str()).collect::<Vec<_>>().join(" > ");
        let key = (self.here.start, self.here.end, function);
        let origin = match self.origins.get(&key) {
            Some(&o) => o,
            None => {
                let (file, line, column, text) = self.prepared.origin(key.0, key.1);
                let origin = Origin { file, line, column, text, function: key.2.clone(), labels: Vec::new() };
                self.program.origins.push(origin);
                let o = self.program.origins.len() as u32 - 1;
                self.origins.insert(key, o);
                o
            }
        };
        self.current.template.code.push(i);
        self.current.template.origins.push(origin);
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
        if !self.definitions.contains_key("main") {
            let problem = Problem {
                code: "E804",
                span: Span::none(),
                message: "there is no function `main`".into(),
                hint: None,
            };
            self.problems.push(problem);
            return;
        }
        self.template("main");
        while let Some(name) = self.waiting.pop() {
            let done = self.write_template(&name);
            self.record(done);
        }
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
        self.current.template.single = name == "main";
        self.current.template.arguments = definition.ty.parameters.len();
        self.here = definition.node.declarator.span;
        let mut arguments = Vec::new();
        for (n, t) in &definition.ty.parameters {
            let Some(i) = t.scalar() else {
                return unsupported(self.here, "a thread that starts with a structure as argument");
            };
            let r = self.register(i, n.clone());
            arguments.push(Value { expr: Expr::Reg(r), ty: t.clone() });
        }
        if name == "main" {
            // Its arguments are inputs.
            self.current.template.arguments = 0;
        }
        let result = self.inline(name, arguments, self.here)?;
        if name == "main" {
            self.emit(Instr::Halt);
        } else {
            let value = match result {
                Some(v) if v.ty.scalar().is_some() => v.expr,
                _ => Expr::Const(0),
            };
            self.emit(Instr::End(value));
        }
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
            result: result.clone(),
            exit,
            labels: HashMap::new(),
            addressed: definition.addressed.clone(),
            bare: definition.bare.clone(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
        });
        let done = self.body(&definition, arguments, span);
        self.record(done);
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
                Some(v) => self.assign(&place, v, span)?,
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

/// How a function uses names: whose address it takes, and which it uses other than by subscript or member.
#[derive(Default)]
struct Uses {
    addressed: HashSet<String>,
    bare: HashSet<String>,
}

impl Uses {
    fn statement(&mut self, s: &Statement) {
        match s {
            Statement::Labeled(l) => self.statement(&l.node.statement.node),
            Statement::Compound(items) => {
                for i in items {
                    match &i.node {
                        BlockItem::Declaration(d) => self.declaration(&d.node),
                        BlockItem::Statement(s) => self.statement(&s.node),
                        BlockItem::StaticAssert(_) => {}
                    }
                }
            }
            Statement::Expression(e) => e.iter().for_each(|e| self.expression(&e.node)),
            Statement::If(i) => {
                self.expression(&i.node.condition.node);
                self.statement(&i.node.then_statement.node);
                i.node.else_statement.iter().for_each(|s| self.statement(&s.node));
            }
            Statement::Switch(s) => {
                self.expression(&s.node.expression.node);
                self.statement(&s.node.statement.node);
            }
            Statement::While(w) => {
                self.expression(&w.node.expression.node);
                self.statement(&w.node.statement.node);
            }
            Statement::DoWhile(w) => {
                self.expression(&w.node.expression.node);
                self.statement(&w.node.statement.node);
            }
            Statement::For(f) => {
                match &f.node.initializer.node {
                    ForInitializer::Expression(e) => self.expression(&e.node),
                    ForInitializer::Declaration(d) => self.declaration(&d.node),
                    _ => {}
                }
                f.node.condition.iter().chain(&f.node.step).for_each(|e| self.expression(&e.node));
                self.statement(&f.node.statement.node);
            }
            Statement::Return(e) => e.iter().for_each(|e| self.expression(&e.node)),
            Statement::Goto(_) | Statement::Continue | Statement::Break | Statement::Asm(_) => {}
        }
    }

    fn declaration(&mut self, d: &Declaration) {
        for i in &d.declarators {
            if let Some(init) = &i.node.initializer {
                self.initializer(&init.node);
            }
        }
    }

    fn initializer(&mut self, i: &Initializer) {
        match i {
            Initializer::Expression(e) => self.expression(&e.node),
            Initializer::List(items) => items.iter().for_each(|i| self.initializer(&i.node.initializer.node)),
        }
    }

    /// The operand of a subscript or member, or of `&`: the variable it is a part of.
    fn part(&mut self, e: &Expression, address: bool) {
        match e {
            Expression::Identifier(n) if address => {
                self.addressed.insert(n.node.name.clone());
            }
            Expression::Identifier(_) => {}
            Expression::Member(m) if m.node.operator.node == MemberOperator::Direct => {
                self.part(&m.node.expression.node, address)
            }
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                self.part(&b.node.lhs.node, address);
                self.expression(&b.node.rhs.node);
            }
            e => self.expression(e),
        }
    }

    fn expression(&mut self, e: &Expression) {
        match e {
            Expression::Identifier(n) => {
                self.bare.insert(n.node.name.clone());
            }
            Expression::Constant(_) | Expression::StringLiteral(_) => {}
            Expression::GenericSelection(g) => {
                self.expression(&g.node.expression.node);
                for a in &g.node.associations {
                    match &a.node {
                        GenericAssociation::Type(t) => self.expression(&t.node.expression.node),
                        GenericAssociation::Default(e) => self.expression(&e.node),
                    }
                }
            }
            Expression::Member(m) => match m.node.operator.node {
                MemberOperator::Direct => self.part(&m.node.expression.node, false),
                MemberOperator::Indirect => self.expression(&m.node.expression.node),
            },
            Expression::Call(c) => {
                self.expression(&c.node.callee.node);
                c.node.arguments.iter().for_each(|a| self.expression(&a.node));
            }
            Expression::CompoundLiteral(c) => {
                c.node.initializer_list.iter().for_each(|i| self.initializer(&i.node.initializer.node))
            }
            Expression::SizeOfVal(_) | Expression::SizeOfTy(_) | Expression::AlignOf(_) => {}
            Expression::UnaryOperator(u) => match u.node.operator.node {
                UnaryOperator::Address => self.part(&u.node.operand.node, true),
                _ => self.expression(&u.node.operand.node),
            },
            Expression::Cast(c) => self.expression(&c.node.expression.node),
            Expression::BinaryOperator(b) if b.node.operator.node == BinaryOperator::Index => {
                self.part(e, false)
            }
            Expression::BinaryOperator(b) => {
                self.expression(&b.node.lhs.node);
                self.expression(&b.node.rhs.node);
            }
            Expression::Conditional(c) => {
                self.expression(&c.node.condition.node);
                self.expression(&c.node.then_expression.node);
                self.expression(&c.node.else_expression.node);
            }
            Expression::Comma(list) => list.iter().for_each(|e| self.expression(&e.node)),
            Expression::OffsetOf(_) => {}
            Expression::VaArg(v) => self.expression(&v.node.va_list.node),
            Expression::Statement(s) => self.statement(&s.node),
        }
    }
}
