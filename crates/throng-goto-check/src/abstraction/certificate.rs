//! Proofs as files, and their check: the facts about every edge are proved again, the abstract
//! program is written again from them, and its certificate is checked by the checker of Boolean
//! programs. No engine runs, and nothing is searched for.
//!
//! What has to be believed for `VALID`: the reader of C, the goto program, its graph of paths
//! ([`super::graph`]), how facts become a Boolean program ([`super::program`]), the second encoder
//! ([`super::encoder`]), the SAT solver's "no", and the checker of Boolean programs.

use serde::{Deserialize, Serialize};
use throng_check::Checked;
use throng_check::certificate::hash;
use throng_check::certify::{Asked, CertifiedAnswer, Fault, certify};
use throng_goto::Query;
use throng_goto::program::{BinOp, Expr, Int};
use throng_model::limits::Limits;

use super::boolean::Boolean;
use super::cube::{Cube, edge, edge_count};
use super::encoder::check_edge;
use super::facts::{Differs, Facts};
use super::graph::{Graph, Reading};
use super::heap::placed;
use super::predicate::Predicate;
use super::program::build;
use super::tallies::Tally;

/// What a certificate calls itself.
pub const FORMAT: &str = "throng-c-certificate";
/// Version of the layout and of its meaning.
pub const VERSION: u32 = 2;

/// A certificate about a C program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The program that wrote it; for people.
    pub tool: String,
    /// The file; for people.
    pub file: String,
    /// FNV-1a hash of the program, with calls inlined and every access written out.
    pub program: String,
    /// The properties that cannot be violated.
    pub safe: Vec<String>,
    /// Whether it is taken for granted that computed accesses stay inside their objects.
    pub trusts_bounds: bool,
    /// Whether what is read at a computed place of an array is taken to be anything.
    #[serde(default)]
    pub summarises_arrays: bool,
    /// Whether threads are counted.
    #[serde(default)]
    pub counts_threads: bool,
    /// Counters that are taken not to reach the end of their types; by name, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounded: Vec<String>,
    /// Places at which threads are counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tallies: Vec<Tally>,
    /// What holds at places, and what it rules out.
    #[serde(default)]
    pub facts: StatedFacts,
    /// The predicates.
    pub predicates: Vec<Stated>,
    /// For each edge, literals that no step along it satisfies together.
    pub never: Vec<Vec<Cube>>,
    /// The certificate of the abstract program.
    pub proof: serde_json::Value,
}

/// Comparisons that hold at places.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedFacts {
    /// The comparisons.
    pub predicates: Vec<Stated>,
    /// Places by number, and the comparisons that hold whenever a thread is there.
    pub at: Vec<(usize, Vec<u32>)>,
    /// Two places and two variables by number: whenever a thread is at the first place and another
    /// at the second, the variables differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub apart: Vec<Differs>,
    /// Edges by number that no thread takes.
    pub impossible: Vec<usize>,
}

/// A predicate.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// As C, nearly; for people.
    pub text: String,
    /// The comparison.
    pub expr: Term,
}

impl Stated {
    /// The predicate about the variables of a graph, if it is one.
    pub fn predicate(&self, graph: &Graph) -> Option<Predicate> {
        Predicate::of(self.expr.expr()?, &graph.variables)
    }
}

/// An expression.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Term {
    /// A number.
    Number(i64),
    /// A variable by number.
    Variable(u32),
    /// A conversion to a type: bytes, whether it has a sign, whether it is `_Bool`.
    Convert(Box<Term>, (u8, bool, bool)),
    /// An operator on values of a type.
    Operator(String, Box<Term>, Box<Term>, (u8, bool, bool)),
}

const OPERATORS: [(&str, BinOp); 14] = [
    ("+", BinOp::Add),
    ("-", BinOp::Sub),
    ("*", BinOp::Mul),
    ("/", BinOp::Div),
    ("%", BinOp::Rem),
    ("<<", BinOp::Shl),
    (">>", BinOp::Shr),
    ("&", BinOp::And),
    ("|", BinOp::Or),
    ("^", BinOp::Xor),
    ("==", BinOp::Eq),
    ("!=", BinOp::Ne),
    ("<", BinOp::Lt),
    ("<=", BinOp::Le),
];

