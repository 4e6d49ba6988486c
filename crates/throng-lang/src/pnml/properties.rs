//! Property files of the model-checking contest, as far as they ask about reachability: `EF φ`, `AG
//! φ`, bounds of places.
//!
//! `EF φ` is a target, and `AG φ` holds unless `EF ¬φ` does. If φ is upward closed (more tokens
//! never make it false) and has few smallest markings, it is given by these, so that every engine
//! supports it; else as a [`Predicate`]. Everything else is refused, property by property.

use rustc_hash::FxHashMap;
use throng_model::Describe;

use crate::configuration::shortened;
use crate::patience::Patience;
use crate::source::Diagnostic;
use crate::xml::{Element, tree};
use throng_model::predicate::Predicate;
use throng_model::problem::{Asks, Formula, Target};
use throng_model::table::{Fate, Table};
use throng_model::{Bag, Config, Local, Shared};

/// Maximum number of smallest markings by which a formula is given.
const MOST_MARKINGS: usize = 200;

/// One property of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// Its id.
    pub id: String,
    /// The target whose reachability decides it; or why it cannot be answered.
    pub target: Result<Target, String>,
}

/// Reads a property file about the net `table` that [`super::read`] returned.
pub fn read_properties(text: &str, table: &Table) -> Result<Vec<Property>, Diagnostic> {
    let root = tree(text, &["description", "toolspecific"], &Patience::default())?;
    if root.name != "property-set" {
        return Err(Diagnostic::error("E510", root.span, "this is not a property file")
            .label("expected `<property-set>`"));
    }
    if let Some(odd) = root.children.iter().find(|c| c.name != "property") {
        return Err(Diagnostic::error(
            "E510",
            odd.span,
            format!("`{}` is not a property", shortened(&odd.name)),
        )
        .label("expected `<property>`"));
    }
    let reader = Reader::new(table);
    Ok(root
        .children
        .iter()
        .map(|property| {
            let id = property.child("id").map(|e| e.text.trim().to_string()).unwrap_or_default();
            let target = reader.target(property, &id);
            Property { id, target }
        })
        .collect())
}

/// A result, or why a formula is not a target.
type Refused<T> = Result<T, String>;

struct Reader<'a> {
    table: &'a Table,
    places: FxHashMap<String, Local>,
    transitions: FxHashMap<String, Vec<usize>>,
}

