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
                    #include <strings.h>\n#include <inttypes.h>\n#include <arpa/inet.h>\n#include <search.h>\n";

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
    if !has_compiler() {
        return;
    }
    let folder = folder("library");
    let order = "int order(const void *a, const void *b) { return *(int *)a - *(int *)b; }\n";
    for seed in 0..4 {
        let all = expressions(&mut Random::new(seed));
        let mut program =
            format!("#define _GNU_SOURCE\n#include <stdio.h>\n{HEAD}{order}int main(void) {{\n");
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
        let mut asserted = format!("#define _GNU_SOURCE\n{HEAD}{order}int main(void) {{\n");
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
