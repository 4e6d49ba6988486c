//! Modules that were written by hand: what they mean, what is refused, and text that is not LLVM IR.

#[path = "native/execute.rs"]
#[allow(dead_code)]
mod execute;

use execute::{Ended, execute};
use throng_goto::Question;
use throng_goto::program::{Instr, Program};
use throng_lang::source::Source;

const LOCK: &str = include_str!("modules/lock.ll");
/// C, in the form in which clang writes it without optimisation.
const CLANG: &str = include_str!("modules/clang.ll");

fn asking(entry: &str) -> Question {
    let mut question = Question::default();
    question.entries = vec![entry.into()];
    question
}

fn read(texts: &[&str], entry: &str) -> Result<Program, String> {
    let modules = texts.iter().map(|t| Source::new("m.ll", *t)).collect();
    match throng_llvm::read(modules, &asking(entry)) {
        Ok(loaded) => Ok(Program::clone(&loaded.query.program)),
        Err(rejected) => {
            let said = rejected.diagnostics.iter().map(|d| format!("{}: {}", d.code, d.message));
            Err(said.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// The numbers that `run` writes to `OUT`, in a module with these definitions and this body.
fn values(n: usize, definitions: &str, body: &str) -> Vec<u64> {
    let text = format!(
        "@OUT = global [{n} x i64] zeroinitializer, align 8\n{definitions}\ndefine void @run() {{\n{body}\n}}\n"
    );
    match execute(&text, "run", "OUT") {
        Ended::Values(values) => values,
        Ended::Refused(why) => panic!("{why}\n{text}"),
    }
}

#[test]
fn a_lock_is_read_with_its_lines_and_names() {
    let program = read(&[LOCK], "worker").expect("it is read");
    let text = program.print();
    for part in ["LOCK.locked", "INSIDE", "seen", "worker > lock"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let lines: Vec<u32> = program.origins.iter().map(|o| o.line).collect();
    assert!(lines.contains(&40) && lines.contains(&15), "{lines:?}");
    assert!(program.origins.iter().any(|o| o.line == 40 && o.calls == [13]), "{:?}", program.origins);
    assert!(program.weak_orders && program.asserts);
    let fails = program.templates.iter().flat_map(|t| &t.code).filter_map(|i| match i {
        Instr::Fail(_, why) => Some(why.as_str()),
        _ => None,
    });
    assert!(fails.into_iter().any(|why| why == "panics: two"));
}

#[test]
fn what_is_not_modelled_is_refused_by_name() {
    let refused = [
        ("%v = add <4 x i32> zeroinitializer, zeroinitializer", "<4 x i32>"),
        ("%v = call i32 @llvm.unheard.of.i32(i32 1)", "llvm.unheard.of.i32"),
        ("%v = call i32 @elsewhere()", "`elsewhere`"),
        ("%v = call i64 asm sideeffect \"rdtsc\", \"=r\"()", "inline assembly"),
        ("%v = landingpad { ptr, i32 }\n          cleanup", "`landingpad`"),
        ("%v = va_arg ptr null, i32", "`va_arg`"),
        ("%v = fadd half 0xH3C00, 0xH3C00", "half"),
        ("%v = atomicrmw fadd ptr @X, float 1.0 seq_cst", "float"),
        ("%v = load atomic i128, ptr @X seq_cst, align 16", "more than 64 bits"),
        ("%v = sdiv i128 1, 2", "128 bits"),
        ("%v = extractelement <2 x i8> zeroinitializer, i32 0", "`extractelement`"),
    ];
    for (line, name) in refused {
        let text = format!(
            "@X = global i128 0\ndeclare i32 @llvm.unheard.of.i32(i32)\ndeclare i32 @elsewhere()\n\
             define void @worker() {{\n  {line}\n  ret void\n}}\n"
        );
        let said = read(&[&text], "worker").expect_err(line);
        assert!(said.contains("E852") && said.contains(name), "{line}: {said}");
    }
    // What no thread comes to is not refused.
    let text = "declare void @elsewhere()\ndefine void @unused() {\n call void @elsewhere()\n ret void\n}\n\
                define void @worker() {\n ret void\n}\n";
    assert!(read(&[text], "worker").is_ok());
}

#[test]
fn a_question_about_no_function_names_those_that_there_are() {
    let said = read(&[LOCK], "walker").expect_err("there is none");
    assert!(said.contains("E853") && said.contains("`walker`"), "{said}");
}

#[test]
fn modules_are_linked_by_their_names() {
    let one = "declare i64 @shared()\n@OUT = global [2 x i64] zeroinitializer\n\
               define internal i64 @own() {\n ret i64 1\n}\n\
               define void @run() {\n %a = call i64 @own()\n %b = call i64 @shared()\n store i64 %a, ptr @OUT\n\
               store i64 %b, ptr getelementptr (i8, ptr @OUT, i64 8)\n ret void\n}\n";
    let two = "define internal i64 @own() {\n ret i64 20\n}\n\
               define i64 @shared() {\n %a = call i64 @own()\n %b = add i64 %a, 300\n ret i64 %b\n}\n";
    let weak = "define linkonce_odr i64 @shared() {\n ret i64 9\n}\n";
    for texts in [[one, two, weak], [weak, two, one]] {
        let program = read(&texts, "run").expect("linked");
        assert!(program.print().contains("300") || program.print().contains("320"), "{}", program.print());
    }
    let said = read(&[one, two, two], "run").expect_err("defined twice");
    assert!(said.contains("`shared` is defined in two modules"), "{said}");
}

#[test]
fn bytes_are_copied_and_those_never_written_stay_so() {
    let found = values(
        4,
        "@FROM = global [12 x i8] c\"\\01\\02\\03\\04\\05\\06\\07\\08\\09\\0A\\0B\\0C\"\n\
         declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n\
         declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)\n\
         declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        "  %half = alloca { i32, i32 }, align 8
  %copy = alloca { i32, i32 }, align 8
  store i32 77, ptr %half, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %copy, ptr align 8 %half, i64 8, i1 false)
  %a = load i32, ptr %copy, align 8
  %b = zext i32 %a to i64
  store i64 %b, ptr @OUT, align 8
  call void @llvm.memmove.p0.p0.i64(ptr getelementptr (i8, ptr @FROM, i64 2), ptr @FROM, i64 8, i1 false)
  %c = load i64, ptr getelementptr (i8, ptr @FROM, i64 1), align 1
  store i64 %c, ptr getelementptr (i8, ptr @OUT, i64 8), align 8
  %n = load i8, ptr @FROM, align 1
  %m = zext i8 %n to i64
  %k = add i64 %m, 4
  call void @llvm.memset.p0.i64(ptr getelementptr (i8, ptr @OUT, i64 16), i8 -1, i64 %k, i1 false)
  %ordered = getelementptr i8, ptr @FROM, i64 %m
  call void @llvm.memmove.p0.p0.i64(ptr @FROM, ptr %ordered, i64 %k, i1 false)
  %d = load i64, ptr @FROM, align 1
  store i64 %d, ptr getelementptr (i8, ptr @OUT, i64 24), align 8
  ret void",
    );
    // 1 2 | 1 2 3 4 5 6 7 8 | 11 12; then five bytes from the second on move to the front.
    assert_eq!(found, [77, 0x0706_0504_0302_0102, 0x00ff_ffff_ffff >> 8 << 8 | 0xff, 0x0605_0404_0302_0102]);
}

#[test]
fn an_undefined_value_may_be_anything_and_a_copy_of_it_is_none() {
    let text = "@OUT = global i64 0\ndefine void @run() {\n %p = alloca i64, align 8\n %v = load i64, ptr %p\n\
                %w = add i64 %v, 1\n BODY\n ret void\n}\n";
    let unused = text.replace("BODY", "store i64 4, ptr @OUT");
    assert!(matches!(execute(&unused, "run", "OUT"), Ended::Values(v) if v == [4]));
    let used = text
        .replace("BODY", "%c = icmp eq i64 %w, 5\n %x = select i1 %c, i64 1, i64 2\n store i64 %x, ptr @OUT");
    assert!(matches!(execute(&used, "run", "OUT"), Ended::Refused(_)));
}

/// As compilers wrote it before pointers were opaque.
#[test]
fn pointers_to_types_and_calls_for_debuggers_are_read() {
    let text = "@OUT = global i64 0\n@f = global i64 (i64, i8*)* @add\n\
        define i64 @add(i64 %0, i8* %1) {\n %3 = alloca i64, align 8\n store i64 %0, i64* %3\n\
        call void @llvm.dbg.declare(metadata i64* %3, metadata !1, metadata !DIExpression()), !dbg !2\n\
        %4 = load i64, i64* %3\n %5 = add i64 %4, 1\n ret i64 %5\n}\n\
        declare void @llvm.dbg.declare(metadata, metadata, metadata)\n\
        define void @run() {\n %p = load i64 (i64, i8*)*, i64 (i64, i8*)** @f\n\
        %v = call i64 %p(i64 41, i8* null)\n store i64 %v, i64* @OUT\n ret void\n}\n\
        !1 = !DILocalVariable(name: \"given\", scope: !3, file: !4, line: 1)\n!2 = !DILocation(line: 1, scope: !3)\n\
        !3 = distinct !DISubprogram(name: \"add\", file: !4)\n!4 = !DIFile(filename: \"a.c\", directory: \"\")\n";
    assert!(matches!(execute(text, "run", "OUT"), Ended::Values(v) if v == [42]));
    let program = read(&[text], "run").expect("it is read");
    assert!(program.print().contains("given"), "{}", program.print());
}

/// What a thread starts with is not known, but it is the same wherever it is used.
#[test]
fn an_input_has_one_value() {
    let text = "@A = global i32 0\n@B = global i32 0\n\
        define i32 @same(i32 %x) noinline {\n ret i32 %x\n}\n\
        define void @run(i32 %n) {\n %m = call i32 @same(i32 %n)\n store i32 %n, ptr @A\n store i32 %m, ptr @B\n\
        %a = load i32, ptr @A\n %b = load i32, ptr @B\n %c = icmp eq i32 %a, %b\n\
        br i1 %c, label %good, label %bad\ngood:\n ret void\nbad:\n unreachable\n}\n";
    let program = read(&[text], "run").expect("it is read");
    let memory = std::sync::Arc::new(throng_goto::step::initial_memory(&program));
    let throng_goto::program::Start::Any(starts) = &program.start else { panic!("any number of threads") };
    let mut work = vec![(memory, throng_goto::step::start(&program, starts[0], &[], 0))];
    let mut ended = 0;
    while let Some((memory, thread)) = work.pop() {
        for outcome in throng_goto::step::step(&program, &memory, &thread).outcomes {
            let throng_goto::step::After::Runs(after) = outcome.after else { panic!("{:?}", outcome.after) };
            match outcome.thread {
                Some(thread) => work.push((after, thread)),
                None => ended += 1,
            }
        }
    }
    assert!(ended > 1, "{ended}");
}

#[test]
fn a_weak_exchange_may_fail() {
    let text = |weak: &str| {
        format!(
            "@OUT = global i64 0\ndefine void @run() {{\n %r = cmpxchg {weak} ptr @OUT, i64 0, i64 7 acq_rel monotonic\n\
             %ok = extractvalue {{ i64, i1 }} %r, 1\n ret void\n}}\n"
        )
    };
    assert!(matches!(execute(&text(""), "run", "OUT"), Ended::Values(v) if v == [7]));
    assert!(matches!(execute(&text("weak"), "run", "OUT"), Ended::Refused(why) if why.contains("2 ways")));
}

#[test]
fn what_is_unreachable_is_a_violation() {
    for body in
        ["unreachable", "call void @llvm.assume(i1 false)\n ret void", "call void @llvm.trap()\n unreachable"]
    {
        let text = format!(
            "@OUT = global i64 0\ndeclare void @llvm.assume(i1)\ndeclare void @llvm.trap()\ndefine void @run() {{\n {body}\n}}\n"
        );
        assert!(
            matches!(execute(&text, "run", "OUT"), Ended::Refused(why) if why.contains("Assertion")),
            "{body}"
        );
    }
}

#[test]
fn numbers_of_odd_sizes_are_exact() {
    let found = values(
        5,
        "",
        "  %a = add i24 16777215, 2
  %b = zext i24 %a to i64
  store i64 %b, ptr @OUT
  %s = load i8, ptr @OUT
  %c = trunc i8 %s to i3
  %d = sub i3 %c, 2
  %e = sext i3 %d to i64
  store i64 %e, ptr getelementptr (i8, ptr @OUT, i64 8)
  %f = icmp slt i3 %d, 1
  %g = zext i1 %f to i64
  store i64 %g, ptr getelementptr (i8, ptr @OUT, i64 16)
  %h = zext i8 %s to i128
  %i = mul i128 %h, 36893488147419103231
  %j = lshr i128 %i, 64
  %k = trunc i128 %j to i64
  store i64 %k, ptr getelementptr (i8, ptr @OUT, i64 24)
  %l = shl i128 %h, 65
  %m = icmp ugt i128 %l, %i
  %n = zext i1 %m to i64
  store i64 %n, ptr getelementptr (i8, ptr @OUT, i64 32)
  ret void",
    );
    assert_eq!(found, [1, u64::MAX, 1, 1, 1]);
}

/// Text that is not LLVM IR, or does not end, or goes deep: an error, and nothing else.
#[test]
fn hostile_text_is_an_error() {
    let deep = 100_000;
    let texts = [
        format!("@a = global {}i8{} zeroinitializer", "[1 x ".repeat(deep), "]".repeat(deep)),
        format!("@a = global {}", "{".repeat(deep)),
        format!("!0 = {}", "!{".repeat(deep)),
        format!("@a = global ptr {}", "getelementptr (i8, ptr ".repeat(deep)),
        format!("define void @worker() {{\n  call void {}", "(".repeat(deep)),
        "@a = global [9999999999 x [9999999999 x i8]] zeroinitializer\ndefine void @worker() {\n store i8 0, ptr @a\n ret void\n}".into(),
        "%t = type { %t }\n@a = global %t zeroinitializer\ndefine void @worker() {\n store i8 0, ptr @a\n ret void\n}".into(),
        "define void @worker() {\n br label %nowhere\n}".into(),
        "define void @worker() {\na:\n %x = add i32 %y, 1\n %y = add i32 %x, 1\n br label %a\n}".into(),
        "define void @worker() {\n}".into(),
        "define void @worker() {\n %x = load i32, ptr @nothing\n ret void\n}".into(),
        "@a = alias i8, ptr @a\ndefine void @worker() {\n store i8 0, ptr @a\n ret void\n}".into(),
        "define void @worker() {\n %x = insertvalue [4294967295 x i8] undef, i8 1, 4294967294\n ret void\n}".into(),
        "@a = global i8 \"".into(),
        "\u{0}\u{1}".into(),
        "define void @worker() !dbg !0 {\n ret void, !dbg !0\n}\n!0 = !DILocation(line: 1, scope: !0, inlinedAt: !0)".into(),
    ];
    for text in &texts {
        if let Err(said) = read(&[text], "worker") {
            assert!(!said.contains("E859"), "{said}: {}", &text[..text.len().min(200)]);
        }
    }
}

/// Changed texts: each is read or refused, and none makes the reader fail.
#[test]
fn changed_text_is_read_or_refused() {
    let words: Vec<&str> = LOCK.split_inclusive(' ').collect();
    let mut state = 7u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut read_anyway = 0;
    for n in 0..600 {
        let mut text: Vec<&str> = words.clone();
        for _ in 0..1 + random(3) {
            let (a, b) = (random(text.len()), random(text.len()));
            match random(3) {
                0 => _ = text.remove(a),
                1 => text.swap(a, b),
                _ => text.insert(a, words[b]),
            }
        }
        let text = text.concat();
        let cut = if n % 3 == 0 { text.floor_char_boundary(random(text.len())) } else { text.len() };
        match read(&[&text[..cut]], "worker") {
            Ok(program) => {
                read_anyway += 1;
                assert!(!program.print().is_empty());
            }
            Err(said) => assert!(!said.contains("E859"), "{said}\n{}", &text[..cut]),
        }
    }
    assert!(read_anyway > 20, "{read_anyway}");
}

#[test]
fn private_variables_in_memory_keep_their_values() {
    let definitions = "@N = global i64 3\ndefine internal void @fill(ptr %p, i64 %n) {\n store i64 %n, ptr %p\n ret void\n}";
    // Halves of a variable that is written as a whole; one that lives once for each turn of a loop;
    // one of two branches; and one that a function fills, whose other half nothing writes.
    let body = " %n = load i64, ptr @N
 %whole = alloca i64
 %turn = alloca i64
 %pair = alloca [2 x i64]
 %either = alloca i64
 store i64 4294967298, ptr %whole
 %high = getelementptr i8, ptr %whole, i64 4
 %a = load i32, ptr %whole
 %b = load i32, ptr %high
 %c = zext i32 %a to i64
 %d = zext i32 %b to i64
 store i64 %c, ptr @OUT
 store i64 %d, ptr getelementptr (i8, ptr @OUT, i64 8)
 br label %loop
loop:
 %k = phi i64 [ 0, %0 ], [ %next, %loop ]
 %sum = phi i64 [ 0, %0 ], [ %more, %loop ]
 call void @llvm.lifetime.start.p0(i64 8, ptr %turn)
 store i64 %k, ptr %turn
 %t = load i64, ptr %turn
 call void @llvm.lifetime.end.p0(i64 8, ptr %turn)
 %more = add i64 %sum, %t
 %next = add i64 %k, 1
 %again = icmp ult i64 %next, %n
 br i1 %again, label %loop, label %after
after:
 store i64 %more, ptr getelementptr (i8, ptr @OUT, i64 16)
 %small = icmp ult i64 %n, 2
 br i1 %small, label %yes, label %no
yes:
 store i64 5, ptr %either
 br label %both
no:
 store i64 6, ptr %either
 br label %both
both:
 %e = load i64, ptr %either
 store i64 %e, ptr getelementptr (i8, ptr @OUT, i64 24)
 %second = getelementptr i8, ptr %pair, i64 8
 call void @fill(ptr %second, i64 %n)
 %f = load i64, ptr %second
 store i64 %f, ptr getelementptr (i8, ptr @OUT, i64 32)
 ret void";
    let definitions = format!(
        "{definitions}\ndeclare void @llvm.lifetime.start.p0(i64, ptr)\ndeclare void @llvm.lifetime.end.p0(i64, ptr)"
    );
    assert_eq!(values(5, &definitions, body), [2, 1, 3, 6, 3]);
}

#[test]
fn a_variable_that_only_its_function_names_is_no_memory() {
    let text = "@X = global i64 0\ndefine internal void @set(ptr %p) {\n store ptr @X, ptr %p\n ret void\n}\n\
                define void @worker() {\n %p = alloca ptr\n call void @set(ptr %p)\n %q = load ptr, ptr %p\n\
                store i64 1, ptr %q\n ret void\n}\n";
    let text = read(&[text], "worker").expect("it is read").print();
    assert!(text.contains("store X = 1") && !text.contains("begins"), "{text}");
}

/// A union of an address and small numbers, as the compiler puts it into one word.
#[test]
fn bits_of_an_address_that_are_overwritten_do_not_matter() {
    let found = values(
        3,
        "@X = global i64 0, align 8",
        "  %a = ptrtoint ptr @X to i64
  %mask = and i64 %a, -256
  %low = or i64 %mask, 7
  %p = inttoptr i64 %low to ptr
  %b = ptrtoint ptr %p to i64
  %mask2 = and i64 %b, -65281
  %nine = shl i64 9, 8
  %both = or i64 %mask2, %nine
  %q = inttoptr i64 %both to ptr
  %c = ptrtoint ptr %q to i64
  %t = trunc i64 %c to i8
  %first = zext i8 %t to i64
  store i64 %first, ptr @OUT, align 8
  %d = lshr i64 %c, 8
  %u = trunc i64 %d to i8
  %second = zext i8 %u to i64
  store i64 %second, ptr getelementptr (i8, ptr @OUT, i64 8), align 8
  %none = ptrtoint ptr null to i64
  %is = icmp eq i64 %none, 0
  %one = select i1 %is, i64 5, i64 6
  store i64 %one, ptr getelementptr (i8, ptr @OUT, i64 16), align 8
  ret void",
    );
    assert_eq!(found, [7, 9, 5]);
}

#[test]
fn how_far_apart_two_addresses_are_does_not_depend_on_where_they_are() {
    let found = values(
        1,
        "@X = global [8 x i32] zeroinitializer, align 4",
        "  %i = load i64, ptr @OUT, align 8
  %at = getelementptr i32, ptr @X, i64 %i
  %end = getelementptr i8, ptr %at, i64 12
  %a = ptrtoint ptr %end to i64
  %b = ptrtoint ptr %at to i64
  %d = sub nuw i64 %a, %b
  %n = udiv exact i64 %d, 4
  store i64 %n, ptr @OUT, align 8
  ret void",
    );
    assert_eq!(found, [3]);
}

/// What is behind a test that always comes out the same is not read.
#[test]
fn constants_are_read_where_they_stand_and_lead_past_what_is_never_executed() {
    let found = values(
        2,
        "@TABLE = constant { i64, ptr } { i64 4, ptr @seven }, align 8
declare i64 @elsewhere()
define i64 @seven(i64 %x) {\n  %y = add i64 %x, 7\n  ret i64 %y\n}",
        "  %four = load i64, ptr @TABLE, align 8
  %f = load ptr, ptr getelementptr (i8, ptr @TABLE, i64 8), align 8
  %eleven = call i64 %f(i64 %four)
  store i64 %eleven, ptr @OUT, align 8
  %t = icmp ne i32 0, 0
  br i1 %t, label %wrong, label %right
wrong:
  %w = call i64 @elsewhere()
  br label %end
right:
  br label %end
end:
  %v = phi i64 [ %w, %wrong ], [ 3, %right ]
  store i64 %v, ptr getelementptr (i8, ptr @OUT, i64 8), align 8
  ret void",
    );
    assert_eq!(found, [11, 3]);
}

#[test]
fn modules_of_clang_are_read() {
    let program = read(&[CLANG], "worker").expect("it is read");
    let text = program.print();
    for part in ["store lock = 1", "load inside", "an assertion fails"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}
