//! From linked modules to the goto program: which functions become templates, where threads start,
//! and what objects there are. Each function that is reached becomes a template, and its calls stay
//! calls.

mod arithmetic;
mod atomics;
mod bounds;
mod calls;
mod constants;
mod copies;
mod demanded;
mod entries;
mod floating;
mod function;
mod instructions;
mod intrinsics;
mod memory;
mod objects;
mod reach;
mod wide;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::debug::Debug;
use crate::link::{Id, Linked, Symbol};
use crate::names::demangled;
use crate::sources::Sources;
use crate::syntax::tree::{Function, Instruction, Op, Type, Value};
use crate::{Roles, models, syntax};
use throng_goto::program::{Budget, Instr, Origin, Program, Template, Violation};
use throng_goto::question::Question;
use throng_model::assumption::Assumption;
use throng_model::memory::MemoryModel;

pub(crate) use calls::Site;
pub(crate) use function::{Family, Operand, Words, Writer, operands};

/// What is wrong with the program, and where in the source: file, line, column.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub code: &'static str,
    pub message: String,
    pub hint: Option<String>,
    pub place: Option<(String, u32, u32)>,
}

pub(crate) type Result<T> = std::result::Result<T, Problem>;

impl Problem {
    pub fn new(code: &'static str, message: impl Into<String>) -> Problem {
        Problem { code, message: message.into(), hint: None, place: None }
    }

    /// What is not modelled.
    pub fn unsupported(what: impl Into<String>) -> Problem {
        Problem::new("E852", what.into() + " is not supported")
    }
}

/// What is asked of a program.
pub(crate) struct Asked<'a> {
    pub question: &'a Question,
    pub roles: &'a Roles,
    pub sources: &'a Sources,
}

/// What the code of a function is written for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Role {
    /// The first thread starts in it, and the program exits when it returns.
    Main,
    /// Threads start in it whose creation is not part of the program.
    Entry,
    /// It is called, or threads start in it that the program creates.
    Called,
}

/// A program being written.
pub(crate) struct Lower<'a, 't> {
    pub linked: &'a Linked<'t>,
    pub asked: &'a Asked<'a>,
    pub program: Program,
    /// Addresses of variables, and those whose initial bytes are still to be written.
    objects: FxHashMap<Id, i64>,
    blank: Vec<Id>,
    /// The numbers of functions that have addresses.
    numbers: FxHashMap<Id, i64>,
    templates: FxHashMap<(Id, Role), usize>,
    waiting: Vec<(Id, Role)>,
    /// Templates of functions that are not modelled, and why.
    failed: FxHashMap<usize, Problem>,
    calls_pointers: bool,
    /// Where results go that are more than one number.
    result_slots: Option<i64>,
    /// Where a thread keeps its record.
    record: Option<i64>,
    /// The functions that threads start in.
    roots: Vec<Id>,
    /// Whether nobody sees the words of the locks of a kind, once that was looked at.
    known: FxHashMap<Family, bool>,
    pub notes: Vec<Assumption>,
}

/// A program, or what is wrong with it; and notes about what was assumed.
pub(crate) fn lower<'a, 't>(
    linked: &'a Linked<'t>,
    asked: &'a Asked<'a>,
) -> std::result::Result<(Program, Vec<Assumption>), Vec<Problem>> {
    let mut l = Lower {
        linked,
        asked,
        program: Program::default(),
        objects: FxHashMap::default(),
        blank: Vec::new(),
        numbers: FxHashMap::default(),
        templates: FxHashMap::default(),
        waiting: Vec::new(),
        failed: FxHashMap::default(),
        calls_pointers: false,
        result_slots: None,
        record: None,
        roots: Vec::new(),
        known: FxHashMap::default(),
        notes: Vec::new(),
    };
    let question = asked.question;
    l.program.asked = question.violations();
    l.program.undefined_values = true;
    l.program.locks_in_data = true;
    l.program.memory_errors = question.reports_memory_errors();
    l.check_question().map_err(|p| vec![p])?;
    l.start().map_err(|p| vec![p])?;
    let problems = l.refused();
    if !problems.is_empty() {
        return Err(problems);
    }
    l.program.place_objects();
    if l.program.shared_size() as u64 > crate::layout::MOST_BYTES {
        return Err(vec![Problem::new("E854", "the variables take more bytes than are supported")]);
    }
    l.program = l.program.flat(&Budget::default());
    if l.program.is_flat() {
        l.program.simplify();
    }
    let fails = |i: &Instr| matches!(i, Instr::Fail(Violation::Assertion, _));
    l.program.asserts = l.program.templates.iter().any(|t| t.code.iter().any(fails));
    let more = l.program.asked.iter().any(|&what| what != Violation::Assertion);
    if l.program.asserts && (more || question.asks_who_waits()) {
        l.assume("a panic ends the process");
    }
    if !l.program.asserts && (l.program.asked.len() > 1 || question.deadlock) && !question.only {
        // Nothing can be found out about assertions that are not there.
        l.program.asked.retain(|&what| what != Violation::Assertion);
    }
    l.program.finish();
    Ok((l.program, l.notes))
}

