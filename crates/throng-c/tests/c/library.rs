//! Functions of the library: those that are written in C against the library of a compiler, on
//! random inputs; rows against the headers of the system; what unknown functions are told about.
//! Needs a C compiler, and passes over what there is no compiler for.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Duration;

use throng_c::{Library, Loaded, Options, load};
use throng_goto::run::Run;
use throng_lang::source::Source;
use throng_model::random::Random;
use throng_model::verdict::Trace;

use crate::compiled::{folder, has_compiler};
use crate::search::{Found, search};

const HEAD: &str = "#include <assert.h>\n#include <ctype.h>\n#include <errno.h>\n#include <stdlib.h>\n#include <string.h>\n\
                    #include <strings.h>\n#include <inttypes.h>\n#include <arpa/inet.h>\n#include <search.h>\n#include <stddef.h>\n";

/// A text of few different letters, in quotes.
fn text(random: &mut Random, letters: &[&str], most: usize) -> String {
    let n = random.below(most + 1);
    let letters: String = (0..n).map(|_| letters[random.below(letters.len())]).collect();
    format!("\"{letters}\"")
}

/// Returns expressions without effects outside of them, with values that a compiler computes.
fn expressions(random: &mut Random) -> Vec<String> {
    let letters = ["a", "b", "A", "B", " ", ","];
    let digits = ["0", "1", "7", "9", "a", "F", "x", "-", "+", " ", "8"];
    let mut all = Vec::new();
    let (s, t) = (text(random, &letters, 7), text(random, &letters, 3));
    let (n, c) = (random.below(9), random.below(256));
    for f in ["strspn", "strcspn"] {
        all.push(format!("(long){f}({s}, {t})"));
    }
    for f in ["strstr", "strpbrk", "strcasestr"] {
        all.push(format!("({{ const char *s = {s}, *p = {f}(s, {t}); p ? p - s : -1L; }})"));
    }
    for f in ["strrchr", "strchrnul", "index", "rindex"] {
        all.push(format!("({{ const char *s = {s}, *p = {f}(s, 'b'); p ? p - s : -1L; }})"));
    }
    all.push(format!("({{ const char *s = {s}, *p = memchr(s, 'a', strlen(s)); p ? p - s : -1L; }})"));
    all.push(format!("({{ const char *s = {s}, *p = memrchr(s, 'a', strlen(s)); p ? p - s : -1L; }})"));
    all.push(format!(
        "({{ const char *s = {s}, *p = memmem(s, strlen(s), {t}, strlen({t})); p ? p - s : -1L; }})"
    ));
    for f in ["strcasecmp", "strcmp"] {
        all.push(format!("(long)({f}({s}, {t}) > 0) - ({f}({s}, {t}) < 0)"));
    }
    all.push(format!("(long)(strncasecmp({s}, {t}, {n}) > 0) - (strncasecmp({s}, {t}, {n}) < 0)"));
    all.push(format!("(long)strnlen({s}, {n})"));
    let sum = "for (int i = 0; i < 24; i++) h = h * 31 + b[i]; h; })";
    for call in [
        format!("strncpy(b, {s}, {n}) - b"),
        format!("stpncpy(b, {s}, {n}) - b"),
        format!("stpcpy(b, {s}) - b"),
        format!("strncat(b, {s}, {n}) - b"),
        format!("(char *)mempcpy(b, {s}, 1) - b"),
        format!("(bcopy(b, b + 2, {n}), 0)"),
        format!("(bcopy(b + 2, b, {n}), 0)"),
        format!("({{ char *p = memccpy(b, {s}, 'a', strlen({s})); p ? p - b : -1; }})"),
    ] {
        all.push(format!("({{ char b[24] = \"abc\\0\\0xyzw\"; long h = {call}; {sum}"));
    }
    for f in
        ["isdigit", "isalpha", "isspace", "ispunct", "isxdigit", "iscntrl", "isgraph", "isprint", "isblank"]
    {
        all.push(format!("(long)!({f})({c})"));
        all.push(format!("(long)!{f}({c})"));
    }
    for f in ["isupper", "islower", "isalnum", "isascii"] {
        all.push(format!("(long)!({f})({c})"));
    }
    all.push(format!("(long)(toupper)({c}) * 1000 + (tolower)({c}) + toascii({c}) + toupper({c})"));
    let number = text(random, &digits, 7);
    let base = [0, 10, 16, 8, 2, 36][random.below(6)];
    for f in ["strtol", "strtoul", "strtoll", "strtoull", "strtoimax"] {
        all.push(format!(
            "({{ char *e; const char *s = {number}; errno = 0; long v = {f}(s, &e, {base}); v * 17 + (e - s) + errno; }})"
        ));
    }
    for large in
        ["99999999999999999999", "-9223372036854775808", "-9223372036854775809", "18446744073709551615"]
    {
        for f in ["strtol", "strtoul"] {
            all.push(format!("({{ errno = 0; (long){f}(\"{large}\", 0, 10) + errno; }})"));
        }
    }
    all.push(format!("(long)atoi({number}) + atol({number}) + atoll({number})"));
    let (x, y) = (random.below(2000) as i64 - 1000, random.below(50) as i64 + 1);
    all.push(format!("(long)div({x}, {y}).quot * 100 + ldiv({x}, {y}).rem + lldiv({x}, -{y}).quot"));
    all.push(format!("(long)ffs({x}) + ffsl({x}L << 20) + ffsll({x}LL)"));
    all.push(format!("(long)htonl({x}) + htons({x}) + ntohl({x}) + ntohs({x})"));
    let numbers: Vec<String> = (0..6).map(|_| random.below(20).to_string()).collect();
    let list = numbers.join(", ");
    all.push(format!(
        "({{ int a[] = {{ {list} }}, k = {}; qsort(a, 6, sizeof *a, order); \
         int *p = bsearch(&k, a, 6, sizeof *a, order); long h = p ? *p : -1; \
         for (int i = 0; i < 6; i++) h = h * 21 + a[i]; h; }})",
        numbers[2]
    ));
    all.push(format!(
        "({{ char b[16] = {s}, *at, *p = strtok_r(b, \", \", &at); long h = 0; \
         for (; p; p = strtok_r(0, \", \", &at)) h = h * 41 + (p - b) + strlen(p); h; }})"
    ));
    all.push(format!(
        "({{ char b[16] = {s}, *at = b, *p; long h = 0; while ((p = strsep(&at, \",\"))) h = h * 41 + (p - b) + strlen(p); h; }})"
    ));
    all.push(format!("({{ char *p = strdup({s}); long h = strlen(p); free(p); p = strndup({s}, {n}); h = h * 9 + strlen(p); free(p); h; }})"));
    all
}

