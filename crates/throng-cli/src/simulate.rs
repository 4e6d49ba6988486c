//! Walking through executions, at random or by hand.
//!
//! A [`Walk`] is a run that grows step by step and can be taken back. It fires steps through
//! [`semantics::successors`] as engines do; this module adds choosing and showing. It talks to a
//! reader and a writer it is given, so that tests can play both.

use std::io::{self, BufRead, Write};

use throng::report::story::{self, Event, Situation};
use throng::report::text;
use throng_model::problem::{Bound, Initial, Problem};
use throng_model::random::Random;
use throng_model::thread_names::{ThreadId, ThreadNames};
use throng_model::verdict::{Taken, Unknown};
use throng_model::{Config, Local, Step, semantics};

/// An event that is possible, the threads that take part, and the names of their states.
pub type Possible<'a> = (Event, Vec<ThreadId>, Vec<&'a str>);

/// A run so far.
pub struct Walk<'a> {
    problem: &'a Problem,
    moments: Vec<Moment>,
}

/// A configuration on the way, and the names of its threads.
#[derive(Clone)]
struct Moment {
    config: Config,
    names: Option<ThreadNames>,
}

/// A step that is possible now: the threads that would act, the step, and where it leads.
struct Choice {
    actors: Vec<ThreadId>,
    taken: Taken,
    event: Event,
    next: Moment,
}

/// Threads to start with where the problem leaves their number open.
const DEFAULT_THREADS: u32 = 3;

/// An initial configuration, chosen at random: as many threads as the bound allows, or a few if
/// there is none.
///
/// Further threads are spread over the states where any number may start.
pub fn start(problem: &Problem, random: &mut Random) -> Option<Config> {
    let fits = |family: &&Initial| !matches!(problem.bound, Bound::Threads(n) if family.threads.size() > n);
    let families: Vec<&Initial> = problem.initial.iter().filter(fits).collect();
    if families.is_empty() {
        return None;
    }
    let Initial { shared, threads, any } = families[random.below(families.len())];
    let mut threads = threads.clone();
    let total = match problem.bound {
        Bound::Threads(n) => n,
        Bound::Any => DEFAULT_THREADS.max(threads.size().saturating_add(1)),
        Bound::Tokens(most) => {
            for &l in any {
                let room = most.saturating_sub(threads.count(l));
                threads.insert(l, random.below(room as usize + 1) as u32);
            }
            0
        }
    };
    if !any.is_empty() {
        const ONE_BY_ONE: u32 = 10_000;
        for _ in threads.size()..total.min(ONE_BY_ONE) {
            threads.insert(any[random.below(any.len())], 1);
        }
        threads.insert(any[0], total.saturating_sub(threads.size()));
    }
    Some(Config::new(*shared, threads))
}