impl<'a, 't> Lower<'a, 't> {
    /// Refuses what cannot be asked about, and modules that are not read as a whole.
    fn check_question(&self) -> Result<()> {
        if let Some(name) = self.linked.twice.first() {
            let message = format!("`{}` is defined in two modules", demangled(name));
            return Err(Problem::new("E853", message));
        }
        if self.linked.modules.iter().any(|m| m.assembly.is_some()) {
            return Err(Problem::unsupported("assembly outside functions"));
        }
        let question = self.asked.question;
        if !question.exclusive.is_empty() || !question.error_labels.is_empty() {
            return Err(Problem::unsupported("a question about labels of LLVM IR"));
        }
        Ok(())
    }

    pub fn debug(&self, module: usize) -> Debug<'a, 't> {
        Debug::new(&self.linked.modules[module].metadata)
    }

    /// Returns a type of a module without names.
    pub fn resolved(&self, module: usize, ty: &Type<'t>) -> Result<Type<'t>> {
        match ty {
            Type::Named(_) | Type::Array(..) | Type::Struct(..) => {
                syntax::parser::resolve(ty, &self.linked.modules[module].types, 0)
                    .map_err(Problem::unsupported)
            }
            plain => Ok(plain.clone()),
        }
    }

    pub fn assume(&mut self, what: &'static str) {
        let note = Assumption::Reader(what);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns the function that a name means, if it is one.
    pub fn function_named(&self, module: usize, name: &str) -> Option<Id> {
        match self.linked.lookup(module, name)? {
            Symbol::Function(id) => Some(id),
            Symbol::Global(_) => None,
        }
    }

    pub fn is_defined(&self, id: Id) -> bool {
        !self.linked.function(id).blocks.is_empty()
    }

    /// Returns the number of the template for a function.
    pub fn template(&mut self, id: Id, role: Role) -> usize {
        if let Some(&n) = self.templates.get(&(id, role)) {
            return n;
        }
        let n = self.program.templates.len();
        self.program.templates.push(Template::default());
        self.templates.insert((id, role), n);
        self.waiting.push((id, role));
        n
    }

    /// Writes templates and objects until there is one for all that is used. What a pointer may
    /// point to is, if some pointer is called.
    pub(super) fn write_all(&mut self) {
        let mut pointers: FxHashMap<Id, usize> = FxHashMap::default();
        loop {
            if let Some((id, role)) = self.waiting.pop() {
                self.write_template(id, role);
            } else if let Some(id) = self.blank.pop() {
                self.write_object(id);
            } else {
                let mut new: Vec<Id> = self.numbers.keys().copied().collect();
                new.retain(|id| self.calls_pointers && self.is_defined(*id) && !pointers.contains_key(id));
                let Some(id) = new.into_iter().min() else { break };
                let template = self.template(id, Role::Called);
                pointers.insert(id, template);
            }
        }
        for (id, template) in pointers {
            self.program.templates[template].pointer = u32::try_from(self.numbers[&id]).ok();
        }
    }

    fn write_template(&mut self, id: Id, role: Role) {
        let number = self.templates[&(id, role)];
        let linked = self.linked;
        let function: &'a Function<'t> = linked.function(id);
        let written = Writer::new(self, id.module, function, role).write();
        self.program.templates[number] = written.unwrap_or_else(|p| {
            let template = self.unmodelled(function, role, &p);
            self.failed.insert(number, p);
            template
        });
    }

    /// The template of a function that is not modelled: nothing is known once it is called.
    fn unmodelled(&mut self, function: &'a Function<'t>, role: Role, why: &Problem) -> Template {
        let name = demangled(function.name);
        let mut writer = Writer::new(self, 0, function, role);
        writer.parameters_alone();
        writer.emit(Instr::Unmodelled(format!("`{name}`: {}", why.message)));
        writer.finished()
    }

    /// Returns the problems of functions that are called by name from where threads start.
    fn refused(&self) -> Vec<Problem> {
        let mut work: Vec<usize> = match &self.program.start {
            throng_goto::program::Start::One(t) => vec![*t],
            throng_goto::program::Start::Any(all) => all.clone(),
        };
        let mut seen: FxHashSet<usize> = work.iter().copied().collect();
        let mut problems: Vec<Problem> = Vec::new();
        while let Some(t) = work.pop() {
            if let Some(p) = self.failed.get(&t)
                && problems.len() < 20
                && !problems.iter().any(|q| q.message == p.message && q.place == p.place)
            {
                problems.push(p.clone());
            }
            for i in &self.program.templates[t].code {
                if let Instr::Call { function: to, .. } | Instr::Spawn(to, ..) = i
                    && seen.insert(*to)
                {
                    work.push(*to);
                }
            }
        }
        problems.sort_by(|a, b| a.place.cmp(&b.place));
        problems
    }

    /// Returns the function with this name in the source.
    pub fn function_written(&self, name: &str) -> Option<Id> {
        self.linked.defined().find(|&id| demangled(self.linked.function(id).name) == name)
    }

    /// Returns where a thread keeps the address of its record.
    pub fn thread_record(&mut self) -> i64 {
        if let Some(a) = self.record {
            return a;
        }
        let a = self.thread_local("(thread)", vec![0; 8], 8);
        self.record = Some(a);
        a
    }

    /// Returns whether nobody sees the words of the locks of a kind: in the code that may run, slow
    /// paths are called by the functions that take and leave locks alone, and none of these goes on
    /// without the lock. Under sequential consistency, one that tries to take a mutex may, since it
    /// sees the last word.
    pub fn knows(&mut self, family: Family) -> bool {
        if let Some(&known) = self.known.get(&family) {
            return known;
        }
        let sequential = self.asked.question.memory_model == Some(MemoryModel::Sequential);
        let known = self.linked.reached(&self.roots).all(|id| {
            let function = self.linked.function(id);
            let name = demangled(function.name);
            match models::words(&name) {
                Some(Words::TriesToLock) => sequential || family != Family::Mutex,
                Some(Words::Sees) => family != Family::RwLock,
                Some(_) => true,
                None => models::model(&name).is_some() || !calls_slow_path(function, family),
            }
        });
        self.known.insert(family, known);
        known
    }

    /// Writes a template of code that is not in the program.
    pub fn hidden(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Writer<'_, 'a, 't>) -> Result<()>,
    ) -> Result<usize> {
        const NOTHING: &Function<'static> = &Function {
            name: "",
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
        let mut writer = Writer::new(self, 0, NOTHING, Role::Called);
        writer.template.name = name.into();
        write(&mut writer)?;
        let template = writer.finished();
        self.program.templates.push(template);
        Ok(self.program.templates.len() - 1)
    }

    /// Adds an origin, and returns its number.
    pub fn origin(&mut self, origin: Origin) -> u32 {
        self.program.origins.push(origin);
        self.program.origins.len() as u32 - 1
    }
}

/// Returns whether a function calls a slow path of a kind of lock.
fn calls_slow_path(function: &Function<'_>, family: Family) -> bool {
    let calls = |i: &Instruction<'_>| match &i.op {
        Op::Call(call) => match &call.callee {
            Value::Global(name) => models::slow_path(&demangled(name)) == Some(family),
            _ => false,
        },
        _ => false,
    };
    function.blocks.iter().flat_map(|b| &b.code).any(calls)
}
