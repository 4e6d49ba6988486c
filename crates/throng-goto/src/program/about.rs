//! Which races are asked about: all, or those on some variables and in some lines.

use std::fmt;

use super::{Origin, Point, Program, object_of, offset_of};
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
        a.races(b) && (self.about.is_empty() || self.is_asked_about(a, b))
    }

    /// Returns whether one of two accesses that race is in a line that is asked about, or both are to
    /// bytes of a variable that is.
    fn is_asked_about(&self, a: &Touch, b: &Touch) -> bool {
        let end = |t: &Touch| offset_of(t.address) + i64::from(t.size);
        let (from, to) = (offset_of(a.address).max(offset_of(b.address)), end(a).min(end(b)));
        let both = |(start, size): (i64, i64)| start < to && from < start + size;
        self.is_line_asked_about(a.at)
            || self.is_line_asked_about(b.at)
            || self.bytes_asked_about(object_of(a.address)).into_iter().any(both)
    }

    /// Returns whether an instruction is in a line that races are asked about.
    pub fn is_line_asked_about(&self, at: Point) -> bool {
        let origin = self.origin_at(at);
        self.about.iter().any(|about| about.is_at(origin, &self.user))
    }

    /// Returns the bytes of a shared object that races are asked about, each time the first and how
    /// many: all, or those of its parts. Parts of a union lie over one another.
    pub fn bytes_asked_about(&self, object: i64) -> Vec<(i64, i64)> {
        let Some(o) = usize::try_from(object - 1).ok().and_then(|o| self.objects.get(o)) else {
            return Vec::new();
        };
        let whole = || self.about.iter().any(|about| about.names(&o.name));
        if self.about.is_empty() || whole() {
            return vec![(0, o.init.len() as i64)];
        }
        let names = |part: &&(u32, super::Int, String)| {
            let name = format!("{}{}", o.name, part.2);
            self.about.iter().any(|about| about.names(&name))
        };
        o.parts.iter().filter(names).map(|part| (part.0.into(), part.1.size.into())).collect()
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