impl<'a> Walk<'a> {
    /// A run that begins in `config`.
    pub fn new(problem: &'a Problem, config: Config) -> Walk<'a> {
        let names = ThreadNames::new(&config.threads);
        Walk { problem, moments: vec![Moment { config, names }] }
    }

    /// Returns the current configuration of the run.
    pub fn config(&self) -> &Config {
        &self.now().config
    }

    /// Returns the number of steps taken.
    pub fn len(&self) -> usize {
        self.moments.len() - 1
    }

    /// Returns whether no step was taken yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes `steps` random steps, or fewer if nothing can move, and writes each down.
    pub fn random(&mut self, steps: usize, random: &mut Random, out: &mut dyn Write) -> io::Result<()> {
        let start = self.situation();
        out.write_all(text::wrap("   start  ", &text::situation_text(&start), 10).as_bytes())?;
        self.mark(out)?;
        for _ in 0..steps {
            if !self.random_step(random, out)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Lets a person choose, line by line, until the input ends or they quit.
    pub fn interactive(
        &mut self,
        random: &mut Random,
        input: &mut dyn BufRead,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut show = true;
        loop {
            let choices = self.choices()?;
            if show {
                self.show(&choices, out)?;
            }
            write!(out, "{}> ", if choices.is_empty() { "b q ?" } else { "number, r b q ?" })?;
            out.flush()?;
            let mut line = String::new();
            if input.read_line(&mut line)? == 0 {
                return writeln!(out);
            }
            show = true;
            match line.trim() {
                "q" | "quit" => return Ok(()),
                "b" | "back" if self.is_empty() => {
                    writeln!(out, "this is the start")?;
                    show = false;
                }
                "b" | "back" => {
                    self.moments.pop();
                }
                "r" | "random" => show = self.random_step(random, out)?,
                "" => show = false,
                "?" | "h" | "help" => {
                    writeln!(out, "{HELP}")?;
                    show = false;
                }
                word => match word.parse::<usize>().ok().and_then(|n| choices.get(n.wrapping_sub(1))) {
                    Some(choice) => {
                        out.write_all(text::event(&choice.event, text::Options::default()).as_bytes())?;
                        self.moments.push(choice.next.clone());
                    }
                    None => {
                        writeln!(out, "`{word}` is not one of the choices; ? shows help")?;
                        show = false;
                    }
                },
            }
        }
    }

    /// Takes steps that are known to be possible, such as those of a run.
    pub fn follow(&mut self, steps: &[Taken]) {
        for taken in steps {
            let choice = self.choice(taken.step.clone(), taken.after.clone());
            self.moments.push(choice.next);
        }
    }

    /// Takes the step with this number among those that are possible.
    pub fn choose(&mut self, number: usize) -> Result<(), String> {
        let mut next = self.next().map_err(|why| why.to_string())?;
        if number >= next.len() {
            return Err(format!("after {} steps there are {} choices, not {number}", self.len(), next.len()));
        }
        let (step, after) = next.swap_remove(number);
        let choice = self.choice(step, after);
        self.moments.push(choice.next);
        Ok(())
    }

    /// Lists what can happen now: each step, the threads that would act, and the targets that are
    /// hit then.
    pub fn events(&self) -> Result<Vec<Possible<'_>>, String> {
        let choices = self.choices().map_err(|why| why.to_string())?;
        let judged = |c: Choice| {
            let hit = self.hit(&c.taken.after);
            (c.event, c.actors, hit)
        };
        Ok(choices.into_iter().map(judged).collect())
    }

    /// Lists what can happen now, and where it leads.
    pub fn steps(&self) -> Result<Vec<(Event, Config)>, String> {
        let choices = self.choices().map_err(|why| why.to_string())?;
        Ok(choices.into_iter().map(|choice| (choice.event, choice.taken.after)).collect())
    }

    /// The configuration in one line; threads have no names in it.
    pub fn name(&self) -> String {
        let (model, Config { shared, threads, .. }) = (&*self.problem.model, self.config());
        let counted = |&(l, count): &(Local, u32)| match count {
            1 => model.local_name(l),
            _ => format!("{count} × {}", model.local_name(l)),
        };
        let threads: Vec<String> = threads.entries().iter().map(counted).collect();
        let threads = if threads.is_empty() { "no thread".into() } else { threads.join(", ") };
        format!("{} | {threads}", model.shared_name(*shared))
    }

    /// Describes the shared variables and the position of each thread.
    pub fn situation(&self) -> Situation {
        story::situation(&*self.problem.model, self.config(), self.now().names.as_ref())
    }

    /// The targets that are hit now.
    pub fn violated(&self) -> Vec<&str> {
        self.hit(self.config())
    }

    fn hit(&self, config: &Config) -> Vec<&str> {
        let model = &*self.problem.model;
        let hit = self.problem.targets.iter().filter(|t| t.is_hit(config, model));
        hit.map(|t| t.name.as_str()).collect()
    }

    fn now(&self) -> &Moment {
        &self.moments[self.moments.len() - 1]
    }

    fn random_step(&mut self, random: &mut Random, out: &mut dyn Write) -> io::Result<bool> {
        let mut next = self.next()?;
        if next.is_empty() {
            writeln!(out, "{}", self.at_rest())?;
            return Ok(false);
        }
        let (step, after) = next.swap_remove(random.below(next.len()));
        let choice = self.choice(step, after);
        out.write_all(text::event(&choice.event, text::Options::default()).as_bytes())?;
        self.moments.push(choice.next);
        self.mark(out)?;
        Ok(true)
    }

    /// Returns the reason why no step is possible any more.
    fn at_rest(&self) -> &'static str {
        let model = &*self.problem.model;
        match self.config().threads.entries().iter().all(|e| model.has_ended(e.0)) {
            true => "all threads have ended",
            false => "no thread can move: a deadlock",
        }
    }

    fn choices(&self) -> io::Result<Vec<Choice>> {
        Ok(self.next()?.into_iter().map(|(step, after)| self.choice(step, after)).collect())
    }

    /// Every step that can be taken now, and where it leads.
    fn next(&self) -> io::Result<Vec<(Step, Config)>> {
        let mut next = Vec::new();
        let bound = self.problem.bound.threads();
        let listed = semantics::successors(&*self.problem.model, self.config(), bound, &mut next);
        let why = match listed.map_err(Unknown::from) {
            Ok(()) if next.iter().all(|(_, after)| after.threads.is_countable()) => return Ok(next),
            Ok(()) => Unknown::uncountable(),
            Err(why) => why,
        };
        Err(io::Error::other(format!("the walk ends here: {why}")))
    }

    fn choice(&self, step: Step, after: Config) -> Choice {
        let model = &*self.problem.model;
        let now = self.now();
        let mut names = now.names.clone();
        let actors = names.as_ref().map_or_else(Vec::new, |c| c.actors(&step));
        let bound = self.problem.bound.threads();
        let changes = names.as_mut().and_then(|c| c.step(model, &step, &after, bound));
        let names = names.filter(|_| changes.is_some());
        let taken = Taken { step, after };
        let event =
            story::event(model, self.len() + 1, now.config.shared, &taken, &changes.unwrap_or_default());
        let next = Moment { config: taken.after.clone(), names };
        Choice { actors, taken, event, next }
    }

    /// Writes down which targets are hit now.
    fn mark(&self, out: &mut dyn Write) -> io::Result<()> {
        for target in self.violated() {
            writeln!(out, "    !!    {target} is violated here")?;
        }
        Ok(())
    }

    fn show(&self, choices: &[Choice], out: &mut dyn Write) -> io::Result<()> {
        let now = self.situation();
        writeln!(out, "\nafter {}", throng::report::plural(self.len() as u64, "step"))?;
        if !now.shared.0.is_empty() {
            out.write_all(text::wrap("  shared  ", &text::values_text(&now.shared), 10).as_bytes())?;
        }
        for count in &now.counts {
            let names: Vec<String> = count.threads.iter().take(12).map(ToString::to_string).collect();
            let place = match &count.state.statement {
                Some(statement) => format!("{}: {statement}", count.state.name),
                None => count.state.name.clone(),
            };
            let line = format!("{place}  ({})", names.join(" "));
            let line = if names.is_empty() { place } else { line };
            out.write_all(text::wrap(&format!("{:>6} x  ", count.count), &line, 10).as_bytes())?;
        }
        self.mark(out)?;
        self.show_choices(choices, out)
    }

    fn show_choices(&self, choices: &[Choice], out: &mut dyn Write) -> io::Result<()> {
        if choices.is_empty() {
            return writeln!(out, "{}", self.at_rest());
        }
        let names = self.now().names.as_ref();
        let takes = choices.iter().flat_map(|c| c.taken.step.take.entries());
        let mut movers: Vec<ThreadId> =
            takes.flat_map(|e| names.into_iter().flat_map(|c| c.at(e.0))).collect();
        movers.sort_unstable();
        movers.dedup();
        let movers: Vec<String> = movers.iter().map(ToString::to_string).collect();
        out.write_all(text::wrap("can move  ", &movers.join(" "), 10).as_bytes())?;
        for (i, choice) in choices.iter().enumerate().take(MOST_SHOWN) {
            let who: Vec<String> = choice.actors.iter().map(ToString::to_string).collect();
            let event = &choice.event;
            let place = if event.line > 0 { format!("line {}: ", event.line) } else { String::new() };
            let mark = if self.hit(&choice.taken.after).is_empty() { "" } else { "  !!" };
            let line = format!("{} {place}{}{mark}", who.join("+"), event.statement);
            out.write_all(text::wrap(&format!("{:>6})  ", i + 1), &line, 12).as_bytes())?;
            for effect in text::effects(event) {
                out.write_all(text::wrap("            ", &effect, 14).as_bytes())?;
            }
        }
        if choices.len() > MOST_SHOWN {
            writeln!(out, "    and {} more", choices.len() - MOST_SHOWN)?;
        }
        Ok(())
    }
}

/// Broadcasts may have thousands of outcomes.
const MOST_SHOWN: usize = 200;

const HELP: &str = "\
a number  take that step
r         take a random step
b         go back one step
q         quit
!! marks where a target is violated";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use throng_model::problem::Target;
    use throng_model::table::{Names, Table, thread_step};
    use throng_model::{Bag, Local, Place, Shared};

