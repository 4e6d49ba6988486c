//! What variables and addresses are called in reports.

use std::collections::{HashMap, HashSet};

use super::{DANGLING, FUNCTION, Int, Object, PRIVATE, Program, Reg, Template, object_of, offset_of};

impl Template {
    /// What each register is called in reports: as in C; with its function, where two functions
    /// have a variable of this name, and with a number, where one function has several at a time.
    pub(super) fn report_names(&self) -> Vec<Option<String>> {
        let mut owners: HashMap<&str, HashSet<&str>> = HashMap::new();
        for (name, owner) in self.names.iter().zip(&self.owners) {
            name.iter().for_each(|name| _ = owners.entry(name).or_default().insert(owner));
        }
        let ranks = self.ranks();
        let shown = |(r, name): (usize, &Option<String>)| {
            let name = name.as_ref()?;
            let several = owners[&**name].len() > 1;
            let name = if several { format!("{}::{name}", self.owners[r]) } else { name.clone() };
            Some(if ranks[r] == 0 { name } else { format!("{name}#{}", ranks[r] + 1) })
        };
        self.names.iter().enumerate().map(shown).collect()
    }

    /// For each register, how many earlier ones are the same variable of the same function and
    /// matter at the same time: those of inner blocks.
    fn ranks(&self) -> Vec<usize> {
        let mut ranks = vec![0; self.names.len()];
        let mut before: &[Reg] = &[];
        for live in self.live.iter().filter(|live| !live.is_empty()) {
            if **live == *before {
                continue;
            }
            before = live;
            let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
            for r in live.iter().map(|&r| r as usize) {
                let Some(name) = &self.names[r] else { continue };
                let count = seen.entry((name, &self.owners[r])).or_default();
                ranks[r] = ranks[r].max(*count);
                *count += 1;
            }
        }
        ranks
    }
}

impl Object {
    /// The parts to show: offset, type, suffix of the name. Of a lock or its like, only the first
    /// word means something to a reader: whether it is held, how often a semaphore can be taken.
    pub fn shown(&self) -> Vec<(u32, Int, String)> {
        if self.library && !self.parts.iter().any(|p| p.2.contains(".__")) {
            return vec![(0, Int::new(self.init.len().min(4) as u8, true), String::new())];
        }
        let mut found: Vec<(u32, Int, String)> = Vec::new();
        for (offset, at, suffix) in &self.parts {
            let outside = suffix.split(".__").next().unwrap_or_default();
            let inside = outside.len() < suffix.len();
            if !inside || found.last().is_none_or(|last| last.2 != outside) {
                found.push((*offset, *at, outside.to_string()));
            }
        }
        found
    }
}

impl Program {
    /// What a pointer points to: a variable as a whole, where that begins there, or an element of
    /// an array, not their first part.
    pub fn pointer_name(&self, a: i64) -> Option<String> {
        let object = usize::try_from(object_of(a) - 1).ok().and_then(|o| self.objects.get(o));
        match object.filter(|_| offset_of(a) == 0) {
            None => self.name_of(a),
            Some(o) => {
                let first = o.parts.first().map_or("", |p| &p.2);
                let index = first.strip_prefix('[').and_then(|rest| rest.split(']').next());
                Some(index.map_or_else(|| o.name.clone(), |i| format!("{}[{i}]", o.name)))
            }
        }
    }

    /// What an address is called.
    pub fn name_of(&self, a: i64) -> Option<String> {
        let (object, offset) = (object_of(a), offset_of(a));
        if object >= PRIVATE {
            let name = &self.locals.get((object - PRIVATE) as usize)?.name;
            return Some(if offset == 0 { name.clone() } else { format!("{name}+{offset}") });
        }
        if object >= FUNCTION {
            return self.functions.get((object - FUNCTION) as usize).filter(|_| offset == 0).cloned();
        }
        if object == DANGLING {
            return Some("(an object that no longer exists)".into());
        }
        let o = self.objects.get(usize::try_from(object).ok()?.checked_sub(1)?)?;
        let part = o.parts.iter().find(|p| i64::from(p.0) == offset);
        Some(match part {
            Some(p) => format!("{}{}", o.name, p.2),
            None if offset == 0 => o.name.clone(),
            None => format!("{}+{offset}", o.name),
        })
    }
}
