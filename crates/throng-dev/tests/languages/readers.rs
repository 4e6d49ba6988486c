//! Any bytes at all: a reader answers or says why not; it neither panics nor hangs.
//!
//! `fuzz/` looks deeper and for longer, with coverage to guide it. This is what every run of the tests can afford: mutations of the
//! examples, soups of words, and the nasty files that somebody thought of.

use throng_dev::harness::inputs;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use inputs::{examples, extension, pose};
use throng::engine::backward::Backward;
use throng::engine::{Engine, Silent};
use throng_check::certificate::write::{self as certificate, Origin, document};
use throng_dev::Rng;
use throng_dev::reader_contract::{Reader, probe_certificate, probe_command};
use throng_lang::load::{Format, Reading, read};
use throng_lang::question::Question;
use throng_lang::source::Source;
use throng_lang::system::System;
use throng_lang::write::{self, write};
use throng_model::limits::Limits;
use throng_model::unfold::unfold;

/// No text of a few megabytes may take longer, even on a busy machine and without optimisation.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs on a stack like the command's, which is made for nested input.
fn on_a_large_stack(work: impl FnOnce() + Send + 'static) {
    let worker = thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread");
    if let Err(panic) = worker.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Reads it in time.
#[track_caller]
fn probe(reader: Reader, bytes: &[u8], name: &str) -> bool {
    let start = Instant::now();
    let accepted = reader.probe(bytes);
    let took = start.elapsed();
    assert!(took < PATIENCE, "{reader:?} takes {took:?} for {name}");
    accepted
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
            assert!(probe(reader, &seed, "an example"), "{reader:?}\n{}", String::from_utf8_lossy(&seed));
            for round in 0..60 {
                let mut bytes = seed.clone();
                mutate(&mut bytes, &words, 4, &mut rng);
                // Now and then somebody else's file.
                let reader =
                    if round % 10 == 9 { Reader::ALL[below(&mut rng, Reader::ALL.len())] } else { reader };
                match probe(reader, &bytes, "a mutated example") {
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

/// A small input and a certificate of it, which is valid; then what is left of both after a few changes.
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
            probe(Reader::ALL[round % Reader::ALL.len()], &soup, "a soup");
        }
    });
}

/// So many copies of `piece` that they make five megabytes.
fn heap(piece: &str) -> Vec<u8> {
    piece.repeat((5 << 20) / piece.len()).into_bytes()
}

/// So many copies of `piece` that they make a megabyte.
fn pile(piece: &str) -> Vec<u8> {
    piece.repeat((1 << 20) / piece.len()).into_bytes()
}

#[test]
fn nasty_files_are_refused_by_every_reader() {
    on_a_large_stack(|| {
        let mut rng = Rng::new(4);
        let junk: Vec<u8> = (0..1 << 20).map(|_| rng.bits() as u8).collect();
        let nasty: Vec<(&str, Vec<u8>)> = vec![
            ("nothing", Vec::new()),
            ("blanks", b" \n\t\r\n ".to_vec()),
            ("a byte-order mark", "\u{feff}".into()),
            ("junk", junk),
            ("zeros", vec![0; 1 << 20]),
            ("parentheses", heap("(")),
            ("braces", heap("{")),
            ("brackets", heap("[")),
            ("exclamation marks", heap("!")),
            ("ifs", heap("if * then ")),
            ("digits", heap("7")),
            ("elements", heap("<a>")),
            ("named elements", pile("<net><page>")),
            ("ends of elements", pile("</a>")),
            ("ampersands", pile("&")),
            ("quotes", pile("'")),
            ("dollars", pile("$")),
            ("stars", pile("* ")),
            ("minus signs", pile("-")),
            ("bars", pile("|")),
            ("commas", pile(",")),
            ("letters", pile("x")),
            ("euros", pile("€")),
            ("carriage returns and words", pile("x\r")),
            ("lines", pile("x\n")),
        ];
        for (name, bytes) in &nasty {
            for reader in Reader::ALL {
                // A property file of nothing but noise may be a file without properties.
                let accepted = probe(reader, bytes, name);
                assert!(!accepted, "{reader:?} accepts {name}");
            }
        }
    });
}

