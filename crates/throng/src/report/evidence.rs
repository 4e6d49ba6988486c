//! Evidence in words: its kind, its meaning, and why it proves the verdict.

use super::plural;
use crate::outcome::Outcome;
use throng_model::problem::{Target, What};
use throng_model::verdict::{Certificate, LocalProof, Products, Refutation, Relative, Verdict};
use throng_model::views::Views;

/// The explanation of a certificate.
pub struct Explained {
    /// A short name: `closed set`.
    pub kind: &'static str,
    /// The number of members.
    pub size: usize,
    /// The name of one member: `configuration`.
    pub member: &'static str,
    /// Says what the members are and why they prove the verdict, a paragraph each.
    pub words: Vec<String>,
    /// What the checker has to establish, in order.
    pub obligations: [&'static str; 3],
    /// True if every local state that a thread can be in belongs to some member: then other states
    /// are never reached.
    pub covers: bool,
}

/// Explains a certificate as one about a target: of threads that wait, views and vectors say
/// something else than of configurations to cover.
pub fn explain_about(target: &Target, certificate: &Certificate) -> Explained {
    let explained = explain(certificate);
    let (views, relative) = match certificate {
        Certificate::Views(views) => (views, None),
        Certificate::Relative(relative) => (&relative.views, Some(relative)),
        _ => return explained,
    };
    let (words, obligations) = match target.what {
        What::Deadlock => NOT_ALL_WAIT,
        What::Stuck => HELPED,
        What::Starvation => SERVED,
        What::Covers | What::Formula(_) => return explained,
    };
    let mut all = vec![self::views(views).words[0].clone()];
    if relative.is_some_and(|relative| !relative.vectors.is_empty()) {
        all.push(COUNTS.into());
    }
    all.push(words.into());
    Explained { words: all, obligations, ..explained }
}

/// What vectors are in proofs about threads that wait.
const COUNTS: &str = "A vector gives a number, perhaps a negative one, to every shared and every local state. No step that these views allow makes the \
                      sum larger; so a configuration with a larger sum than all initial ones is never reached.";

/// Why there is no deadlock, and what the checker establishes.
const NOT_ALL_WAIT: (&str, [&str; 3]) = (
    "If all threads waited, they would be in states in which they can wait, and some vector would exceed its initial sum: so some thread can move.",
    [
        "every view of an initial configuration is a member, and steps lead to members",
        "no possible step makes a vector's sum larger",
        "for each state in which a thread can wait, the views or a vector exclude that all others wait as well",
    ],
);

/// Why no thread is stuck, and what the checker establishes.
const HELPED: (&str, [&str; 3]) = (
    "Whoever waits has a helper: a thread that, by steps of its own, comes to where the one that waits can move, or has a helper again. A configuration \
     without the helper is excluded.",
    [
        "every view of an initial configuration is a member, and steps lead to members",
        "no possible step makes a vector's sum larger",
        "each thread that waits can move after steps of helpers that are there",
    ],
);

/// Why no thread starves, and what the checker establishes.
const SERVED: (&str, [&str; 3]) = (
    "No steps can be repeated for ever while one thread stays at its place and the scheduler is fair. A rank is a sum that no such step makes larger, so \
     that a step that makes it smaller is not taken for ever; and where a thread can move and does not, a fair scheduler does not come again and again.",
    [
        "every view of an initial configuration is a member, and steps lead to members",
        "no possible step makes a vector's sum larger, and none that may be repeated that of a rank",
        "no strongly connected part of what is left satisfies the conditions of fairness",
    ],
);

/// Explains a certificate.
pub fn explain(certificate: &Certificate) -> Explained {
    match certificate {
        Certificate::Closed(set) => closed(set.len(), false),
        Certificate::Packed(set) => closed(set.len(), set.reduced),
        Certificate::Products(products) => self::products(products),
        Certificate::Downward(set) => Explained {
            kind: "covering set",
            size: set.len(),
            member: "ω-configuration",
            words: vec![
                "Each member is a shared state with a number of threads in some local states; ω stands for any number. It covers \
                 every configuration with the same shared state and at most as many threads everywhere."
                    .into(),
                "Together the members cover every configuration that can be reached. None of them covers a bad \
                 one, so no bad configuration can be reached."
                    .into(),
            ],
            obligations: [
                "every initial configuration is covered",
                "every step from a covered configuration leads to a covered one",
                "no bad configuration is covered",
            ],
            covers: true,
        },
        Certificate::Upward(set) if set.is_empty() => Explained {
            kind: "empty basis",
            size: 0,
            member: "minimal configuration",
            words: vec![
                "No configuration is bad: the target has none.".into(),
            ],
            obligations: [
                "no configuration is bad",
                "every predecessor of a configuration above a member is above a member",
                "no initial configuration is above a member",
            ],
            covers: false,
        },
        Certificate::Upward(set) => Explained {
            kind: "backward basis",
            size: set.len(),
            member: "minimal configuration",
            words: vec![
                "The members are the smallest configurations from which a bad one could be reached: every configuration on the way \
                 to a bad one has the shared state of a member and at least its threads."
                    .into(),
                "No initial configuration does, however many threads it has. So no bad configuration can be reached.".into(),
            ],
            obligations: [
                "every bad configuration is above a member",
                "every predecessor of a configuration above a member is above a member",
                "no initial configuration is above a member",
            ],
            covers: false,
        },
        Certificate::Views(set) => views(set),
        Certificate::Relative(relative) => self::relative(relative),
        Certificate::Refutation(refutation) => self::refutation(refutation),
        Certificate::Quotient(map, proof) => {
            let mut summary = explain(proof);
            let number = |n: usize, what: &str| match n {
                1 => format!("One {what} state is"),
                n => format!("{n} {what} states are"),
            };
            if !map.skipped.is_empty() {
                let which = number(map.skipped.len(), "shared");
                summary.words.insert(
                    0,
                    format!(
                        "{which} transient: none is initial or bad. The steps into and \
                         out of them count as one step here, and the proof is about the other shared states."
                    ),
                );
            }
            if !map.merged.is_empty() {
                let which = number(map.merged.len(), "local");
                summary.words.insert(
                    0,
                    format!("{which} merged with others here, or removed. That can only add behaviour, not remove any."),
                );
            }
            summary.covers = false;
            summary
        }
        Certificate::Reduced(reductions, proof) => {
            let mut summary = explain(proof);
            let n = reductions.steps.len();
            summary.words.insert(
                0,
                format!(
                    "The net was first reduced by {n} structural reductions: transitions into and out of a place are combined, and transitions that \
                     cannot fire or do not matter are removed. Whatever the net reaches, the smaller one reaches with the same tokens on the places of the question."
                ),
            );
            summary.covers = false;
            summary
        }
        Certificate::Localised(parts) => localised(parts),
        Certificate::Spread(spread) => {
            let mut explained = closed(spread.members as usize, false);
            let workers = spread.workers;
            explained.words.push(format!(
                "The set is too large for one process: it is distributed over the {workers} workers that found it, and each has checked its part."
            ));
            explained.covers = false;
            explained
        }
        Certificate::OfSource(proof) => Explained {
            kind: proof.kind,
            size: proof.size,
            member: proof.member,
            words: vec![proof.words.clone()],
            obligations: proof.obligations,
            covers: false,
        },
    }
}

/// Explains evidence about localised models.
fn localised(parts: &[LocalProof]) -> Explained {
    let Some(first) = parts.first() else { return closed(0, false) };
    let mut explained = explain(&first.proof);
    explained.size = parts.iter().map(|part| part.proof.measure().1).sum();
    let (number, each) = match parts.len() {
        1 => ("This is".to_string(), "a program"),
        n => (format!("These are {n} proofs, for different statements, each"), "a program"),
    };
    explained.words.insert(
        0,
        format!(
            "{number} about {each} that can do at least as much: only a few variables are kept, all others may have any value at any time, and \
             places that are then equivalent are merged."
        ),
    );
    explained.covers = false;
    explained
}

fn views(views: &Views) -> Explained {
    let threads = if views.are_single() { "one of its threads" } else { "at most two of its threads" };
    Explained {
        kind: "set of views",
        size: views.len(),
        member: "view",
        words: vec![
            format!(
                "A view of a configuration consists of its shared state and {threads}. The \
                 members are all the views that can ever occur, and perhaps a few more."
            ),
            "No bad configuration has all its views among these. That holds for any number of threads at \
             a time: more of them have no other views."
                .into(),
        ],
        obligations: [
            "every view of an initial configuration is a member",
            "every step from a configuration made of members leads to one made of members",
            "no bad configuration is made of members",
        ],
        covers: true,
    }
}

fn relative(relative: &Relative) -> Explained {
    let seen = views(&relative.views);
    let mut words = vec![
        seen.words[0].clone(),
        format!(
            "{} a number to every shared state, and one that is not negative to every local state. No step that these views \
             allow makes the sum larger; so a configuration with a larger sum than all initial ones is never reached.",
            if relative.vectors.len() == 1 {
                "A vector gives".into()
            } else {
                format!("{} vectors each give", relative.vectors.len())
            }
        ),
    ];
    if relative.basis.is_empty() {
        words.push("Every bad configuration is excluded by the views or by a vector.".into());
        let obligations = [
            "every view of an initial configuration is a member, and steps lead to members",
            "no possible step makes a vector's sum larger",
            "no bad configuration is made of members and has at most the sums of an initial one",
        ];
        let kind = "linear invariants over views";
        return Explained { kind, words, obligations, ..seen };
    }
    words.push(
        "The members are the smallest configurations, among those that views and vectors do not exclude, from which a bad \
         one could be reached. No initial configuration is above one of them."
            .into(),
    );
    Explained {
        kind: "backward basis relative to invariants",
        size: relative.basis.len(),
        member: "minimal configuration",
        words,
        obligations: [
            "the views are closed under steps, and no possible step makes a vector's sum larger",
            "every bad configuration, and every predecessor of one above a member, is above a member or excluded",
            "no initial configuration is above a member",
        ],
        covers: false,
    }
}

fn refutation(refutation: &Refutation) -> Explained {
    let mut words = vec![
        "The members are the cases of the target: in each, some comparisons of numbers of tokens hold. A case is either \
         split into further cases, or contradicts the state equation: it comes with weights for places such that no transition increases the weighted number of tokens, but \
         where the comparisons hold that number is larger than at the start."
            .to_string(),
    ];
    if !refutation.traps.is_empty() {
        words.push(format!(
            "This also uses {}: sets of places that have a token at the start, and never lose the last one.",
            plural(refutation.traps.len() as u64, "trap")
        ));
    }
    Explained {
        kind: "refutation",
        size: refutation.cases.len(),
        member: "case",
        words,
        obligations: [
            "the cases cover the target",
            "no transition increases a weighted number, or empties a trap",
            "the comparisons of a case require a larger number than there is at the start",
        ],
        covers: false,
    }
}

const CLOSED: [&str; 3] = [
    "every initial configuration is a member",
    "every step from a member leads to a member",
    "no member is bad",
];

const REDUCED: [&str; 3] = [
    "every initial configuration is a member",
    "every step that the reduction requires leads from a member to a member",
    "no member is bad",
];

const REDUCTION: &str = "Where one thread's next step commutes with all steps of the others, only that thread's steps are followed \
                         (partial-order reduction): their order does not affect the verdict.";

fn closed(size: usize, reduced: bool) -> Explained {
    let mut words = vec![
        "The members are configurations: a shared state and a count of threads for each local state. All initial ones are \
         members, and no step leads out of the set, so no execution ever leaves it. No member is bad."
            .to_string(),
    ];
    if reduced {
        words.push(REDUCTION.into());
    }
    Explained {
        kind: if reduced { "closed set (partial orders)" } else { "closed set" },
        size,
        member: "configuration",
        words,
        obligations: if reduced { REDUCED } else { CLOSED },
        covers: !reduced,
    }
}

fn products(products: &Products) -> Explained {
    let mut words = vec![
        "Each member is a product of sets: every choice of a shared state from one set, and of a number of local states from others, \
         is a configuration of it. All initial configurations are in some member, no step leads out of all of them, \
         and none contains a bad configuration."
            .to_string(),
    ];
    if products.reduced {
        words.push(REDUCTION.into());
    }
    Explained {
        kind: if products.reduced { "products of sets (partial orders)" } else { "products of sets" },
        size: products.members.len(),
        member: "product",
        words,
        obligations: if products.reduced { REDUCED } else { CLOSED },
        covers: !products.reduced,
    }
}

/// Returns the evidence for a verdict on one line, for tables: `set of views, 3708 views`.
pub fn line(report: &Outcome, target: usize) -> String {
    match &report.shown().verdicts[target] {
        Verdict::Safe(certificate) => {
            let Explained { kind, size, member, .. } = explain(certificate);
            format!("{kind}: {}", plural(size as u64, member))
        }
        Verdict::Unsafe(trace) => {
            let mut summary = format!("run: {}", plural(trace.steps.len() as u64, "step"));
            if !report.shown().has_fewest(&report.problem, target) {
                summary.push_str(&format!(", perhaps with more {}s than needed", report.unit()));
            }
            summary
        }
        Verdict::Unknown(_) => "none".into(),
    }
}
