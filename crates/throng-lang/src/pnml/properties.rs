//! Property files of the model-checking contest, as far as they ask about coverability.
//!
//! `EF φ` is a target if φ is upward closed: more tokens never make it false. Then φ is given by its smallest
//! markings. `AG φ` holds unless `EF ¬φ` does. Everything else is refused, property by property.

use rustc_hash::FxHashMap;
use throng_model::Describe;

use crate::configuration::shortened;
use crate::source::Diagnostic;
use crate::xml::{Element, tree};
use throng_model::problem::Target;
use throng_model::table::{Fate, Table};
use throng_model::{Bag, Config, Local, Shared};

/// Smallest markings that one formula may have.
const MOST_MARKINGS: usize = 10_000;

/// One property of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// Its id.
    pub id: String,
    /// What it asks, or why that cannot be answered.
    pub query: Result<Query, String>,
}

/// A question about coverability.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// Reaching this decides the property.
    pub target: Target,
    /// Whether the property is true (`EF`) or false (`AG`) if the target is reached.
    pub true_if_reached: bool,
}

/// Reads a property file about the net `table` that [`super::read`] returned.
pub fn read_properties(text: &str, table: &Table) -> Result<Vec<Property>, Diagnostic> {
    let root = tree(text, &["description", "toolspecific"])?;
    if root.name != "property-set" {
        return Err(Diagnostic::error("E510", root.span, "this is no property file")
            .label("expected `<property-set>`"));
    }
    if let Some(odd) = root.children.iter().find(|c| c.name != "property") {
        return Err(Diagnostic::error(
            "E510",
            odd.span,
            format!("`{}` is no property", shortened(&odd.name)),
        )
        .label("expected `<property>`"));
    }
    let reader = Reader::new(table);
    Ok(root
        .children
        .iter()
        .map(|property| {
            let id = property.child("id").map(|e| e.text.trim().to_string()).unwrap_or_default();
            let query = reader.query(property, &id);
            Property { id, query }
        })
        .collect())
}

/// Why a formula is no target.
type Refused<T> = Result<T, String>;