impl<'a> Reader<'a> {
    fn new(table: &'a Table) -> Reader<'a> {
        let places = (0..table.locals().len()).map(|i| (table.locals().name(i), Local(i))).collect();
        let mut transitions: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        for (i, step) in table.steps().iter().enumerate() {
            transitions.entry(table.edge_place(step.edge).text).or_default().push(i);
        }
        Reader { table, places, transitions }
    }

    fn target(&self, property: &Element, id: &str) -> Refused<Target> {
        let formulas: Vec<&Element> = property.children.iter().filter(|c| c.name == "formula").collect();
        let formula = match formulas[..] {
            [one] => only(one)?,
            [] => return Err("it has no formula".into()),
            _ => return Err("it has more than one formula".into()),
        };
        if formula.name == "place-bound" {
            let (mut terms, mut constant) = (Vec::new(), 0);
            self.sum(formula, "place-bound", 1, &mut terms, &mut constant)?;
            let sum = match Predicate::at_least(terms, 1).ok_or_else(too_large)? {
                Predicate::AtLeast(sum, _) => sum,
                // The bound is about no place at all.
                _ => Vec::new(),
            };
            return Ok(self.satisfying(id, Predicate::TRUE, Asks::Largest(sum)));
        }
        let (path, modality) = (formula.name.as_str(), only(formula)?);
        let asks = match (path, modality.name.as_str()) {
            ("exists-path", "finally") => Asks::Exists,
            ("all-paths", "globally") => Asks::Always,
            (path, modality) => {
                return Err(format!(
                    "it is of the form {path}/{modality}; only exists-path/finally and all-paths/globally ask what can be reached"
                ));
            }
        };
        let wanted = self.formula(only(modality)?)?;
        let bad = if asks == Asks::Always { wanted.negated() } else { wanted };
        Ok(match Some(&bad).filter(|bad| grows(bad)).and_then(markings) {
            Some(markings) => {
                let configs = markings.into_iter().map(|m| Config::new(Shared(0), m)).collect();
                let formula = Formula { when: Predicate::TRUE, asks };
                Target::satisfying(id, configs, formula)
            }
            None => self.satisfying(id, bad, asks),
        })
    }

    fn satisfying(&self, id: &str, when: Predicate, asks: Asks) -> Target {
        let configs = vec![Config::new(Shared(0), Bag::new())];
        Target::satisfying(id, configs, Formula { when, asks })
    }

    fn formula(&self, e: &Element) -> Refused<Predicate> {
        let parts = || e.children.iter().map(|c| self.formula(c)).collect::<Refused<Vec<_>>>();
        Ok(match e.name.as_str() {
            "true" => Predicate::TRUE,
            "false" => Predicate::FALSE,
            "negation" => self.formula(only(e)?)?.negated(),
            "conjunction" => Predicate::all(parts()?),
            "disjunction" => Predicate::any(parts()?),
            "implication" => match &parts()?[..] {
                [a, b] => Predicate::any(vec![a.negated(), b.clone()]),
                _ => return Err("an implication needs two sides".into()),
            },
            "is-fireable" => self.fireable(e)?,
            "deadlock" | "is-deadlock" => Predicate::Dead,
            name if name.starts_with("integer-") => self.comparison(e)?,
            name => return Err(format!("`{}` is not supported", shortened(name))),
        })
    }

    fn fireable(&self, e: &Element) -> Refused<Predicate> {
        let mut found = Vec::new();
        for transition in &e.children {
            let id = named(transition, "transition")?;
            let steps = self
                .transitions
                .get(id)
                .ok_or_else(|| format!("there is no transition `{}`", shortened(id)))?;
            let steps = steps.iter().map(|&i| &self.table.steps()[i]);
            if steps.clone().any(|step| self.table.fates(step.edge).iter().any(|f| f.1 == Fate::Block)) {
                return Err(format!("`{}` may fire only if there are few tokens", shortened(id)));
            }
            found.extend(steps.map(|step| Predicate::covers(&step.take)));
        }
        Ok(Predicate::any(found))
    }

    /// Parses a comparison such as `a <= b`. Numbers are integers, so `a < b` is `a + 1 <= b`.
    fn comparison(&self, e: &Element) -> Refused<Predicate> {
        let [left, right] = &e.children[..] else { return Err("a comparison needs two sides".into()) };
        let difference = |a: &Element, b: &Element, least: i64| {
            let (mut terms, mut constant) = (Vec::new(), 0);
            self.sum(a, "tokens-count", 1, &mut terms, &mut constant)?;
            self.sum(b, "tokens-count", -1, &mut terms, &mut constant)?;
            Predicate::at_least(terms, least - constant).ok_or_else(too_large)
        };
        match e.name.as_str() {
            "integer-le" => difference(right, left, 0),
            "integer-lt" => difference(right, left, 1),
            "integer-ge" => difference(left, right, 0),
            "integer-gt" => difference(left, right, 1),
            "integer-eq" => {
                Ok(Predicate::all(vec![difference(left, right, 0)?, difference(right, left, 0)?]))
            }
            "integer-ne" => {
                Ok(Predicate::any(vec![difference(left, right, 1)?, difference(right, left, 1)?]))
            }
            name => Err(format!("`{}` is not supported", shortened(name))),
        }
    }

    /// Adds `sign` times an integer expression to the sum; `counts` names the elements that count
    /// tokens.
    fn sum(
        &self,
        e: &Element,
        counts: &str,
        sign: i64,
        terms: &mut Vec<(Local, i64)>,
        constant: &mut i64,
    ) -> Refused<()> {
        match e.name.as_str() {
            "integer-constant" => {
                let text = e.text.trim();
                let n = text.parse::<i32>().map_err(|_| format!("`{}` is not a number", shortened(text)))?;
                *constant += sign * i64::from(n);
            }
            name if name == counts => {
                for place in &e.children {
                    let id = named(place, "place")?;
                    let l = self
                        .places
                        .get(id)
                        .ok_or_else(|| format!("there is no place `{}`", shortened(id)))?;
                    terms.push((*l, sign));
                }
            }
            "integer-sum" => {
                for part in &e.children {
                    self.sum(part, counts, sign, terms, constant)?;
                }
            }
            "integer-difference" => match &e.children[..] {
                [first, others @ ..] => {
                    self.sum(first, counts, sign, terms, constant)?;
                    others.iter().try_for_each(|other| self.sum(other, counts, -sign, terms, constant))?;
                }
                [] => return Err("a difference of nothing".into()),
            },
            name => return Err(format!("`{}` is not supported", shortened(name))),
        }
        Ok(())
    }
}

/// Returns the id in `<what>id</what>`.
fn named<'a>(e: &'a Element, what: &str) -> Refused<&'a str> {
    if e.name == what { Ok(e.text.trim()) } else { Err(format!("`{}` is not a {what}", shortened(&e.name))) }
}