/// Returns the line of the program that a run ends at.
fn last_line(loaded: &Loaded, trace: &Trace) -> String {
    let run = Run::of(&loaded.query.model(), trace).unwrap();
    format!("{:?}", run.moves.last().map(|m| &m.1.after))
}

#[test]
fn functions_in_c_are_those_of_a_compilers_library() {
    for seed in 0..4 {
        compare_with_the_compiler("library", seed, &expressions(&mut Random::new(seed)));
    }
}

/// Returns a conversion of `printf`, and its arguments.
fn conversion(random: &mut Random) -> (String, Vec<String>) {
    let one = |random: &mut Random, list: &[&str]| list[random.below(list.len())].to_string();
    let mut arguments = Vec::new();
    let letter = one(random, &["d", "i", "u", "x", "X", "o", "c", "s"]);
    let flags: &[&str] = match &letter[..] {
        "c" | "s" => &["-"],
        "d" | "i" | "u" => &["-", "+", " ", "0"],
        _ => &["-", "+", " ", "0", "#"],
    };
    let mut written = "%".to_string();
    (0..random.below(3)).for_each(|_| written += &one(random, flags));
    match random.below(4) {
        0 => {
            written += "*";
            arguments.push((random.below(19) as i64 - 9).to_string());
        }
        1 => written += &(1 + random.below(12)).to_string(),
        _ => {}
    }
    if letter != "c" && random.below(3) == 0 {
        written += ".";
        match random.below(3) {
            0 => {
                written += "*";
                arguments.push((random.below(12) as i64 - 2).to_string());
            }
            1 => written += &random.below(9).to_string(),
            _ => {}
        }
    }
    arguments.push(match &letter[..] {
        "c" => one(random, &["'a'", "'%'", "0", "200"]),
        "s" => one(random, &["\"\"", "\"text\"", "\"ab\\0c\"", "\"a longer text\""]),
        _ => {
            let lengths = [
                ("", "int"),
                ("hh", "int"),
                ("h", "int"),
                ("l", "long"),
                ("ll", "long long"),
                ("z", "size_t"),
            ];
            let more = [("j", "intmax_t"), ("t", "ptrdiff_t")];
            let (length, ty) = *lengths.iter().chain(&more).nth(random.below(8)).unwrap();
            written += length;
            let values = ["0", "1", "-1", "7", "8", "-10", "99", "255", "256", "-129", "65535", "123456789"];
            let ends = ["-2147483647 - 1", "2147483647", "-9223372036854775807L - 1", "9223372036854775807L"];
            let n = random.below(values.len() + ends.len());
            format!("({ty})({})", values.iter().chain(&ends).nth(n).unwrap())
        }
    });
    (written + &letter, arguments)
}