/// Σ coefficient · place ≥ least
struct AtLeast {
    terms: Vec<(Local, i64)>,
    least: i64,
}

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

    fn query(&self, property: &Element, id: &str) -> Refused<Query> {
        let formulas: Vec<&Element> = property.children.iter().filter(|c| c.name == "formula").collect();
        let formula = match formulas[..] {
            [one] => only(one)?,
            [] => return Err("it has no formula".into()),
            _ => return Err("it has more than one formula".into()),
        };
        let (path, modality) = (formula.name.as_str(), only(formula)?);
        let true_if_reached = match (path, modality.name.as_str()) {
            ("exists-path", "finally") => true,
            ("all-paths", "globally") => false,
            (path, modality) => {
                return Err(format!(
                    "it is of the form {path}/{modality}; only exists-path/finally and all-paths/globally ask about coverability"
                ));
            }
        };
        let markings = self.formula(only(modality)?, true_if_reached)?;
        let configs = markings.into_iter().map(|m| Config::new(Shared(0), m)).collect();
        Ok(Query { target: Target { name: id.to_string(), configs }, true_if_reached })
    }

    /// The smallest markings at which the formula has this value.
    fn formula(&self, e: &Element, value: bool) -> Refused<Vec<Bag>> {
        let parts = || e.children.iter().map(|c| self.formula(c, value));
        match (e.name.as_str(), value) {
            ("true", true) | ("false", false) => Ok(vec![Bag::new()]),
            ("true", false) | ("false", true) => Ok(Vec::new()),
            ("negation", _) => self.formula(only(e)?, !value),
            ("conjunction", true) | ("disjunction", false) => {
                parts().try_fold(vec![Bag::new()], |all, part| both(&all, &part?))
            }
            ("disjunction", true) | ("conjunction", false) => {
                let mut all = Vec::new();
                for part in parts() {
                    all.extend(part?);
                }
                smallest(all)
            }
            ("is-fireable", true) => self.fireable(e),
            ("is-fireable", false) => Err("it asks that a transition is not fireable".into()),
            ("deadlock", _) => Err("it asks about deadlocks".into()),
            (name, _) if name.starts_with("integer-") => self.comparison(e, value),
            (name, _) => Err(format!("`{}` is not supported", shortened(name))),
        }
    }

    fn fireable(&self, e: &Element) -> Refused<Vec<Bag>> {
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
            found.extend(steps.map(|step| step.take.clone()));
        }
        smallest(found)
    }

    /// `a <= b` and its kin; integers, so that `a < b` is `a + 1 <= b`.
    fn comparison(&self, e: &Element, value: bool) -> Refused<Vec<Bag>> {
        let [left, right] = &e.children[..] else { return Err("a comparison needs two sides".into()) };
        let difference = |a: &Element, b: &Element, least: i64| {
            let (mut terms, mut constant) = (Vec::new(), 0);
            self.sum(a, 1, &mut terms, &mut constant)?;
            self.sum(b, -1, &mut terms, &mut constant)?;
            minimal(AtLeast { terms, least: least - constant })
        };
        match (e.name.as_str(), value) {
            ("integer-le", true) | ("integer-gt", false) => difference(right, left, 0),
            ("integer-lt", true) | ("integer-ge", false) => difference(right, left, 1),
            ("integer-ge", true) | ("integer-lt", false) => difference(left, right, 0),
            ("integer-gt", true) | ("integer-le", false) => difference(left, right, 1),
            ("integer-eq", true) | ("integer-ne", false) => {
                both(&difference(left, right, 0)?, &difference(right, left, 0)?)
            }
            ("integer-ne", true) | ("integer-eq", false) => {
                let mut all = difference(left, right, 1)?;
                all.extend(difference(right, left, 1)?);
                smallest(all)
            }
            (name, _) => Err(format!("`{}` is not supported", shortened(name))),
        }
    }

    /// Adds `sign` times an integer expression.
    fn sum(&self, e: &Element, sign: i64, terms: &mut Vec<(Local, i64)>, constant: &mut i64) -> Refused<()> {
        match e.name.as_str() {
            "integer-constant" => {
                let text = e.text.trim();
                let n = text.parse::<i32>().map_err(|_| format!("`{}` is not a number", shortened(text)))?;
                *constant += sign * i64::from(n);
            }
            "tokens-count" => {
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
                    self.sum(part, sign, terms, constant)?;
                }
            }
            name => return Err(format!("`{}` is not supported", shortened(name))),
        }
        Ok(())
    }
}

/// The id in `<what>id</what>`.
fn named<'a>(e: &'a Element, what: &str) -> Refused<&'a str> {
    if e.name == what { Ok(e.text.trim()) } else { Err(format!("`{}` is no {what}", shortened(&e.name))) }
}

fn only(e: &Element) -> Refused<&Element> {
    match &e.children[..] {
        [one] => Ok(one),
        _ => Err(format!("`{}` must hold exactly one formula", shortened(&e.name))),
    }
}

/// The smallest markings of an inequality, if it is upward closed.
fn minimal(mut wanted: AtLeast) -> Refused<Vec<Bag>> {
    wanted.terms.sort_unstable();
    wanted.terms.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 += later.1;
        }
        same
    });
    wanted.terms.retain(|t| t.1 != 0);
    let grows = wanted.terms.iter().any(|t| t.1 > 0);
    let shrinks = wanted.terms.iter().any(|t| t.1 < 0);
    match (grows, shrinks) {
        (_, false) if wanted.least <= 0 => Ok(vec![Bag::new()]),
        (false, _) if wanted.least > 0 => Ok(Vec::new()),
        (true, true) => Err("it compares places with each other".into()),
        (false, true) => Err("it asks for few tokens, not for many".into()),
        _ => markings(&wanted),
    }
}

