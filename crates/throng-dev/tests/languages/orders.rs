//! Memory orders of Boolean programs: what the whole product says about random programs, against
//! the axioms; and the examples, each correct and with one order too weak.

use std::fs;
use std::path::Path;

use crate::generate::{self, Flavour};
use throng::{Engine, Format, Input, Job, Limits, Outcome};
use throng_memory::litmus::{Instruction, Litmus};
use throng_memory::search::Search;
use throng_model::random::Random;

/// A statement; the register is `r`.
fn statement(instruction: Instruction) -> String {
    use Instruction::*;
    match instruction {
        Load(x, o) => format!("r := x{x} @{o};"),
        Store(x, v, o) => format!("x{x} := {v} @{o};"),
        StoreRegister(x, o) => format!("x{x} := r @{o};"),
        Add(x, 0, o) => format!("r, x{x} := x{x}, x{x} @{o};"),
        Add(x, _, o) => format!("r, x{x} := x{x}, (x{x} = 2 ? 0 : x{x} + 1) @{o};"),
        Exchange(x, v, o) => format!("r, x{x} := x{x}, {v} @{o};"),
        Replace(x, a, b, o) => format!("r, x{x} := x{x}, {b} constrain x{x} = {a} @{o};"),
        CompareExchange(x, a, b, o, failing) => format!(
            "if * then r, x{x} := x{x}, {b} constrain x{x} = {a} @{o}; \
             else r := x{x} constrain x{x} != {a} @{failing}; fi;"
        ),
        Wait(x, v, o) => format!("r := x{x} constrain x{x} = {v} @{o};"),
        WaitNot(x, v, o) => format!("r := x{x} constrain x{x} != {v} @{o};"),
        Fence(o) => format!("fence({o});"),
        IfEqual(v) => format!("if r = {v} then"),
        IfUnequal(v) => format!("if r != {v} then"),
        AssertNot(v) => format!("assert(r != {v});"),
    }
}

/// The instructions of a thread: conditions hold for one instruction, which may be one again.
fn thread(code: &[Instruction]) -> String {
    let (mut text, mut open) = (String::new(), 0);
    for &instruction in code {
        text.push_str(&format!("    {}\n", statement(instruction)));
        match instruction {
            Instruction::IfEqual(_) | Instruction::IfUnequal(_) => open += 1,
            _ => {
                text.push_str(&"    fi;\n".repeat(open));
                open = 0;
            }
        }
    }
    if open > 0 {
        text.push_str(&format!("    skip;\n{}", "    fi;\n".repeat(open)));
    }
    text
}

/// The program, in which each thread takes one of the parts.
fn program(litmus: &Litmus) -> String {
    let mut text = String::from("//@ initial any\ndecl x0 : 0..2 := 0, x1 : 0..2 := 0, x2 : 0..2 := 0;\n");
    for part in 0..litmus.threads.len() {
        text.push_str(&format!("decl taken{part} := 0;\n"));
    }
    text.push_str("void main() begin\n  decl r : 0..2 := 0;\n");
    for (part, code) in litmus.threads.iter().enumerate() {
        let word = if part == 0 { "if" } else { "elsif" };
        text.push_str(&format!("  {word} * then\n    taken{part} := 1 constrain !taken{part};\n"));
        text.push_str(&thread(code));
    }
    text.push_str("  fi;\n  assert(r < 3);\nend\n");
    text
}

/// Conditions of conditions are not worth the trouble: the register's next value decides twice.
fn is_simple(litmus: &Litmus) -> bool {
    let condition = |i: &Instruction| matches!(i, Instruction::IfEqual(_) | Instruction::IfUnequal(_));
    litmus.threads.iter().all(|code| !code.windows(2).any(|pair| pair.iter().all(condition)))
}

fn check(text: &str) -> Outcome {
    let input = Input::from_text(text, Format::Bp).unwrap_or_else(|why| panic!("{text}\n{why}"));
    Job::new(&input).check(Engine::Auto, &Limits::none()).unwrap_or_else(|why| panic!("{text}\n{why}"))
}

