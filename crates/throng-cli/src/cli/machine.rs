//! What the machine has: its memory, as far as this process may use it.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the share of the memory that a search takes if nothing else is asked for, in bytes: three
/// quarters, so that it ends before the operating system ends it. `None` where the size of the
/// memory is not known, which is on systems other than Linux.
pub fn fair_share() -> Option<u64> {
    memory().map(|bytes| bytes / 4 * 3)
}

/// Returns the memory that this process may use, in bytes: that of the machine, or of its control
/// group if that has less.
pub fn memory() -> Option<u64> {
    let total = total(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = files(&groups).into_iter().filter_map(|file| limit(&fs::read_to_string(file).ok()?));
    Some(limits.fold(total, u64::min))
}

/// Reads the size of the memory from `/proc/meminfo`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

/// Reads the limit of a control group; `max` is none.
fn limit(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// Returns the files with the limits of the control groups that `/proc/self/cgroup` lists, and of
/// those around them.
fn files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (roots, file): (&[&str], _) = if controllers.is_empty() {
            (&["/sys/fs/cgroup", "/sys/fs/cgroup/unified"], "memory.max")
        } else if controllers.split(',').any(|c| c == "memory") {
            (&["/sys/fs/cgroup/memory"], "memory.limit_in_bytes")
        } else {
            continue;
        };
        let around = Path::new(path.trim_start_matches('/')).ancestors();
        files.extend(
            around.flat_map(|group| roots.iter().map(move |root| Path::new(root).join(group).join(file))),
        );
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_limits_are_read() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:   2048 kB\n"), Some(2 << 20));
        assert_eq!(total("MemTotal: many"), None);
        assert_eq!((limit("4096\n"), limit("max\n")), (Some(4096), None));
    }

    #[test]
    fn groups_of_both_kinds_are_found_with_those_around_them() {
        let named = files("4:cpu,memory:/a/b\n3:cpu:/c\n0::/\nnonsense\n");
        let v1 = ["a/b/", "a/", ""].map(|g| format!("/sys/fs/cgroup/memory/{g}memory.limit_in_bytes"));
        let v2 = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/unified/memory.max"].map(String::from);
        let expected: Vec<PathBuf> = v1.into_iter().chain(v2).map(PathBuf::from).collect();
        assert_eq!(named, expected);
    }

    #[test]
    fn the_share_is_part_of_the_memory() {
        assert!(memory().is_none_or(|all| fair_share().is_some_and(|share| share > 0 && share < all)));
    }
}
