//! The goto program as a [`Model`] with real values: states are numbers of entries in tables that grow as the search goes on.

use std::hash::Hash;
use std::sync::{Arc, Mutex, RwLock};

use rustc_hash::FxHashMap;
use throng_model::{
    Bag, Bystanders, Describe, Edge, Incomplete, Local, Model, Place, SetStates, Shared, Step, Traits,
    Transfers,
};

use crate::goto::{Instr, Int, Origin, PTR, Program};
use crate::step::{After, Memory, OPEN, Thread, initial_memory, register, start, step};

/// The shared state in which the property is violated.
pub const FAILED: Shared = Shared(0);
/// The shared state in which the process has ended.
pub const HALTED: Shared = Shared(1);

/// Things by number.
struct Table<T> {
    numbers: FxHashMap<Arc<T>, u64>,
    things: Vec<Arc<T>>,
}

impl<T: Hash + Eq> Table<T> {
    fn new() -> Table<T> {
        Table { numbers: FxHashMap::default(), things: Vec::new() }
    }
}

fn number<T: Hash + Eq>(table: &RwLock<Table<T>>, thing: T) -> u64 {
    if let Some(&n) = table.read().unwrap_or_else(|e| e.into_inner()).numbers.get(&thing) {
        return n;
    }
    let mut table = table.write().unwrap_or_else(|e| e.into_inner());
    if let Some(&n) = table.numbers.get(&thing) {
        return n;
    }
    let n = table.things.len() as u64;
    let thing = Arc::new(thing);
    table.things.push(thing.clone());
    table.numbers.insert(thing, n);
    n
}

fn thing<T>(table: &RwLock<Table<T>>, n: u64) -> Option<Arc<T>> {
    table.read().unwrap_or_else(|e| e.into_inner()).things.get(n as usize).cloned()
}

/// A C program with concrete values.
pub struct Concrete {
    program: Arc<Program>,
    memories: RwLock<Table<Memory>>,
    threads: RwLock<Table<Thread>>,
    /// The first instruction of each template, in the numbering of edges.
    bases: Vec<u32>,
    missing: Mutex<Option<String>>,
    spawns: bool,
    initial: (Shared, Local),
}

impl Concrete {
    /// The model of a program.
    pub fn new(program: Arc<Program>) -> Concrete {
        let mut bases = Vec::new();
        let mut next = 0;
        for t in &program.templates {
            bases.push(next);
            next += t.code.len() as u32;
        }
        let spawns = program.templates.iter().flat_map(|t| &t.code).any(|i| matches!(i, Instr::Spawn(..)));
        let mut model = Concrete {
            memories: RwLock::new(Table::new()),
            threads: RwLock::new(Table::new()),
            bases,
            missing: Mutex::new(None),
            spawns,
            initial: (FAILED, Local(0)),
            program,
        };
        let memory = model.shared(initial_memory(&model.program));
        let main = Local(number(&model.threads, start(&model.program, 0, &[], 0)));
        model.initial = (memory, main);
        model
    }