#[test]
fn sprintf_writes_what_that_of_a_compilers_library_writes() {
    for seed in 0..4 {
        let random = &mut Random::new(seed);
        let all: Vec<String> = (0..60)
            .map(|_| {
                let (mut format, mut arguments) = (String::new(), String::new());
                for _ in 0..1 + random.below(2) {
                    let (written, given) = conversion(random);
                    format += ["", "x", "100%% of ", "\\n"][random.below(4)];
                    format += &written;
                    given.iter().for_each(|a| arguments += &format!(", {a}"));
                }
                let format = format + ["", ".", "%%"][random.below(3)];
                let call = match random.below(6) {
                    0 => format!("snprintf(b, {}, \"{format}\"{arguments})", random.below(24)),
                    1 => format!("snprintf(b, n, \"{format}\"{arguments})"),
                    2 => format!("snprintf(0, 0, \"{format}\"{arguments})"),
                    3 => format!("__builtin___sprintf_chk(b, 0, -1, \"{format}\"{arguments})"),
                    4 => format!("__builtin_sprintf(b, \"{format}\"{arguments})"),
                    _ => format!("sprintf(b, \"{format}\"{arguments})"),
                };
                format!(
                    "({{ char b[80]; unsigned long n = {}; for (int i = 0; i < 80; i++) b[i] = 'z'; \
                     unsigned long h = {call}; for (int i = 0; i < 80; i++) h = h * 31 + b[i]; h; }})",
                    random.below(9)
                )
            })
            .collect();
        compare_with_the_compiler("sprintf", seed, &all);
    }
}

#[test]
fn what_sprintf_does_not_write_exactly_is_refused_by_name() {
    if !has_compiler() {
        return;
    }
    let file = folder("sprintf-refused").join("refused.c");
    let found = |statement: &str| {
        let text =
            format!("#include <stdio.h>\n{HEAD}int main(void) {{ char b[8]; {statement} return 0; }}\n");
        std::fs::write(&file, text).unwrap();
        let loaded = load(&file, &Options::default()).unwrap();
        search(&loaded.query.problem(), 1, 100_000, Duration::from_secs(60))
    };
    for (statement, named) in [
        ("sprintf(b, \"%5.1f\", 1.5);", "`%5.1f` in a format of `sprintf`"),
        ("snprintf(b, 8, \"%p\", b);", "`%p` in a format of `snprintf`"),
        ("char f[] = \"%d\"; sprintf(b, f, 1);", "a format that is not a string literal"),
        ("sprintf(b, \"%ld\", 1);", "arguments of other types than its format"),
        ("sprintf(b, \"%d\");", "arguments of other types than its format"),
    ] {
        let found = found(statement);
        assert!(matches!(&found, Found::Incomplete(why) if why.contains(named)), "{statement}: {found:?}");
    }
    // Behind an object there is no room.
    assert!(matches!(found("sprintf(b, \"%d\", 1234567);"), Found::Safe(_)));
    assert!(matches!(found("sprintf(b, \"%d\", 12345678);"), Found::Unsafe(..)));
    assert!(matches!(found("snprintf(b, 8, \"%d\", 12345678);"), Found::Safe(_)));
    assert!(matches!(found("sprintf(b, \"12345678\");"), Found::Unsafe(..)));
}

