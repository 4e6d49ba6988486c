//! Several modules as one program: which definition a name means.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::lower::operands;
use crate::syntax::tree::{Function, Global, Module, Value};

/// A function or a variable, by its module and its place there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Id {
    pub module: usize,
    pub index: usize,
}

/// What a name means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Symbol {
    Function(Id),
    Global(Id),
}

/// The modules of a program, and what names mean in each.
pub(crate) struct Linked<'t> {
    pub modules: Vec<Module<'t>>,
    /// Names that mean the same in all modules.
    shared: FxHashMap<&'t str, Symbol>,
    /// Names that are internal to a module.
    internal: Vec<FxHashMap<&'t str, Symbol>>,
    /// Names that several modules define.
    pub twice: Vec<&'t str>,
}

impl<'t> Linked<'t> {
    /// Links modules.
    pub fn new(modules: Vec<Module<'t>>) -> Linked<'t> {
        let mut linked = Linked {
            shared: FxHashMap::default(),
            internal: vec![FxHashMap::default(); modules.len()],
            twice: Vec::new(),
            modules: Vec::new(),
        };
        // How good the definition is that a name has so far: declared, weak, strong.
        let mut ranks: FxHashMap<&'t str, u8> = FxHashMap::default();
        for (module, m) in modules.iter().enumerate() {
            let rank = |defined: bool, weak: bool| u8::from(defined) + u8::from(defined && !weak);
            let functions = m.functions.iter().enumerate().map(|(index, f)| {
                let id = Symbol::Function(Id { module, index });
                (f.name, id, f.internal, rank(!f.blocks.is_empty(), f.weak))
            });
            let globals = m.globals.iter().enumerate().map(|(index, g)| {
                let id = Symbol::Global(Id { module, index });
                (g.name, id, g.internal, rank(g.initial.is_some(), g.weak))
            });
            for (name, symbol, internal, rank) in functions.chain(globals) {
                if internal {
                    linked.internal[module].insert(name, symbol);
                    continue;
                }
                let known = ranks.get(name).copied();
                if known == Some(2) && rank == 2 {
                    linked.twice.push(name);
                }
                if known.is_none_or(|known| rank > known) {
                    ranks.insert(name, rank);
                    linked.shared.insert(name, symbol);
                }
            }
        }
        linked.modules = modules;
        linked
    }

    /// Returns what a name means in a module. Aliases mean what they stand for.
    pub fn lookup(&self, module: usize, name: &str) -> Option<Symbol> {
        let mut found = self.one(module, name)?;
        for _ in 0..8 {
            match found {
                Symbol::Global(id) if self.global(id).alias => match &self.global(id).initial {
                    Some(Value::Global(name)) => found = self.one(id.module, name)?,
                    _ => return Some(found),
                },
                _ => break,
            }
        }
        Some(found)
    }

    fn one(&self, module: usize, name: &str) -> Option<Symbol> {
        self.internal[module].get(name).or_else(|| self.shared.get(name)).copied()
    }

    /// Returns a function.
    pub fn function(&self, id: Id) -> &Function<'t> {
        &self.modules[id.module].functions[id.index]
    }

    /// Returns a variable.
    pub fn global(&self, id: Id) -> &Global<'t> {
        &self.modules[id.module].globals[id.index]
    }

    /// Returns all functions that have a body.
    pub fn defined(&self) -> impl Iterator<Item = Id> + '_ {
        self.modules.iter().enumerate().flat_map(|(module, m)| {
            let with_body = m.functions.iter().enumerate().filter(|(_, f)| !f.blocks.is_empty());
            with_body.map(move |(index, _)| Id { module, index })
        })
    }

    /// Returns the functions with a body that these mention, in code and in variables.
    pub fn reached(&self, roots: &[Id]) -> impl Iterator<Item = Id> + use<'_, 't> {
        let mut work: Vec<Symbol> = roots.iter().copied().map(Symbol::Function).collect();
        let mut seen: FxHashSet<Symbol> = work.iter().copied().collect();
        while let Some(symbol) = work.pop() {
            let (module, mut names) = (symbol.module(), Vec::new());
            let mut note = |v: &Value<'t>| mentioned(v, &mut names);
            match symbol {
                Symbol::Function(id) => {
                    let code = self.function(id).blocks.iter().flat_map(|b| &b.code);
                    code.for_each(|i| operands(&i.op, &mut note));
                }
                Symbol::Global(id) => self.global(id).initial.iter().for_each(note),
            }
            let found = names.into_iter().filter_map(|name| self.lookup(module, name));
            work.extend(found.filter(|&symbol| seen.insert(symbol)));
        }
        seen.into_iter().filter_map(|symbol| match symbol {
            Symbol::Function(id) if !self.function(id).blocks.is_empty() => Some(id),
            _ => None,
        })
    }
}

impl Symbol {
    fn module(self) -> usize {
        match self {
            Symbol::Function(id) | Symbol::Global(id) => id.module,
        }
    }
}

/// Adds the names that a value mentions.
fn mentioned<'t>(v: &Value<'t>, names: &mut Vec<&'t str>) {
    match v {
        Value::Global(name) => names.push(name),
        Value::Parts(parts) => parts.iter().for_each(|(_, v)| mentioned(v, names)),
        Value::Expr(op) => operands(op, &mut |v| mentioned(v, names)),
        _ => {}
    }
}
