//! Enumerates the processes started by commands and assigns them to their commands.
//!
//! What a command started is below its guard (`guard.rs`) in the tree of processes, even in a session of its own. Should the guard be killed,
//! orphans become children of this program, which is a child subreaper, too; an environment variable then says which command they are of.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Environment variable that identifies a command and its descendants.
pub(super) const MARK: &str = "ASTERISK_COMMAND";

/// Whether this process adopts the orphans of its commands.
static ADOPTS: AtomicBool = AtomicBool::new(false);

/// What all marks of this process's commands contain: unique for each process, followed by a point.
pub(super) fn own() -> &'static str {
    static OWN: OnceLock<String> = OnceLock::new();
    OWN.get_or_init(|| {
        let mut bytes = [0_u8; 32];
        match getrandom::fill(&mut bytes) {
            Ok(()) => format!("{}.", &blake3::Hash::from(bytes).to_hex()[..32]),
            Err(_) => format!("asterisk-host-{}.", std::process::id()),
        }
    })
}

/// The mark of this process's command with this number. The mark of the command that started the program, if any, precedes it.
pub(super) fn below_mark(outer: Option<&str>, number: u64) -> String {
    let outer = outer.filter(|outer| !outer.is_empty()).map_or(String::new(), |outer| format!("{outer}/"));
    format!("{outer}{}{number}", own())
}

/// Whether a mark belongs to a command, or to one started by a command that is itself a host.
pub(super) fn is_of(mark: &str, command: &str) -> bool {
    mark.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A process of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) parent: u32,
    pub(super) group: u32,
    /// Whether it is a zombie: ended, but not reaped by its parent.
    pub(super) is_zombie: bool,
}

/// Makes this process adopt the orphans of its commands, and end them with the commands. A process that has other children besides must not:
/// it could not distinguish them from those without a mark.
pub fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    ADOPTS.store(rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok(), Ordering::Relaxed);
}

/// Whether this process adopts orphans.
pub(super) fn adopts() -> bool {
    ADOPTS.load(Ordering::Relaxed)
}

/// All processes of the system; `None` where they cannot be listed.
#[cfg(target_os = "linux")]
pub(super) fn all() -> Option<Vec<Process>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // The process ended meanwhile.
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        found.extend(parse(pid, &stat));
    }
    Some(found)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn all() -> Option<Vec<Process>> {
    None
}

/// All processes below one.
pub(super) fn below(root: u32) -> Vec<u32> {
    all().map_or_else(Vec::new, |all| among(&all, root))
}

/// Those of some processes that are below one.
pub(super) fn among(all: &[Process], root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for one in all {
        children.entry(one.parent).or_default().push(one.pid);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(&below);
        open.extend(below);
    }
    found
}

/// Parses a line of `/proc/PID/stat`. The name, in parentheses, may contain anything.
#[cfg(target_os = "linux")]
fn parse(pid: u32, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    let is_zombie = matches!(words.next()?, "Z" | "X" | "x");
    Some(Process { pid, parent: words.next()?.parse().ok()?, group: words.next()?.parse().ok()?, is_zombie })
}

/// The mark of a process, if it has one and is readable.
pub(super) fn mark(pid: u32) -> Option<String> {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    environ.split(|byte| *byte == 0).find_map(|one| {
        let value = one.strip_prefix(MARK.as_bytes())?.strip_prefix(b"=")?;
        String::from_utf8(value.to_vec()).ok()
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn processes_are_listed_and_marks_nest() {
        let named = parse(7, "7 (a) b) S 3 5 5 0 -1");
        assert_eq!(named, Some(Process { pid: 7, parent: 3, group: 5, is_zombie: false }));
        assert!(parse(7, "7 (sh) Z 3 5 5 0").is_some_and(|one| one.is_zombie));
        let own = std::process::id();
        assert!(all().is_some_and(|all| all.iter().any(|one| one.pid == own)));
        let one = |pid, parent| Process { pid, parent, group: pid, is_zombie: false };
        assert_eq!(among(&[one(4, 3), one(3, 2), one(5, 2), one(6, 1), one(2, 1)], 2), [3, 5, 4]);
        for (mark, command, wanted) in
            [("a.1", "a.1", true), ("a.1/b.2", "a.1", true), ("a.12", "a.1", false), ("b", "a.1", false)]
        {
            assert_eq!(is_of(mark, command), wanted, "{mark} {command}");
        }
    }
}
