//! The process between this program and a command: the program started again, which ends the command and all that it started when this
//! program ends, in whatever way.
//!
//! On Linux it is a child subreaper, so whatever loses its parent becomes its child, in any session and with any environment: as long as it
//! has children, something is left of the command. It has a process group of its own, which no signal to the command's group reaches.
//! Elsewhere it ends the group that it shares with the command.

use super::family;
use super::group::{GRACE, findable};
use asterisk_base::environment::Environment;
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getppid, setrlimit, wait};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// The first argument of a program that guards a command.
const GUARD: &str = "__guard";
/// Its name in process lists, so that ending all processes with this program's name spares it.
const NAME: &std::ffi::CStr = c"command-guard";
/// The polling interval on systems without notification.
const PAUSE: Duration = Duration::from_millis(20);
/// The interval between checks for orphans that have ended.
const LONG_PAUSE: Duration = Duration::from_secs(1);
/// How long killed processes may take to disappear.
const END: Duration = Duration::from_secs(2);
/// The exit code of a command that could not be started.
const NOT_STARTED: u8 = 126;
/// The error of the system for a file without a program format: shells run it as a script.
const ENOEXEC: i32 = 8;

/// Puts a guard before a command. The command has the variables that are set on it, and inherits none. Fails if it cannot be found, with the
/// error that the system would report.
pub(super) fn guarded(program: &std::path::Path, command: &Command) -> io::Result<Command> {
    findable(command)?;
    let mut guarded = Command::new(program);
    guarded.arg0(NAME.to_string_lossy().as_ref()).arg(GUARD).arg(std::process::id().to_string());
    guarded.arg(command.get_program()).args(command.get_args());
    guarded.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(dir) = command.get_current_dir() {
        guarded.current_dir(dir);
    }
    Ok(guarded)
}

/// Becomes the guard of a command, if that is what the arguments ask for. Returns only if they don't, or when nothing is left of the command.
pub fn become_guard(environment: &Environment) -> Option<u8> {
    let [_, first, host, words @ ..] = environment.arguments() else { return None };
    if first != GUARD {
        return None;
    }
    let host = host.to_str().and_then(|host| Pid::from_raw(host.parse().ok()?));
    Some(host.map_or(Ok(NOT_STARTED), |host| guard(host, words)).unwrap_or_else(|error| {
        drop(writeln!(
            io::stderr(),
            "{}: {error}",
            words.first().map_or_else(Default::default, |program| program.to_string_lossy())
        ));
        NOT_STARTED
    }))
}

fn guard(host: Pid, words: &[OsString]) -> io::Result<u8> {
    let Some(host) = Host::of(host) else { return Ok(NOT_STARTED) };
    adopt();
    let child = start(words)?;
    let Attended::Ended(status) = attend(&child, &host, LONG_PAUSE, || None) else { return Ok(NOT_STARTED) };
    // What it left behind may be about to end by itself.
    if !descendants_end(GRACE, &host) && !descendants_end(ask_to_end(), &host) {
        end_all();
    }
    // Report to the parent how the command ended.
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        // One dump of memory is enough.
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _it_may_be_less_already = setrlimit(Resource::Core, none);
        stops::allow();
        rustix::process::kill_process(getpid(), signal)?;
    }
    Ok(code_of(status))
}

/// Starts the command, with the streams of this process, which lets go of them: they close when the command ends.
fn start(words: &[OsString]) -> io::Result<Child> {
    let Some((program, args)) = words.split_first() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let spawn = |mut command: Command| {
        #[cfg(target_os = "linux")]
        command.process_group(0);
        command.spawn()
    };
    let mut command = Command::new(program);
    command.args(args);
    let child = spawn(command).or_else(|error| {
        if error.raw_os_error() != Some(ENOEXEC) {
            return Err(error);
        }
        let mut shell = Command::new("/bin/sh");
        shell.arg(program).args(args);
        spawn(shell)
    })?;
    let_go();
    Ok(child)
}

/// Lets go of the standard streams.
pub(super) fn let_go() {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _kept = (rustix::stdio::dup2_stdin(&null), rustix::stdio::dup2_stdout(&null), rustix::stdio::dup2_stderr(&null));
    }
}

/// Makes this process the parent of whatever loses its own below it.
pub(super) fn adopt() {
    #[cfg(target_os = "linux")]
    let _it_sees_fewer = rustix::process::set_child_subreaper(Some(getpid()));
}

/// The exit code of what ended, as shells give it.
pub(super) fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

/// The process that started this one.
pub(super) struct Host {
    pid: Pid,
    /// Becomes readable when it ends, where the system has that.
    ends: Option<OwnedFd>,
}

impl Host {
    /// `None` if it has ended already.
    pub(super) fn of(pid: Pid) -> Option<Self> {
        let host = Self { pid, ends: end_of(pid) };
        if host.is_gone() { None } else { Some(host) }
    }

    fn is_gone(&self) -> bool {
        getppid() != Some(self.pid)
    }
}

