//! A certificate for the page: an explanation, its first members, and the lines that no thread
//! reaches.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use super::super::evidence::{Explained, explain_about};
use super::super::story::{self, State};
use throng_model::problem::Target;
use throng_model::verdict::{Certificate, Products};
use throng_model::{Config, Local, Model, OMEGA, Shared};

/// Maximum number of listed members, so that the page stays small.
const MOST: usize = 5_000;

/// Number of states of a set above which a member of a product names only the first ones.
const NAMED: usize = 12;

/// A certificate.
#[derive(Serialize)]
pub(super) struct Proof {
    kind: &'static str,
    size: usize,
    member: &'static str,
    words: Vec<String>,
    obligations: [&'static str; 3],
    states: Vec<State>,
    /// Shared states in words; empty for nets.
    shared: Vec<String>,
    /// The first members.
    members: Vec<Member>,
    /// Lines at which members have threads, if members contain every reachable configuration.
    lines: Option<Lines>,
}

/// The lines of a covering certificate.
#[derive(Serialize)]
struct Lines {
    /// Lines at which some member has a thread.
    occupied: Vec<u32>,
    /// Lines with statements at which no member has a thread, so no thread reaches them.
    dead: Vec<u32>,
}

/// Sets of shared states, and the number of threads in each set of local states; for configurations
/// all sets are singletons.
#[derive(Serialize)]
struct Member {
    /// Indices into `shared`.
    s: Vec<usize>,
    /// Count (ω is null) and indices into `states`.
    t: Vec<(Option<u32>, Vec<usize>)>,
}

#[derive(Default)]
struct Names {
    shared: HashMap<Shared, usize>,
    locals: HashMap<Local, usize>,
    states: Vec<State>,
    shared_names: Vec<String>,
}

impl Names {
    fn shared(&mut self, model: &dyn Model, s: Shared) -> usize {
        *self.shared.entry(s).or_insert_with(|| {
            self.shared_names.push(model.shared_name(s));
            self.shared_names.len() - 1
        })
    }

    fn local(&mut self, model: &dyn Model, l: Local) -> usize {
        *self.locals.entry(l).or_insert_with(|| {
            self.states.push(story::state(model, l));
            self.states.len() - 1
        })
    }
}

/// Returns the certificate in the form that the page shows.
pub(super) fn proof(model: &dyn Model, target: &Target, certificate: &Certificate) -> Proof {
    let Explained { kind, size, member, words, obligations, covers } = explain_about(target, certificate);
    let mut names = Names::default();
    let members = match certificate {
        Certificate::Products(products) => several(model, products, &mut names),
        plain => configs(plain).take(MOST).map(|c| single(model, &c, &mut names)).collect(),
    };
    Proof {
        kind,
        size,
        member,
        words,
        obligations,
        members,
        lines: covers.then(|| lines(model, certificate)).flatten(),
        states: names.states,
        shared: names.shared_names,
    }
}

fn single(model: &dyn Model, config: &Config, names: &mut Names) -> Member {
    let count = |n: u32| (n != OMEGA).then_some(n);
    Member {
        s: vec![names.shared(model, config.shared)],
        t: config.threads.entries().iter().map(|&(l, n)| (count(n), vec![names.local(model, l)])).collect(),
    }
}

fn several(model: &dyn Model, products: &Products, names: &mut Names) -> Vec<Member> {
    let mut members = Vec::new();
    for product in products.members.iter().take(MOST) {
        let shared = products.shared[product.shared as usize].iter().take(NAMED);
        let mut t = Vec::new();
        for &(set, n) in &product.threads {
            let locals = products.locals[set as usize].iter().take(NAMED);
            t.push((Some(n), locals.map(|&l| names.local(model, l)).collect()));
        }
        members.push(Member { s: shared.map(|&s| names.shared(model, s)).collect(), t });
    }
    members
}

/// Returns every local state that occurs in a certificate.
fn locals(certificate: &Certificate) -> BTreeSet<Local> {
    match certificate {
        Certificate::Products(products) => products.locals.iter().flatten().copied().collect(),
        Certificate::Views(views) => views.locals().collect(),
        plain => {
            configs(plain).flat_map(|c| c.threads.entries().iter().map(|e| e.0).collect::<Vec<_>>()).collect()
        }
    }
}

/// Returns the members of a certificate that are configurations.
fn configs(certificate: &Certificate) -> Box<dyn Iterator<Item = Config> + '_> {
    match certificate {
        Certificate::Closed(set) | Certificate::Downward(set) | Certificate::Upward(set) => {
            Box::new(set.iter().cloned())
        }
        Certificate::Packed(set) => Box::new(set.iter()),
        Certificate::Views(views) => Box::new(views.each()),
        Certificate::Relative(relative) if relative.basis.is_empty() => Box::new(relative.views.each()),
        Certificate::Relative(relative) => Box::new(relative.basis.iter().cloned()),
        Certificate::Refutation(_) => Box::new(std::iter::empty()),
        Certificate::Quotient(_, proof) | Certificate::Reduced(_, proof) => configs(proof),
        Certificate::Localised(parts) => Box::new(parts.iter().flat_map(|part| configs(&part.proof))),
        Certificate::Products(_) | Certificate::Spread(_) | Certificate::OfSource(_) => {
            Box::new(std::iter::empty())
        }
    }
}

/// Returns the lines of a certificate; `None` if the input has no lines for states.
fn lines(model: &dyn Model, certificate: &Certificate) -> Option<Lines> {
    let written = model.places();
    if written.is_empty() {
        return None;
    }
    let occupied: BTreeSet<u32> =
        locals(certificate).into_iter().filter_map(|l| model.place(l)).map(|p| p.line).collect();
    // `end` is the exit of a function, which is not a statement of the source.
    let is_statement = |text: &str| !["end", "}"].contains(&text);
    let statements: BTreeSet<u32> =
        written.iter().filter(|p| is_statement(&p.text)).map(|p| p.line).collect();
    let dead = statements.difference(&occupied).copied().filter(|&line| line > 0).collect();
    Some(Lines { occupied: occupied.into_iter().filter(|&line| line > 0).collect(), dead })
}
