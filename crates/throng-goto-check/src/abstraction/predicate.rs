//! Predicates, and where they matter.

use throng_goto::program::{Expr, Program};

use super::graph::Graph;
use super::simplify::{is_opaque, is_total, size};
use super::variables::{OTHER, Variables};

/// A comparison over shared variables and variables of one template.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Predicate {
    /// The comparison.
    pub expr: Expr,
    /// The template whose threads have it each for itself; `None`: it is about shared variables
    /// only.
    pub template: Option<usize>,
    /// Its variables.
    pub variables: Vec<u32>,
}

impl Predicate {
    /// A predicate, if an expression can be one. Encoders give a floating-point operation another
    /// value each time they meet it, so that nothing is known by a comparison with one in it.
    pub fn of(expr: Expr, variables: &Variables) -> Option<Predicate> {
        const LARGEST: usize = 40;
        let used = used(&expr);
        let mut template = None;
        for &id in &used {
            let variable = variables.list.get(id as usize)?;
            if let Some(t) = variable.template
                && *template.get_or_insert(t) != t
            {
                return None;
            }
        }
        let good = !used.is_empty() && !is_opaque(&expr) && is_total(&expr) && size(&expr) <= LARGEST;
        good.then_some(Predicate { expr, template, variables: used })
    }

    /// The predicate about a bystander.
    pub fn of_other(&self, variables: &Variables) -> Expr {
        rename(&self.expr, &|id| match variables.list[id as usize].template {
            Some(_) => id + OTHER,
            None => id,
        })
    }

    /// Returns whether threads at a place, by number, may still read all its variables, or copies
    /// of them.
    pub fn lives(&self, graph: &Graph, program: &Program, place: usize) -> bool {
        self.lives_with(graph, program, place, &[])
    }

    /// The same where some more variables are remembered, by place and number.
    pub fn lives_with(
        &self,
        graph: &Graph,
        program: &Program,
        place: usize,
        remembered: &[(usize, u32)],
    ) -> bool {
        let at = &graph.places[place];
        let live = &program.templates[at.template].live[at.pc];
        let read = |id: u32| match graph.variables.register_of(id) {
            Some(r) => live.binary_search(&r).is_ok(),
            None => true,
        };
        let copied =
            |id: u32| graph.copies[place].iter().any(|(copy, of)| read(*copy) && used(of).contains(&id));
        self.template.is_none_or(|t| t == at.template)
            && (self.variables.iter()).all(|&id| read(id) || copied(id) || remembered.contains(&(place, id)))
    }

    /// As C, nearly.
    pub fn text(&self, variables: &Variables) -> String {
        text(&self.expr, &|id| {
            let v = &variables.list[(id % OTHER) as usize];
            let name = match variables
                .register_of(id % OTHER)
                .filter(|_| v.name.starts_with('t') && v.name[1..].parse::<u32>().is_ok())
            {
                Some(_) => format!("{}.{}", v.name, v.template.unwrap_or_default()),
                None => v.name.clone(),
            };
            if id < OTHER { name } else { format!("{name} of another thread") }
        })
    }
}

/// An expression with other numbers for its variables.
pub fn rename(e: &Expr, to: &dyn Fn(u32) -> u32) -> Expr {
    match e {
        Expr::Reg(r) => Expr::Reg(to(*r)),
        Expr::Cast(e, ty) => Expr::Cast(Box::new(rename(e, to)), *ty),
        Expr::Bin(op, a, b, at) => Expr::Bin(*op, Box::new(rename(a, to)), Box::new(rename(b, to)), *at),
        Expr::Float(op, a, b, at) => Expr::Float(*op, Box::new(rename(a, to)), Box::new(rename(b, to)), *at),
        Expr::Convert(e, conversion) => Expr::Convert(Box::new(rename(e, to)), *conversion),
        Expr::Const(_) | Expr::SelfId | Expr::Local(_) => e.clone(),
    }
}

/// The variables of an expression, sorted.
pub fn used(e: &Expr) -> Vec<u32> {
    let mut found = Vec::new();
    e.registers(&mut |id| found.push(id));
    found.sort_unstable();
    found.dedup();
    found
}

/// An expression as text.
pub fn text(e: &Expr, name: &dyn Fn(u32) -> String) -> String {
    let show = |e: &Expr| match e {
        Expr::Bin(..) | Expr::Float(..) => format!("({})", text(e, name)),
        e => text(e, name),
    };
    match e {
        Expr::Const(v) => v.to_string(),
        Expr::Reg(r) => name(*r),
        Expr::Cast(e, to) => {
            let sign = if to.signed { "int" } else { "uint" };
            match to.truth {
                true => format!("(bool){}", show(e)),
                false => format!("({sign}{}){}", u32::from(to.size) * 8, show(e)),
            }
        }
        Expr::Bin(op, a, b, _) => format!("{} {} {}", show(a), op.symbol(), show(b)),
        Expr::Float(op, a, b, _) => format!("{} {} {}", show(a), op.symbol(), show(b)),
        Expr::Convert(e, conversion) => format!("{}({})", conversion.name(), text(e, name)),
        Expr::SelfId => "self".into(),
        Expr::Local(k) => format!("&local{k}"),
    }
}
