//! The process that watches a confined command: it adds up what all processes of it take, and ends them together.

use super::{CONFINE, ConfineSetting, bounds};
use crate::environment::Environment;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, set_child_subreaper, set_parent_process_death_signal, waitpid};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// The most bytes that all processes together send to the disk.
const MAX_DISK: u64 = 1 << 30;
/// The most bytes that they write anywhere, pipes included.
const MAX_WRITTEN: u64 = 8 << 30;
/// The exit code of what was ended here.
const ENDED: u8 = 137;

/// Starts the command and watches it to its end; returns its exit code.
pub(super) fn watch(environment: &Environment, setting: &ConfineSetting, said: &mut File) -> u8 {
    let ConfineSetting { processes, memory, .. } = *setting;
    let mut fail = |why: &str| {
        let written = write!(said, "{}{why}", super::FAILED);
        // The exit code says that it failed in any case.
        drop(written);
        super::NOT_STARTED
    };
    if let Err(error) = if setting.namespaces { bounds::enter_namespaces() } else { Ok(()) } {
        return fail(&error);
    }
    let own = rustix::process::getpid();
    // What ends this program ends this process, and that ends all below it.
    let ties = set_parent_process_death_signal(Some(Signal::KILL)).and_then(|()| set_child_subreaper(Some(own)));
    if let Err(error) = ties {
        return fail(&error.to_string());
    }
    let Ok(text) = serde_json::to_string(setting) else { return fail("no setting") };
    let mut command = Command::new(environment.program());
    command.args([CONFINE, &text]).env_clear().envs(environment.variables().iter());
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return fail(&error.to_string()),
    };
    // The pipes of the command are its own: they close when it ends.
    let devnull = || std::fs::OpenOptions::new().read(true).write(true).open("/dev/null");
    if let Ok(null) = devnull() {
        let _kept = (rustix::stdio::dup2_stdin(&null), rustix::stdio::dup2_stdout(&null), rustix::stdio::dup2_stderr(&null));
    }
    let Some(main) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return super::NOT_STARTED };
    loop {
        while let Ok(Some((ended, status))) = waitpid(None, WaitOptions::NOHANG) {
            if ended == main {
                end_all(own);
                let status = ExitStatus::from_raw(status.as_raw());
                let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1);
                return u8::try_from(code).unwrap_or(1);
            }
        }
        let taken = Taken::of(own);
        let why = match taken {
            Taken { processes: now, .. } if now > processes => format!("it had more than {processes} processes"),
            Taken { memory: now, .. } if now > memory => format!("it took more than {} MiB of memory", memory >> 20),
            Taken { disk, written, .. } if disk > MAX_DISK || written > MAX_WRITTEN => {
                format!("it wrote more than {} MiB to the disk, or {} MiB in all", MAX_DISK >> 20, MAX_WRITTEN >> 20)
            }
            _ => {
                std::thread::sleep(PAUSE);
                continue;
            }
        };
        end_all(own);
        let written = write!(said, "\n{why}");
        drop(written);
        return ENDED;
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
    fn of(root: Pid) -> Self {
        let mut taken = Self::default();
        // What has ended is added to whoever waited for it.
        for pid in below(root).into_iter().chain([root.as_raw_nonzero().get()]) {
            let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
            let io = read("io");
            let of = |key: &str| -> u64 {
                io.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok()).unwrap_or_default()
            };
            taken.disk += of("write_bytes:");
            taken.written += of("wchar:");
            if pid != root.as_raw_nonzero().get() {
                taken.processes += 1;
                let pages: u64 = read("statm").split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
                taken.memory += pages * u64::try_from(rustix::param::page_size()).unwrap_or(4096);
            }
        }
        taken
    }
}

/// All processes below one.
fn below(root: Pid) -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        // The name of the program, in brackets, may hold anything.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        if let Some(parent) = parent {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![root.as_raw_nonzero().get()];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.push(child);
            open.push(child);
        }
    }
    found
}

/// Ends all processes below one, until none is left.
fn end_all(root: Pid) {
    for _ in 0..200 {
        let left = below(root);
        if left.is_empty() {
            return;
        }
        for pid in left.into_iter().filter_map(Pid::from_raw) {
            let _it_may_be_gone = kill_process(pid, Signal::KILL);
        }
        while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
        std::thread::sleep(Duration::from_millis(1));
    }
}
