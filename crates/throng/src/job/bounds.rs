//! The largest value of a sum: not one target but a search over them. A run shows that a value is
//! reached, a proof that the next one is not.

use throng_model::Config;
use throng_model::limits::Limits;
use throng_model::predicate::{Predicate, Sum, value};
use throng_model::problem::{Asks, Bound, Formula, Problem, Target};
use throng_model::verdict::{Trace, Unknown, Verdict};

use crate::error::Error;
use throng_check::Checked;
use throng_check::rules::check;
use throng_engine::reachability::largest_allowed;
use throng_engine::{Answer, Statistics};

/// A sum whose largest value is asked for.
struct Asked {
    name: String,
    target: Target,
    sum: Sum,
    /// The largest value that is known to be reached, and how.
    reached: i64,
    run: Trace,
    /// No larger value is reached, as the state equation says; a hint only.
    most: Option<i64>,
    /// What is known about the next value.
    next: Verdict,
    open: bool,
}

/// Pairs of configurations of runs that are not longer than this are compared.
const MOST_PAIRED: usize = 300;

/// Work for the first round of questions, in ticks; it grows when a round brings nothing new.
const FIRST_ROUND: u64 = 1 << 22;

/// Answers a problem that may ask for largest values, with `run` to answer one that does not. Gives
/// the problem that was answered in the end.
pub(super) fn answer(
    problem: &Problem,
    limits: &Limits,
    run: &mut dyn FnMut(&Problem, &Limits) -> Result<Answer, Error>,
) -> Result<(Problem, Answer), Error> {
    let (mut asked, others): (Vec<Asked>, Vec<Target>) = split(problem);
    if asked.is_empty() {
        let answer = run(problem, limits)?;
        return Ok((problem.clone(), answer));
    }
    let mut answer = Answer::new(Vec::new(), Statistics::default());
    // One for each problem that was answered.
    let mut checked = Vec::new();
    if !others.is_empty() {
        answer = run(&Problem { targets: others.clone(), ..problem.clone() }, limits)?;
        checked.push(answer.checked);
    }
    let mut work = FIRST_ROUND;
    for round in 0.. {
        // Most sums have their largest value at the start or after a few steps; what is possible is
        // not asked for before.
        if round == 2 {
            for (one, most) in asked.iter_mut().zip(largest_allowed(problem, limits)) {
                one.most = most;
            }
        }
        let (mut targets, mut asks): (Vec<Target>, Vec<(usize, i64)>) = Default::default();
        for (i, one) in asked.iter().enumerate().filter(|(_, one)| one.open) {
            for least in one.candidates() {
                targets.push(one.at_least(least));
                asks.push((i, least));
            }
        }
        if targets.is_empty() || limits.check().is_err() {
            break;
        }
        let mut found = run(&Problem { targets, ..problem.clone() }, &limits.part().work(work))?;
        let before: Vec<i64> = asked.iter().map(|one| one.reached).collect();
        for ((i, least), verdict) in asks.into_iter().zip(found.verdicts) {
            asked[i].learn(least, verdict);
        }
        if is_monotone(problem) {
            asked.iter_mut().for_each(Asked::notice_growth);
        }
        asked.iter_mut().for_each(Asked::close);
        if asked.iter().zip(before).all(|(one, before)| one.reached == before) {
            work = work.saturating_mul(4);
        }
        answer.checking += found.checking;
        checked.push(found.checked);
        answer.statistics.configurations =
            answer.statistics.configurations.max(found.statistics.configurations);
        answer.statistics.steps += found.statistics.steps;
        answer.attempts.append(&mut found.attempts);
    }
    let mut targets = others;
    for one in asked {
        let (reached, name) = (one.reached, one.name.clone());
        let next = match (&one.next, limits.check()) {
            (Verdict::Unknown(Unknown::Work), Err(why)) => Verdict::Unknown(why),
            (next, _) => next.clone(),
        };
        let mut add = |target: Target, verdict: Verdict| {
            targets.push(target);
            answer.verdicts.push(verdict);
            answer.by.push(None);
            answer.fewest.push(false);
        };
        add(one.with(name.clone(), reached + 1, Asks::AtMost(reached)), next);
        if reached > 0 {
            let shown = one.with(format!("{name} reaches {reached}"), reached, Asks::Reaches(reached));
            let at_once = one.run.steps.is_empty();
            let run = Verdict::Unsafe(one.run);
            // No engine has found what is there at the start.
            if at_once {
                let flawed = |flaw| Error::Flawed(format!("the start does not show `{name}`: {flaw}"));
                checked.push(Some(check(problem, &shown, &run).map_err(flawed)?));
            }
            add(shown, run);
        }
    }
    answer.checked = Checked::all(checked);
    Ok((Problem { targets, ..problem.clone() }, answer))
}

