//! One thread of a module, executed as a goto program.

use std::sync::Arc;

use throng_goto::Question;
use throng_goto::program::{Program, Start};
use throng_goto::step::{After, Memory, initial_memory, start, step};
use throng_lang::source::Source;

/// How an execution ended.
pub enum Ended {
    /// With these values in the variable that was asked for.
    Values(Vec<u64>),
    /// It was not read, or not executed to its end, and why.
    Refused(String),
}

/// Executes a function and returns the numbers of eight bytes in a variable.
pub fn execute(module: &str, entry: &str, variable: &str) -> Ended {
    let mut question = Question::default();
    question.entries = vec![entry.into()];
    let loaded = match throng_llvm::read(vec![Source::new("m.ll", module)], &question) {
        Ok(loaded) => loaded,
        Err(rejected) => {
            let why = rejected.diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>();
            return Ended::Refused(why.join("; "));
        }
    };
    let program = &*loaded.query.program;
    match end(program) {
        Ok(memory) => Ended::Values(values(program, &memory, variable)),
        Err(why) => Ended::Refused(why),
    }
}

fn end(program: &Program) -> Result<Arc<Memory>, String> {
    let Start::Any(templates) = &program.start else { return Err("it starts otherwise".into()) };
    let mut memory = Arc::new(initial_memory(program));
    let mut thread = Some(start(program, templates[0], &[], 0));
    for _ in 0..4_000_000 {
        let Some(running) = &thread else { return Ok(memory) };
        let mut steps = step(program, &memory, running);
        let at = program.origin_at(running.point()).line;
        if steps.outcomes.len() != 1 || steps.missing.is_some() {
            return Err(format!("line {at}: {} ways; {:?}", steps.outcomes.len(), steps.missing));
        }
        let outcome = steps.outcomes.remove(0);
        match outcome.after {
            After::Runs(after) => memory = after,
            After::Failed(what, why) => return Err(format!("line {at}: {what:?}: {why}")),
            After::Halted => return Err("it halts".into()),
        }
        thread = outcome.thread;
    }
    Err("it does not end".into())
}

fn values(program: &Program, memory: &Memory, variable: &str) -> Vec<u64> {
    let object = program.objects.iter().find(|o| o.name == variable).expect("the variable");
    let bytes = memory.fixed.range(object.base..object.base + object.init.len()).expect("its bytes");
    let number = |b: &[u16]| b.iter().rev().fold(0u64, |v, &b| v << 8 | u64::from(b & 255));
    bytes.chunks(8).map(number).collect()
}
