//! Seeing to it that no command outlives this program, even if it is killed without a word: a shell holds the list of the groups that run,
//! and ends them when the pipe to it breaks.
//!
//! A command begins only once it is in the list (`group.rs`): before that, what was started waits for a line from this program.
//!
//! The system could do that for a child alone (`PR_SET_PDEATHSIG`), but only by code between fork and exec, which is unsafe, and never for
//! the child's children.

use super::family::{MARK, root};
use std::io::Write as _;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Reads `+ GROUP` and `- GROUP` until there is no more to be read, and kills what is left: the groups, and whatever has the mark that the
/// script is called by.
const SCRIPT: &str = "\
while read -r what group; do
  case $what in
  +) set -- \"$@\" \"$group\" ;;
  -) left=; for one; do [ \"$one\" = \"$group\" ] || left=\"$left $one\"; done; set -- $left ;;
  esac
done
for one; do kill -s KILL -- \"-$one\"; done 2>/dev/null
for round in 1 2 3; do
  files=$(grep -Fls -- \"$0\" /proc/[0-9]*/environ)
  [ \"$files\" ] || break
  for file in $files; do pid=${file#/proc/}; kill -s KILL \"${pid%/environ}\"; done
done 2>/dev/null
";

/// The shell.
pub(super) struct Watchdog {
    to: ChildStdin,
    /// It ends with the pipe.
    shell: Child,
}

impl Watchdog {
    /// Starts it; nothing where there is no shell.
    pub(super) fn start() -> Option<Self> {
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SCRIPT])
            .arg(format!("{MARK}={}.", root()))
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            // What is typed at a terminal is not for it.
            command.process_group(0);
        }
        let mut shell = command.spawn().ok()?;
        let to = shell.stdin.take()?;
        Some(Self { to, shell })
    }

    /// Its process, which is the first of a group.
    pub(super) fn id(&self) -> u32 {
        self.shell.id()
    }

    /// That a group runs, or runs no more.
    pub(super) fn tell(&mut self, group: u32, runs: bool) {
        // If it is gone, there is nobody to be told.
        drop(writeln!(self.to, "{} {group}", if runs { '+' } else { '-' }));
    }
}
