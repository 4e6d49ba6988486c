//! Registers that hold the same value as another one, mostly parameters of functions that were
//! inlined; and addresses that were computed from an object and other registers, `t = &a[i]`.
//!
//! A path that begins where `u` is a copy of `v` is about `v` only, so that no predicate has to say
//! that both are equal.

use rustc_hash::FxHashMap;
use throng_goto::program::{Expr, Instr, Program, Reg, next, writes};

use super::elements::object_of;
use super::predicate::{rename, used};
use super::simplify::{is_opaque, is_total, size};
use super::variables::Variables;

/// Maximum size of a computed address.
const LARGEST: usize = 12;

/// Registers, and what they are equal to.
pub type Copies = FxHashMap<Reg, Expr>;

/// For each instruction of a template, registers that are equal to others whenever a thread is
/// about to execute it.
pub fn copies(program: &Program, variables: &Variables, template: usize) -> Vec<Copies> {
    let code = &program.templates[template].code;
    // `None`: not reached yet.
    let mut before: Vec<Option<Copies>> = vec![None; code.len()];
    let mut work = vec![0];
    if let Some(first) = before.first_mut() {
        *first = Some(Copies::default());
    }
    while let Some(pc) = work.pop() {
        let (Some(now), Some(i)) = (before.get(pc).cloned().flatten(), code.get(pc)) else { continue };
        let named = |r: Reg| program.templates[template].names[r as usize].is_some();
        let after = step(now, i, &|e| variables.fold(template, e), &named);
        for to in next(code, pc) {
            let Some(known) = before.get_mut(to) else { continue };
            let met = match known {
                None => after.clone(),
                Some(known) => {
                    let same = known.iter().filter(|(r, v)| after.get(r) == Some(v));
                    same.map(|(&r, v)| (r, v.clone())).collect()
                }
            };
            if known.as_ref() != Some(&met) {
                *known = Some(met);
                work.push(to);
            }
        }
    }
    before.into_iter().map(Option::unwrap_or_default).collect()
}

fn step(mut now: Copies, i: &Instr, fold: &dyn Fn(&Expr) -> Expr, named: &dyn Fn(Reg) -> bool) -> Copies {
    let Some(written) = writes(i) else { return now };
    let source = match i {
        Instr::Let(_, e) => source(&now, &fold(e)),
        _ => None,
    };
    now.retain(|r, v| *r != written && !used(v).contains(&written));
    match source.filter(|s| !used(s).contains(&written)) {
        // Variables rather than what has no name in C.
        Some(Expr::Reg(source)) if named(written) && !named(source) => {
            let other = |r: Reg| if r == source { written } else { r };
            now.values_mut().for_each(|v| *v = rename(v, &other));
            now.insert(source, Expr::Reg(written));
        }
        Some(source) => {
            now.insert(written, source);
        }
        None => {}
    }
    now
}

/// What a register is equal to that is given the value of an expression: another register, or an
/// address in an object.
fn source(now: &Copies, e: &Expr) -> Option<Expr> {
    if let Expr::Reg(r) = e {
        return Some(now.get(r).unwrap_or(e).clone());
    }
    let plain = object_of(e).is_some() && !used(e).is_empty() && !names_thread(e);
    let plain = plain && is_total(e) && !is_opaque(e) && size(e) <= LARGEST;
    // What is itself computed is not put in, so that expressions stay small.
    let copy = |r: Reg| match now.get(&r) {
        Some(Expr::Reg(of)) => *of,
        _ => r,
    };
    plain.then(|| rename(e, &copy))
}

/// Returns whether an expression is about the running thread or its variables in memory.
fn names_thread(e: &Expr) -> bool {
    match e {
        Expr::SelfId | Expr::Local(_) => true,
        Expr::Const(_) | Expr::Reg(_) => false,
        Expr::Cast(e, _) | Expr::Convert(e, _) => names_thread(e),
        Expr::Bin(_, a, b, _) | Expr::Float(_, a, b, _) => names_thread(a) || names_thread(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_c::Options;
    use throng_lang::source::Source;

    #[test]
    fn a_copy_ends_when_either_is_written_and_where_paths_disagree() {
        let text = "int g;
            void f(int u) { g = 1; g = u; }
            int main(void) { int v = g, w = g; f(v); g = 2; if (g) { w = v; } g = 3; w = v; g = 4; v = g; g = 5; g = w + v; }";
        let loaded = throng_c::read(Source::new("t.c", text), text.into(), &Options::default());
        let Ok(loaded) = loaded else { panic!("this is C") };
        let variables = Variables::of(&loaded.query.program).expect("it has variables");
        let template = &loaded.query.program.templates[0];
        let found = copies(&loaded.query.program, &variables, 0);
        // What stands for a variable before a constant is stored.
        let at = |constant: i64, name: &str| {
            let stores = |i: &Instr| matches!(i, Instr::Store(_, Expr::Const(c), _) if *c == constant);
            let pc = template.code.iter().position(stores).expect("it is stored");
            let r =
                template.names.iter().position(|n| n.as_deref() == Some(name)).expect("a variable") as Reg;
            found[pc].get(&r).cloned().unwrap_or(Expr::Reg(r))
        };
        assert_eq!(at(1, "u"), at(1, "v"));
        assert_ne!(at(1, "w"), at(1, "v"));
        assert_ne!(at(3, "w"), at(3, "v"));
        assert_eq!(at(4, "w"), at(4, "v"));
        assert_ne!(at(5, "w"), at(5, "v"));
    }

    /// `t = &a[i]` ends when `i` is written.
    #[test]
    fn an_address_is_known_until_its_index_changes() {
        let text =
            "int a[20], g; int main(void) { int i = g, *p = &a[i]; g = 1; g = 2; i++; g = 3; *p = i; }";
        let loaded = throng_c::read(Source::new("t.c", text), text.into(), &Options::default());
        let Ok(loaded) = loaded else { panic!("this is C") };
        let program = &loaded.query.program;
        let variables = Variables::of(program).expect("it has variables");
        let found = copies(program, &variables, 0);
        let addresses = |constant: i64| {
            let stores = |i: &Instr| matches!(i, Instr::Store(_, Expr::Const(c), _) if *c == constant);
            let pc = program.templates[0].code.iter().position(stores).expect("it is stored");
            found[pc].values().filter(|e| object_of(e).is_some()).count()
        };
        assert!(addresses(1) > 0);
        assert_eq!(addresses(1), addresses(2));
        assert_eq!(addresses(3), 0);
    }
}