/// Every smallest way to reach the sum; all coefficients are positive.
fn markings(wanted: &AtLeast) -> Refused<Vec<Bag>> {
    let mut partial = vec![(Bag::new(), wanted.least)];
    let Some((last, first)) = wanted.terms.split_last() else { return Ok(Vec::new()) };
    for &(l, factor) in first {
        let mut next = Vec::new();
        for (chosen, left) in &partial {
            for n in 0..=upwards(*left, factor) {
                let mut more = chosen.clone();
                more.insert(l, count(n)?);
                next.push((more, left - n * factor));
                if next.len() > MOST_MARKINGS {
                    return Err(too_many());
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
    // With all factors 1, every sum is hit exactly and no marking is below another.
    if wanted.terms.iter().all(|t| t.1 == 1) { Ok(all) } else { smallest(all) }
}

fn upwards(left: i64, factor: i64) -> i64 {
    if left <= 0 { 0 } else { (left + factor - 1) / factor }
}

fn count(n: i64) -> Refused<u32> {
    u32::try_from(n).ok().filter(|&n| n <= 1 << 30).ok_or_else(too_large)
}

fn too_large() -> String {
    "it asks for too many tokens".into()
}

fn too_many() -> String {
    format!("it stands for more than {MOST_MARKINGS} smallest markings")
}

/// What covers an element of each list.
fn both(a: &[Bag], b: &[Bag]) -> Refused<Vec<Bag>> {
    if a.len().saturating_mul(b.len()) > MOST_MARKINGS {
        return Err(too_many());
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

/// Drops what covers something else.
fn smallest(mut all: Vec<Bag>) -> Refused<Vec<Bag>> {
    if !all.iter().all(Bag::is_countable) {
        return Err(too_large());
    }
    if all.len() > MOST_MARKINGS {
        return Err(too_many());
    }
    all.sort_unstable_by(|a, b| a.size().cmp(&b.size()).then_with(|| a.cmp(b)));
    all.dedup();
    let mut kept: Vec<Bag> = Vec::new();
    for bag in all {
        if !kept.iter().any(|k| bag.covers(k)) {
            kept.push(bag);
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net() -> Table {
        let net = "<pnml><net><place id='p'/><place id='q'/><place id='r'/><transition id='t'/>
            <arc source='p' target='t'/><arc source='q' target='t'/></net></pnml>";
        (*super::super::read(net).0.unwrap().table).clone()
    }

    /// The markings (p q r) of a formula, or why it is refused.
    fn read(formula: &str) -> (Result<Vec<[u32; 3]>, String>, bool) {
        let text = format!(
            "<property-set><property><id> x </id><description>…</description><formula>{formula}</formula></property></property-set>"
        );
        let [property] = &read_properties(&text, &net()).unwrap()[..] else { panic!("one property") };
        assert_eq!(property.id, "x");
        let counts = |c: &Config| [0, 1, 2].map(|l| c.threads.count(Local(l)));
        match &property.query {
            Ok(q) => (Ok(q.target.configs.iter().map(counts).collect()), q.true_if_reached),
            Err(why) => (Err(why.clone()), false),
        }
    }

    fn ef(inside: &str) -> Result<Vec<[u32; 3]>, String> {
        read(&format!("<exists-path><finally>{inside}</finally></exists-path>")).0
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
            assert_eq!(ef(&formula), Ok(markings), "{formula}");
        }
    }

    #[test]
    fn always_is_never_not() {
        let safe = le(&tokens(&["p"]), &n(1));
        let formula = format!("<all-paths><globally>{safe}</globally></all-paths>");
        assert_eq!(read(&formula), (Ok(vec![[2, 0, 0]]), false));
    }

    #[test]
    fn other_formulas_are_refused_with_the_reason() {
        for (formula, why) in [
            (le(&tokens(&["p"]), &n(1)), "it asks for few tokens, not for many"),
            (le(&tokens(&["p"]), &tokens(&["q"])), "it compares places with each other"),
            (
                format!("<integer-eq>{}{}</integer-eq>", tokens(&["p"]), n(2)),
                "it asks for few tokens, not for many",
            ),
            ("<deadlock/>".into(), "it asks about deadlocks"),
            ("<until/>".into(), "`until` is not supported"),
            (le(&n(1), &tokens(&["z"])), "there is no place `z`"),
            (le(&n(1_000_000), &tokens(&["p", "q"])), "it stands for more than 10000 smallest markings"),
            (
                "<negation><is-fireable><transition>t</transition></is-fireable></negation>".into(),
                "it asks that a transition is not fireable",
            ),
        ] {
            assert_eq!(ef(&formula), Err(why.to_string()), "{formula}");
        }
        let (refused, _) = read("<exists-path><globally><true/></globally></exists-path>");
        assert!(refused.unwrap_err().starts_with("it is of the form exists-path/globally"));
        assert_eq!(read_properties("<x/>", &net()).unwrap_err().code, "E510");
    }
}
