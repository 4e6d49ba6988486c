//! The search for facts about each edge: facts about predicates before and after it.
//!
//! A fact is a cube that no step of the program satisfies: literals over the predicates of the
//! thread that moves, before and after the step, and of a bystander. Any set of facts gives an
//! abstraction that includes the program, so facts are proved one by one, and each can be proved
//! again by another encoder.

use batsat::Lit;
use rustc_hash::FxHashMap;
use throng_goto::program::{Expr, Int, Program};
use throng_model::limits::Limits;
use throng_model::verdict::Unknown;

use crate::blast::Encoder;
use crate::predicates::Predicates;
use throng_goto_check::abstraction::cube::{Cube, Side, changed, edge, living};
use throng_goto_check::abstraction::graph::{Edge, Graph};
use throng_goto_check::abstraction::predicate::{Predicate, used};
use throng_goto_check::abstraction::simplify::substitute;
use throng_goto_check::abstraction::variables::INPUT;

/// Maximum number of predicates that decide about one.
const MOST_RELEVANT: usize = 8;
/// Maximum length of cubes that are looked for among many predicates.
const LONGEST: u32 = 3;

type Key = (usize, Option<u32>, bool, Vec<(u32, Side)>);
type Cubes = (Vec<Cube>, Vec<Cube>, bool);

/// Computes facts, and remembers them.
#[derive(Default)]
pub struct Abstraction {
    cache: FxHashMap<Key, Cubes>,
    pairs: FxHashMap<(usize, u32, u32), Vec<(bool, bool)>>,
    /// How often the solver was asked.
    pub queries: u64,
}

/// A predicate after an edge, as an expression over the variables before it.
pub fn after(graph: &Graph, e: &Edge, p: &Expr) -> Expr {
    let types = |id: u32| e.ty(&graph.variables, id);
    let with = |id: u32| e.updates.iter().find(|u| u.0 == id).map(|u| u.1.clone());
    substitute(p, &with, &types)
}

impl Abstraction {
    /// The facts about an edge: what no step along it satisfies.
    pub fn facts(
        &mut self,
        program: &Program,
        graph: &Graph,
        predicates: &Predicates,
        n: usize,
        limits: &Limits,
    ) -> Result<Vec<Cube>, Unknown> {
        let list = &predicates.list;
        let e = edge(graph, n);
        let (before, lives) = living(program, graph, list, n);
        let (changed, others) = changed(graph, list, e);
        // The start changes shared variables before there are threads.
        let others = if n >= graph.edges.len() { Vec::new() } else { others };
        let types = |id: u32| -> Int { e.ty(&graph.variables, id) };
        let mut asking =
            Asking { encoder: None, limits, types: &types, guard: &e.guard, queries: 0, stuck: false };
        let mut never: Vec<Cube> = Vec::new();
        let mine: Vec<(u32, Side, Expr)> = (0..list.len() as u32)
            .filter(|&i| before[i as usize])
            .map(|i| (i, Side::Before, list[i as usize].expr.clone()))
            .collect();
        let guarded: Vec<u32> = e.guard.iter().flat_map(used).collect();
        if !e.guard.is_empty() {
            let relevant = relevant(&mine, &guarded, &[]);
            let (blocked, _, _) = self.cubes(&mut asking, n, None, Side::Before, &relevant, None)?;
            never.extend(blocked);
        }
        if asking.stuck {
            self.queries += asking.queries;
            return Ok(vec![Vec::new()]);
        }
        let mut open = Vec::new();
        for &i in changed.iter().filter(|&&i| lives[i as usize]) {
            let then = after(graph, e, &list[i as usize].expr);
            let relevant = relevant(&mine, &used(&then), &guarded);
            let found = self.cubes(&mut asking, n, Some(i), Side::After, &relevant, Some(&then))?;
            open.extend(found.2.then_some(i));
            never.extend(forcing(found, i, Side::After));
        }
        for (k, &i) in open.iter().enumerate() {
            for j in 0..list.len() as u32 {
                let shares =
                    list[i as usize].variables.iter().any(|v| list[j as usize].variables.contains(v));
                let visible = lives[j as usize] && (changed.contains(&j) || before[j as usize]);
                if i == j || open[..k].contains(&j) || !visible || !shares {
                    continue;
                }
                let side = if changed.contains(&j) { Side::After } else { Side::Before };
                for (a, b) in self.pair(&mut asking, graph, list, n, i, j)? {
                    never.push(vec![(i, Side::After, a), (j, side, b)]);
                }
            }
        }
        for &i in &others {
            let p = &list[i as usize];
            let then = after(graph, e, &p.of_other(&graph.variables));
            let mut all = mine.clone();
            for (j, q) in list.iter().enumerate().filter(|(_, q)| q.template == p.template) {
                all.push((j as u32, Side::OtherBefore, q.of_other(&graph.variables)));
            }
            let relevant = relevant(&all, &used(&then), &guarded);
            let found = self.cubes(&mut asking, n, Some(i), Side::OtherAfter, &relevant, Some(&then))?;
            never.extend(forcing(found, i, Side::OtherAfter));
        }
        self.queries += asking.queries;
        Ok(never)
    }

