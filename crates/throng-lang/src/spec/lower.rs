//! The semantics of rules: a net as a table in which tokens are threads.
//!
//! Let every variable's tokens flow to one place at most (otherwise a rule would copy tokens, which
//! no step can do), and let `x' = … + c`. A step that takes t(y) tokens of each y, moves the other
//! tokens with the flow and puts c + Σ t(y), over the y that flow into x, on x has exactly the
//! effect of the rule; t are the tokens that the guards require. If that sum is negative, the
//! missing tokens are taken from the variables that flow into x: all choices have the same effect,
//! but each needs its own tokens, so there is a step for each.

use std::sync::Arc;

use super::Options;
use super::parse::{Condition, Conjunction, Net, Rule, Update};
use crate::source::{Diagnostic, Span};
use crate::system::{Findings, Kind, System};
use throng_model::predicate::Predicate;
use throng_model::problem::{Asks, Formula, Initial, Target};
use throng_model::table::{Fate, Names, Table};
use throng_model::{Bag, Bystanders, Config, Edge, Local, Shared, Step, UNCOUNTABLE};

/// Maximum number of steps for one rule, and of initial markings for `init`.
const MOST_CASES: usize = 1000;

/// The flow of tokens in a rule.
pub(super) struct Flow {
    /// Constants added: x, c.
    pub plus: Vec<(u32, i64)>,
    /// Variables whose tokens do not stay, and their destinations: `None` if they vanish. Sorted.
    pub moved: Vec<(u32, Option<u32>)>,
}

impl Flow {
    /// Reads the updates of a rule, or refuses those that no step can do.
    pub(super) fn of(
        net: &Net<'_>,
        rule: &Rule,
        warn: &mut dyn FnMut(Diagnostic),
    ) -> Result<Flow, Diagnostic> {
        let mut assigned: Vec<(u32, &Update)> = rule.updates.iter().map(|u| (u.var, u)).collect();
        assigned.sort_by_key(|a| (a.0, a.1.span));
        if let Some(twice) = assigned.windows(2).find(|w| w[0].0 == w[1].0) {
            let message = format!("`{}` is assigned twice in one rule", net.names[twice[1].0 as usize]);
            return Err(Diagnostic::error("E407", twice[1].1.span, message));
        }
        let update_of = |x: u32| assigned.binary_search_by_key(&x, |a| a.0).ok().map(|i| assigned[i].1);
        let mut flows: Vec<(u32, u32)> =
            rule.updates.iter().flat_map(|u| u.sum.iter().map(move |&y| (y, u.var))).collect();
        flows.sort_unstable();
        if let Some(twice) = flows.windows(2).find(|w| w[0].0 == w[1].0) {
            return Err(copied(net, rule, twice[0].0, twice[0].1, twice[1].1));
        }
        for &(y, x) in flows.iter().filter(|f| f.0 != f.1) {
            if update_of(y).is_none() {
                let name = net.names[y as usize];
                let span = update_of(x).map_or(rule.span, |u| u.span);
                warn(
                    Diagnostic::warning("W402", span, format!("`{name}` moves but is not emptied"))
                        .label(format!("taken as if `{name}'=0` were written"))
                        .hint("mist reads it like this, too"),
                );
            }
        }
        let mut moved: Vec<(u32, Option<u32>)> =
            flows.iter().filter(|f| f.0 != f.1).map(|&(y, x)| (y, Some(x))).collect();
        for u in &rule.updates {
            if flows.binary_search_by_key(&u.var, |f| f.0).is_ok() {
                continue;
            }
            moved.push((u.var, None));
            let empty = rule.condition(u.var).is_some_and(|c| c.high == Some(0));
            if !u.sum.is_empty() && !empty {
                let name = net.names[u.var as usize];
                let message = format!("`{name}` loses its tokens: the right side does not mention it");
                warn(
                    Diagnostic::warning("W403", u.span, message)
                        .hint(format!("mist keeps them, as if `{name}` were added on the right side")),
                );
            }
        }
        moved.sort_unstable();
        let plus = rule.updates.iter().filter(|u| u.plus != 0).map(|u| (u.var, u.plus)).collect();
        Ok(Flow { plus, moved })
    }

    /// Returns the destination of the tokens of `y`.
    fn destination(&self, y: u32) -> Option<u32> {
        self.moved.binary_search_by_key(&y, |m| m.0).map_or(Some(y), |i| self.moved[i].1)
    }
}

fn copied(net: &Net<'_>, rule: &Rule, y: u32, x: u32, z: u32) -> Diagnostic {
    let name = net.names[y as usize];
    let span = rule.updates.iter().find(|u| u.var == z).map_or(rule.span, |u| u.span);
    if x != z && (x == y || z == y) {
        return Diagnostic::error("E408", span, format!("`{name}` moves to another variable and is kept"))
            .label("its meaning is not clear")
            .hint(format!("add `{name}'=0`, perhaps with a constant"));
    }
    Diagnostic::error("E409", span, format!("the tokens of `{name}` go to two places"))
        .label("tokens can be moved, not copied")
}

