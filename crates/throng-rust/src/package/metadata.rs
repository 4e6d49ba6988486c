//! What cargo says about the packages of a workspace, and which crates matter to one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use throng_lang::source::Diagnostic;

use super::{Package, Target};

#[derive(Deserialize)]
pub(super) struct Metadata {
    packages: Vec<Described>,
    pub(super) target_directory: PathBuf,
    pub(super) workspace_root: PathBuf,
    #[serde(default)]
    workspace_default_members: Vec<String>,
    workspace_members: Vec<String>,
    resolve: Graph,
}

/// Which package depends on which.
#[derive(Deserialize)]
struct Graph {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    /// Absent where the library itself depends on it; `dev` or `build` otherwise.
    kind: Option<String>,
}

impl Edge {
    fn is(&self, kind: Option<&str>) -> bool {
        self.dep_kinds.iter().any(|k| k.kind.as_deref() == kind)
    }
}

#[derive(Deserialize)]
pub(super) struct Described {
    id: String,
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Part>,
}

/// A target of a package.
#[derive(Clone, Deserialize)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) kind: Vec<String>,
}

impl Part {
    pub(super) fn crate_name(&self) -> String {
        self.name.replace('-', "_")
    }

    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|k| k == kind)
    }

    fn is_library(&self) -> bool {
        self.kind.iter().any(|kind| ["lib", "rlib", "cdylib", "dylib", "staticlib"].contains(&kind.as_str()))
    }

    /// Returns the options by which cargo compiles it alone.
    pub(super) fn options(&self) -> Vec<String> {
        let named = |option: &str| vec![option.to_string(), self.name.clone()];
        match () {
            () if self.is("bin") => named("--bin"),
            () if self.is("test") => named("--test"),
            () if self.is("example") => named("--example"),
            () if self.is("bench") => named("--bench"),
            () => vec!["--lib".into()],
        }
    }
}

/// The package and the target of it that are compiled.
pub(super) struct Chosen {
    pub(super) package: String,
    pub(super) id: String,
    pub(super) part: Part,
}

/// Packages that tests ask questions with, and whose code no question is about.
const OURS: &str = "throng";

impl Metadata {
    /// Returns the crates whose code may run when that of a package does: what it and its tests
    /// depend on, and what that depends on.
    pub(super) fn crates(&self, of: &str) -> BTreeSet<String> {
        let packages: BTreeMap<&str, &Described> = self.packages.iter().map(|p| (p.id.as_str(), p)).collect();
        let nodes: BTreeMap<&str, &Node> = self.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
        let (mut seen, mut work) = (BTreeSet::from([of]), vec![of]);
        while let Some(id) = work.pop() {
            for edge in nodes.get(id).map_or(&[][..], |node| &node.deps) {
                let is_ours = packages.get(edge.pkg.as_str()).is_some_and(|p| p.name == OURS);
                let used = edge.is(None) || id == of && edge.is(Some("dev"));
                if used && !is_ours && seen.insert(&edge.pkg) {
                    work.push(&edge.pkg);
                }
            }
        }
        let targets = seen.into_iter().filter_map(|id| packages.get(id)).flat_map(|p| &p.targets);
        targets.filter(|t| !t.is("proc-macro") && !t.is("custom-build")).map(Part::crate_name).collect()
    }

    pub(super) fn choose(&self, asked: &Package) -> Result<Chosen, Diagnostic> {
        let package = self.package(asked)?;
        let parts = &package.targets;
        let one = |fits: &dyn Fn(&Part) -> bool| parts.iter().find(|part| fits(part)).cloned();
        let part = match &asked.target {
            Target::Default => one(&Part::is_library).or_else(|| only(parts.iter().filter(|p| p.is("bin")))),
            Target::Lib => one(&Part::is_library),
            Target::Bin(name) => one(&|p| p.is("bin") && p.name == *name),
            Target::Test(name) => one(&|p| p.is("test") && p.name == *name),
            Target::Example(name) => one(&|p| p.is("example") && p.name == *name),
            Target::Crate(name) => one(&|p| p.crate_name() == *name && !p.is("custom-build")),
        };
        let Some(part) = part else {
            let there: Vec<String> = parts.iter().map(|p| p.options().join(" ")).collect();
            let message = format!("the package `{}` has no such target, or several", package.name);
            return Err(Diagnostic::whole("E843", message).hint(format!("it has {}", there.join(", "))));
        };
        Ok(Chosen { package: package.name.clone(), id: package.id.clone(), part })
    }

    fn package(&self, asked: &Package) -> Result<&Described, Diagnostic> {
        let names: Vec<&str> = self.members().map(|p| p.name.as_str()).collect();
        let found = match &asked.name {
            Some(name) => self.members().find(|p| p.name == *name),
            None => self.around(&asked.folder).or_else(|| {
                let is_default = |p: &&Described| self.workspace_default_members.contains(&p.id);
                only_one(self.members().filter(is_default))
            }),
        };
        found.ok_or_else(|| match &asked.name {
            Some(name) => Diagnostic::whole("E843", format!("no package is called `{name}`"))
                .hint(format!("there are {}", names.join(", "))),
            None => Diagnostic::whole("E843", "several packages are in this workspace")
                .hint(format!("name one with `-p`: {}", names.join(", "))),
        })
    }

    /// The packages of the workspace.
    fn members(&self) -> impl Iterator<Item = &Described> {
        self.packages.iter().filter(|p| self.workspace_members.contains(&p.id))
    }

    /// Returns the package whose folder is nearest around a folder.
    fn around(&self, folder: &Path) -> Option<&Described> {
        let folder = folder.canonicalize().ok()?;
        let home = |p: &&Described| p.manifest_path.parent().and_then(|f| f.canonicalize().ok());
        let inside = self.members().filter(|p| home(p).is_some_and(|h| folder.starts_with(h)));
        inside.max_by_key(|p| p.manifest_path.components().count())
    }
}

fn only<'a>(parts: impl Iterator<Item = &'a Part>) -> Option<Part> {
    only_one(parts).cloned()
}

fn only_one<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}