/// What becomes readable when a process ends. `None` where the system lacks it.
#[cfg(target_os = "linux")]
fn end_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_pid: Pid) -> Option<OwnedFd> {
    None
}

/// The result of a command.
pub(super) enum Attended {
    /// It ended; what it left behind has not been looked at.
    Ended(ExitStatus),
    /// This process was asked to stop, or its host is gone. Nothing is left of the command.
    Stopped,
    /// It was ended with all that it had started, and why.
    Refused(String),
}

/// Waits for a command that was started, and ends it if the host ends, this process is asked to stop, or `look` returns a reason.
pub(super) fn attend(child: &Child, host: &Host, pause: Duration, mut look: impl FnMut() -> Option<String>) -> Attended {
    #[cfg(target_os = "linux")]
    let _it_has_another_name = rustix::thread::set_name(NAME);
    let main = Pid::from_child(child);
    let ends = end_of(main);
    let stops = stops::Stops::heed();
    loop {
        while let Ok(Some((ended, status))) = wait(WaitOptions::NOHANG) {
            if ended == main {
                return Attended::Ended(ExitStatus::from_raw(status.as_raw()));
            }
        }
        if host.is_gone() {
            end_all();
            return Attended::Stopped;
        }
        if stops.came() {
            if !descendants_end(ask_to_end(), host) {
                end_all();
            }
            return Attended::Stopped;
        }
        if let Some(why) = look() {
            end_all();
            return Attended::Refused(why);
        }
        stops.or_wait_for(host.ends.as_ref(), ends.as_ref(), pause);
    }
}

/// Whether everything below this process ends within a time; not waited for when the host is gone.
fn descendants_end(time: Duration, host: &Host) -> bool {
    let until = Instant::now() + time;
    loop {
        match wait(WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return true,
            Ok(Some(_)) => {}
            _ if Instant::now() > until || host.is_gone() => return false,
            _ => thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// Asks everything below this process to end; returns how long that may take.
fn ask_to_end() -> Duration {
    signal_all(Signal::TERM);
    GRACE
}

/// Ends everything below this process, until nothing is left.
pub(super) fn end_all() {
    let until = Instant::now() + END;
    loop {
        match wait(WaitOptions::NOHANG) {
            Err(Errno::CHILD) => return,
            Ok(Some(_)) => {}
            _ if Instant::now() > until => return,
            _ => {
                signal_all(Signal::KILL);
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn signal_all(signal: Signal) {
    for pid in family::below(std::process::id()).into_iter().filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
        let _it_may_be_gone = rustix::process::kill_process(pid, signal);
    }
}

/// This process included: the group is that of the command, too.
#[cfg(not(target_os = "linux"))]
fn signal_all(signal: Signal) {
    let _there_are_none = rustix::process::kill_current_process_group(signal);
}

/// Signals that ask this process to stop. They stay pending until it looks; a process that is started meanwhile would inherit that.
#[cfg(target_os = "linux")]
mod stops {
    use super::PAUSE;
    use nix::sys::signal::{SigSet, Signal};
    use nix::sys::signalfd::{SfdFlags, SignalFd};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::os::fd::{AsFd as _, OwnedFd};
    use std::time::Duration;

    pub(super) struct Stops(Option<SignalFd>);

    fn signals() -> SigSet {
        [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].into_iter().collect()
    }

    /// Lets them end this process again.
    pub(super) fn allow() {
        let _still_pending = signals().thread_unblock();
    }

    impl Stops {
        pub(super) fn heed() -> Self {
            let signals = signals();
            let heeded = signals
                .thread_block()
                .and_then(|()| SignalFd::with_flags(&signals, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC));
            Self(heeded.ok())
        }

        pub(super) fn came(&self) -> bool {
            self.0.as_ref().is_some_and(|signals| matches!(signals.read_signal(), Ok(Some(_))))
        }

        /// Waits until one comes or one of the two is readable, for a time at most.
        pub(super) fn or_wait_for(&self, one: Option<&OwnedFd>, other: Option<&OwnedFd>, most: Duration) {
            let most = if one.is_some() && other.is_some() { most } else { most.min(PAUSE) };
            let files = [self.0.as_ref().map(SignalFd::as_fd), one.map(OwnedFd::as_fd), other.map(OwnedFd::as_fd)];
            let mut files: Vec<PollFd<'_>> = files.iter().flatten().map(|file| PollFd::new(file, PollFlags::IN)).collect();
            let most = Timespec::try_from(most).ok();
            let _interrupted = poll(&mut files, most.as_ref());
        }
    }
}

/// They end this process and the command in its group.
#[cfg(not(target_os = "linux"))]
mod stops {
    pub(super) struct Stops;

    pub(super) fn allow() {}

    impl Stops {
        pub(super) fn heed() -> Self {
            Self
        }

        pub(super) fn came(&self) -> bool {
            false
        }

        pub(super) fn or_wait_for(
            &self,
            _: Option<&std::os::fd::OwnedFd>,
            _: Option<&std::os::fd::OwnedFd>,
            _: std::time::Duration,
        ) {
            std::thread::sleep(super::PAUSE);
        }
    }
}