/// Compares the values of expressions with those that a compiler computes.
fn compare_with_the_compiler(name: &str, seed: u64, all: &[String]) {
    if !has_compiler() {
        return;
    }
    let folder = folder(name);
    let order = "int order(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n";
    let mut program = format!("#define _GNU_SOURCE\n#include <stdio.h>\n{HEAD}{order}int main(void) {{\n");
    all.iter().for_each(|e| _ = writeln!(program, "  printf(\"%ld\\n\", (long)({e}));"));
    let (source, compiled) = (folder.join("values.c"), folder.join("values"));
    std::fs::write(&source, program + "}\n").unwrap();
    let made = Command::new("cc")
        .args(["-w", "-fno-builtin"])
        .arg(&source)
        .arg("-o")
        .arg(&compiled)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let values = String::from_utf8(Command::new(&compiled).output().unwrap().stdout).unwrap();
    let values: Vec<&str> = values.lines().collect();
    assert_eq!(values.len(), all.len());
    let mut asserted = format!("#define _GNU_SOURCE\n#include <stdio.h>\n{HEAD}{order}int main(void) {{\n");
    for (e, v) in all.iter().zip(&values) {
        let v = if *v == "-9223372036854775808" { "(-9223372036854775807L - 1)" } else { v };
        _ = writeln!(asserted, "  assert((long)({e}) == {v});");
    }
    let file = folder.join("asserted.c");
    std::fs::write(&file, asserted + "  return 0;\n}\n").unwrap();
    let loaded = load(&file, &Options::default()).unwrap();
    assert!(loaded.query.undefined().next().is_none(), "{:?}", loaded.query.undefined().next());
    match search(&loaded.query.problem(), 1, 1_000_000, Duration::from_secs(100)) {
        Found::Safe(_) => {}
        Found::Unsafe(_, trace) => panic!("seed {seed}: {}", last_line(&loaded, &trace)),
        other => panic!("seed {seed}: {other:?}"),
    }
}

/// Returns the parameters of each row of the table that has some.
fn rows() -> Vec<(String, usize)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/library");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let table: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
            for (name, row) in table {
                let count = row.get("arguments").and_then(|a| a.as_array()).map_or(0, Vec::len);
                if row.get("like").is_none() && !name.starts_with("__throng") {
                    found.push((name, count));
                }
            }
        }
    }
    found
}

/// Every row has as many arguments as the headers of the system declare, as far as they declare the
/// function.
#[test]
fn rows_have_the_arguments_that_headers_declare() {
    if !has_compiler() || !cfg!(target_os = "linux") {
        return;
    }
    let headers = "#define _GNU_SOURCE\n".to_string()
        + &[
            "stdio",
            "stdlib",
            "string",
            "strings",
            "time",
            "math",
            "unistd",
            "fcntl",
            "signal",
            "pthread",
            "semaphore",
            "sched",
            "dirent",
            "locale",
            "wchar",
            "wctype",
            "dlfcn",
            "syslog",
            "pwd",
            "grp",
            "regex",
            "err",
            "getopt",
            "poll",
            "netdb",
            "arpa/inet",
            "net/if",
            "sys/socket",
            "sys/stat",
            "sys/select",
            "sys/epoll",
            "sys/mman",
            "sys/wait",
            "sys/time",
            "sys/times",
            "sys/resource",
            "sys/uio",
            "sys/ioctl",
            "sys/eventfd",
            "sys/timerfd",
            "sys/signalfd",
            "sys/inotify",
            "sys/prctl",
            "sys/mount",
            "sys/xattr",
            "sys/sendfile",
            "sys/statfs",
            "sys/statvfs",
            "sys/utsname",
            "sys/sysinfo",
            "sys/shm",
            "sys/sem",
            "sys/msg",
            "sys/file",
            "sys/random",
            "mqueue",
            "termios",
            "utime",
            "ftw",
            "glob",
            "fnmatch",
            "threads",
            "ifaddrs",
            "libintl",
            "fenv",
            "iconv",
            "wordexp",
            "search",
            "malloc",
            "execinfo",
            "monetary",
        ]
        .map(|h| format!("#include <{h}.h>\n"))
        .concat();
    let folder = folder("rows");
    let source = folder.join("rows.c");
    std::fs::write(&source, &headers).unwrap();
    let loaded = Command::new("cc").args(["-E", "-P"]).arg(&source).output().unwrap();
    assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));
    // A call with so many arguments compiles if the declaration has as many parameters.
    let mut calls = headers;
    let rows = rows();
    for (n, (name, count)) in rows.iter().enumerate() {
        let declared = format!("__typeof__({name}) *p{n};");
        _ = writeln!(
            calls,
            "/*{n}*/ void f{n}(void) {{ {declared} p{n}({}); }}",
            vec!["*(struct any *)0"; *count].join(", ")
        );
    }
    std::fs::write(&source, calls).unwrap();
    let made =
        Command::new("cc").args(["-fsyntax-only", "-fmax-errors=0", "-w"]).arg(&source).output().unwrap();
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    let wrong: Vec<&str> = said
        .lines()
        .filter(|l| l.contains("error: too many arguments") || l.contains("error: too few arguments"))
        .collect();
    let unknown = said.lines().filter(|l| l.contains("undeclared")).count();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown < 150, "{unknown} rows are about what no header declares");
}

