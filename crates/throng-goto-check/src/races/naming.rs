//! Findings, from what is known about pairs of accesses, in the words of the program.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use throng_goto::program::{Split, address};

use super::accesses::{Accesses, Touched};
use super::facts::Sum;
use super::findings::{Findings, Pair, Shared, Status, Touch};
use super::pairs::{Apart, Pairs};
use super::points::{Offsets, Place, Site};
use super::verify::original;

/// Maximum number of pairs of different accesses that are compared in one group.
const MOST_PAIRS: usize = 20_000_000;
/// Number of possible races after which no more are looked for.
const MOST_RACING: usize = 2000;
/// Maximum number of possible races that are listed of one object.
const MOST_LISTED: usize = 20;

pub(super) struct Report<'a> {
    pub(super) split: &'a Split,
    pub(super) pairs: &'a Pairs<'a>,
    pub(super) accesses: &'a Accesses,
    pub(super) open: Vec<String>,
}

type Entry<'a> = (&'a Touched, &'a BTreeSet<Place>);

impl Report<'_> {
    pub(super) fn findings(mut self) -> Findings {
        let mut objects = Vec::new();
        let accesses = self.accesses;
        for (site, touched) in accesses {
            for group in groups(touched) {
                objects.extend(self.group(*site, &group));
            }
        }
        let mut objects = merged(objects);
        let rank = |s: &Shared| !matches!(s.status, Status::Possible(_));
        objects.sort_by_key(rank);
        Findings { objects, open: self.open }
    }

    /// Returns what is said about accesses that overlap.
    fn group(&mut self, site: Site, group: &[Entry<'_>]) -> Option<Shared> {
        if group.len() * group.len() > MOST_PAIRS {
            self.open.push(format!("{}: too many different accesses", self.name(site, group)));
            return None;
        }
        let (mut reasons, mut racing) = (BTreeSet::new(), Vec::new());
        let (mut several, mut others) = (false, false);
        for (n, a) in group.iter().enumerate() {
            if racing.len() > MOST_RACING {
                break;
            }
            for b in &group[n..] {
                match self.pairs.apart(site, a.0, b.0) {
                    Some(Apart::Harmless) => {}
                    Some(why) => _ = reasons.insert(why),
                    None if self.is_asked(site, a, b) => racing.push((*a, *b)),
                    None => others = true,
                }
                several |= self.is_shared(a, b);
            }
        }
        if racing.is_empty() && (others || !several || self.pairs.stays(site)) {
            return None;
        }
        let name = self.name(site, group);
        let status = match racing.is_empty() {
            false => Status::Possible(self.listed(&name, &racing)),
            true => self.status(site, &reasons),
        };
        let accesses = group.iter().flat_map(|e| e.1).collect::<BTreeSet<_>>().len();
        Some(Shared { site: self.original_site(site), name, line: self.line(site), accesses, status })
    }

    /// Returns whether a race of two accesses is one that is asked about: one of their instructions
    /// is in a line, or both access bytes of a variable.
    fn is_asked(&self, site: Site, a: &Entry<'_>, b: &Entry<'_>) -> bool {
        let program = &self.split.program;
        let touches = |e: &Entry<'_>, (from, size)| e.0.at.overlaps(e.0.size, Offsets::one(from), size);
        let bytes = match site {
            Site::Object(o) => program.bytes_asked_about(o),
            _ => Vec::new(),
        };
        program.about.is_empty()
            || self.asked_place(a).or(self.asked_place(b)).is_some()
            || bytes.into_iter().any(|bytes| touches(a, bytes) && touches(b, bytes))
    }

    /// Returns the first instruction in a line that is asked about.
    fn asked_place(&self, entry: &Entry<'_>) -> Option<Place> {
        let asked = |place: &&Place| self.split.program.is_line_asked_about(original(self.split, **place));
        entry.1.iter().find(asked).copied()
    }

    fn is_shared(&self, a: &Entry<'_>, b: &Entry<'_>) -> bool {
        let threads = &self.pairs.flow.threads;
        let (x, y) = (&threads.of[a.0.template], &threads.of[b.0.template]);
        x.iter().any(|x| y.iter().any(|y| x != y || !threads.once[*x]))
    }

    fn status(&self, site: Site, reasons: &BTreeSet<Apart>) -> Status {
        let kinds: BTreeSet<u8> = reasons.iter().map(kind).collect();
        let locks = || -> Vec<String> {
            let locks = reasons.iter().filter_map(|r| match r {
                Apart::Lock(l, t) => Some(self.lock_name(&l.address, *t)),
                _ => None,
            });
            locks.collect::<BTreeSet<String>>().into_iter().collect()
        };
        match kinds.iter().copied().collect::<Vec<_>>()[..] {
            [] => Status::NotWritten,
            [4] => Status::NotWritten,
            [1] | [1, 4] => Status::Atomic,
            [2] | [2, 4] if locks().len() == 1 => Status::Protected(locks()),
            [5] | [4, 5] => Status::Owned("the thread that was given its index or address".into()),
            [3] | [3, 4] => Status::Owned(match site {
                Site::Heap(_) => "the thread that allocated it, or was handed it".into(),
                _ => "the thread whose variable it is".into(),
            }),
            _ => {
                let mut why = Vec::new();
                if kinds.contains(&2) {
                    why.push(format!("some accesses hold {}", locks().join(" or ")));
                }
                if kinds.contains(&1) {
                    why.push("some are atomic".into());
                }
                if kinds.contains(&3) {
                    why.push("some are made while one thread owns the object".into());
                }
                if kinds.contains(&5) {
                    why.push("some threads access parts of their own, by what they were given".into());
                }
                if kinds.contains(&4) {
                    why.push("some never happen at the same time".into());
                }
                Status::Apart(why)
            }
        }
    }

    fn listed(&self, name: &str, racing: &[(Entry<'_>, Entry<'_>)]) -> Vec<Pair> {
        let mut found: BTreeMap<(u32, u32), Pair> = BTreeMap::new();
        for (a, b) in racing {
            let (a, b) = if a.0.writes { (a, b) } else { (b, a) };
            let place = |e: &Entry<'_>| self.asked_place(e).or(e.1.first().copied());
            let (Some(first), Some(second)) = (place(a), place(b)) else { continue };
            let (first, second) = (self.touch(a.0, first), self.touch(b.0, second));
            let line = |t: &Touch| self.split.program.origin_at(t.at).line;
            let key = (line(&first), line(&second));
            if found.contains_key(&key) || found.contains_key(&(key.1, key.0)) || found.len() >= MOST_LISTED {
                continue;
            }
            let why = self.why(a.0, b.0);
            let identity = identity(self.split, name, &first, &second);
            found.insert(key, Pair { first, second, why, identity });
        }
        found.into_values().collect()
    }

    fn why(&self, a: &Touched, b: &Touched) -> String {
        let together = match self.pairs.flow.threads.of[a.template] == self.pairs.flow.threads.of[b.template]
        {
            true => "several threads may run it at the same time",
            false => "the threads may run at the same time",
        };
        let locks = match (a.locks.is_empty(), b.locks.is_empty()) {
            (true, true) => "no lock is held at either",
            (false, false) => "no lock is known to be held at both",
            _ => "at one of them no lock is held",
        };
        format!("{together}, and {locks}")
    }

    fn touch(&self, a: &Touched, place: Place) -> Touch {
        let at = original(self.split, place);
        let origin = self.split.program.origin_at(at);
        let functions: Vec<&str> = origin.function.split(" > ").collect();
        let mut lines = origin.calls.clone();
        lines.resize(functions.len().saturating_sub(1), 0);
        lines.push(origin.line);
        let calls = functions.iter().zip(lines).map(|(f, line)| (f.to_string(), line)).collect();
        let locks = a.locks.iter().map(|l| self.lock_name(&l.address, a.template)).collect();
        Touch { at, writes: a.writes, atomic: a.atomic, thread: self.thread(a.template), calls, locks }
    }

    fn thread(&self, t: usize) -> String {
        let (flow, program) = (self.pairs.flow, &self.split.program);
        let threads = &flow.threads;
        let one = |t: usize| {
            let name = &program.templates[t].name;
            match threads.parent[t] {
                Some((_, place)) => {
                    let line = program.origin(place.0 as usize, place.1 as usize).line;
                    let number = if threads.once[t] { "" } else { ", any number" };
                    format!("{name} (started in line {line}{number})")
                }
                None if threads.once[t] => name.clone(),
                None => format!("{name} (any number)"),
            }
        };
        threads.of[t].iter().map(|t| one(*t)).collect::<Vec<_>>().join(" or ")
    }

    fn lock_name(&self, sum: &Sum, t: usize) -> String {
        let program = &self.split.program;
        let register = |r: u32| {
            let template = &program.templates[t];
            let name = template.shown.get(r as usize).or(template.names.get(r as usize));
            name.cloned().flatten().unwrap_or_else(|| "a pointer".into())
        };
        match (sum.base, &sum.terms[..]) {
            (Some(Site::Object(o)), []) => {
                let name = program.name_of(address(o, sum.offset)).unwrap_or_default();
                name.split(".__").next().unwrap_or_default().to_string()
            }
            (Some(site), []) => format!("a lock in {}", self.site_name(site, sum.offset)),
            (None, [(r, 1)]) if sum.offset == 0 => format!("*{}", register(*r)),
            (None, [(r, 1)]) => format!("*({} + {})", register(*r), sum.offset),
            (Some(site), [(r, _)]) => format!("{}[{}]", self.site_name(site, 0), register(*r)),
            _ => "a lock".into(),
        }
    }

    fn name(&self, site: Site, group: &[Entry<'_>]) -> String {
        let first = group.iter().map(|e| e.0.at).min().unwrap_or(Offsets::ANY);
        match (first.stride, site) {
            (0, _) => self.site_name(site, first.start),
            (_, Site::Object(o)) => format!("{}[]", self.split.program.objects[o as usize - 1].name),
            _ => self.site_name(site, first.start),
        }
    }

    fn site_name(&self, site: Site, offset: i64) -> String {
        let program = &self.split.program;
        let behind = if offset == 0 { String::new() } else { format!("+{offset}") };
        match site {
            Site::Object(o) | Site::Private(o) => {
                program.name_of(address(o, offset)).unwrap_or_else(|| "a variable".into())
            }
            Site::Heap((t, pc)) => {
                let origin = program.origin(t as usize, pc as usize);
                let function = origin.function.split(" > ").next().unwrap_or_default();
                format!("{function}: allocated in line {}{behind}", origin.line)
            }
            Site::Local(t, k) => {
                let template = &program.templates[t as usize];
                format!("{}::{}{behind}", template.name, template.locals[k as usize].name)
            }
            Site::Function(n) => program.functions[n as usize].clone(),
            Site::Thread(_) | Site::Unknown => "unknown memory".into(),
        }
    }

    fn line(&self, site: Site) -> Option<u32> {
        match site {
            Site::Heap((t, pc)) => Some(self.split.program.origin(t as usize, pc as usize).line),
            _ => None,
        }
    }

    fn original_site(&self, site: Site) -> Site {
        let of = |t: u32| self.split.original[t as usize] as u32;
        match site {
            Site::Heap((t, pc)) => Site::Heap((of(t), pc)),
            Site::Local(t, k) => Site::Local(of(t), k),
            Site::Thread((t, pc)) => Site::Thread((of(t), pc)),
            other => other,
        }
    }
}

/// Returns one object for those that only copies of code tell apart.
fn merged(objects: Vec<Shared>) -> Vec<Shared> {
    let mut found: Vec<Shared> = Vec::new();
    let mut known: HashMap<(Site, String), usize> = HashMap::new();
    for shared in objects {
        match known.entry((shared.site, shared.name.clone())) {
            std::collections::hash_map::Entry::Occupied(at) => {
                let first = &mut found[*at.get()];
                first.accesses = first.accesses.max(shared.accesses);
                let old = std::mem::replace(&mut first.status, Status::NotWritten);
                first.status = either(old, shared.status);
            }
            std::collections::hash_map::Entry::Vacant(new) => {
                new.insert(found.len());
                found.push(shared);
            }
        }
    }
    found
}

/// Returns what is said of two objects in one.
fn either(a: Status, b: Status) -> Status {
    match (a, b) {
        (Status::Possible(mut pairs), Status::Possible(more)) => {
            let is_new = |p: &Pair| !pairs.iter().any(|known| known.identity == p.identity);
            let new: Vec<Pair> = more.into_iter().filter(is_new).collect();
            pairs.extend(new);
            pairs.truncate(MOST_LISTED);
            Status::Possible(pairs)
        }
        (possible @ Status::Possible(_), _) | (_, possible @ Status::Possible(_)) => possible,
        (a, b) if a == b => a,
        (a, b) => {
            let mut reasons = reasons(a);
            reasons.extend(self::reasons(b));
            reasons.sort();
            reasons.dedup();
            Status::Apart(reasons)
        }
    }
}

fn reasons(status: Status) -> Vec<String> {
    match status {
        Status::Possible(_) => Vec::new(),
        Status::Protected(locks) => vec![format!("some accesses hold {}", locks.join(" or "))],
        Status::Apart(reasons) => reasons,
        Status::Atomic => vec!["some are atomic".into()],
        Status::Owned(_) => vec!["some are made while one thread owns the object".into()],
        Status::NotWritten => vec!["some never happen at the same time".into()],
    }
}

fn kind(why: &Apart) -> u8 {
    match why {
        Apart::Harmless => 0,
        Apart::Atomic => 1,
        Apart::Lock(..) => 2,
        Apart::Owned => 3,
        Apart::Order => 4,
        Apart::Index => 5,
    }
}

/// Returns a number that stays when lines are inserted elsewhere.
fn identity(split: &Split, name: &str, a: &Touch, b: &Touch) -> u64 {
    let mut hasher = DefaultHasher::new();
    let part = |t: &Touch| {
        let origin = split.program.origin_at(t.at);
        (origin.function.clone(), origin.text.trim().to_string())
    };
    let mut both = [part(a), part(b)];
    both.sort();
    (name, both).hash(&mut hasher);
    hasher.finish()
}

/// Puts accesses together that may overlap, directly or by way of others.
fn groups(touched: &BTreeMap<Touched, BTreeSet<Place>>) -> Vec<Vec<Entry<'_>>> {
    let mut ranges: Vec<(Offsets, i64)> = touched.keys().map(|t| (t.at, t.size)).collect();
    ranges.sort_unstable();
    ranges.dedup();
    let mut number: Vec<usize> = (0..ranges.len()).collect();
    for i in 0..ranges.len() {
        for j in 0..i {
            if ranges[i].0.overlaps(ranges[i].1, ranges[j].0, ranges[j].1) && number[i] != number[j] {
                let (from, to) = (number[i].max(number[j]), number[i].min(number[j]));
                number.iter_mut().filter(|n| **n == from).for_each(|n| *n = to);
            }
        }
    }
    let index: HashMap<(Offsets, i64), usize> = ranges.into_iter().zip(number).collect();
    let mut found: BTreeMap<usize, Vec<Entry<'_>>> = BTreeMap::new();
    for entry in touched {
        found.entry(index[&(entry.0.at, entry.0.size)]).or_default().push(entry);
    }
    found.into_values().collect()
}
