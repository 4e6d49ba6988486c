//! Allocation, and functions of C that the compiler calls.

use super::Model;
use crate::lower::{Operand, Problem, Result, Site, Writer};
use crate::names::without_types;
use throng_goto::program::{Expr, Instr, PTR};

pub(super) fn model(name: &str) -> Option<Model> {
    let path = without_types(name);
    Some(match path.rsplit("::").next().unwrap_or(&path) {
        "__rust_alloc" => allocates,
        "__rust_alloc_zeroed" => allocates_zeroed,
        "__rust_dealloc" => frees,
        "__rust_realloc" => reallocates,
        "__rust_no_alloc_shim_is_unstable_v2" | "__rust_no_alloc_shim_is_unstable" => nothing,
        "malloc" if path == "malloc" => allocates,
        "free" if path == "free" => frees,
        "memcpy" if path == "memcpy" => |w, site| copies(w, site, false),
        "memmove" if path == "memmove" => |w, site| copies(w, site, true),
        "memset" if path == "memset" => sets,
        "memcmp" | "bcmp" if path == "memcmp" || path == "bcmp" => compares,
        _ => return None,
    })
}

fn nothing<'t>(_: &mut Writer<'_, '_, 't>, _: &Site<'_, 't>) -> Result<()> {
    Ok(())
}

/// Allocation succeeds.
fn allocated<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<Expr> {
    w.lower.assume("there is enough memory to allocate");
    let size = w.argument(site, 0)?;
    let r = w.register(PTR, None);
    w.emit(Instr::Alloc(r, size));
    if let Some(name) = site.result {
        w.set(Some(name), vec![Operand::Is(Expr::Reg(r))]);
    }
    Ok(Expr::Reg(r))
}

fn allocates<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    allocated(w, site).map(|_| ())
}

fn allocates_zeroed<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let size = w.argument(site, 0)?;
    let size = w.keep(PTR, size);
    let address = allocated(w, site)?;
    w.clear(address, size);
    Ok(())
}

fn frees<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let address = w.argument(site, 0)?;
    w.emit(Instr::Free(address));
    Ok(())
}

/// `__rust_realloc(pointer, old size, alignment, new size)`
fn reallocates<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    w.lower.assume("there is enough memory to allocate");
    let (address, size) = (w.argument(site, 0)?, w.argument(site, 3)?);
    let r = w.register(PTR, None);
    w.emit(Instr::Resize(r, address, size));
    w.set(site.result, vec![Operand::Is(Expr::Reg(r))]);
    Ok(())
}

fn copies<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>, may_overlap: bool) -> Result<()> {
    w.copy_bytes(&site.call.arguments, may_overlap)?;
    returns_first(w, site)
}

fn sets<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    if site.call.arguments.len() != 3 {
        return Err(Problem::unsupported("a call of `memset` of this kind"));
    }
    w.set_bytes(&site.call.arguments)?;
    returns_first(w, site)
}

fn returns_first<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    let to = w.argument(site, 0)?;
    w.finish(site, to)
}

fn compares<'t>(w: &mut Writer<'_, '_, 't>, site: &Site<'_, 't>) -> Result<()> {
    w.compare_bytes(site.result, &site.call.arguments)
}