    /// Values of two predicates that an edge never leaves together.
    fn pair(
        &mut self,
        asking: &mut Asking<'_>,
        graph: &Graph,
        list: &[Predicate],
        n: usize,
        i: u32,
        j: u32,
    ) -> Result<Vec<(bool, bool)>, Unknown> {
        if let Some(found) = self.pairs.get(&(n, i, j)) {
            return Ok(found.clone());
        }
        let e = edge(graph, n);
        let [x, y] = [i, j].map(|k| after(graph, e, &list[k as usize].expr));
        let encoder = asking.encoder()?;
        let (x, y) = (encoder.truth(&x), encoder.truth(&y));
        let mut found = Vec::new();
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let with = |l: Lit, value: bool| if value { l } else { !l };
            if !encoder.solve(&[with(x, a), with(y, b)])? {
                found.push((a, b));
            }
        }
        asking.queries += 4;
        self.pairs.insert((n, i, j), found.clone());
        Ok(found)
    }

    /// Cubes of predicates before the edge that contradict its guard, or that force a predicate to
    /// hold afterwards, or not to; and whether some values leave it open.
    fn cubes(
        &mut self,
        asking: &mut Asking<'_>,
        n: usize,
        target: Option<u32>,
        side: Side,
        relevant: &[(u32, Side, Expr)],
        then: Option<&Expr>,
    ) -> Result<Cubes, Unknown> {
        let names: Vec<(u32, Side)> = relevant.iter().map(|r| (r.0, r.1)).collect();
        let key = (n, target, side == Side::OtherAfter, names);
        if let Some(found) = self.cache.get(&key) {
            asking.stuck |= target.is_none() && found.0.iter().any(Vec::is_empty);
            return Ok(found.clone());
        }
        let found = match then {
            None => {
                let possible = asking.solutions(relevant, None)?;
                if possible.is_empty() {
                    asking.stuck = true;
                }
                let consistent = asking.consistent(relevant)?;
                (minimal(relevant, &possible, &consistent), Vec::new(), false)
            }
            Some(Expr::Const(v)) => match v {
                0 => (Vec::new(), vec![Vec::new()], false),
                _ => (vec![Vec::new()], Vec::new(), false),
            },
            Some(then) => {
                let no = asking.solutions(relevant, Some((then, false)))?;
                let yes = asking.solutions(relevant, Some((then, true)))?;
                let undecided = no.iter().any(|m| yes.contains(m));
                (minimal(relevant, &no, &yes), minimal(relevant, &yes, &no), undecided)
            }
        };
        self.cache.insert(key, found.clone());
        Ok(found)
    }
}

/// Returns the facts that cubes before an edge force a predicate to hold after it, or not to.
fn forcing((yes, no, _): Cubes, i: u32, side: Side) -> impl Iterator<Item = Cube> {
    let with = move |mut cube: Cube, value| {
        cube.push((i, side, value));
        cube
    };
    let yes = yes.into_iter().map(move |cube| with(cube, false));
    yes.chain(no.into_iter().map(move |cube| with(cube, true)))
}

/// Those of some predicates that matter for these variables: first the ones about them, then, if
/// there is room, about what these are about.
fn relevant(all: &[(u32, Side, Expr)], first: &[u32], second: &[u32]) -> Vec<(u32, Side, Expr)> {
    let mut found: Vec<usize> = Vec::new();
    let mut about: Vec<u32> = first.iter().copied().filter(|id| *id < INPUT).collect();
    for round in 0..3 {
        let mut more = Vec::new();
        for (k, (_, _, e)) in all.iter().enumerate() {
            let ids = used(e);
            // In the last round, only what is about nothing else.
            let touches = match round {
                0 | 1 => ids.iter().any(|id| about.contains(id)),
                _ => ids.iter().all(|id| about.contains(id)),
            };
            if touches && !found.contains(&k) && found.len() < MOST_RELEVANT {
                found.push(k);
                more.extend(ids);
            }
        }
        match round {
            // Guards tell about what they compare.
            0 if !second.is_empty() => {
                let linked = second.iter().any(|id| about.contains(id) || more.contains(id));
                about = if linked { second.to_vec() } else { Vec::new() };
                about.retain(|id| *id < INPUT);
            }
            0 => about.clear(),
            _ => {
                about = found.iter().flat_map(|&k| used(&all[k].2)).collect();
            }
        }
    }
    found.sort_unstable();
    found.into_iter().map(|k| all[k].clone()).collect()
}