/// Returns the system of a net.
pub(super) fn lower(
    net: &Net<'_>,
    complements: &[(u32, u32)],
    options: Options,
    findings: &mut Findings,
) -> Option<System> {
    let initial = initial(net, options, findings);
    let names: Vec<String> = net.names.iter().map(|n| n.to_string()).collect();
    let mut table = Table::of_source(Names::Numbers(1), Names::List(names), net.text, 80);
    for rule in &net.rules {
        if let Err(d) = add_rule(net, rule, &mut table, findings) {
            findings.push(d);
        }
        if findings.full() {
            return None;
        }
    }
    let one = initial.len() == 1 && initial.iter().all(|family| family.any.is_empty());
    let plain = table.steps().iter().all(|step| step.others == Bystanders::Stay);
    let targets = if one && plain && !options.goals {
        net.targets.iter().map(|conjunction| exact(net, conjunction)).collect()
    } else {
        let goals = net.targets.iter().filter(|t| t.conditions.iter().any(|c| c.high.is_some())).count();
        table.add_locals(fresh(&net.names, goals));
        targets(net, &mut table, findings)
    };
    let initial_text = collapsed(&net.text[net.init.span.range()]);
    let free = options.init_free && net.init.conditions.len() < net.names.len();
    Some(System {
        table: Arc::new(table),
        initial,
        initial_text: if free { format!("{initial_text}, others any number") } else { initial_text },
        targets,
        kind: Kind::Spec,
        complements: complements.iter().map(|&(x, not_x)| (local(x), local(not_x))).collect(),
        meanings: Vec::new(),
    })
}

/// Returns names `goal`, `goal1`, … that are not taken.
fn fresh(taken: &[&str], count: usize) -> Vec<String> {
    if count == 0 {
        return Vec::new();
    }
    let taken: rustc_hash::FxHashSet<&str> = taken.iter().copied().collect();
    let names = std::iter::once("goal".to_string()).chain((1..).map(|i| format!("goal{i}")));
    names.filter(|n| !taken.contains(n.as_str())).take(count).collect()
}

/// Collapses whitespace into single blanks, and cuts long texts.
fn collapsed(text: &str) -> String {
    let mut words = String::new();
    for line in text.lines() {
        for word in line.split('#').next().unwrap_or_default().split_whitespace() {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
        if words.len() > 200 {
            words.truncate(words.floor_char_boundary(200));
            words.push('…');
            break;
        }
    }
    words
}

fn step(take: Bag, put: Bag) -> Step {
    Step {
        from: Shared(0),
        to: Shared(0),
        take,
        put,
        spawn: Bag::new(),
        others: Bystanders::Stay,
        edge: Edge(0),
        choice: 0,
    }
}

/// Variables, their numbers of tokens, and whether there must be exactly that many.
type Case = Vec<(u32, u32, bool)>;

/// Returns every way to fix the variables with an upper bound.
fn cases(conditions: &[Condition], span: Span) -> Result<Vec<Case>, Diagnostic> {
    let width = |c: &Condition| match c.high {
        Some(high) => (u64::from(high) + 1).saturating_sub(u64::from(c.low)),
        None => 1,
    };
    let total = conditions.iter().fold(1u64, |product, c| product.saturating_mul(width(c)));
    if total > MOST_CASES as u64 {
        return Err(Diagnostic::error("E410", span, format!("these intervals stand for {total} cases"))
            .label(format!("expected at most {MOST_CASES}")));
    }
    let mut found = vec![Vec::with_capacity(conditions.len())];
    if total == 0 {
        return Ok(Vec::new());
    }
    for c in conditions {
        let values = c.low..=c.high.unwrap_or(c.low);
        if values.start() == values.end() {
            found.iter_mut().for_each(|case: &mut Vec<_>| case.push((c.var, c.low, c.high.is_some())));
            continue;
        }
        let extended = found.iter().flat_map(|case| {
            values.clone().map(move |n| case.iter().copied().chain([(c.var, n, true)]).collect())
        });
        found = extended.collect();
    }
    Ok(found)
}

fn add_rule(
    net: &Net<'_>,
    rule: &Rule,
    table: &mut Table,
    findings: &mut Findings,
) -> Result<(), Diagnostic> {
    let flow = Flow::of(net, rule, &mut |d| findings.push(d))?;
    let mut fires = false;
    let mut warned = false;
    for case in cases(&rule.guard, rule.span)? {
        let mut taken: Vec<(u32, u32)> = case.iter().map(|&(x, n, _)| (x, n)).collect();
        let exact: Vec<u32> = case.iter().filter(|c| c.2).map(|c| c.0).collect();
        let is_exact = |y: u32| exact.binary_search(&y).is_ok();
        let mut choices = vec![Vec::new()];
        for (update, missing) in shortages(rule, &taken) {
            let free: Vec<u32> = update.sum.iter().copied().filter(|&y| !is_exact(y)).collect();
            if let ([y], false) = (&free[..], warned) {
                warned = true;
                raised(net, update, *y, &taken, missing, findings);
            }
            choices = combined(&choices, &compositions(&free, missing, rule.span)?, rule.span)?;
        }
        for choice in &choices {
            fires = true;
            let before = taken.len();
            taken.extend_from_slice(choice);
            add_step(net, rule, &flow, &taken, &exact, table);
            taken.truncate(before);
        }
    }
    if !fires {
        findings.push(Diagnostic::warning("W405", rule.span, "this rule can never fire").label("ignored"));
    }
    Ok(())
}

/// Returns the updates `x' = sum - c` for which the guards do not take enough tokens of the sum,
/// and how many are missing.
fn shortages<'r>(rule: &'r Rule, taken: &[(u32, u32)]) -> Vec<(&'r Update, u32)> {
    let taken_of = |y: &u32| tokens(taken, *y);
    let have = |u: &Update| u.sum.iter().map(|y| i64::from(taken_of(y))).sum::<i64>();
    let negative = rule.updates.iter().filter(|u| u.plus < 0);
    negative.map(|u| (u, -u.plus - have(u))).filter(|s| s.1 > 0).map(|s| (s.0, s.1 as u32)).collect()
}

