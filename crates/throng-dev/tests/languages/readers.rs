//! Any bytes at all: a reader answers or says why not; it neither panics nor hangs.
//!
//! `fuzz/` looks deeper and for longer, with coverage to guide it. This is what every run of the
//! tests can afford: mutations of the examples and soups of words. Files that are made to be slow
//! to read are in `crates/throng-cli/tests/timing`.

use throng_dev::harness::inputs;

use std::fs;
use std::path::Path;
use std::thread;

use inputs::{examples, extension, pose};
use throng_check::certificate::write::{self as certificate, Origin, document};
use throng_dev::Rng;
use throng_dev::reader_contract::{Reader, probe_certificate, probe_command};
use throng_engine::backward::Backward;
use throng_engine::{Algorithm, Silent};
use throng_lang::load::{Format, Reading, read};
use throng_lang::question::Question;
use throng_lang::source::Source;
use throng_lang::system::System;
use throng_lang::write::{self, write};
use throng_model::limits::Limits;
use throng_model::unfold::unfold;

/// Runs on a stack like the command's, which is made for nested input.
fn on_a_large_stack(work: impl FnOnce() + Send + 'static) {
    let worker = thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread");
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Properties of the net that the reader is tried with.
const PROPERTIES: &str = "<property-set><property><id>a</id><description>two tokens</description><formula><exists-path>\
    <finally><conjunction><integer-le><integer-constant>2</integer-constant><tokens-count><place>q</place></tokens-count>\
    </integer-le><negation><integer-le><tokens-count><place>p</place></tokens-count><integer-constant>0</integer-constant>\
    </integer-le></negation></conjunction></finally></exists-path></formula></property><property><id>b</id><formula>\
    <all-paths><globally><disjunction><negation><is-fireable><transition>u</transition></is-fireable></negation>\
    </disjunction></globally></all-paths></formula></property></property-set>";

/// Texts to start from, each with the reader it is for.
fn seeds() -> Vec<(Reader, Vec<u8>)> {
    let mut seeds = vec![(Reader::Mcc, PROPERTIES.into())];
    for path in examples() {
        let text = fs::read(&path).expect("readable");
        match extension(&path).parse() {
            Ok(format) => seeds.push((Reader::Input(format), text)),
            Err(_) => seeds.push((Reader::Prop, text)),
        }
        // No example is a PNML file: write those that can be.
        if extension(&path) != "prop"
            && let Ok(unfolded) = unfold(&pose(&path, None), &Limits::none())
            && let Ok(written) = write(&System::from(unfolded), write::Format::Pnml)
            && written.text.len() < 20_000
        {
            seeds.push((Reader::Input(Format::Pnml), written.text.into_bytes()));
        }
    }
    assert!(Reader::ALL.iter().all(|r| seeds.iter().any(|s| s.0 == *r)), "every reader has a seed");
    seeds
}

/// The words of all languages; the fuzzer uses the same list.
fn words() -> Vec<&'static [u8]> {
    let list = include_str!("../../../../fuzz/dictionaries/words");
    let word = |line: &'static str| match line.trim_matches('"') {
        r"\x00" => &b"\0"[..],
        r"\x0d" => &b"\r"[..],
        word => word.as_bytes(),
    };
    list.lines().filter(|l| l.starts_with('"')).map(word).collect()
}

fn below(rng: &mut Rng, n: usize) -> usize {
    rng.below(n as u64) as usize
}

