//! What is written by hand for programs against the engines: the same verdicts.

use std::sync::Arc;

use throng_dev::Rng;
use throng_dev::by_hand::{ByHand, explicit, karp_miller};
use throng_dev::programs::{self, Knobs};
use throng_engine::explicit::Explicit;
use throng_engine::karp_miller::KarpMiller;
use throng_engine::{Algorithm, Silent};
use throng_lang::bp;
use throng_model::limits::Limits;
use throng_model::problem::{Bound, Problem};
use throng_model::verdict::Verdict;

#[test]
fn random_programs_agree() {
    let (mut violated, mut closed, limits) = (0, 0, Limits::none());
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let knobs =
            Knobs { spawn: false, wake: false, passive: false, blocking: false, ..Knobs::random(&mut rng) };
        let text = programs::program(&mut rng, &knobs);
        let jit = Arc::new(bp::read(&text, &bp::Options::default()).0.expect("a program"));
        let by_hand = ByHand::new(&jit).expect("a plain program");
        let initial = vec![jit.initial(None)];
        let targets: Vec<_> = jit.assertions().into_iter().collect();
        let problem = Problem {
            model: jit.clone(),
            initial,
            initial_text: String::new(),
            targets,
            bound: Bound::Threads(2),
        };
        let Some(counts) = explicit(&by_hand, 2, true, 50_000) else { continue };
        let engine = Explicit { por: false, ..Explicit::default() };
        let answer = engine.run(&problem, &limits, &Silent);
        let is_unsafe = answer.verdicts.iter().any(|v| matches!(v, Verdict::Unsafe(_)));
        assert_eq!(counts.violated, is_unsafe, "{seed}\n{text}");
        closed += usize::from(!is_unsafe);
        let problem = Problem { bound: Bound::Any, ..problem };
        let Some(all) = karp_miller(&by_hand, 20_000) else { continue };
        let verdicts = KarpMiller::default().run(&problem, &limits, &Silent).verdicts;
        let is_unsafe = verdicts.iter().any(|v| matches!(v, Verdict::Unsafe(_)));
        assert_eq!(all.violated, is_unsafe, "{seed}\n{text}");
        violated += usize::from(is_unsafe);
        assert!(!counts.violated || all.violated, "{seed}");
    }
    assert!(violated > 20 && closed > 20, "{violated} {closed}");
}
