//! No text of a few megabytes keeps a reader busy for long: it is read, or refused, in time.

use std::thread;
use std::time::{Duration, Instant};

use throng_dev::Rng;
use throng_dev::reader_contract::Reader;
use throng_lang::load::Format;

use crate::alone;

/// Long enough for a busy machine and code without optimisation.
const PATIENCE: Duration = Duration::from_secs(60);

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

/// So many copies of `piece` that they make two megabytes.
fn heap(piece: &str) -> Vec<u8> {
    piece.repeat((2 << 20) / piece.len()).into_bytes()
}

/// So many copies of `piece` that they make a megabyte.
fn pile(piece: &str) -> Vec<u8> {
    piece.repeat((1 << 20) / piece.len()).into_bytes()
}

#[test]
fn nasty_files_are_refused_by_every_reader() {
    let _alone = alone();
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
    let _alone = alone();
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
    let _alone = alone();
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
