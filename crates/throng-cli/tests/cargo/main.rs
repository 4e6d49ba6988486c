//! `throng::rust::check!` in a package of its own, run by `cargo test` as its users do: without a
//! network, in a folder that is kept between runs, because all of the library is compiled there.

use std::fs;
use std::path::Path;
use std::process::Command;

use throng_dev::harness::Scratch;

const MANIFEST: &str = "[package]\nname = \"locks\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n\
                        [dev-dependencies]\nthrong = { path = \"ROOT/crates/throng\", features = [\"rust\"] }\n";

/// Runs the tests of a package, and returns what they print.
fn tested(folder: &Path) -> String {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--offline", "--no-fail-fast", "--lib", "--", "--nocapture", "--test-threads", "1"]);
    cargo.current_dir(folder).env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/cargo"));
    cargo.env_remove("RUSTC_WRAPPER").env_remove("RUSTFLAGS").env("RUST_BACKTRACE", "0");
    let ran = cargo.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&ran.stdout) + &text(&ran.stderr)
}

/// Returns what one test prints, up to the next one.
fn of_test<'t>(text: &'t str, name: &str) -> &'t str {
    let start = text.find(&format!("test tests::{name} ...")).unwrap_or_else(|| panic!("{name}: {text}"));
    let rest = &text[start..];
    rest[1..].find("\ntest tests::").map_or(rest, |end| &rest[..=end])
}

/// Returns what a test says that fails, up to the next one.
fn failing<'t>(text: &'t str, name: &str) -> &'t str {
    let start = text.find(&format!("thread 'tests::{name}'")).unwrap_or_else(|| panic!("{name}: {text}"));
    let rest = &text[start..];
    rest[1..].find("\nthread 'tests::").map_or(rest, |end| &rest[..=end])
}

#[test]
#[ignore = "compiles the library twice, for minutes: cargo test -p throng-cli --test cargo -- --ignored"]
fn questions_are_answered_inside_cargo_test() {
    let scratch = Scratch::new("rust-in-cargo-test");
    fs::create_dir_all(scratch.0.join("src")).unwrap();
    let root = Path::new(throng_dev::ROOT);
    scratch.file("Cargo.toml", MANIFEST.replace("ROOT", throng_dev::ROOT));
    fs::copy(root.join("Cargo.lock"), scratch.0.join("Cargo.lock")).unwrap();
    scratch.file("src/lib.rs", include_str!("project/lib.rs"));

    let first = tested(&scratch.0);
    let proved = of_test(&first, "exclusion_holds_for_any_number_of_threads");
    for part in ["SAFE", "race", "for any number of threads", "compiled by rustc", "memory model of C11"] {
        assert!(proved.contains(part), "{part}: {proved}");
    }
    let broken = failing(&first, "a_hasty_lock_excludes");
    // The run, in lines of the package, with variables by name and the calls that were inlined.
    for part in ["UNSAFE  assertions  2 threads", "two threads are inside", "lib.rs", "seen", "hasty"] {
        assert!(broken.contains(part), "{part}: {broken}");
    }
    assert!(of_test(&first, "roles").contains("SAFE"), "{first}");
    let bounded = of_test(&first, "tickets_within_a_bound");
    assert!(bounded.contains("SAFE  assertions"), "{bounded}");
    assert!(failing(&first, "what_is_not_known_fails").contains("UNKNOWN"), "{first}");
    assert!(first.contains("3 passed; 2 failed"), "{first}");

    let second = tested(&scratch.0);
    let kept = of_test(&second, "exclusion_holds_for_any_number_of_threads");
    assert!(kept.contains("as before: nothing has changed"), "{kept}");
    assert!(second.contains("3 passed; 2 failed"), "{second}");
}