fn only(e: &Element) -> Refused<&Element> {
    match &e.children[..] {
        [one] => Ok(one),
        _ => Err(format!("`{}` must hold exactly one formula", shortened(&e.name))),
    }
}

/// Returns whether the signs in a predicate show that more tokens never make it false.
fn grows(predicate: &Predicate) -> bool {
    match predicate {
        Predicate::AtLeast(sum, _) => sum.iter().all(|t| t.1 > 0),
        Predicate::All(parts) | Predicate::Any(parts) => parts.iter().all(grows),
        Predicate::Dead | Predicate::Live => false,
    }
}

/// Returns the smallest markings of a predicate that grows, if these are not too many.
fn markings(predicate: &Predicate) -> Option<Vec<Bag>> {
    match predicate {
        Predicate::AtLeast(sum, least) => smallest_sums(sum, *least),
        Predicate::All(parts) => {
            parts.iter().try_fold(vec![Bag::new()], |all, part| both(&all, &markings(part)?))
        }
        Predicate::Any(parts) => {
            let all = parts.iter().map(markings).collect::<Option<Vec<_>>>()?;
            smallest(all.concat())
        }
        Predicate::Dead | Predicate::Live => None,
    }
}

/// Returns the smallest markings that reach the sum; all coefficients are positive.
fn smallest_sums(sum: &[(Local, i64)], least: i64) -> Option<Vec<Bag>> {
    let (last, first) = sum.split_last()?;
    let mut partial = vec![(Bag::new(), least)];
    for &(l, factor) in first {
        let mut next = Vec::new();
        for (chosen, left) in &partial {
            for n in 0..=upwards(*left, factor) {
                let mut more = chosen.clone();
                more.insert(l, count(n)?);
                next.push((more, left - n * factor));
                if next.len() > MOST_MARKINGS {
                    return None;
                }
            }
        }
        partial = next;
    }
    let mut all = Vec::new();
    for (mut chosen, left) in partial {
        chosen.insert(last.0, count(upwards(left, last.1))?);
        all.push(chosen);
    }
    smallest(all)
}

fn upwards(left: i64, factor: i64) -> i64 {
    if left <= 0 { 0 } else { (left - 1) / factor + 1 }
}

fn count(n: i64) -> Option<u32> {
    u32::try_from(n).ok().filter(|&n| n <= 1 << 30)
}

fn too_large() -> String {
    "its numbers are too large".into()
}

