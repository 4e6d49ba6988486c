//! What the compiler makes of files and packages.

use std::path::Path;

use throng_rust::{Options, Package, Target, file, whole};

fn none(_: &str) -> bool {
    false
}

fn written(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock.rs");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

/// Returns the code of a function, without descriptions for debuggers.
fn code(text: &str, name: &str) -> String {
    let mut lines = text.lines().skip_while(|line| *line != format!("; {name}"));
    let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
    body.into_iter().filter(|line| !line.contains("#dbg")).collect::<Vec<_>>().join("\n")
}

/// Both reads stay, though the optimiser of LLVM may take the second one to see what the first
/// did.
const TWO_READS: &str = "
use std::cell::UnsafeCell;
struct Pair(UnsafeCell<u64>);
unsafe impl Sync for Pair {}
static SEEN: Pair = Pair(UnsafeCell::new(0));
fn watcher() {
    let at = SEEN.0.get();
    let first = unsafe { *at };
    let second = unsafe { *at };
    assert!(first == second, \"it changed between two reads\");
}
fn chooser(up: bool) {
    if up { unsafe { *SEEN.0.get() = 7 } } else { unsafe { *SEEN.0.get() = 9 } }
}
fn never(n: u32) -> u32 {
    if n > 3 { unsafe { std::hint::unreachable_unchecked() } }
    n
}
";

#[test]
fn reads_and_stores_and_impossible_branches_stay() {
    let (_folder, path) = written(TWO_READS);
    let text = file::emit(&path, &Options::default(), &none).unwrap().modules.remove(0).text;
    assert_eq!(code(&text, "lock::watcher").matches("load i64").count(), 2, "{text}");
    assert_eq!(code(&text, "lock::chooser").matches("store i64").count(), 2);
    assert!(code(&text, "lock::never").contains("unreachable"));
}

#[test]
fn functions_that_are_modelled_are_called() {
    let (_folder, path) = written("fn inner() -> u32 { 3 }\nfn outer() -> u32 { inner() + inner() }\n");
    let calls = |is_modelled: &dyn Fn(&str) -> bool| {
        let text = file::emit(&path, &Options::default(), is_modelled).unwrap().modules.remove(0).text;
        code(&text, "lock::outer").matches("call i32").count()
    };
    assert_eq!((calls(&none), calls(&|name| name == "lock::inner")), (0, 2));
}

#[test]
fn private_functions_and_main_are_compiled() {
    let (_folder, path) = written("mod tests { fn worker() {} }\nfn main() {}\n");
    let emission = file::emit(&path, &Options::default(), &none).unwrap();
    let names: Vec<&str> = whole::definitions(&emission.modules[0].text).map(|(name, _)| name).collect();
    assert!(names.contains(&"lock::tests::worker") && names.contains(&"lock::main"), "{names:?}");
    assert!(emission.version.starts_with("rustc 1.") && !emission.bare);
    assert_eq!(emission.files, [path]);
    assert_eq!(emission.messages, "");
}

#[test]
fn messages_of_the_compiler_are_shown_as_they_are() {
    let (_folder, path) = written("fn worker() { let x: u32 = \"one\"; }\n");
    let why = file::emit(&path, &Options::default(), &none).unwrap_err();
    assert_eq!(why.code, "E842");
    assert!(why.message.contains("error[E0308]: mismatched types"), "{}", why.message);
    assert!(why.message.contains("lock.rs:1:28"), "{}", why.message);
    let (_folder, path) = written("#![warn(unused_variables)]\nfn worker() { let x = 1; }\n");
    let emission = file::emit(&path, &Options::default(), &none).unwrap();
    assert!(emission.messages.contains("unused variable: `x`"), "{}", emission.messages);
}

#[test]
fn names_of_files_become_names_of_crates() {
    let names = ["lock.rs", "my-lock.rs", "2.rs", ".rs"].map(|name| file::crate_name(Path::new(name)));
    assert_eq!(names, ["lock", "my_lock", "file_2", "file__rs"]);
}

fn package(folder: &Path) {
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let manifest = |name: &str| format!("[package]\nname = \"{name}\"\nedition = \"2021\"\n");
    file(
        "Cargo.toml",
        &format!("{}[dependencies]\nbelow-it = {{ path = \"below\" }}\n[workspace]\n", manifest("upper")),
    );
    file("src/lib.rs", "#[cfg(test)]\nmod tests {\n    fn worker() { below_it::count(); }\n}\n");
    file("tests/whole.rs", "fn both() { below_it::count(); }\n");
    file("below/Cargo.toml", &manifest("below-it"));
    file("below/src/lib.rs", "fn private() {}\npub fn count() { private() }\n");
}

#[test]
fn a_package_is_compiled_with_what_it_depends_on_and_its_tests() {
    let folder = tempfile::tempdir().unwrap();
    package(folder.path());
    let emission = Package::new(folder.path()).emit(&|name| name == "below_it::count").unwrap();
    let crates: Vec<&str> = emission.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!((crates, emission.crate_name()), (vec!["below_it", "upper"], "upper"));
    assert!(code(&emission.modules[1].text, "upper::tests::worker").contains("; call below_it::count"));
    assert!(emission.files.iter().any(|file| file.ends_with("src/lib.rs")), "{:?}", emission.files);
    let again = Package::new(folder.path()).emit(&|name| name == "below_it::count").unwrap();
    assert_eq!(emission.modules, again.modules);
}

#[test]
fn other_targets_and_packages_of_a_workspace_are_named() {
    let folder = tempfile::tempdir().unwrap();
    package(folder.path());
    let whole = Package { target: Target::Test("whole".into()), ..Package::new(folder.path()) };
    assert_eq!(whole.emit(&none).unwrap().crate_name(), "whole");
    let below = Package { name: Some("below-it".into()), ..Package::new(folder.path()) };
    assert_eq!(below.emit(&none).unwrap().crate_name(), "below_it");
    let code = |package: Package| package.emit(&none).unwrap_err().code;
    assert_eq!(code(Package { name: Some("above".into()), ..Package::new(folder.path()) }), "E843");
    assert_eq!(code(Package { target: Target::Bin("x".into()), ..Package::new(folder.path()) }), "E843");
}