/// A few random changes: bytes, words, pieces cut out, doubled or moved.
fn mutate(bytes: &mut Vec<u8>, words: &[&[u8]], most: u64, rng: &mut Rng) {
    for _ in 0..=rng.below(most) {
        let at = below(rng, bytes.len() + 1);
        let end = (at + 1 + below(rng, 12)).min(bytes.len());
        match rng.below(7) {
            0 => drop(bytes.drain(at..end)),
            1 | 2 => drop(bytes.splice(at..at, words[below(rng, words.len())].iter().copied())),
            3 => drop(bytes.splice(at..end, words[below(rng, words.len())].iter().copied())),
            4 if at < bytes.len() => bytes[at] = rng.bits() as u8,
            5 => {
                let piece = bytes[at..(at + below(rng, 60)).min(bytes.len())].to_vec();
                let to = below(rng, bytes.len() + 1);
                drop(bytes.splice(to..to, piece));
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
}

#[test]
fn mutated_examples_are_read_or_refused() {
    on_a_large_stack(|| {
        let (words, mut rng) = (words(), Rng::new(1));
        let (mut accepted, mut refused) = (0, 0);
        for (reader, seed) in seeds() {
            assert!(reader.probe(&seed), "{reader:?}\n{}", String::from_utf8_lossy(&seed));
            for round in 0..60 {
                let mut bytes = seed.clone();
                mutate(&mut bytes, &words, 4, &mut rng);
                // Now and then another file.
                let reader =
                    if round % 10 == 9 { Reader::ALL[below(&mut rng, Reader::ALL.len())] } else { reader };
                match reader.probe(&bytes) {
                    true => accepted += 1,
                    false => refused += 1,
                }
            }
        }
        assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
    });
}

#[test]
fn mutated_examples_are_answered_and_translated_or_refused() {
    on_a_large_stack(|| {
        let (words, mut rng) = (words(), Rng::new(2));
        let mut answered = 0;
        for (reader, seed) in seeds() {
            let Reader::Input(format) = reader else { continue };
            for _ in 0..20 {
                let mut bytes = seed.clone();
                mutate(&mut bytes, &words, 1, &mut rng);
                answered += u32::from(probe_command(&bytes, format));
            }
        }
        assert!(answered > 10, "{answered} answered");
    });
}

/// A small input and a certificate of it, which is valid; then what is left of both after a few
/// changes.
#[test]
fn mutated_certificates_are_accepted_or_refused() {
    on_a_large_stack(|| {
        let text = "vars a b\nrules\na >= 1 -> a' = a-1, b' = b+1;\ninit a = 1, b = 0\ntarget b >= 2\n";
        let loaded = read(Source::new("net", text), Format::Spec, &Reading::default());
        let loaded = loaded.unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let posed = Question::default().pose(&loaded, Path::new("")).expect("a target");
        let verdicts = Backward.run(&posed.problem, &Limits::none(), &Silent).verdicts;
        let origin = Origin { loaded: &loaded, reading: &Reading::default(), problem: &posed.problem };
        let mut bytes = format!("s{text}\n%%\n").into_bytes();
        certificate::write(&document(&origin, &verdicts).expect("evidence"), &mut bytes).expect("memory");
        assert!(probe_certificate(&bytes), "{}", String::from_utf8_lossy(&bytes));
        let mut rng = Rng::new(11);
        let (words, mut accepted) = (words(), 0);
        for _ in 0..2_000 {
            let mut changed = bytes.clone();
            mutate(&mut changed, &words, 3, &mut rng);
            accepted += u32::from(probe_certificate(&changed));
        }
        assert!(accepted > 0, "some changes do not matter");
    });
}

#[test]
fn soups_of_words_are_read_or_refused() {
    on_a_large_stack(|| {
        let (words, mut rng) = (words(), Rng::new(3));
        let heads = [
            "",
            "decl x; void main() begin ",
            "3 4\n",
            "shared a\nlocal b\n",
            "vars x rules ",
            "<pnml><net>",
        ];
        for round in 0..1_500 {
            let mut soup = heads[below(&mut rng, heads.len())].as_bytes().to_vec();
            for _ in 0..rng.below(40) {
                soup.extend_from_slice(words[below(&mut rng, words.len())]);
                soup.extend_from_slice([" ", " ", "\n", ""][below(&mut rng, 4)].as_bytes());
            }
            Reader::ALL[round % Reader::ALL.len()].probe(&soup);
        }
    });
}