#[test]
fn rows_of_users_describe_functions() {
    if !has_compiler() {
        return;
    }
    let folder = folder("own-rows");
    let file = folder.join("own.c");
    let text = "#include <assert.h>\n#include <pthread.h>\nint log_event(const char *, int); void take(pthread_mutex_t *);\n\
        void submit(void (*)(void *), void *); pthread_mutex_t m; int done;\n\
        void work(void *p) { take(&m); done = *(int *)p; pthread_mutex_unlock(&m); }\n\
        int main(void) { static int n = 3; submit(work, &n); int r = log_event(\"x\", 1); assert(r >= 0);\n\
        take(&m); int d = done; pthread_mutex_unlock(&m); assert(d == 0 || d == 3); return 0; }\n";
    std::fs::write(&file, text).unwrap();
    let unknown = load(&file, &Options::default()).unwrap();
    assert_eq!(unknown.query.undefined().collect::<Vec<_>>(), ["submit", "log_event", "take"]);
    let rows = "[log_event]\narguments = [\"text\", \"value\"]\nreturns = \"0..1\"\n[take]\nlike = \"pthread_mutex_lock\"\n\
        [submit]\narguments = [\"value\", \"value\"]\nstarts = \"#1(#2)\"\n";
    let library = Library::read("own.toml", rows).unwrap().into();
    let known = load(&file, &Options { library, ..Options::default() }).unwrap();
    assert_eq!(known.query.undefined().count(), 0);
    let found = search(&known.query.problem(), 3, 100_000, Duration::from_secs(60));
    assert!(matches!(found, Found::Safe(_)), "{found:?}");
    let library = Library::read("own.toml", "[work]\narguments = [\"value\"]\n").unwrap().into();
    let why = load(&file, &Options { library, ..Options::default() }).err().unwrap();
    assert_eq!((why.diagnostics[0].code, &why.source.name[..]), ("E812", "own.toml"));
}

/// A program may be preprocessed for a machine with other sizes than the library's code has.
#[test]
fn declarations_of_the_program_need_not_be_those_of_the_library() {
    let text = "typedef unsigned int size_t; void *malloc(size_t); size_t strlen(const char *);\n\
        char *strdup(const char *); char *strrchr(const char *, int); void reach_error(void);\n\
        int main(void) { char a[3] = \"ab\"; char *q = strdup(a);\n\
        if (strrchr(q, 'b') != q + 1 || strlen(q) != 2) reach_error(); return 0; }";
    let read = |text: String| {
        let read = throng_c::read(Source::new("a.i", text.clone()), text, &Options::default());
        let loaded = read.unwrap_or_else(|why| panic!("{:?}", why.diagnostics));
        search(&loaded.query.problem(), 1, 100_000, Duration::from_secs(60))
    };
    assert!(matches!(read(text.into()), Found::Safe(_)));
    assert!(matches!(read(text.replace("!= 2", "== 2")), Found::Unsafe(..)));
}