/// Returns how many tokens of `y` are taken; the list is sorted.
fn tokens(taken: &[(u32, u32)], y: u32) -> u32 {
    taken.binary_search_by_key(&y, |t| t.0).map_or(0, |i| taken[i].1)
}

fn raised(
    net: &Net<'_>,
    update: &Update,
    y: u32,
    taken: &[(u32, u32)],
    missing: u32,
    findings: &mut Findings,
) {
    let name = net.names[y as usize];
    let message = format!("the guard does not ensure that enough tokens are on `{name}`");
    let needed = tokens(taken, y) + missing;
    findings.push(
        Diagnostic::warning("W401", update.span, message)
            .label(format!("the guard is raised to `{name}>={needed}`")),
    );
}

/// Returns every way to take `missing` tokens from `sources`.
fn compositions(sources: &[u32], missing: u32, span: Span) -> Result<Vec<Vec<(u32, u32)>>, Diagnostic> {
    let Some((&last, first)) = sources.split_last() else { return Ok(Vec::new()) };
    let mut partial: Vec<(Vec<(u32, u32)>, u32)> = vec![(Vec::new(), missing)];
    for &y in first {
        let mut next = Vec::new();
        for (chosen, left) in &partial {
            for n in 0..=*left {
                let mut more = chosen.clone();
                more.push((y, n));
                next.push((more, left - n));
                if next.len() > MOST_CASES {
                    return Err(too_many(span));
                }
            }
        }
        partial = next;
    }
    Ok(partial
        .into_iter()
        .map(|(mut chosen, left)| {
            chosen.push((last, left));
            chosen
        })
        .collect())
}

/// Returns every element of one list joined with every element of the other.
fn combined(
    a: &[Vec<(u32, u32)>],
    b: &[Vec<(u32, u32)>],
    span: Span,
) -> Result<Vec<Vec<(u32, u32)>>, Diagnostic> {
    if a.len().saturating_mul(b.len()) > MOST_CASES {
        return Err(too_many(span));
    }
    Ok(a.iter().flat_map(|x| b.iter().map(move |y| [&x[..], &y[..]].concat())).collect())
}

fn too_many(span: Span) -> Diagnostic {
    let message = format!("there are more than {MOST_CASES} ways to take the tokens that this rule removes");
    Diagnostic::error("E410", span, message).hint("a guard can say from which variable they are taken")
}

fn add_step(net: &Net<'_>, rule: &Rule, flow: &Flow, taken: &[(u32, u32)], exact: &[u32], table: &mut Table) {
    let take: Bag = taken.iter().map(|&(x, n)| (local(x), n)).collect();
    let mut put: Vec<(u32, i64)> = flow.plus.clone();
    put.extend(taken.iter().filter_map(|&(y, n)| Some((flow.destination(y)?, i64::from(n)))));
    put.sort_unstable_by_key(|p| p.0);
    put.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 += later.1;
        }
        same
    });
    let put: Bag =
        put.iter().map(|&(x, n)| (local(x), u32::try_from(n.max(0)).unwrap_or(UNCOUNTABLE))).collect();
    let moved = flow.moved.iter().filter(|m| exact.binary_search(&m.0).is_err());
    let mut fates: Vec<(Local, Fate)> =
        moved.map(|&(y, to)| (local(y), to.map_or(Fate::Vanish, |x| Fate::To(local(x))))).collect();
    if take == put && fates.is_empty() {
        return; // nothing happens
    }
    fates.extend(exact.iter().map(|&x| (local(x), Fate::Block)));
    let (line, _) = net.lines.position(rule.span.start);
    table.add_at(step(take, put), fates, line, rule.span.start..rule.span.end);
}

