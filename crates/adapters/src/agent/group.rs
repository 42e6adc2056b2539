//! Process groups of commands: everything that a command started is terminated with it.

use super::family::{self, Process};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io;
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
static RUNNING: Mutex<RunningGroups> = Mutex::new(RunningGroups { groups: BTreeMap::new(), count: 0 });

/// The running groups with the marks of their commands.
struct RunningGroups {
    groups: BTreeMap<u32, String>,
    /// Number of commands started so far.
    count: u64,
}

impl RunningGroups {
    /// The remaining processes of a command: those in its group, those below its guard, and those that became children of this process because
    /// the guard was killed. Zombies are reaped on the way. An orphan without a mark, because its environment was emptied, is attributed to the
    /// last command. `None` where the system does not list processes.
    fn remaining(&self, ProcessGroup(group, mark): &ProcessGroup) -> Option<Vec<Process>> {
        let own = std::process::id();
        let all = family::all()?;
        let here = all.iter().find(|one| one.pid == own)?.group;
        let below: BTreeSet<u32> = family::among(&all, *group).into_iter().collect();
        let alone = self.groups.keys().all(|other| other == group);
        let remaining = |one: &Process| {
            if one.group == *group {
                return !one.is_zombie || (one.pid != *group && one.parent == own);
            }
            if below.contains(&one.pid) {
                return !one.is_zombie;
            }
            // An orphan is reparented to a process that adopts them.
            if one.parent != own || !family::adopts() || self.groups.contains_key(&one.group) {
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

/// Default `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/bin:/usr/bin";
/// `ENOENT`.
const ENOENT: i32 = 2;
/// Fails if the command cannot be found, with the error that the system would report.
pub(super) fn findable(command: &Command) -> io::Result<()> {
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
    /// Starts a command in a process group of its own with pipes for its standard streams. What ends it with this process, however that ends,
    /// is the command itself (`guard.rs`).
    pub(super) fn spawn(mut command: Command) -> io::Result<(Child, Self)> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.count += 1;
        let outer = command.get_envs().find(|(name, _)| *name == family::MARK).and_then(|(_, value)| value?.to_str());
        let mark = family::below_mark(outer, running.count);
        command.env(family::MARK, &mark);
        let child = start(command)?;
        running.groups.insert(child.id(), mark.clone());
        let group = Self(child.id(), mark);
        Ok((child, group))
    }

    /// Sends SIGTERM to the rest of the command, kills what remains, and reaps the child. Returns the processes that survive.
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
                let (group, others): (Vec<&Process>, Vec<&Process>) = remaining.iter().partition(|one| one.group == self.0);
                for one in &others {
                    signal_one(one.pid, signalled);
                }
                // The group is that of the guard, which ends what is below it when it is asked to; killed, it would leave it behind.
                if !group.is_empty() && (!signalled || others.is_empty()) {
                    signal(self.0, signalled);
                }
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
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).groups.remove(&self.0);
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

/// Signals a process that was listed a moment ago.
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
