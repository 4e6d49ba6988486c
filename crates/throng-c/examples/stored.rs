//! What a search of the real values of a C program stores: `cargo run --release -p throng-c
//! --example stored FILE.c [MOST]` searches breadth first for races, up to so many configurations.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::time::Instant;

use throng_c::{Options, load};
use throng_model::{Config, semantics};

fn main() {
    let mut given = std::env::args().skip(1);
    let Some(file) = given.next() else { return eprintln!("which file?") };
    let most: usize = given.next().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let mut options = Options::default();
    options.question.race = true;
    let Ok(loaded) = load(Path::new(&file), &options) else {
        return eprintln!("{file} is refused");
    };
    let fixed = loaded.query.program.shared_size();
    let model = loaded.query.model();
    let (shared, threads) = model.initial();
    let begin = Config::new(shared, threads.iter().copied().collect());
    let (mut seen, mut work) = (HashSet::from([begin.clone()]), VecDeque::from([begin]));
    let (begun, mut after) = (Instant::now(), Vec::new());
    while let Some(config) = work.pop_front().filter(|_| seen.len() < most) {
        // What is not known of a step is not of interest here.
        _ = semantics::successors(&*model, &config, Some(8), &mut after);
        work.extend(after.drain(..).map(|(_, next)| next).filter(|next| seen.insert(next.clone())));
    }
    let (time, stored) = (begun.elapsed().as_secs_f64(), model.stored());
    println!(
        "{file}: {fixed} bytes of variables; {} configurations in {time:.2} s, {} shared and {} local states, \
         {} bytes, {} for each configuration",
        seen.len(),
        stored.shared,
        stored.local,
        stored.bytes,
        stored.bytes / seen.len(),
    );
}