impl Term {
    fn of(e: &Expr) -> Term {
        let ty = |i: &Int| (i.size, i.signed, i.truth);
        match e {
            Expr::Const(v) => Term::Number(*v),
            Expr::Reg(id) => Term::Variable(*id),
            // No predicate is about the number of a thread, or floating point.
            Expr::SelfId | Expr::Local(_) | Expr::Float(..) | Expr::Convert(..) => Term::Variable(u32::MAX),
            Expr::Cast(e, to) => Term::Convert(Box::new(Term::of(e)), ty(to)),
            Expr::Bin(op, a, b, at) => {
                let symbol = OPERATORS.iter().find(|o| o.1 == *op).map_or("", |o| o.0);
                Term::Operator(symbol.into(), Box::new(Term::of(a)), Box::new(Term::of(b)), ty(at))
            }
        }
    }

    fn expr(&self) -> Option<Expr> {
        let ty = |&(size, signed, truth): &(u8, bool, bool)| {
            matches!(size, 1 | 2 | 4 | 8).then_some(Int { truth, ..Int::new(size, signed) })
        };
        Some(match self {
            Term::Number(v) => Expr::Const(*v),
            Term::Variable(id) => Expr::Reg(*id),
            Term::Convert(e, to) => Expr::Cast(Box::new(e.expr()?), ty(to)?),
            Term::Operator(symbol, a, b, at) => {
                let op = OPERATORS.iter().find(|o| o.0 == symbol)?.1;
                Expr::Bin(op, Box::new(a.expr()?), Box::new(b.expr()?), ty(at)?)
            }
        })
    }
}

/// What a certificate is about: the program as it is executed, and what is asked.
pub fn identity(query: &Query) -> String {
    hash(&format!("{}\n{:?}", query.program.print(), query.program.asked))
}

fn properties(query: &Query) -> Vec<String> {
    query.program.asked.iter().map(|&what| query.question.name(what)).collect()
}

/// The counters that a graph takes not to reach the end of their types, by name.
fn bounded(graph: &Graph) -> Vec<String> {
    graph.bounded.iter().map(|&id| graph.variables.list[id as usize].name.clone()).collect()
}

/// What a proof consists of.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// The predicates.
    pub predicates: Vec<Predicate>,
    /// For each edge, what no step along it satisfies.
    pub never: Vec<Vec<Cube>>,
    /// The certificate of the abstract program.
    pub abstract_proof: serde_json::Value,
    /// What holds at places.
    pub facts: Facts,
}

/// Returns the certificate of a proof.
pub fn document(query: &Query, graph: &Graph, proof: &Evidence) -> Document {
    let stated = |p: &Predicate| Stated { text: p.text(&graph.variables), expr: Term::of(&p.expr) };
    Document {
        format: FORMAT.into(),
        version: VERSION,
        tool: format!("throng {}", env!("CARGO_PKG_VERSION")),
        file: query.source.name.clone(),
        program: identity(query),
        safe: properties(query),
        trusts_bounds: graph.trusts,
        summarises_arrays: graph.summarises,
        counts_threads: graph.counts,
        bounded: bounded(graph),
        tallies: graph.tallies.iter().map(|t| t.tally.clone()).collect(),
        facts: StatedFacts {
            predicates: proof.facts.predicates.iter().map(stated).collect(),
            at: proof.facts.at.iter().cloned().enumerate().filter(|f| !f.1.is_empty()).collect(),
            apart: proof.facts.apart.clone(),
            impossible: proof.facts.impossible.clone(),
        },
        predicates: proof.predicates.iter().map(stated).collect(),
        never: proof.never.clone(),
        proof: proof.abstract_proof.clone(),
    }
}

/// Returns whether some bytes are meant to be a certificate about a C program.
pub fn is_one(bytes: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    serde_json::from_slice(bytes).is_ok_and(|head: Head| head.format == FORMAT)
}

/// Reads a certificate.
pub fn read(bytes: &[u8]) -> Result<Document, Fault> {
    let no = |why: String| Fault::Unreadable(format!("this is not a certificate about a C program: {why}"));
    let document: Document = serde_json::from_slice(bytes).map_err(|why| no(why.to_string()))?;
    if document.format != FORMAT {
        return Err(no(format!("its format is not `{FORMAT}`")));
    }
    if document.version != VERSION {
        return Err(no(format!(
            "it has version {}, but this checker knows version {VERSION}",
            document.version
        )));
    }
    Ok(document)
}

