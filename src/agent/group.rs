//! Process groups of commands: a command begins only once its termination is ensured, and everything it started is terminated with it.

use super::family::{self, Process};
use super::watchdog::Watchdog;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a group may take to end after SIGTERM before it is killed, and how long to wait for output that a child left open.
pub(super) const GRACE: Duration = Duration::from_millis(500);
/// How long killed processes may take to disappear.
const END: Duration = Duration::from_secs(2);

/// The running groups.
static RUNNING: Mutex<RunningGroups> = Mutex::new(RunningGroups { groups: BTreeMap::new(), count: 0, watchdog: None });

/// The running groups with the marks of their commands, and the watchdog that ends them if this process cannot.
struct RunningGroups {
    groups: BTreeMap<u32, String>,
    /// Number of commands started so far.
    count: u64,
    watchdog: Option<Watchdog>,
}

impl RunningGroups {
    /// Ensures that the watchdog runs. Returns whether it does.
    fn guard(&mut self) -> bool {
        self.watchdog = self.watchdog.take().or_else(Watchdog::start);
        self.watchdog.is_some()
    }

    fn add(&mut self, group: u32, mark: String) {
        self.groups.insert(group, mark);
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.report(group, true);
        }
    }

    fn remove(&mut self, group: u32) {
        self.groups.remove(&group);
        if let Some(watchdog) = &mut self.watchdog {
            watchdog.report(group, false);
        }
    }

    /// The remaining processes of a command: those in its group, and those that left it. Zombies are reaped on the way. A process without a
    /// mark, because its environment was emptied, is attributed to the last command. `None` where the system does not list processes.
    fn remaining(&self, ProcessGroup(group, mark): &ProcessGroup) -> Option<Vec<Process>> {
        let own = std::process::id();
        let all = family::all()?;
        let here = all.iter().find(|one| one.pid == own)?.group;
        let watchdog = self.watchdog.as_ref().map(Watchdog::id);
        let alone = self.groups.keys().all(|other| other == group);
        let remaining = |one: &Process| {
            if one.group == *group {
                return !one.is_zombie || (one.pid != *group && one.parent == own);
            }
            // An orphan is reparented to a process that adopts them.
            if one.parent != own || !family::adopts() || self.groups.contains_key(&one.group) || Some(one.group) == watchdog {
                return false;
            }
            if one.is_zombie {
                return one.group != here;
            }
            match family::mark(one.pid).filter(|mark| mark.contains(family::own())) {
                Some(of) if family::is_of(&of, mark) => true,
                Some(of) => self.groups.values().all(|other| !family::is_of(&of, other)),
                None => alone && one.group != here,
            }
        };
        let (zombies, remaining) = all.into_iter().filter(remaining).partition::<Vec<_>, _>(|one| one.is_zombie);
        for one in zombies {
            reap(one.pid);
        }
        Some(remaining)
    }
}

/// Ends every running command, before this process exits.
pub fn end_all() {
    for group in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).groups.keys() {
        signal(*group, true);
    }
}

/// Default `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/bin:/usr/bin";
/// `ENOENT`.
const ENOENT: i32 = 2;
/// Shell script that waits for a line and then execs its arguments. If the pipe closes without a line, the host is gone.
const GATE_SCRIPT: &str = "read -r go && exec \"$@\"";

/// Wraps a command so that it begins only after it is sent a line. It has the variables that are set on it, and inherits none.
pub(super) fn gated(command: &Command) -> io::Result<Command> {
    findable(command)?;
    let mut gated = Command::new("/bin/sh");
    gated.args(["-c", GATE_SCRIPT, "sh"]).arg(command.get_program()).args(command.get_args());
    gated.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(dir) = command.get_current_dir() {
        gated.current_dir(dir);
    }
    Ok(gated)
}

/// Fails if the command cannot be found, with the error that the system would report.
fn findable(command: &Command) -> io::Result<()> {
    let program = Path::new(command.get_program());
    let paths = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value);
    if !is_found(program, paths) {
        return Err(io::Error::from_raw_os_error(ENOENT));
    }
    Ok(())
}

/// Whether a program exists: at its path if it is named with a directory, else in one of `paths` or the default `PATH`.
pub(super) fn is_found(program: &Path, paths: Option<&OsStr>) -> bool {
    if program.as_os_str().as_encoded_bytes().contains(&b'/') {
        return program.is_file();
    }
    std::env::split_paths(paths.unwrap_or(OsStr::new(DEFAULT_PATH))).any(|dir| dir.join(program).is_file())
}