fn local(x: u32) -> Local {
    Local(u64::from(x))
}

fn initial(net: &Net<'_>, options: Options, findings: &mut Findings) -> Vec<Initial> {
    let conditions = &net.init.conditions;
    let mut mentioned = vec![false; net.names.len()];
    conditions.iter().for_each(|c| mentioned[c.var as usize] = true);
    let missing: Vec<u32> = (0..net.names.len() as u32).filter(|&x| !mentioned[x as usize]).collect();
    if !missing.is_empty() && !options.init_free {
        let shown: Vec<&str> = missing.iter().take(10).map(|&x| net.names[x as usize]).collect();
        let more =
            if missing.len() > 10 { format!(" and {} more", missing.len() - 10) } else { String::new() };
        findings.push(
            Diagnostic::warning(
                "W404",
                net.init.span,
                format!("not in init, so empty: {}{more}", shown.join(" ")),
            )
            .hint(format!(
                "mist lets them hold any number of tokens; `{}` does so, too",
                options.vocabulary.init_free
            )),
        );
    }
    let mut any: Vec<Local> = conditions.iter().filter(|c| c.high.is_none()).map(|c| local(c.var)).collect();
    if options.init_free {
        any.extend(missing.iter().map(|&x| local(x)));
    }
    any.sort_unstable();
    let family = |case: Case| Initial {
        shared: Shared(0),
        threads: case.iter().map(|&(x, n, _)| (local(x), n)).collect(),
        any: any.clone(),
    };
    match cases(conditions, net.init.span) {
        Ok(cases) if cases.is_empty() => {
            findings.push(Diagnostic::error("E411", net.init.span, "there is no initial marking"));
            Vec::new()
        }
        Ok(cases) => cases.into_iter().map(family).collect(),
        Err(d) => {
            findings.push(d);
            Vec::new()
        }
    }
}

fn targets(net: &Net<'_>, table: &mut Table, findings: &mut Findings) -> Vec<Target> {
    let mut goal = net.names.len() as u32;
    let mut targets = Vec::new();
    for conjunction in &net.targets {
        let name = collapsed(&net.text[conjunction.span.range()]);
        let threads = if conjunction.conditions.iter().all(|c| c.high.is_none()) {
            conjunction.conditions.iter().map(|c| (local(c.var), c.low)).collect()
        } else {
            if let Err(d) = add_goal(net, conjunction, goal, table) {
                findings.push(d);
            }
            goal += 1;
            Bag::one(local(goal - 1))
        };
        targets.push(Target::covering(name, vec![Config::new(Shared(0), threads)]));
    }
    targets
}

/// Returns a target as it is written.
fn exact(net: &Net<'_>, conjunction: &Conjunction) -> Target {
    let name = collapsed(&net.text[conjunction.span.range()]);
    let conditions = &conjunction.conditions;
    let threads: Bag = conditions.iter().filter(|c| c.low > 0).map(|c| (local(c.var), c.low)).collect();
    let most = |c: &Condition| Some(Predicate::AtLeast(vec![(local(c.var), -1)], -i64::from(c.high?)));
    let when = Predicate::all(conditions.iter().filter_map(most).collect());
    let configs = vec![Config::new(Shared(0), threads)];
    match when == Predicate::TRUE {
        true => Target::covering(name, configs),
        false => Target::satisfying(name, configs, Formula { when, asks: Asks::Target }),
    }
}

/// Adds a rule that puts one token on `goal`, once, when the marking is exactly the target; nothing
/// else changes.
fn add_goal(net: &Net<'_>, target: &Conjunction, goal: u32, table: &mut Table) -> Result<(), Diagnostic> {
    for case in cases(&target.conditions, target.span)? {
        let take: Bag = case.iter().map(|&(x, n, _)| (local(x), n)).collect();
        let mut put = take.clone();
        put.insert(local(goal), 1);
        let exact = case.iter().filter(|c| c.2).map(|c| local(c.0));
        let fates = exact.chain([local(goal)]).map(|l| (l, Fate::Block)).collect();
        let (line, _) = net.lines.position(target.span.start);
        table.add_at(step(take, put), fates, line, target.span.start..target.span.end);
    }
    Ok(())
}
