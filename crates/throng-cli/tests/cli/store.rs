//! `--store`: sets of configurations in files.

use std::fs;

use throng_dev::harness::large::crowd;
use throng_dev::harness::{Scratch, throng};

/// The first line of a run, how many configurations it found and how many steps it took, and its
/// exit status.
fn said(args: &[&str]) -> (String, String, Option<i32>) {
    let ran = throng().args(args).output().expect("it runs");
    let text = String::from_utf8(ran.stdout).expect("text");
    let search = text.lines().find_map(|line| line.strip_prefix("search:")).expect("a line about the search");
    let counts = search.split(',').take(2).collect();
    (text.lines().take(1).collect(), counts, ran.status.code())
}

#[test]
fn files_instead_of_memory_make_no_difference() {
    let scratch = Scratch::new("store");
    let (file, folder) = (&*scratch.file_argument("crowd.bp", crowd(12)), &*scratch.argument("files"));
    fs::create_dir(folder).expect("a folder");
    for jobs in ["1", "2"] {
        let plain = ["check", file, "--engine", "explicit", "--threads", "5", "--no-por", "--jobs", jobs];
        let in_memory = said(&plain);
        assert!(in_memory.2 == Some(0) && in_memory.0.starts_with("SAFE"), "{in_memory:?}");
        assert!(in_memory.1.contains("configurations") && in_memory.1.contains("steps"), "{in_memory:?}");
        let stored = [&plain[..], &["--store", folder]].concat();
        assert_eq!(said(&stored), in_memory);
        assert_eq!(fs::read_dir(folder).expect("a folder").count(), 0, "nothing is left");
    }
}

#[test]
fn a_folder_that_is_none_is_refused() {
    let scratch = Scratch::new("store-refused");
    let file = &*scratch.file_argument("crowd.bp", crowd(2));
    for folder in [file, "/no/such/folder"] {
        let ran = throng().args(["check", file, "--store", folder]).output().expect("it runs");
        assert_eq!(ran.status.code(), Some(2));
        let text = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(text.contains("--store") && text.contains(folder), "{text}");
    }
}