/// What is read or loaded in C does not touch memory that is not there, and a futex is a word that is
/// compared atomically.
#[test]
fn errno_and_futexes_are_modelled() {
    if !has_compiler() {
        return;
    }
    let folder = folder("futex");
    let file = folder.join("futex.c");
    let found = |text: &str| {
        std::fs::write(
            &file,
            format!("#define _GNU_SOURCE\n{HEAD}#include <pthread.h>\n#include <unistd.h>\n{text}\n"),
        )
        .unwrap();
        let loaded = load(&file, &Options::default()).unwrap();
        assert_eq!(loaded.query.undefined().count(), 0);
        search(&loaded.query.problem(), 2, 100_000, Duration::from_secs(60))
    };
    let large = "int main(void) { assert(strtol(\"99999999999999999999\", 0, 10) > 0); return 0; }";
    assert!(matches!(found(large), Found::Safe(_)));
    let waits = "int word, data;\n\
        void *f(void *p) { data = 1; __atomic_store_n(&word, 1, 5); syscall(202, &word, 129, 1, 0, 0, 0); return 0; }\n\
        int main(void) { pthread_t t; pthread_create(&t, 0, f, 0);\n\
        while (__atomic_load_n(&word, 5) == 0) syscall(202, &word, 128, 0, 0, 0, 0);\n\
        assert(data == 1); return 0; }";
    let safe = found(waits);
    assert!(matches!(safe, Found::Safe(_)), "{safe:?}");
    assert!(matches!(found(&waits.replace("assert(data == 1)", "assert(data == 2)")), Found::Unsafe(..)));
    let other = found("int main(void) { syscall(1, 1, \"x\", 1); return 0; }");
    assert!(
        matches!(&other, Found::Incomplete(why) if why.contains("`syscall` with the number 1")),
        "{other:?}"
    );
}

#[test]
fn realloc_keeps_what_was_there() {
    if !has_compiler() {
        return;
    }
    let file = folder("realloc").join("realloc.c");
    let asked = |text: &str, race: bool| {
        let mut options = Options::default();
        options.question.race = race;
        std::fs::write(&file, format!("#define _GNU_SOURCE\n{HEAD}#include <pthread.h>\n{text}\n")).unwrap();
        let loaded = load(&file, &options).unwrap();
        search(&loaded.query.problem(), 2, 100_000, Duration::from_secs(60))
    };
    let main = |body: &str| asked(&format!("int main(void) {{ {body} return 0; }}"), false);
    let safe = [
        "int *p = malloc(8); p[0] = 3; p[1] = 4; p = realloc(p, 16); p[2] = 5; assert(p[0] + p[1] + p[2] == 12); free(p);",
        "int *p = realloc(0, 4); *p = 1; p = realloc(p, 4); assert(*p == 1); free(p);",
        "char *p = strdup(\"text\"); p = realloc(p, 2); assert(p[0] == 't' && p[1] == 'e'); free(p);",
        "int x = 7, **p = malloc(sizeof *p); *p = &x; p = reallocarray(p, 3, sizeof *p); assert(**p == 7); p[2] = p[0]; free(p);",
        "int n = 0, *p = 0; for (int i = 0; i < 5; i++) { p = realloc(p, (n + 1) * sizeof *p); p[n++] = i; } assert(p[0] + p[4] == 4); free(p);",
        "void *p = reallocarray(0, -1, 16); assert(!p && errno == ENOMEM);",
        "struct s { struct s *own; int n; } *p = malloc(sizeof *p); p->n = 2; p->own = p; p = realloc(p, 64); p->own = p; assert(p->own->n == 2); free(p);",
    ];
    for body in safe {
        let found = main(body);
        assert!(matches!(found, Found::Safe(_)), "{body}: {found:?}");
    }
    let wrong = [
        "int *p = malloc(8); p = realloc(p, 4); p[1] = 1;",
        "int *p = malloc(4), *q = realloc(p, 8); *p = 1; free(q);",
        "int *p = malloc(4), *q = realloc(p, 8); free(p); free(q);",
        "int *p = malloc(4); free(p); p = realloc(p, 8);",
        "int *p = malloc(8); p = realloc(p + 1, 8);",
        "int x, *p = realloc(&x, 8);",
        "int *p = malloc(4); *p = 1; p = realloc(p, 8); assert(*p == 2);",
        "struct s { struct s *own; int n; } *p = malloc(sizeof *p); p->own = p; p = realloc(p, 64); p->own->n = 1;",
    ];
    for body in wrong {
        let found = main(body);
        assert!(matches!(found, Found::Unsafe(..)), "{body}: {found:?}");
    }
    for (body, named) in [
        ("void *p = realloc(malloc(4), 0);", "size 0"),
        ("int *p = malloc(4); p = realloc(p, 8); assert(*p == 2);", ""),
        ("int *p = malloc(4); p = realloc(p, 8); assert(p[1] == 2 || *p != 3);", ""),
    ] {
        let found = main(body);
        let is_open = matches!(&found, Found::Incomplete(why) if why.contains(named));
        assert!(is_open || named.is_empty() && !matches!(found, Found::Safe(_)), "{body}: {found:?}");
    }
    // To move an object is to write it.
    let races = "int *p; void *f(void *q) { return *p ? q : 0; }\n\
        int main(void) { pthread_t t; p = malloc(4); *p = 0; pthread_create(&t, 0, f, 0); WAIT int *q = realloc(p, 8); return *q; }";
    assert!(matches!(asked(&races.replace("WAIT", ""), true), Found::Unsafe(..)));
    let found = asked(&races.replace("WAIT", "pthread_join(t, 0);"), true);
    assert!(matches!(found, Found::Safe(_)), "{found:?}");
}