/// Deep, long, or large in a place where the grammar allows something.
#[test]
fn nasty_programs_are_read_or_refused_in_time() {
    on_a_large_stack(|| {
        let bp = Reader::Input(Format::Bp);
        let main = |body: &str| format!("decl x; void main() begin {body} end").into_bytes();
        let many = |piece: &str, n: usize| piece.repeat(n);
        let million = 1 << 20;
        let calls: String =
            (0..60).map(|i| format!("void f{i}() begin f{0}(); f{0}(); end\n", i + 1)).collect();
        let nasty: Vec<(&str, Vec<u8>)> = vec![
            ("deep parentheses", main(&format!("x := {}x{};", many("(", million), many(")", million)))),
            ("deep negation", main(&format!("x := {}x;", many("!", million)))),
            ("deep ifs", main(&format!("{} skip; {}", many("if * then ", million), many("fi; ", million)))),
            (
                "deep loops",
                main(&format!("{} skip; {}", many("while * do ", million), many("od; ", million))),
            ),
            ("deep sections", main(&format!("{} skip; {}", many("atomic { ", million), many("} ", million)))),
            ("deep starts", main(&format!("{} skip;", many("start_thread ", million)))),
            ("deep choices", main(&format!("x := {}x;", many("x ? x : ", million)))),
            ("many elsifs", main(&format!("if x then skip; {} fi;", many("elsif x then skip; ", 50_000)))),
            (
                "many labels",
                main(&format!("{} skip;", (0..50_000).map(|i| format!("l{i}: ")).collect::<String>())),
            ),
            ("a long conjunction", main(&format!("x := x{};", many(" & x", million)))),
            ("a long chain", main(&format!("x := x{};", many(" => x", million)))),
            ("a long comparison", main(&format!("x := x{};", many(" = x", million)))),
            ("many targets", main(&format!("goto {}l; l: skip;", many("l, ", 100_000)))),
            ("many statements", main(&many("x := !x; ", 50_000))),
            (
                "many calls",
                format!("{calls}void f60() begin skip; end void main() begin f0(); end").into_bytes(),
            ),
            (
                "calls in a circle",
                b"void f() begin g(); end void g() begin f(); end void main() begin f(); end".to_vec(),
            ),
            (
                "a wide function",
                b"bool<99999999999999999999> f() begin return 1; end void main() begin f(); end".to_vec(),
            ),
            (
                "a fairly wide function",
                b"bool<4000000000> f() begin return 1; end void main() begin f(); end".to_vec(),
            ),
            ("a large line number", main("// file a.c line 99999999999999999999 function f\n skip;")),
            ("a comment without end", main("/* ")),
            ("zeros in a comment", main("// \0 \0\n skip;")),
            ("zeros in a program", main("x := \0;")),
            ("lone carriage returns", main("\r x := 1;\r // a comment?\r x := 0;\r")),
        ];
        for (name, bytes) in &nasty {
            probe(bp, bytes, name);
        }
        let variables: Vec<String> = (0..100_000).map(|i| format!("v{i}")).collect();
        let text = format!("decl {}; void main() begin v0 := v99999; end", variables.join(", "));
        assert!(probe(bp, text.as_bytes(), "many variables"));
        assert!(probe(bp, "\u{feff}void main() begin skip; end".as_bytes(), "a byte-order mark"));
    });
}