fn start(mut command: Command) -> io::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// The process group of a child, valid as long as the child is not reaped, and the mark of its command.
pub(super) struct ProcessGroup(u32, String);

impl ProcessGroup {
    /// Starts a command in a process group of its own with pipes for its standard streams. It does not begin before its group is known to
    /// the watchdog.
    pub(super) fn spawn(command: Command) -> io::Result<(Child, Self)> {
        let (mut child, group, gated) = Self::prepare(command)?;
        if gated && let Some(stdin) = &mut child.stdin {
            // If the child is gone, its output shows that.
            drop(stdin.write_all(b"\n"));
        }
        Ok((child, group))
    }

    /// Starts the wrapped command and registers its group. Returns whether it is held until it is sent a line.
    pub(super) fn prepare(mut command: Command) -> io::Result<(Child, Self, bool)> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let gated = running.guard();
        running.count += 1;
        let outer = command.get_envs().find(|(name, _)| *name == family::MARK).and_then(|(_, value)| value?.to_str());
        let mark = family::below(outer, running.count);
        command.env(family::MARK, &mark);
        let child = start(if gated { self::gated(&command)? } else { command })?;
        running.add(child.id(), mark.clone());
        let group = Self(child.id(), mark);
        Ok((child, group, gated))
    }

    /// Sends SIGTERM to what is left of the command, kills what remains, and reaps the child. Returns the processes that survive.
    pub(super) fn end(&self, child: &mut Child) -> Vec<u32> {
        let began = Instant::now();
        let mut signalled = false;
        let remaining = loop {
            let passed = began.elapsed();
            // Held while processes are listed and signalled, so that no unknown one is started meanwhile.
            let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(remaining) = running.remaining(self) else {
                signal(self.0, passed >= GRACE);
                if passed >= GRACE || (signalled && !may_have_members(self.0)) {
                    break Vec::new();
                }
                signalled = true;
                drop(running);
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            if remaining.is_empty() || passed >= GRACE + END {
                break remaining;
            }
            if !signalled || passed >= GRACE {
                signal(self.0, signalled);
                remaining.iter().filter(|one| one.group != self.0).for_each(|one| signal_one(one.pid, signalled));
            }
            signalled = true;
            drop(running);
            thread::sleep(Duration::from_millis(10));
        };
        // The group's number is not reused as long as the child is not reaped.
        drop(child.kill());
        drop(child.wait());
        remaining.into_iter().map(|one| one.pid).collect()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(self.0);
    }
}

#[cfg(unix)]
fn signal(group: u32, hard: bool) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let pid = i32::try_from(group).ok().and_then(Pid::from_raw);
    // The process may be gone.
    let _gone = pid.map(|pid| kill_process_group(pid, if hard { Signal::KILL } else { Signal::TERM }));
}

/// Whether a group may contain anything but the child, which has ended but is not reaped. The two cases look the same, so the group gets
/// its grace period unless it is gone.
#[cfg(unix)]
fn may_have_members(group: u32) -> bool {
    let pid = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process_group(pid).is_ok())
}

/// Signals a process. It is an unreaped child of this process, so its number is not reused.
#[cfg(unix)]
fn signal_one(pid: u32, hard: bool) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let _gone = pid.map(|pid| kill_process(pid, if hard { Signal::KILL } else { Signal::TERM }));
}

/// Reaps an adopted child that has ended.
#[cfg(unix)]
fn reap(pid: u32) {
    use rustix::process::{Pid, WaitOptions, waitpid};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let _gone = pid.map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
}

/// Whether a child has ended, without reaping it.
#[cfg(unix)]
pub(super) fn is_over(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // A reaped process is not a child any more.
    !matches!(waitid(WaitId::Pid(Pid::from_child(child)), look), Ok(None))
}

#[cfg(not(unix))]
fn signal(_group: u32, _hard: bool) {}

#[cfg(not(unix))]
fn signal_one(_pid: u32, _hard: bool) {}

#[cfg(not(unix))]
fn reap(_pid: u32) {}

#[cfg(not(unix))]
pub(super) fn is_over(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

#[cfg(not(unix))]
fn may_have_members(_group: u32) -> bool {
    false
}
