//! Variables outside functions, and their initial bytes.

use super::{Lower, Problem, Result};
use crate::layout::{self, Leaf, MOST_BYTES, leaves, size_align};
use crate::link::{Id, Symbol};
use crate::names::demangled;
use crate::syntax::tree::{Global, Type, Value};
use throng_goto::program::{FUNCTION, Object, PRIVATE, Private, address, offset_of};
use throng_goto::step::OPEN;

impl<'a, 't> Lower<'a, 't> {
    /// Returns the address of what a name means.
    pub(super) fn address_of(&mut self, module: usize, name: &str) -> Result<i64> {
        match self.linked.lookup(module, name) {
            Some(Symbol::Function(id)) => Ok(self.function_address(id)),
            Some(Symbol::Global(id)) => self.object(id),
            None => Err(Problem::unsupported(format!("`{}`, which is not declared,", demangled(name)))),
        }
    }

    /// Returns the address of a function.
    pub(super) fn function_address(&mut self, id: Id) -> i64 {
        let next = self.program.functions.len() as i64;
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.program.functions.push(demangled(self.linked.function(id).name));
        }
        address(FUNCTION + number, 0)
    }

    /// Returns the function at an address.
    pub(super) fn function_at(&self, a: i64) -> Option<Id> {
        let is_it = |(_, n): &(&Id, &i64)| address(FUNCTION + **n, 0) == a;
        self.numbers.iter().find(is_it).map(|(id, _)| *id)
    }

    /// Returns the address of a variable. Its initial bytes are written later.
    fn object(&mut self, id: Id) -> Result<i64> {
        if let Some(&a) = self.objects.get(&id) {
            return Ok(a);
        }
        let g = self.linked.global(id);
        if g.alias {
            return Err(Problem::unsupported(format!("the alias `{}`", demangled(g.name))));
        }
        let ty = self.resolved(id.module, &g.ty)?;
        let (size, align) = size_align(&ty).map_err(Problem::unsupported)?;
        let (described, parts) = self.described(id, g);
        let a = match g.thread_local {
            true => {
                let bytes = self.initial(id, &ty, size)?;
                self.thread_local(&described, bytes, align.max(g.align.into()))
            }
            false => {
                let (constant, external) = (g.constant, g.initial.is_none());
                let is_text = constant && parts.is_none();
                let name = if is_text { format!("\"{}\"", short(g)) } else { described };
                self.program.objects.push(Object {
                    name,
                    init: vec![OPEN; size as usize],
                    base: 0,
                    align: (align as u32).max(g.align),
                    parts: parts.unwrap_or_default(),
                    visible: true,
                    global: true,
                    library: false,
                    leaves: false,
                    external,
                });
                self.blank.push(id);
                address(self.program.objects.len() as i64, 0)
            }
        };
        self.objects.insert(id, a);
        Ok(a)
    }

    /// Returns what a variable is called, and its parts if a debugger is told of it.
    fn described(&self, id: Id, g: &Global<'t>) -> (String, Option<Vec<crate::debug::Part>>) {
        let debug = self.debug(id.module);
        match debug.global(g.described) {
            Some((name, ty)) => {
                let same = |other: &str| other == name;
                let twice = self.program.objects.iter().any(|o| same(&o.name));
                let name = if twice { demangled(g.name) } else { name };
                (name, Some(ty.map_or_else(Vec::new, |ty| debug.parts(ty))))
            }
            None => (demangled(g.name), (!g.constant).then(Vec::new)),
        }
    }

    /// A new variable that every thread has from its start.
    pub(super) fn thread_local(&mut self, name: &str, bytes: Vec<u16>, align: u64) -> i64 {
        let at = (self.program.private.len() as u64).next_multiple_of(align.max(1)) as usize;
        self.program.private.resize(at, 0);
        let size = bytes.len() as u32;
        self.program.private.extend(bytes);
        let local = Private { name: name.to_string(), base: at as u32, size, align: align as u32 };
        self.program.locals.push(local);
        address(PRIVATE + self.program.locals.len() as i64 - 1, 0)
    }

    /// Writes the initial bytes of a variable.
    pub(super) fn write_object(&mut self, id: Id) {
        let Some(&a) = self.objects.get(&id) else { return };
        let n = throng_goto::program::object_of(a) as usize - 1;
        let ty = self.resolved(id.module, &self.linked.global(id).ty);
        let size = self.program.objects[n].init.len() as u64;
        // What is not modelled in it has no value: who reads it does not know what that is.
        if let Ok(bytes) = ty.and_then(|ty| self.initial(id, &ty, size)) {
            self.program.objects[n].init = bytes;
        } else {
            self.program.objects[n].external = true;
        }
    }

    fn initial(&mut self, id: Id, ty: &Type<'t>, size: u64) -> Result<Vec<u16>> {
        if size > MOST_BYTES {
            return Err(Problem::new("E854", "a variable takes more bytes than are supported"));
        }
        let mut bytes = vec![OPEN; size as usize];
        let linked = self.linked;
        if let Some(value) = &linked.global(id).initial {
            self.fill(id.module, ty, value, 0, &mut bytes, 0)?;
        }
        Ok(bytes)
    }

    /// Writes a constant into the bytes of an object.
    fn fill(
        &mut self,
        module: usize,
        ty: &Type<'t>,
        value: &Value<'t>,
        at: usize,
        bytes: &mut [u16],
        depth: usize,
    ) -> Result<()> {
        if depth > crate::syntax::DEEPEST {
            return Err(Problem::unsupported("a constant that is nested this deeply"));
        }
        let size = size_align(ty).map_err(Problem::unsupported)?.0 as usize;
        let wrong = || Problem::new("E853", "an initial value does not have the type of its variable");
        let room = bytes.get_mut(at..at + size).ok_or_else(wrong)?;
        match (value, ty) {
            (Value::Undef | Value::Poison, _) => {}
            (Value::Zero | Value::Null, _) => room.fill(0),
            (Value::Bytes(text), _) => {
                room.iter_mut().zip(text).for_each(|(to, &b)| *to = b.into());
            }
            (Value::Parts(parts), Type::Array(_, of)) => {
                let step = size_align(of).map_err(Problem::unsupported)?.0 as usize;
                for (k, (_, v)) in parts.iter().enumerate() {
                    self.fill(module, of, v, at + k * step, bytes, depth + 1)?;
                }
            }
            (Value::Parts(parts), Type::Struct(fields, packed)) => {
                for (k, ((_, v), f)) in parts.iter().zip(fields.iter()).enumerate() {
                    let offset = layout::field_offset(fields, *packed, k).map_err(Problem::unsupported)?;
                    self.fill(module, f, v, at + offset as usize, bytes, depth + 1)?;
                }
            }
            _ => {
                let value = self.constant(module, ty, value)?;
                let leaf = leaves(ty).map_err(Problem::unsupported)?;
                for (k, (offset, leaf)) in leaf.into_iter().enumerate() {
                    let v = *value.get(k).ok_or_else(wrong)?;
                    let from = at + offset as usize;
                    for (k, to) in bytes[from..from + usize::from(leaf.stored().size)].iter_mut().enumerate()
                    {
                        *to = u16::from(v.to_le_bytes()[k]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the number in a variable that never changes.
    pub(super) fn constant_at(&mut self, a: i64, leaf: Leaf) -> Option<i64> {
        let (start, offset) = (a - offset_of(a), usize::try_from(offset_of(a)).ok()?);
        let id = self.objects.iter().find(|(_, known)| **known == start).map(|(id, _)| *id)?;
        let g = self.linked.global(id);
        if !g.constant || g.thread_local || g.initial.is_none() {
            return None;
        }
        let ty = self.resolved(id.module, &g.ty).ok()?;
        let bytes = self.initial(id, &ty, size_align(&ty).ok()?.0).ok()?;
        let int = leaf.stored();
        let part = bytes.get(offset..offset + usize::from(int.size))?;
        // Bytes without a value are left to the memory.
        let one = |v: u64, &b: &u16| u8::try_from(b).ok().map(|b| v << 8 | u64::from(b));
        let v = part.iter().rev().try_fold(0u64, one)?;
        Some(int.wrap(v as i64))
    }

    /// Returns the text of a constant at an address.
    pub(super) fn text_at(&self, a: i64, length: i64) -> Option<String> {
        let length = usize::try_from(length).ok().filter(|n| *n <= 1 << 12)?;
        let found = self.objects.iter().find(|(_, known)| **known == a)?;
        match &self.linked.global(*found.0).initial {
            Some(Value::Bytes(bytes)) => Some(String::from_utf8_lossy(bytes.get(..length)?).into_owned()),
            _ => None,
        }
    }
}

/// Returns what a constant without a name is called.
fn short(g: &Global<'_>) -> String {
    match &g.initial {
        Some(Value::Bytes(bytes)) => {
            String::from_utf8_lossy(&bytes[..bytes.len().min(24)]).escape_default().to_string()
        }
        _ => g.name.to_string(),
    }
}
