//! The web page as a file: what it holds, that the input cannot break out of its data, and how the
//! file is written. What it looks like and does is tested in a browser:
//! `crates/throng-cli/tests/browser/run`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use throng_dev::harness::{Scratch, example, throng};

fn check(input: &Path, page: &Path, more: &[&str]) -> Output {
    throng().arg("check").arg(input).arg("--html").arg(page).args(more).output().unwrap()
}

/// The data of a page, and the page without it.
fn data(page: &Path) -> (Value, String) {
    let text = fs::read_to_string(page).unwrap();
    let start = text.find("id=\"data\">").unwrap() + 10;
    let end = start + text[start..].find("</script>").unwrap();
    (serde_json::from_str(&text[start..end]).unwrap(), format!("{}{}", &text[..start], &text[end..]))
}

#[test]
fn every_verdict_has_its_page() {
    let scratch = Scratch::new("page-verdicts");
    let dir = &scratch.0;
    let page = dir.join("page.html");
    assert_eq!(check(&example("spinlock-broken.bp"), &page, &[]).status.code(), Some(10));
    let (broken, _) = data(&page);
    assert_eq!(broken["verdict"], "unsafe");
    assert_eq!(broken["targets"][0]["run"]["steps"].as_array().unwrap().len(), 8);
    assert_eq!(check(&example("ticketlock.bp"), &page, &["--jobs", "1"]).status.code(), Some(0));
    let (safe, _) = data(&page);
    let proof = &safe["proofs"][0];
    assert_eq!(safe["targets"][0]["proof"], 0);
    assert_eq!(proof["size"].as_u64().unwrap() as usize, proof["members"].as_array().unwrap().len());
    assert_eq!(proof["lines"]["dead"].as_array().unwrap().len(), 0);
    let few = ["--engine", "explicit", "--max-threads", "2"];
    assert_eq!(check(&example("ticketlock.bp"), &page, &few).status.code(), Some(1));
    let (unknown, _) = data(&page);
    assert!(unknown["targets"][0]["next"][0].as_str().unwrap().contains("--max-threads 4"));
}

#[test]
fn dead_lines_come_from_certificates_that_cover_everything() {
    let scratch = Scratch::new("page-dead");
    let dir = &scratch.0;
    let text = "decl b := 0;\nvoid main() begin\n  assert(!b);\n  if b then\n    skip;\n  fi\nend\n";
    let input = dir.join("dead.bp");
    fs::write(&input, text).unwrap();
    let page = dir.join("page.html");
    for (options, covers) in [
        (&["--engine", "views"][..], true),
        (&["--engine", "karp-miller"], true),
        (&["--engine", "explicit", "--threads", "2", "--no-por"], true),
        (&["--engine", "backward"], true), // the views alone rule everything out
        (&["--engine", "explicit", "--threads", "2"], false),
    ] {
        assert_eq!(check(&input, &page, options).status.code(), Some(0));
        let lines = &data(&page).0["proofs"][0]["lines"];
        let dead: Value = if covers { serde_json::json!([5]) } else { Value::Null };
        assert_eq!(lines["dead"], dead, "{options:?}");
    }
}

#[test]
fn the_input_stays_inside_its_data() {
    let scratch = Scratch::new("page-escape");
    let dir = &scratch.0;
    let input = dir.join("evil<i>.bp");
    let text = "// </script><script>alert(1)</script> <!-- {title} {data}\ndecl x := 0;\nvoid main() begin\n  assert(!x); x := 1;\nend\n";
    fs::write(&input, text).unwrap();
    let page = dir.join("page.html");
    assert_eq!(check(&input, &page, &[]).status.code(), Some(10));
    let (data, rest) = data(&page);
    assert_eq!(data["source"], text);
    assert!(!rest.contains("alert(1)") && !rest.contains("evil<i>"));
    assert!(!rest.contains("http://") && !rest.contains("https://"), "nothing to load");
}

#[test]
fn the_file_appears_as_a_whole_or_not_at_all() {
    let scratch = Scratch::new("page-write");
    let dir = &scratch.0;
    let input = example("spinlock-broken.bp");
    let nowhere = check(&input, &dir.join("no/such/dir/page.html"), &[]);
    assert_eq!((nowhere.status.code(), nowhere.stdout.len()), (Some(2), 0), "refused before the search");
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("cannot write"));
    assert_eq!(check(&input, dir, &[]).status.code(), Some(2), "a directory");
    let page = dir.join("page.html");
    fs::write(&page, "old").unwrap();
    assert_eq!(check(&input, &page, &[]).status.code(), Some(10));
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!doctype html>"));
    let left: Vec<_> = fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["page.html"], "no temporary files");
    #[cfg(unix)]
    {
        assert_eq!(check(&input, Path::new("/dev/null"), &[]).status.code(), Some(10));
        assert!(!fs::metadata("/dev/null").unwrap().is_file(), "a device is written to, not replaced");
        let link = dir.join("link.html");
        std::os::unix::fs::symlink(&page, &link).unwrap();
        assert_eq!(check(&input, &link, &[]).status.code(), Some(10));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "links are followed");
    }
}