/// The shortest cubes that hold for none of `excluded` and for some of `included`.
fn minimal(relevant: &[(u32, Side, Expr)], excluded: &[u32], included: &[u32]) -> Vec<Cube> {
    let n = relevant.len() as u32;
    let longest = if n <= 5 { n } else { LONGEST };
    let mut found: Vec<(u32, u32)> = Vec::new();
    for length in 0..=longest {
        for mask in (0u32..1 << n).filter(|m| m.count_ones() == length) {
            let mut value = mask;
            loop {
                let is_new = !found.iter().any(|&(m, v)| mask & m == m && value & m == v);
                if is_new
                    && !excluded.iter().any(|m| m & mask == value)
                    && included.iter().any(|m| m & mask == value)
                {
                    found.push((mask, value));
                }
                if value == 0 {
                    break;
                }
                value = (value - 1) & mask;
            }
        }
    }
    let cube = |(mask, value): (u32, u32)| {
        let of = |(k, r): (usize, &(u32, Side, Expr))| {
            (mask >> k & 1 == 1).then_some((r.0, r.1, value >> k & 1 == 1))
        };
        relevant.iter().enumerate().filter_map(of).collect()
    };
    found.into_iter().map(cube).collect()
}

/// The solver about one edge, made when it is needed.
struct Asking<'a> {
    encoder: Option<Encoder<'a>>,
    limits: &'a Limits,
    types: &'a dyn Fn(u32) -> Int,
    guard: &'a [Expr],
    queries: u64,
    /// The guard cannot hold.
    stuck: bool,
}

impl<'a> Asking<'a> {
    fn encoder(&mut self) -> Result<&mut Encoder<'a>, Unknown> {
        self.limits.check()?;
        if self.encoder.is_none() {
            let mut encoder = Encoder::new(self.limits, self.types);
            for g in self.guard {
                let l = encoder.truth(g);
                encoder.sat.clause(&[l]);
            }
            self.encoder = Some(encoder);
        }
        self.encoder.as_mut().ok_or(Unknown::Cancelled)
    }

    /// The values of predicates before the step for which the guard holds, and something about what
    /// is then.
    fn solutions(
        &mut self,
        relevant: &[(u32, Side, Expr)],
        then: Option<(&Expr, bool)>,
    ) -> Result<Vec<u32>, Unknown> {
        let encoder = self.encoder()?;
        let (found, asked) = all_solutions(encoder, relevant, then)?;
        self.queries += asked;
        Ok(found)
    }

    /// The values that predicates can have at all.
    fn consistent(&mut self, relevant: &[(u32, Side, Expr)]) -> Result<Vec<u32>, Unknown> {
        let mut encoder = Encoder::new(self.limits, self.types);
        let (found, asked) = all_solutions(&mut encoder, relevant, None)?;
        self.queries += asked;
        Ok(found)
    }
}

fn all_solutions(
    encoder: &mut Encoder<'_>,
    relevant: &[(u32, Side, Expr)],
    then: Option<(&Expr, bool)>,
) -> Result<(Vec<u32>, u64), Unknown> {
    let literals: Vec<Lit> = relevant.iter().map(|r| encoder.truth(&r.2)).collect();
    let active = encoder.sat.fresh();
    let mut assumptions = vec![active];
    if let Some((e, value)) = then {
        let l = encoder.truth(e);
        assumptions.push(if value { l } else { !l });
    }
    let (mut found, mut asked) = (Vec::new(), 1);
    while encoder.solve(&assumptions)? {
        asked += 1;
        let holds: Vec<bool> = literals.iter().map(|&l| encoder.sat.holds(l)).collect();
        found.push(holds.iter().enumerate().fold(0u32, |m, (k, &h)| m | u32::from(h) << k));
        let mut other = vec![!active];
        other.extend(literals.iter().zip(&holds).map(|(&l, &h)| if h { !l } else { l }));
        encoder.sat.clause(&other);
    }
    encoder.sat.clause(&[!active]);
    Ok((found, asked))
}