/// What a certificate was found to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Certified {
    /// That it was checked.
    pub checked: Checked,
    /// Facts about edges that were proved again.
    pub facts: usize,
    /// Predicates.
    pub predicates: usize,
}

/// Checks that a certificate proves everything that is asked about a program.
pub fn check(query: &Query, document: &Document, limits: &Limits) -> Result<Certified, Fault> {
    let invalid = |why: &str| Fault::Invalid(why.to_string());
    if document.program != identity(query) {
        return Err(invalid("it is about another program or another question"));
    }
    if document.safe != properties(query) {
        return Err(invalid("it does not answer what is asked"));
    }
    let reading = Reading {
        trusting: document.trusts_bounds,
        summarising: document.summarises_arrays,
        counting: document.counts_threads,
    };
    let placed = placed(&query.program);
    let program = placed.as_ref().unwrap_or(&query.program);
    let graph = Graph::of(program, reading)
        .and_then(|graph| match document.bounded.is_empty() {
            true => Ok(graph),
            false => graph.with_bounds(program).ok_or("there are no counters".into()),
        })
        .and_then(|graph| graph.with_tallies(program, &document.tallies))
        .map_err(|why| Fault::Invalid(format!("there is no abstraction: {why}")))?;
    if bounded(&graph) != document.bounded {
        return Err(invalid("it takes other counters for granted than those of the program"));
    }
    let predicates = |list: &[Stated]| -> Result<Vec<Predicate>, Fault> {
        let one = |stated: &Stated| {
            let found = stated.predicate(&graph);
            found.ok_or_else(|| Fault::Invalid(format!("`{}` is not a predicate", stated.text)))
        };
        list.iter().map(one).collect()
    };
    let mut facts = Facts::none(&graph);
    facts.predicates = predicates(&document.facts.predicates)?;
    facts.impossible.clone_from(&document.facts.impossible);
    facts.apart.clone_from(&document.facts.apart);
    for (place, which) in &document.facts.at {
        let at = facts
            .at
            .get_mut(*place)
            .ok_or_else(|| invalid("it has facts about a place that does not exist"))?;
        at.clone_from(which);
    }
    if let Some(why) = super::facts::check(program, &graph, &facts, limits).map_err(Fault::Limit)? {
        return Err(Fault::Invalid(why));
    }
    let list = predicates(&document.predicates)?;
    // A step may leave the element alone that such a variable stands for; only facts take that into
    // account.
    let any = |p: &&Predicate| p.variables.iter().any(|&id| graph.variables.is_any_element(id));
    if let Some(p) = list.iter().find(any) {
        let text = p.text(&graph.variables);
        return Err(Fault::Invalid(format!(
            "`{text}` is about any element of an array, which only facts may be"
        )));
    }
    if document.never.len() != edge_count(&graph) {
        return Err(invalid("it has facts about another number of edges"));
    }
    for (n, cubes) in document.never.iter().enumerate() {
        if facts.impossible.contains(&n) {
            continue;
        }
        let wrong = check_edge(&graph, &list, edge(&graph, n), cubes, limits).map_err(Fault::Limit)?;
        if let Some(k) = wrong {
            return Err(Fault::Invalid(format!("fact {k} about edge {n} does not hold")));
        }
    }
    let abstraction = build(program, &graph, &list, &document.never);
    let boolean = Boolean::of(abstraction).map_err(Fault::Invalid)?;
    let bytes = serde_json::to_vec(&document.proof).map_err(|why| Fault::Unreadable(why.to_string()))?;
    let proof = throng_check::certify::read(&bytes)?;
    let certified = certify(&Asked::Check(boolean.origin()), &proof, limits)?;
    let safe = |a: &CertifiedAnswer| a.verdict == throng_check::certificate::Claim::Safe;
    if !certified.answers.iter().all(safe) || certified.answers.is_empty() {
        return Err(invalid("the abstract program is not shown to be safe"));
    }
    let known = facts.apart.len() + facts.at.iter().map(Vec::len).sum::<usize>();
    let facts = known + document.never.iter().map(Vec::len).sum::<usize>();
    Ok(Certified { checked: Checked::of_source(), facts, predicates: list.len() })
}