#[test]
fn nasty_systems_are_read_or_refused_in_time() {
    on_a_large_stack(|| {
        let [tts, ntts, spec, pnml] =
            [Format::Tts, Format::Ntts, Format::Spec, Format::Pnml].map(Reader::Input);
        let huge = "99999999999999999999999999";
        let net = |inside: &str| format!("<pnml><net id='n' type='ptnet'>{inside}</net></pnml>");
        let refused: Vec<(Reader, String)> = vec![
            (tts, format!("{huge} 4\n0 0 -> 1 1\n")),
            (tts, format!("3 4\n0 0 -> {huge} 1\n")),
            (tts, "3 4\n0 0 -> 3 1\n".into()),
            (tts, "3 4\n0 4 -> 1 1\n".into()),
            (tts, "3 4\n0 0 -> 1 1 4 ~> 0\n".into()),
            (tts, "3 4\n3|0\n".into()),
            (tts, "-1 4\n".into()),
            (tts, "3\n".into()),
            (ntts, "shared a\nlocal b\na b -> a c\n".into()),
            (ntts, "shared a a\nlocal b\n".into()),
            (spec, format!("vars x rules x>={huge} -> x'=x+1; init x=0 target x>=1")),
            (spec, format!("vars x rules x>=1 -> x'=x+{huge}; init x=0 target x>=1")),
            (spec, format!("vars x rules x>=1 -> x'=x+1; init x={huge} target x>=1")),
            (spec, "vars x rules y>=1 -> x'=x+1; init x=0 target x>=1".into()),
            (
                pnml,
                net(&format!("<place id='p'><initialMarking><text>{huge}</text></initialMarking></place>")),
            ),
            (pnml, net("<arc id='a' source='p' target='q'/>")),
            (pnml, "<pnml><net id='n' type='ptnet'>".into()),
            // Two byte order marks, and a letter of three bytes where an error begins.
            (pnml, "\u{feff}\u{feff}\u{1792}n<".into()),
            (pnml, "<!DOCTYPE p [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]><pnml>&b;</pnml>".into()),
            (Reader::Prop, format!("{huge}|0\n")),
            (Reader::Prop, "3|0\n".into()),
            (Reader::Prop, "0|9\n".into()),
        ];
        for (reader, text) in refused {
            assert!(!probe(reader, text.as_bytes(), &text), "{reader:?} accepts {text}");
        }
        let any: Vec<(Reader, String)> = vec![
            (tts, "18446744073709551615 18446744073709551615\n0 0 -> 18446744073709551614 1\n".into()),
            (tts, format!("1 1\n0|{}\n", "0,".repeat(1 << 20) + "0")),
            (tts, "3 4\r0 0 -> 1 1\r1|1\r".into()),
            (ntts, "shared a\rlocal b\ra b -> a b\r".into()),
            (
                spec,
                "vars x rules x>=4294967295 -> x'=x+4294967295; init x=4294967295 target x>=4294967295"
                    .into(),
            ),
            (spec, format!("vars {} rules init target", "x ".repeat(1 << 20))),
            (spec, format!("vars x rules {} init x=0 target x>=1", "x>=1 -> x'=x+1; ".repeat(50_000))),
            (pnml, format!("{}{}", "<a>".repeat(1 << 20), "</a>".repeat(1 << 20))),
            (pnml, net(&"<page id='g'>".repeat(1 << 19))),
            (pnml, net(&format!("{}{}", "<page id='g'>".repeat(1 << 18), "</page>".repeat(1 << 18)))),
            (Reader::Mcc, format!("<property-set><property><formula>{}", "<negation>".repeat(1 << 19))),
            (
                Reader::Mcc,
                format!(
                    "<property-set><property><id>x</id><formula>{}<deadlock/>{}</formula></property></property-set>",
                    "<negation>".repeat(1 << 18),
                    "</negation>".repeat(1 << 18)
                ),
            ),
            (Reader::Prop, "0|0,".repeat(1 << 20)),
        ];
        for (reader, text) in any {
            let name: String = text.chars().take(60).collect();
            probe(reader, text.as_bytes(), &name);
        }
    });
}