#[test]
fn handlers_run_where_the_process_exits() {
    if !has_compiler() {
        return;
    }
    let file = folder("atexit").join("atexit.c");
    let found = |text: &str| {
        std::fs::write(
            &file,
            format!("#define _GNU_SOURCE\n{HEAD}#include <pthread.h>\n#include <unistd.h>\n{text}\n"),
        )
        .unwrap();
        let loaded = load(&file, &Options::default()).unwrap();
        assert_eq!(loaded.query.undefined().count(), 0);
        search(&loaded.query.problem(), 2, 100_000, Duration::from_secs(60))
    };
    let program = |main: &str| {
        format!(
            "int n; void first(void) {{ assert(n == 12); }} void add(void) {{ n += 2; }} void last(void) {{ n *= 5; }}\n\
             void late(void) {{ atexit(last); }} void wrong(void) {{ assert(0); }}\n\
             __attribute__((destructor)) void after(void) {{ assert(n == 12); }}\n\
             int main(void) {{ {main} }}"
        )
    };
    for main in [
        "atexit(first); atexit(add); atexit(last); n = 2; return 0;",
        "atexit(first); atexit(add); atexit(last); n = 2; exit(1);",
        "atexit(first); atexit(add); atexit(late); n = 2; exit(1);",
        "atexit(wrong); _exit(0);",
        "atexit(wrong); abort();",
    ] {
        let found = found(&program(main));
        assert!(matches!(found, Found::Safe(_)), "{main}: {found:?}");
    }
    for main in [
        "atexit(first); atexit(last); atexit(add); n = 2; return 0;",
        "n = 12; if (n == 12) atexit(wrong); exit(0);",
        "atexit(add); n = 12; return 0;",
    ] {
        let found = found(&program(main));
        assert!(matches!(found, Found::Unsafe(..)), "{main}: {found:?}");
    }
    for (main, named) in [
        ("atexit(add); n = 10; pthread_exit(0);", "`pthread_exit` where functions run after `main`"),
        ("for (int i = 0; i < 33; i++) atexit(add); return 0;", "`__more_than_32_exit_handlers`"),
    ] {
        let found = found(&program(main));
        assert!(matches!(&found, Found::Incomplete(why) if why.contains(named)), "{main}: {found:?}");
    }
}
