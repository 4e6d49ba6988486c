//! What variables and addresses are called in reports.

use super::{DANGLING, FUNCTION, Int, Object, PRIVATE, Program, Reg, Template, object_of, offset_of};

impl Template {
    /// What a register is called in C; with its function, where two functions have a variable of this name, and with a number, where one
    /// function has several at the same time.
    pub fn shown_name(&self, r: Reg) -> Option<String> {
        let (name, owner) = (self.names[r as usize].as_ref()?, &self.owners[r as usize]);
        let same = (0..self.names.len()).filter(|&o| self.names[o].as_ref() == Some(name));
        let (own, others): (Vec<usize>, Vec<usize>) = same.partition(|&o| self.owners[o] == *owner);
        let name = if others.is_empty() { name.clone() } else { format!("{owner}::{name}") };
        let before = own.iter().filter(|&&o| o < r as usize && self.live_together(o as Reg, r)).count();
        Some(if before == 0 { name } else { format!("{name}#{}", before + 1) })
    }

    fn live_together(&self, a: Reg, b: Reg) -> bool {
        self.live.iter().any(|live| live.contains(&a) && live.contains(&b))
    }
}

impl Object {
    /// The parts to show: offset, type, suffix of the name. Of a lock or its like, only the first word means something to a reader: whether
    /// it is held, how often a semaphore can be taken.
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
    /// What a pointer points to: a variable as a whole, where that begins there, or an element of an array, not their first part.
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
