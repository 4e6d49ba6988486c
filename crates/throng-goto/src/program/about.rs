//! Which races are asked about: all, or those on some variables and in some lines.

use std::fmt;

use super::{Origin, Point, Program};
use crate::step::Touch;

/// What a question about races is limited to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum About {
    /// A variable, or a part of one: `queue`, `queue.head`, `a[2]`.
    Variable(String),
    /// A line of a file: the end of its path, and the number.
    Line(String, u32),
}

impl About {
    /// Reads `VAR` or `FILE:LINE`.
    pub fn read(text: &str) -> About {
        let line = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        match line.filter(|(file, line)| !file.is_empty() && !file.ends_with(':') && *line > 0) {
            Some((file, line)) => About::Line(file.into(), line),
            None => About::Variable(text.into()),
        }
    }

    /// Returns whether an object or a part of one is meant, by its name in reports.
    pub fn names(&self, name: &str) -> bool {
        match self {
            About::Variable(asked) => is_part(name, asked),
            About::Line(..) => false,
        }
    }

    /// Returns whether a line is meant; `user`: the file of instructions without one.
    pub fn is_at(&self, origin: &Origin, user: &str) -> bool {
        match self {
            About::Line(file, line) => {
                let of = origin.file.as_deref().unwrap_or(user);
                origin.line == *line && is_end(of, file)
            }
            About::Variable(_) => false,
        }
    }
}

/// Returns whether `name` is the variable `whole` or a part of it.
fn is_part(name: &str, whole: &str) -> bool {
    name.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '+']))
}

/// Returns whether a path ends with another one, component by component.
fn is_end(path: &str, end: &str) -> bool {
    let end = end.strip_prefix("./").unwrap_or(end);
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            About::Variable(name) => f.write_str(name),
            About::Line(file, line) => write!(f, "{file}:{line}"),
        }
    }
}

impl Program {
    /// Returns whether two accesses race, and the question is about such a race.
    pub fn is_race(&self, a: &Touch, b: &Touch) -> bool {
        let of = |t: &Touch| self.is_asked_about(self.name_of(t.address).as_deref(), t.at);
        a.races(b) && (self.about.is_empty() || of(a) || of(b))
    }

    /// Returns whether an access is one that races are asked about, by the name of what it accesses.
    pub fn is_asked_about(&self, name: Option<&str>, at: Point) -> bool {
        let origin = self.origin_at(at);
        let meant = |about: &About| name.is_some_and(|n| about.names(n)) || about.is_at(origin, &self.user);
        self.about.is_empty() || self.about.iter().any(meant)
    }

    /// Returns whether there is what a question about races is limited to.
    pub fn has(&self, about: &About) -> bool {
        let names = |o: &super::Object| {
            let part = |p: &(u32, super::Int, String)| about.names(&format!("{}{}", o.name, p.2));
            about.names(&o.name) || o.parts.iter().any(part)
        };
        self.objects.iter().any(names) || self.origins.iter().any(|origin| about.is_at(origin, &self.user))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_variables_are_told_apart() {
        assert_eq!(About::read("queue.c:12"), About::Line("queue.c".into(), 12));
        for name in ["queue.head", "f::x", "f::12", ":3", "a.c:0", "a.c:x"] {
            assert_eq!(About::read(name), About::Variable(name.into()), "{name}");
        }
    }

    #[test]
    fn a_variable_is_meant_with_its_parts_and_a_file_by_the_end_of_its_path() {
        let about = About::read("q");
        assert!(about.names("q") && about.names("q.head") && about.names("q[2]"));
        assert!(!about.names("queue") && !about.names("f::q"));
        let origin = Origin { file: Some("src/list.c".into()), line: 4, ..Origin::default() };
        for (text, is) in [("list.c:4", true), ("src/list.c:4", true), ("st.c:4", false), ("list.c:5", false)]
        {
            assert_eq!(About::read(text).is_at(&origin, "main.c"), is, "{text}");
        }
        let user = Origin { line: 4, ..Origin::default() };
        assert!(About::read("main.c:4").is_at(&user, "a/main.c"));
    }
}
