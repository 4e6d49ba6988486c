//! Registers that hold the same value as another one: parameters of functions that were inlined,
//! mostly.
//!
//! A path that begins where `u` is a copy of `v` is about `v` only, so that no predicate has to say
//! that both are equal.

use rustc_hash::FxHashMap;
use throng_goto::program::{Expr, Instr, Program, Reg, next, writes};

use super::variables::Variables;

/// For each instruction of a template, registers that are equal to others whenever a thread is
/// about to execute it.
pub fn copies(program: &Program, variables: &Variables, template: usize) -> Vec<FxHashMap<Reg, Reg>> {
    let code = &program.templates[template].code;
    // `None`: not reached yet.
    let mut before: Vec<Option<FxHashMap<Reg, Reg>>> = vec![None; code.len()];
    let mut work = vec![0];
    if let Some(first) = before.first_mut() {
        *first = Some(FxHashMap::default());
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
                    known.iter().filter(|(r, v)| after.get(r) == Some(v)).map(|(&r, &v)| (r, v)).collect()
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

fn step(
    mut now: FxHashMap<Reg, Reg>,
    i: &Instr,
    fold: &dyn Fn(&Expr) -> Expr,
    named: &dyn Fn(Reg) -> bool,
) -> FxHashMap<Reg, Reg> {
    let Some(written) = writes(i) else { return now };
    let source = match i {
        Instr::Let(_, e) => match fold(e) {
            Expr::Reg(r) if r != written => Some(now.get(&r).copied().unwrap_or(r)),
            _ => None,
        },
        _ => None,
    };
    now.retain(|r, v| *r != written && *v != written);
    match source.filter(|&s| s != written) {
        // Variables rather than what has no name in C.
        Some(source) if named(written) && !named(source) => {
            now.values_mut().filter(|v| **v == source).for_each(|v| *v = written);
            now.insert(source, written);
        }
        Some(source) => {
            now.insert(written, source);
        }
        None => {}
    }
    now
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
            found[pc].get(&r).copied().unwrap_or(r)
        };
        assert_eq!(at(1, "u"), at(1, "v"));
        assert_ne!(at(1, "w"), at(1, "v"));
        assert_ne!(at(3, "w"), at(3, "v"));
        assert_eq!(at(4, "w"), at(4, "v"));
        assert_ne!(at(5, "w"), at(5, "v"));
    }
}