/// Returns the smallest markings that cover an element of each list.
fn both(a: &[Bag], b: &[Bag]) -> Option<Vec<Bag>> {
    if a.len().saturating_mul(b.len()) > MOST_MARKINGS {
        return None;
    }
    let joined = |x: &Bag, y: &Bag| {
        let mut most = x.clone();
        for &(l, n) in y.entries() {
            most.insert(l, n.saturating_sub(x.count(l)));
        }
        most
    };
    smallest(a.iter().flat_map(|x| b.iter().map(move |y| joined(x, y))).collect())
}

/// Drops the markings that cover another one.
fn smallest(mut all: Vec<Bag>) -> Option<Vec<Bag>> {
    if all.len() > MOST_MARKINGS || !all.iter().all(Bag::is_countable) {
        return None;
    }
    all.sort_unstable_by(|a, b| a.size().cmp(&b.size()).then_with(|| a.cmp(b)));
    all.dedup();
    let mut kept: Vec<Bag> = Vec::new();
    for bag in all {
        if !kept.iter().any(|k| bag.covers(k)) {
            kept.push(bag);
        }
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net() -> Table {
        let net = "<pnml><net><place id='p'/><place id='q'/><place id='r'/><transition id='t'/>
            <arc source='p' target='t'/><arc source='q' target='t'/></net></pnml>";
        (*super::super::read(net).0.unwrap().table).clone()
    }

    fn target(formula: &str) -> Result<Target, String> {
        let text = format!(
            "<property-set><property><id> x </id><description>…</description><formula>{formula}</formula></property></property-set>"
        );
        let [property] = &read_properties(&text, &net()).unwrap()[..] else { panic!("one property") };
        assert_eq!(property.id, "x");
        property.target.clone()
    }

    fn ef(inside: &str) -> Result<Target, String> {
        target(&format!("<exists-path><finally>{inside}</finally></exists-path>"))
    }

    /// Returns the smallest markings (p q r) of a target that is upward closed.
    fn smallest(target: Target) -> Vec<[u32; 3]> {
        assert!(target.is_upward_closed());
        let mut found: Vec<[u32; 3]> =
            target.configs.iter().map(|c| [0, 1, 2].map(|l| c.threads.count(Local(l)))).collect();
        found.sort_unstable();
        found
    }

    fn le(a: &str, b: &str) -> String {
        format!("<integer-le>{a}{b}</integer-le>")
    }

    fn n(n: i32) -> String {
        format!("<integer-constant>{n}</integer-constant>")
    }

    fn tokens(places: &[&str]) -> String {
        let inside: String = places.iter().map(|p| format!("<place>{p}</place>")).collect();
        format!("<tokens-count>{inside}</tokens-count>")
    }

    #[test]
    fn upward_closed_formulas_become_their_smallest_markings() {
        let p2 = le(&n(2), &tokens(&["p"]));
        let q1 = le(&n(1), &tokens(&["q"]));
        for (formula, markings) in [
            (p2.clone(), vec![[2, 0, 0]]),
            (format!("<conjunction>{p2}{q1}</conjunction>"), vec![[2, 1, 0]]),
            (format!("<disjunction>{p2}{q1}</disjunction>"), vec![[0, 1, 0], [2, 0, 0]]),
            (le(&n(2), &tokens(&["p", "q"])), vec![[0, 2, 0], [1, 1, 0], [2, 0, 0]]),
            (le(&n(3), &tokens(&["p", "p"])), vec![[2, 0, 0]]),
            (format!("<negation>{}</negation>", le(&tokens(&["p"]), &n(1))), vec![[2, 0, 0]]),
            (le(&n(0), &tokens(&["p"])), vec![[0, 0, 0]]),
            (le(&tokens(&["p"]), &n(-1)), vec![]),
            (le(&tokens(&["p"]), &tokens(&["p", "r"])), vec![[0, 0, 0]]),
            ("<is-fireable><transition>t</transition></is-fireable>".into(), vec![[1, 1, 0]]),
            (format!("<integer-gt>{}{}</integer-gt>", tokens(&["r"]), n(4)), vec![[0, 0, 5]]),
            (format!("<integer-ne>{}{}</integer-ne>", tokens(&["r"]), n(0)), vec![[0, 0, 1]]),
            ("<true/>".into(), vec![[0, 0, 0]]),
            ("<false/>".into(), vec![]),
        ] {
            assert_eq!(ef(&formula).map(smallest), Ok(markings), "{formula}");
        }
    }

    #[test]
    fn always_is_never_not() {
        let safe = le(&tokens(&["p"]), &n(1));
        let found = target(&format!("<all-paths><globally>{safe}</globally></all-paths>")).unwrap();
        assert_eq!(found.asks().unwrap().clone(), Asks::Always);
        assert_eq!(smallest(found), [[2, 0, 0]]);
    }

    /// Returns the markings with at most two tokens each where a formula holds.
    fn where_it_holds(formula: &str) -> Vec<[u32; 3]> {
        let (target, table) = (ef(formula).unwrap(), net());
        let counts = (0..27).map(|i| [i / 9, i / 3 % 3, i % 3]);
        let config = |c: &[u32; 3]| {
            let entries = (0..).map(Local).zip(c.iter().copied()).filter(|e| e.1 > 0);
            Config::new(Shared(0), entries.collect())
        };
        counts.filter(|c| target.is_hit(&config(c), &table)).collect()
    }

    #[test]
    fn other_formulas_are_predicates() {
        type Marking = [u32; 3];
        let (p, q, one) = (tokens(&["p"]), tokens(&["q"]), n(1));
        let fireable = "<is-fireable><transition>t</transition></is-fireable>";
        type Holds = fn(Marking) -> bool;
        let holds: [(String, Holds); 8] = [
            (le(&p, &one), |[p, ..]| p <= 1),
            (le(&p, &q), |[p, q, _]| p <= q),
            (le(&tokens(&["p", "q"]), &n(2)), |[p, q, _]| p + q <= 2),
            (format!("<integer-eq>{p}{one}</integer-eq>"), |[p, ..]| p == 1),
            (format!("<integer-ne>{p}{one}</integer-ne>"), |[p, ..]| p != 1),
            (format!("<negation>{fireable}</negation>"), |[p, q, _]| p == 0 || q == 0),
            ("<deadlock/>".into(), |[p, q, _]| p == 0 || q == 0),
            (format!("<implication>{}{}</implication>", le(&p, &q), fireable), |[p, q, _]| {
                p > q || p > 0 && q > 0
            }),
        ];
        for (formula, expected) in holds {
            let all = (0..27).map(|i| [i / 9, i / 3 % 3, i % 3]).filter(|&m| expected(m));
            assert_eq!(where_it_holds(&formula), all.collect::<Vec<_>>(), "{formula}");
        }
    }

    #[test]
    fn bounds_are_about_sums() {
        let bound = "<place-bound><place>q</place><place>p</place></place-bound>";
        let asks = target(bound).unwrap().asks().unwrap().clone();
        assert_eq!(asks, Asks::Largest(vec![(Local(0), 1), (Local(1), 1)]));
        let asks = target("<place-bound/>").unwrap().asks().unwrap().clone();
        assert_eq!(asks, Asks::Largest(Vec::new()), "which is 0");
    }

    #[test]
    fn what_is_not_about_reachable_markings_is_refused_with_the_reason() {
        for (formula, why) in [
            ("<until/>".to_string(), "`until` is not supported"),
            (le(&n(1), &tokens(&["z"])), "there is no place `z`"),
            ("<is-fireable><transition>z</transition></is-fireable>".into(), "there is no transition `z`"),
        ] {
            assert_eq!(ef(&formula), Err(why.to_string()), "{formula}");
        }
        let refused = target("<exists-path><globally><true/></globally></exists-path>");
        assert!(refused.unwrap_err().starts_with("it is of the form exists-path/globally"));
        assert_eq!(read_properties("<x/>", &net()).unwrap_err().code, "E510");
    }
}
