//! Enumerates the processes started by commands and assigns them to their commands.
//!
//! This process is a child subreaper: orphaned descendants of its commands are reparented to it, so whatever a command started stays below
//! it in the process tree, even in a session of its own. An environment variable identifies the command.

use std::sync::OnceLock;

/// Environment variable that identifies a command and its descendants.
pub(super) const MARK: &str = "ASTERISK_COMMAND";

/// Prefix of the marks of this process's commands, followed by a number: unique for each process, and preceded by the mark of the command
/// that started this process, if any.
pub(super) fn root() -> &'static str {
    static ROOT: OnceLock<String> = OnceLock::new();
    ROOT.get_or_init(|| {
        let mut bytes = [0_u8; 32];
        let own = match getrandom::fill(&mut bytes) {
            Ok(()) => blake3::Hash::from(bytes).to_hex()[..32].to_owned(),
            Err(_) => std::process::id().to_string(),
        };
        match std::env::var(MARK) {
            Ok(outer) if !outer.is_empty() => format!("{outer}/{own}"),
            _ => own,
        }
    })
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

/// Makes this process a child subreaper.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    let _without = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
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
        for (mark, command, wanted) in
            [("a.1", "a.1", true), ("a.1/b.2", "a.1", true), ("a.12", "a.1", false), ("b", "a.1", false)]
        {
            assert_eq!(is_of(mark, command), wanted, "{mark} {command}");
        }
    }
}