/// Returns whether what some tokens can do, more can.
fn is_monotone(problem: &Problem) -> bool {
    problem.bound == Bound::Any
        && problem.model.traits().blocking.is_none()
        && problem.model.transfers().is_none()
}

fn split(problem: &Problem) -> (Vec<Asked>, Vec<Target>) {
    let (mut asked, mut others) = (Vec::new(), Vec::new());
    for target in &problem.targets {
        let sum = match target.asks() {
            Some(Asks::Largest(sum)) => sum.clone(),
            _ => {
                others.push(target.clone());
                continue;
            }
        };
        let start = problem.initial.first().map(|family| Config::new(family.shared, family.threads.clone()));
        let Some(start) = start else { continue };
        asked.push(Asked {
            name: target.name.clone(),
            target: target.clone(),
            reached: i64::try_from(value(&sum, &start.threads)).unwrap_or(i64::MAX - 1),
            sum,
            run: Trace { start, steps: Vec::new() },
            most: None,
            next: Verdict::Unknown(Unknown::Work),
            open: true,
        });
    }
    (asked, others)
}

impl Asked {
    /// Values to ask for next: the next one; if more may be possible, also some larger ones.
    fn candidates(&self) -> Vec<i64> {
        let next = self.reached + 1;
        let mut all = vec![next];
        match self.most {
            Some(most) if most > next => {
                all.extend([(next + most) / 2, most]);
            }
            _ => {}
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    fn with(&self, name: String, least: i64, asks: Asks) -> Target {
        let decided = || Predicate::AtLeast(self.sum.clone(), least);
        let when = Predicate::at_least(self.sum.clone(), least).unwrap_or_else(decided);
        Target::satisfying(name, self.target.configs.clone(), Formula { when, asks })
    }

    fn at_least(&self, least: i64) -> Target {
        self.with(format!("{} >= {least}", self.name), least, Asks::Target)
    }

    /// What an answer about a value says.
    fn learn(&mut self, least: i64, verdict: Verdict) {
        match verdict {
            Verdict::Unsafe(run) => {
                let found = i64::try_from(value(&self.sum, &run.end().threads)).unwrap_or(least);
                if found > self.reached {
                    self.reached = found;
                    self.run = run;
                    // What is known about a smaller next value says nothing any more.
                    self.next = Verdict::Unknown(Unknown::Work);
                }
            }
            Verdict::Safe(_) if least == self.reached + 1 => self.next = verdict,
            Verdict::Safe(_) => self.most = Some(self.most.map_or(least - 1, |most| most.min(least - 1))),
            Verdict::Unknown(_) if least == self.reached + 1 => self.next = verdict,
            Verdict::Unknown(_) => {}
        }
    }

    /// If a part of the run leads from one configuration to another that has everything the first
    /// one had, and a larger sum, then it can be repeated, and the sum has no largest value.
    fn notice_growth(&mut self) {
        let configs: Vec<&Config> =
            std::iter::once(&self.run.start).chain(self.run.steps.iter().map(|taken| &taken.after)).collect();
        let sum = |config: &Config| value(&self.sum, &config.threads);
        let grows = |from: &Config, to: &Config| {
            from.shared == to.shared && to.threads.covers(&from.threads) && sum(to) > sum(from)
        };
        // In a long run, only what leads to its end is looked at.
        let ends = configs.len().saturating_sub(if configs.len() <= MOST_PAIRED { configs.len() } else { 1 });
        let repeats = |(j, to): (usize, &&Config)| configs[..j].iter().any(|from| grows(from, to));
        if configs.iter().enumerate().skip(ends).any(repeats) {
            let why = "it has no largest value: a part of the run that reaches this one can be repeated";
            self.next = Verdict::Unknown(Unknown::Inconclusive(why.into()));
        }
    }

    /// Nothing more is asked if the answer is known, or more work does not help.
    fn close(&mut self) {
        self.open = matches!(self.next, Verdict::Unknown(Unknown::Work));
    }
}
