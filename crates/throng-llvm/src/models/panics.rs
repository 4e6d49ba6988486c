//! What panics, and what ends the process: with `panic = "abort"`, a panic is a violation.

use super::Model;
use crate::lower::{Result, Site, Writer};
use crate::names::without_types;
use throng_goto::program::{Expr, Instr};

/// Functions, and modules of functions, that do nothing but panic, and why.
const PANICS: &[(&str, &str)] = &[
    ("core::panicking::panic_const::panic_const_add_overflow", "attempt to add with overflow"),
    ("core::panicking::panic_const::panic_const_sub_overflow", "attempt to subtract with overflow"),
    ("core::panicking::panic_const::panic_const_mul_overflow", "attempt to multiply with overflow"),
    ("core::panicking::panic_const::panic_const_neg_overflow", "attempt to negate with overflow"),
    ("core::panicking::panic_const::panic_const_div_overflow", "attempt to divide with overflow"),
    (
        "core::panicking::panic_const::panic_const_rem_overflow",
        "attempt to calculate the remainder with overflow",
    ),
    ("core::panicking::panic_const::panic_const_shl_overflow", "attempt to shift left with overflow"),
    ("core::panicking::panic_const::panic_const_shr_overflow", "attempt to shift right with overflow"),
    ("core::panicking::panic_const::panic_const_div_by_zero", "attempt to divide by zero"),
    (
        "core::panicking::panic_const::panic_const_rem_by_zero",
        "attempt to calculate the remainder with a divisor of zero",
    ),
    ("core::panicking::panic_bounds_check", "index out of bounds"),
    ("core::panicking::panic_misaligned_pointer_dereference", "misaligned pointer dereference"),
    ("core::panicking::panic_null_pointer_dereference", "null pointer dereference"),
    ("core::panicking::unreachable_display", "internal error: entered unreachable code"),
    ("core::panicking", "a panic"),
    ("core::option::unwrap_failed", "called `Option::unwrap()` on a `None` value"),
    ("core::option::expect_failed", "`Option::expect()` on a `None` value"),
    ("core::result::unwrap_failed", "`Result::unwrap()` on an `Err` value"),
    ("core::cell::panic_already_borrowed", "already borrowed"),
    ("core::cell::panic_already_mutably_borrowed", "already mutably borrowed"),
    ("core::slice::index::slice_index_fail", "a slice index is out of range"),
    ("core::slice::index::slice_start_index_len_fail", "the start of a slice is out of range"),
    ("core::slice::index::slice_end_index_len_fail", "the end of a slice is out of range"),
    ("core::slice::index::slice_index_order_fail", "a slice starts behind its end"),
    ("core::slice::copy_from_slice_impl::len_mismatch_fail", "slices of different lengths"),
    ("core::str::slice_error_fail", "a string is cut where no character begins"),
    ("core::num::niche_types", "a value is not one of its type"),
    ("alloc::raw_vec::capacity_overflow", "capacity overflow"),
    ("alloc::raw_vec::handle_error", "an allocation of this size is not possible"),
    ("alloc::alloc::handle_alloc_error", "memory allocation failed"),
    ("std::panicking::begin_panic", "a panic"),
    ("std::thread::local::panic_access_error", "a thread-local variable is accessed after its end"),
    ("std::panicking::rust_panic_with_hook", "a panic"),
    ("std::panic::resume_unwind", "a panic goes on"),
    ("std::panicking::catch_unwind::cleanup", "a panic"),
    ("std::process::abort", "the process aborts"),
    ("std::rt::abort", "the process aborts"),
    ("abort", "the process aborts"),
    ("__assert_fail", "an assertion fails"),
];

pub(super) fn model(name: &str) -> Option<Model> {
    if name == "std::process::exit" || name == "exit" || name == "_exit" {
        return Some(exits);
    }
    why(name).map(|_| panics as Model)
}

/// Returns why a function panics.
fn why(name: &str) -> Option<&'static str> {
    let path = without_types(name);
    let within = |module: &str| {
        path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    if path.starts_with("<alloc::vec::Vec>::") && path.ends_with("::assert_failed") {
        return Some("an index is out of the range of a vector");
    }
    PANICS.iter().find(|(module, _)| within(module)).map(|(_, why)| *why)
}

fn panics<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let said = message(w, site);
    let why = said.unwrap_or_else(|| why(&site.name).unwrap_or("a panic").to_string());
    w.fail(format!("panics: {why}"));
    Ok(())
}

/// Returns the message of a panic, if it is a constant.
fn message<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Option<String> {
    let path = without_types(&site.name);
    let (a, b) = (w.argument(site, 0).ok()?, w.argument(site, 1).ok());
    match path.as_str() {
        "core::panicking::panic" | "core::option::expect_failed" | "core::panicking::panic_explicit" => {
            w.text(&a, &b?)
        }
        // Arguments without parts that are formatted: a text, and twice its length and 1.
        "core::panicking::panic_fmt" => {
            let length = b?.constant().filter(|n| n & 1 == 1)? >> 1;
            w.text(&a, &Expr::Const(length))
        }
        "core::result::unwrap_failed" => Some(format!("{}: …", w.text(&a, &b?)?)),
        _ => None,
    }
}

fn exits<'t>(w: &mut Writer<'_, '_, 't>, _: &Site<'_, 't>) -> Result<()> {
    w.emit(Instr::Halt);
    Ok(())
}