    /// Where the program starts: shared state and first thread.
    pub fn initial(&self) -> (Shared, Local) {
        self.initial
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    fn shared(&self, memory: Memory) -> Shared {
        Shared(number(&self.memories, memory) + 2)
    }

    fn memory(&self, s: Shared) -> Option<Arc<Memory>> {
        s.0.checked_sub(2).and_then(|n| thing(&self.memories, n))
    }

    fn complete(&self) -> Result<(), Incomplete> {
        match &*self.missing.lock().unwrap_or_else(|e| e.into_inner()) {
            Some(why) => Err(Incomplete(why.clone())),
            None => Ok(()),
        }
    }

    fn edge(&self, template: u32, pc: u32) -> Edge {
        Edge(self.bases[template as usize] + pc)
    }

    fn at(&self, edge: Edge) -> (usize, usize) {
        let template = self.bases.partition_point(|&b| b <= edge.0).saturating_sub(1);
        (template, (edge.0 - self.bases[template]) as usize)
    }
}

fn place(origin: &Origin) -> Place {
    Place {
        line: origin.line,
        column: origin.column.max(1),
        text: origin.text.clone(),
        labels: origin.labels.clone(),
        function: origin.function.clone(),
        origin: origin.file.as_ref().map(|f| format!("{f}:{}", origin.line)),
    }
}

impl Model for Concrete {
    fn post(&self, s: Shared, l: Local, out: &mut Vec<Step>) -> Result<(), Incomplete> {
        let (Some(memory), Some(thread)) = (self.memory(s), thing(&self.threads, l.0)) else {
            return self.complete();
        };
        let steps = step(&self.program, &memory, &thread);
        if let Some(why) = steps.missing {
            self.missing.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(why);
        }
        for (choice, outcome) in steps.outcomes.into_iter().enumerate() {
            let (to, at) = match outcome.after {
                After::Runs(memory) => (self.shared(memory), outcome.at),
                After::Failed(_) => (FAILED, outcome.last),
                After::Halted => (HALTED, outcome.at),
            };
            let local = |t: Thread| Local(number(&self.threads, t));
            out.push(Step {
                from: s,
                to,
                take: Bag::one(l),
                put: outcome.thread.map(|t| Bag::one(local(t))).unwrap_or_default(),
                spawn: outcome.started.into_iter().map(local).collect(),
                others: Bystanders::Stay,
                edge: self.edge(thread.template, at),
                choice: choice as u64,
            });
        }
        self.complete()
    }

    fn post_shared(&self, _: Shared, _: &mut Vec<Step>) -> Result<(), Incomplete> {
        self.complete()
    }

    fn traits(&self) -> Traits {
        Traits { blocking: None, spawns: self.spawns }
    }

    fn transfers(&self) -> Option<&dyn Transfers> {
        None
    }

    fn sets(&self) -> Option<&dyn SetStates> {
        None
    }
}

impl Describe for Concrete {
    fn shared_values(&self, s: Shared) -> Vec<(String, String)> {
        match s {
            FAILED => return vec![("property".into(), "violated".into())],
            HALTED => return vec![("process".into(), "ended".into())],
            _ => {}
        }
        let Some(memory) = self.memory(s) else { return Vec::new() };
        let mut found = Vec::new();
        for o in self.program.objects.iter().filter(|o| o.visible && !o.name.starts_with('"')) {
            for (offset, at, suffix) in o.parts.iter().take(32) {
                let from = o.base + *offset as usize;
                if let Some(bytes) = memory.fixed.get(from..from + at.size as usize) {
                    found.push((format!("{}{suffix}", o.name), self.show(bytes, *at)));
                }
            }
        }
        for (i, o) in memory.heap.iter().enumerate() {
            if let Some(o) = o {
                let values: Vec<String> = o
                    .chunks(4)
                    .map(|c| self.show(c, Int::new(c.len().next_power_of_two() as u8, true)))
                    .collect();
                found.push((format!("allocated[{i}]"), values.join(",")));
            }
        }
        found
    }

    fn local_values(&self, l: Local) -> Vec<(String, String)> {
        let Some(thread) = thing(&self.threads, l.0) else { return Vec::new() };
        let t = &self.program.templates[thread.template as usize];
        let mut found = Vec::new();
        for &r in &t.live[thread.pc as usize] {
            if let Some(name) = &t.names[r as usize] {
                let value = register(&self.program, &thread, r).map_or("?".into(), |v| self.value(v));
                found.push((name.clone(), value));
            }
        }
        found
    }

    fn place(&self, l: Local) -> Option<Place> {
        let thread = thing(&self.threads, l.0)?;
        Some(place(self.program.origin(thread.template as usize, thread.pc as usize)))
    }

    fn edge_place(&self, edge: Edge) -> Place {
        let (template, pc) = self.at(edge);
        place(self.program.origin(template, pc))
    }
}

impl Concrete {
    fn show(&self, bytes: &[u16], at: Int) -> String {
        if bytes.contains(&OPEN) {
            return "?".into();
        }
        let v = at.wrap(bytes.iter().rev().fold(0i64, |v, &b| v << 8 | i64::from(b)));
        if at == PTR { self.value(v) } else { v.to_string() }
    }

    fn value(&self, v: i64) -> String {
        match self.program.name_of(v).filter(|_| v >> 32 > 0) {
            Some(name) => format!("&{name}"),
            None => v.to_string(),
        }
    }
}
