//! The table as data: every row can be read, and none is there twice.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_row_is_read_and_none_is_there_twice() {
    let (mut seen, mut known) = (BTreeSet::new(), 0);
    for file in FILES {
        let rows: BTreeMap<String, Row> = toml::from_str(file).unwrap();
        let lines: Vec<&str> = file.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
        assert_eq!(lines.len(), rows.len());
        for (name, row) in rows {
            assert!(seen.insert(name.clone()), "{name} is there twice");
            assert!(built_in(&name).is_some(), "{name} is not found by its line");
            assert!(special::special(&name, false).is_none(), "{name} has a meaning of its own");
            assert!(!prelude::defines(&name), "{name} is written in C as well");
            if let Row::Like(other) = &row {
                let is_known = built_in(other).is_some() || prelude::defines(other);
                assert!(is_known || special::special(other, false).is_some(), "{name} is like {other}");
            }
            known += 1;
        }
    }
    let written = prelude::names();
    assert!(known + written.len() > 1000, "{known} rows, {} functions in C", written.len());
    assert!(written.iter().all(|name| special::special(name, false).is_none()), "{written:?}");
}

#[test]
fn rows_of_users_are_refused_with_their_place() {
    let refused = |text: &str| {
        let why = Library::read("own.toml", text).unwrap_err();
        let d = &why.diagnostics[0];
        let at = why.source.position(d.span.map_or(0, |s| s.range().start));
        (d.code, at, d.message.clone())
    };
    let (code, at, message) = refused("[f]\nreturns = \"0\"\n\n[strlen]\n");
    assert_eq!((code, at), ("E812", (4, 2)), "{message}");
    assert_eq!(refused("[f]\nreturns = \"0\"\n[pthread_mutex_lock]\n").1, (3, 2));
    assert_eq!(refused("[f]\narguments = [\"value\", \"eats\"]\n").1.0, 2);
    assert!(refused("[f]\narguments = [\"value\"]\nreturns = \"#2\"\n").2.contains("#2"));
    assert!(refused("[f]\ncolour = \"red\"\n").2.contains("colour"));
    assert!(refused("[f]\nlike = \"g\"\n").2.contains("`g`"));
    assert!(refused("[f]\nlike = \"strlen\"\nerrno = true\n").2.contains("alone"));
    assert!(refused("[f\n").1.0 == 1);
    assert!(Library::read("own.toml", "[f]\nlike = \"pthread_mutex_lock\"\n").is_ok());
}
