//! stub
use crate::lang::source::Diagnostic;
use crate::lang::system::System;
use crate::model::table::Table;
use crate::problem::Target;
/// stub
pub fn read(_: &str) -> (Option<System>, Vec<Diagnostic>) {
    (None, vec![Diagnostic::whole("E500", "PNML is not supported yet")])
}
/// stub
pub fn read_properties(_: &str, _: &Table) -> (Vec<Target>, Vec<Diagnostic>) {
    (vec![], vec![])
}