    /// A lock that any thread may enter: two threads can be inside.
    fn problem() -> Problem {
        let mut table = Table::new(Names::Numbers(1), Names::List(vec!["out".into(), "in".into()]));
        let place = |line, text: &str| Place { line, text: text.into(), ..Place::default() };
        table.add(thread_step(0, 0, 0, 1), vec![], place(2, "out -> in"));
        table.add(thread_step(0, 1, 0, 0), vec![], place(3, "in -> out"));
        let both = Config::new(Shared(0), [(Local(1), 2)].into_iter().collect());
        Problem {
            model: Arc::new(table),
            initial: vec![Initial { shared: Shared(0), threads: Bag::new(), any: vec![Local(0)] }],
            initial_text: "any number of threads in out".into(),
            targets: vec![Target::covering("both", vec![both])],
            bound: Bound::Any,
        }
    }

    fn play(input: &str) -> String {
        let problem = Problem { bound: Bound::Threads(2), ..problem() };
        let mut random = Random::new(1);
        let start = start(&problem, &mut random).unwrap();
        let mut out = Vec::new();
        Walk::new(&problem, start).interactive(&mut random, &mut input.as_bytes(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_person_chooses_goes_back_and_sees_the_violation() {
        let shown = play("1\n1\nb\n?\n77\nq\n");
        for part in
            ["after 0 steps", "2 x  out (T1 T2)", "T1 line 2: out -> in", "T1: out -> in", "can move  T1"]
        {
            assert!(shown.contains(part), "{part} is missing in\n{shown}");
        }
        assert!(shown.contains("!!"));
        assert!(shown.contains("`77` is not one of the choices"));
        assert_eq!(shown.matches("after 1 step\n").count(), 2);
        assert!(play("b\n").contains("this is the start"));
    }

    #[test]
    fn the_same_seed_gives_the_same_walk() {
        let problem = problem();
        let run = |seed| {
            let mut random = Random::new(seed);
            let mut walk = Walk::new(&problem, start(&problem, &mut random).unwrap());
            let mut out = Vec::new();
            walk.random(20, &mut random, &mut out).unwrap();
            assert_eq!(walk.len(), 20);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
        assert!(run(7).contains("both is violated here"));
    }

    #[test]
    fn random_numbers_stay_below_their_limit() {
        let mut random = Random::new(0);
        assert!((1..200).all(|limit| random.below(limit) < limit));
    }
}
