//! The process that watches a confined command: it adds up what all processes of it take, and ends them together.

use super::super::super::family;
use super::super::super::guard::{self, Attended, Host};
use super::{CONFINE, ConfineSetting, bounds};
use asterisk_base::environment::Environment;
use rustix::process::Pid;
use std::fs::File;
use std::io::Write as _;
use std::process::Command;
use std::time::Duration;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// The most bytes that all processes together send to the disk.
const MAX_DISK: u64 = 1 << 30;
/// The most bytes that they write anywhere, pipes included.
const MAX_WRITTEN: u64 = 8 << 30;
/// The exit code of what was ended here.
const ENDED: u8 = 137;

/// Starts the command and watches it until it exits; returns its exit code.
pub(super) fn watch(environment: &Environment, setting: &ConfineSetting, said: &mut File) -> u8 {
    let ConfineSetting { processes, memory, .. } = *setting;
    let mut fail = |why: &str| {
        let written = write!(said, "{}{why}", super::FAILED);
        // The exit code says that it failed in any case.
        drop(written);
        super::NOT_STARTED
    };
    let Some(host) = Pid::from_raw(setting.host).and_then(Host::of) else { return super::NOT_STARTED };
    if let Err(error) = if setting.namespaces { bounds::enter_namespaces() } else { Ok(()) } {
        return fail(&error);
    }
    guard::adopt();
    let Ok(text) = serde_json::to_string(setting) else { return fail("no setting") };
    let mut command = Command::new(environment.program());
    command.args([CONFINE, &text]).env_clear().envs(environment.variables().iter());
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return fail(&error.to_string()),
    };
    guard::let_go();
    let look = || match Taken::of(std::process::id()) {
        Taken { processes: now, .. } if now > processes => Some(format!("it had more than {processes} processes")),
        Taken { memory: now, .. } if now > memory => Some(format!("it took more than {} MiB of memory", memory >> 20)),
        Taken { disk, written, .. } if disk > MAX_DISK || written > MAX_WRITTEN => {
            Some(format!("it wrote more than {} MiB to the disk, or {} MiB in all", MAX_DISK >> 20, MAX_WRITTEN >> 20))
        }
        _ => None,
    };
    match guard::attend(&child, &host, PAUSE, look) {
        Attended::Ended(status) => {
            guard::end_all();
            guard::code_of(status)
        }
        Attended::Stopped => ENDED,
        Attended::Refused(why) => {
            let written = write!(said, "\n{why}");
            drop(written);
            ENDED
        }
    }
}

/// What the processes below one take now, and what they have written.
#[derive(Debug, Default)]
struct Taken {
    processes: u64,
    memory: u64,
    disk: u64,
    written: u64,
}

impl Taken {
    fn of(root: u32) -> Self {
        let mut taken = Self::default();
        // What has ended is added to those that waited for it.
        for pid in family::below(root).into_iter().chain([root]) {
            let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
            let io = read("io");
            let of = |key: &str| -> u64 {
                io.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok()).unwrap_or_default()
            };
            taken.disk += of("write_bytes:");
            taken.written += of("wchar:");
            if pid != root {
                taken.processes += 1;
                let pages: u64 = read("statm").split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
                taken.memory += pages * u64::try_from(rustix::param::page_size()).unwrap_or(4096);
            }
        }
        taken
    }
}
