//! C programs with one thing changed.

use super::super::mutate::Subject;
use super::replay::Saved;
use super::{CheckArgs, Console, Failure, Outcome, Read, files, parts, replay};
use crate::cli::{MutateArgs, OutputArgs};
use throng_c::mutants::{mutants, mutated};
use throng_lang::mutant::Mutant;
use throng_model::limits::Limits;

/// A C program that can be changed.
pub(in super::super) struct CProgram<'a> {
    args: &'a MutateArgs,
    check: CheckArgs,
    read: Read,
    console: Console,
    mutants: Vec<Mutant>,
}

impl<'a> CProgram<'a> {
    pub(in super::super) fn open(args: &'a MutateArgs, console: &Console) -> Result<CProgram<'a>, Failure> {
        let read = super::read(&args.input, &args.question, &args.more)?;
        super::remark(&read, console);
        if let Some(folder) = &args.replay {
            std::fs::create_dir_all(folder)
                .map_err(|why| Failure::Other(format!("{}: {why}", folder.display())))?;
        }
        let mutants = mutants(&read.loaded);
        let console = Console::new(OutputArgs { quiet: true, ..console.output });
        let check = CheckArgs::plain(args.input.clone(), args.question.clone(), args.search.clone());
        Ok(CProgram { args, check, read, console, mutants })
    }
}

impl Subject for CProgram<'_> {
    fn mutants(&self) -> &[Mutant] {
        &self.mutants
    }

    fn check(&self, mutant: Option<usize>, limits: &Limits) -> Result<(Outcome, Option<String>), Failure> {
        let loaded = match mutant {
            None => self.read.loaded.clone(),
            Some(n) => mutated(&self.read.loaded, &self.mutants[n])?,
        };
        let model = loaded.query.model();
        let mut problem = loaded.query.problem_of(model.clone());
        problem.bound = self.read.problem.bound;
        let read = Read { loaded, model, problem };
        let parts = parts::answer(&self.check, read, &self.console, limits)?;
        let outcome = parts::merge(&parts);
        let shown = parts.iter().find(|p| p.outcome.is_unsafe()).unwrap_or(&parts[0]);
        let replayed = match (&self.args.replay, mutant) {
            (Some(folder), Some(n)) if outcome.is_unsafe() => {
                let path = folder.join(format!("{}.c", n + 1));
                files::claim([(&path, files::Kind::Own)], true)?;
                Some(match replay::save(&path, &shown.read.loaded, &shown.read.model, &shown.outcome)? {
                    Saved::NoRun => "there is no run".into(),
                    Saved::Refused(why) => format!("none was written: {why}"),
                    Saved::Written(_) if !self.args.replay_run => path.display().to_string(),
                    Saved::Written(ends) => replay::run_it(&path, ends),
                })
            }
            _ => None,
        };
        Ok((outcome, replayed))
    }
}