#[test]
fn random_programs_are_safe_exactly_if_the_axioms_say_that_they_are_robust() {
    let mut random = Random::new(11);
    let (mut safe, mut other, mut alarms) = (0, 0, 0);
    for number in 0..40 {
        let flavour = Flavour::ALL[number % Flavour::ALL.len()];
        let litmus = match number % 2 {
            0 => generate::shape(&mut random, flavour),
            _ => generate::random(&mut random, flavour),
        };
        let robust = Search { graphs: 6000, ..Search::default() }.is_robust(&litmus);
        let Some(robust) = robust.filter(|_| is_simple(&litmus)) else { continue };
        let text = program(&litmus);
        let outcome = check(&text);
        assert!(robust || !outcome.is_safe(), "{litmus:?}\n{text}\n{outcome}");
        // Without an assertion that can fail, only a race is a violation.
        assert!(!(robust && outcome.is_unsafe()), "{litmus:?}\n{text}\n{outcome}");
        safe += usize::from(outcome.is_safe());
        other += usize::from(!robust);
        alarms += usize::from(robust && !outcome.is_safe());
    }
    assert!(safe > 6 && other > 6 && alarms < 4, "{safe} safe, {other} not robust, {alarms} alarms");
}

#[test]
fn examples_are_proved_and_with_one_order_too_weak_they_fail() {
    let folder = Path::new(throng_dev::ROOT).join("examples/memory");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "bp"));
    files.sort();
    assert_eq!(files.len(), 30);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let outcome = check(&text);
        let broken = file.to_string_lossy().ends_with("-broken.bp");
        assert_eq!(outcome.is_unsafe(), broken, "{}\n{outcome}", file.display());
        assert_eq!(outcome.is_safe(), !broken, "{}\n{outcome}", file.display());
        assert!(outcome.is_checked() && outcome.memory_model == Some(throng::MemoryModel::C11));
    }
}

/// What is said about a program with this body, whose `x` and `y` are shared.
fn said(body: &str) -> String {
    let text = format!("decl x := 0, y := 0;\nvoid main() begin decl r := 0;\n{body}\nend\n");
    match Input::from_text(&text, Format::Bp) {
        Ok(input) => Job::new(&input)
            .check(Engine::Auto, &Limits::none())
            .map_or_else(|why| why.to_string(), |outcome| outcome.to_string()),
        Err(why) => why.to_string(),
    }
}

#[test]
fn what_has_no_meaning_beside_memory_orders_is_refused() {
    for (body, code) in [
        ("x := 1 @strong;", "E130"),
        ("fence(relaxed);", "E130"),
        ("skip @release;", "E130"),
        ("x := y @relaxed;", "E229"),
        ("r := 1 @relaxed;", "E229"),
        ("x := !x @plain;", "E229"),
        ("x := 1 @release; assert(x);", "E230"),
        ("x := 1 @release; if x then skip; fi;", "E230"),
        ("x := 1 @release; if y then skip; fi;", "E231"),
        ("x := 1 @release; x := 0 @plain;", "E231"),
        ("atomic { x := 1 @release; }", "E231"),
        ("x := 1 @release; wait;", "E231"),
        ("x := 1 constrain 'x @release;", "E231"),
    ] {
        let said = said(body);
        assert!(said.contains(code), "{body}: {said}");
    }
}

#[test]
fn an_execution_says_what_was_read_and_which_orders_are_too_weak() {
    let fine = said("x := 1 @release; r := x @acquire; y := r;");
    assert!(fine.starts_with("SAFE") && fine.contains("the memory model of C11"), "{fine}");
    let folder = Path::new(throng_dev::ROOT).join("examples/memory");
    let text = fs::read_to_string(folder.join("store-buffering-broken.bp")).unwrap();
    let said = check(&text).to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("reads x=0 from the start (line 17), although"), "{said}");
    assert!(said.contains("line 16 needs seq_cst"), "{said}");
}
