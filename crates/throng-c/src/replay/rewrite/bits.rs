//! Bit-fields, whose address cannot be taken: their turns are those of the numbers that have them,
//! and a write brings back what was read of their neighbours.

use super::{Gives, Rewriter, WRITE};
use crate::syntax::ast::*;

impl Rewriter<'_> {
    /// Returns whether an expression is a bit-field.
    pub(super) fn is_field(&self, e: &Node<Expression>) -> bool {
        matches!(e.node, Expression::Member(_)) && self.fields.contains_key(&(e.span.start, e.span.end))
    }

    /// Returns a variable that has the address of the structure of a bit-field, what declares it,
    /// and the name of the bit-field.
    fn field_of(&mut self, e: &Node<Expression>) -> (String, String, String) {
        let Expression::Member(m) = &e.node else { return Default::default() };
        let (a, member) = (self.name(), m.node.identifier.node.name.clone());
        let base = match m.node.operator {
            MemberOperator::Direct => format!("&({})", self.place(&m.node.expression)),
            MemberOperator::Indirect => self.value(&m.node.expression),
        };
        (a.clone(), format!("__auto_type {a} = ({base}); "), member)
    }

    /// Returns the turns for reading a bit-field.
    fn field_turns(&self, e: &Node<Expression>, site: usize, a: &str) -> String {
        let units = &self.fields[&(e.span.start, e.span.end)];
        let turn = |(at, size, _): &(u32, u8, bool)| {
            format!("__throng_read({site}, (void *)((char *){a} + {at}), {size}); ")
        };
        units.iter().map(turn).collect()
    }

    pub(super) fn read_field(&mut self, e: &Node<Expression>, site: usize) -> String {
        let (a, declared, member) = self.field_of(e);
        let turns = self.field_turns(e, site, &a);
        format!("({{ {declared}{turns}{a}->{member}; }})")
    }

    /// Writes the steps that give a bit-field the value that it has in the structure `new`.
    fn store_field(&mut self, e: &Node<Expression>, site: Option<usize>, parts: [&str; 3]) -> String {
        let [a, member, new] = parts;
        let Some(site) = site else { return format!("{a}->{member} = {new}.{member}; ") };
        let (t, mut text) = (self.name(), String::new());
        text += &format!("__typeof__(*{a}) {t}; {t}.{member} = {new}.{member}; ");
        for &(at, size, whole) in &self.fields[&(e.span.start, e.span.end)] {
            let (own, its) = (format!("(char *)&{t} + {at}"), format!("(char *){a} + {at}"));
            if !whole {
                text += &format!("__throng_read({site}, (void *)({its}), {size}); ");
                text += &format!("__builtin_memcpy({own}, {its}, {size}); {t}.{member} = {new}.{member}; ");
            }
            text += &format!("__throng_turn({site}, {WRITE}); __builtin_memcpy({its}, {own}, {size}); ");
        }
        text
    }

    pub(super) fn write_field(&mut self, e: &Node<Expression>, site: usize, value: &str) -> String {
        let ((a, declared, member), x) = (self.field_of(e), self.name());
        let store = self.store_field(e, Some(site), [&a, &member, &x]);
        format!("({{ {declared}__typeof__(*{a}) {x}; {x}.{member} = ({value}); {store}{x}.{member}; }})")
    }

    /// Writes `field op= value`.
    pub(super) fn update_field(
        &mut self,
        e: &Node<Expression>,
        site: Option<usize>,
        op: &str,
        value: &str,
        gives: Gives,
    ) -> String {
        let ((a, declared, member), v, o, n) = (self.field_of(e), self.name(), self.name(), self.name());
        let turns = site.map_or(String::new(), |site| self.field_turns(e, site, &a));
        let check = self.checked(&format!("{o}.{member}"), op, &v);
        let store = self.store_field(e, site, [&a, &member, &n]);
        let value_of = if gives == Gives::Old { &o } else { &n };
        format!(
            "({{ {declared}__auto_type {v} = ({value}); {turns}__typeof__(*{a}) {o}, {n}; {o}.{member} = {a}->{member}; {check}{n}.{member} = {o}.{member} {op} {v}; {store}{value_of}.{member}; }})"
        )
    }
}
