//! Development: the rounds of the loop on a file.
#![allow(clippy::print_stdout)]
use std::time::Duration;
use throng_abstract::prove::{Ended, attempt, is_violation};
use throng_model::limits::Limits;

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let seconds: u64 = std::env::args().nth(2).and_then(|s| s.parse().ok()).unwrap_or(30);
    let loaded = match throng_c::load(path.as_ref(), &throng_c::Options::default()) {
        Ok(l) => l,
        Err(_) => return println!("REFUSED {path}"),
    };
    let began = std::time::Instant::now();
    let limits = Limits::none().timeout(Duration::from_secs(seconds));
    let done = attempt(&loaded.program, &limits, &mut |r| {
        if std::env::var("DUMP").is_ok() {
            println!("{}", r.program);
        }
        println!("  {} {:?} {} by {} {:?}: {}", r.number, r.predicates, r.said, r.engine, r.times, r.then);
    });
    let t = began.elapsed();
    match done {
        Ok((graph, Ended::Proved(p))) => println!(
            "SAFE {path} rounds {} predicates {} {} {t:?} {}",
            p.rounds,
            p.predicates.len(),
            p.engine,
            if graph.trusts { "trusting" } else { "" }
        ),
        Ok((graph, Ended::Found(m, _))) => {
            println!("RUN {path} {} {t:?}", if is_violation(&graph, &m) { "violation" } else { "undefined" })
        }
        Err(why) => println!("UNKNOWN {path} {why} {t:?}"),
    }
}
