//! Ensures that no command outlives this program, even if it is killed: a shell process keeps the list of running process groups and kills
//! them when its input pipe closes.
//!
//! A command begins only once it is listed (`group.rs`); until then it waits for a line from this program.
//!
//! The system offers this for direct children only (`PR_SET_PDEATHSIG`), needs code between fork and exec, which is unsafe, and does not
//! cover their descendants.

use super::family::own;
use std::io::Write as _;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Reads `+ GROUP` and `- GROUP` until the end of input, then kills the remaining groups and every process whose mark contains the argument.
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

/// The watchdog's shell process.
pub(super) struct Watchdog {
    to: ChildStdin,
    /// The shell; it exits when the pipe closes.
    shell: Child,
}

impl Watchdog {
    /// Starts the watchdog; `None` where there is no shell.
    pub(super) fn start() -> Option<Self> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SCRIPT]).arg(own()).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            // Keeps signals from the terminal away from it.
            command.process_group(0);
        }
        let mut shell = command.spawn().ok()?;
        let to = shell.stdin.take()?;
        Some(Self { to, shell })
    }

    /// Process id, which is also its group's.
    pub(super) fn id(&self) -> u32 {
        self.shell.id()
    }

    /// Reports that a group has started or ended.
    pub(super) fn report(&mut self, group: u32, runs: bool) {
        // If the watchdog is gone, there is nobody to notify.
        drop(writeln!(self.to, "{} {group}", if runs { '+' } else { '-' }));
    }
}
