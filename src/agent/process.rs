//! Running a command with bounds on time and output, in a process group of its own that ends with it.

use super::warden::Warden;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes that are kept of the end of standard error.
const STDERR: usize = 4 << 10;
/// How long a group that is told to end may take before it is killed, and how long output is waited for that a child left open.
const GRACE: Duration = Duration::from_millis(500);

/// The groups that are running.
static RUNNING: Mutex<Running> = Mutex::new(Running { groups: BTreeSet::new(), warden: None });

/// The groups that are running, and who ends them if this process cannot.
struct Running {
    groups: BTreeSet<u32>,
    warden: Option<Warden>,
}

impl Running {
    /// Sees to it that somebody ends the groups if this process cannot. Whether somebody does.
    fn guard(&mut self) -> bool {
        self.warden = self.warden.take().or_else(Warden::start);
        self.warden.is_some()
    }

    fn add(&mut self, group: u32) {
        self.groups.insert(group);
        if let Some(warden) = &mut self.warden {
            warden.tell(group, true);
        }
    }

    fn remove(&mut self, group: u32) {
        self.groups.remove(&group);
        if let Some(warden) = &mut self.warden {
            warden.tell(group, false);
        }
    }
}

/// What a command said.
pub(super) struct Said {
    pub(super) stdout: Vec<u8>,
    /// The end of it.
    pub(super) stderr: String,
    pub(super) ended: Ended,
}

/// How it ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// By itself, with success.
    Well,
    /// By itself, without: what the system says of it.
    Badly(String),
    /// It took too long and was killed.
    Late,
    /// It said too much and was killed.
    TooMuch,
}

/// Runs a command to its end. More than `most` bytes of output, or more time than `timeout`, and it is killed with all its children.
pub(super) fn run(command: Command, input: &[u8], timeout: Duration, most: usize) -> io::Result<Said> {
    let deadline = Instant::now() + timeout;
    let (mut child, group) = Group::spawn(command)?;
    // Whoever does not read its input is not waited for: the thread ends with the pipe.
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let stdout = child.stdout.take().map(chunks);
    let stderr = child.stderr.take().map(|stderr| chunks(Tail::new(stderr)));
    let mut said = Vec::new();
    let mut ended = match stdout.as_ref().map_or(Flow::Over, |stdout| read(stdout, deadline, most, &mut said, &mut child)) {
        Flow::Over => None,
        Flow::Late => Some(Ended::Late),
        Flow::TooMuch => Some(Ended::TooMuch),
    };
    let status = if ended.is_none() { wait(&mut child, deadline)? } else { None };
    if status.is_none() {
        ended.get_or_insert(Ended::Late);
        group.end(&mut child);
    }
    drop(group);
    let ended = ended.unwrap_or_else(|| match status {
        Some(status) if status.success() => Ended::Well,
        Some(status) => Ended::Badly(how(status)),
        None => Ended::Late,
    });
    let mut tail = Vec::new();
    if let Some(stderr) = stderr {
        let until = Instant::now() + GRACE;
        while let Ok(chunk) = stderr.recv_timeout(until.saturating_duration_since(Instant::now())) {
            tail.extend(chunk);
        }
    }
    Ok(Said { stdout: said, stderr: String::from_utf8_lossy(&tail).into_owned(), ended })
}

/// A program with its arguments, as a command that runs below `root`; nothing of no words. A program named with a directory is looked for
/// from there. It is not told this program's own secrets.
pub(super) fn command(words: &[String], root: &Path) -> Option<Command> {
    let (program, args) = words.split_first()?;
    let path = Path::new(program);
    let program = if program.contains('/') && path.is_relative() { root.join(path) } else { path.to_owned() };
    let mut command = Command::new(program);
    command.args(args).current_dir(root);
    for name in crate::net::OWN {
        command.env_remove(name);
    }
    Some(command)
}

/// Ends every command that runs, before the process itself ends at once.
pub fn end_all() {
    for group in &RUNNING.lock().unwrap_or_else(PoisonError::into_inner).groups {
        signal(*group, true);
    }
}

enum Flow {
    Over,
    Late,
    TooMuch,
}

/// Collects output until there is no more of it. A child that ended and left its output open to others is waited for a little.
fn read(chunks: &Receiver<Vec<u8>>, deadline: Instant, most: usize, said: &mut Vec<u8>, child: &mut Child) -> Flow {
    let mut over: Option<Instant> = None;
    loop {
        let until = over.map_or(deadline, |over| (over + GRACE).min(deadline));
        let left = until.saturating_duration_since(Instant::now());
        match chunks.recv_timeout(left.min(GRACE / 4)) {
            Ok(chunk) if said.len() + chunk.len() > most => return Flow::TooMuch,
            Ok(chunk) => said.extend(chunk),
            Err(RecvTimeoutError::Disconnected) => return Flow::Over,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return if over.is_some() { Flow::Over } else { Flow::Late },
            Err(RecvTimeoutError::Timeout) => {
                if over.is_none() && matches!(child.try_wait(), Ok(Some(_))) {
                    over = Some(Instant::now());
                }
            }
        }
    }
}

/// Waits for the child until then.
fn wait(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Reads in a thread of its own, which ends with what it reads or with whoever listens.
fn chunks(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, receive): (SyncSender<Vec<u8>>, _) = sync_channel(4);
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if send.send(buffer[..count].to_vec()).is_err() {
                break;
            }
        }
    });
    receive
}

/// The end of what a reader gives, once there is no more of it.
struct Tail<R> {
    from: R,
    over: bool,
}

impl<R: Read> Tail<R> {
    fn new(from: R) -> Self {
        Self { from, over: false }
    }
}

impl<R: Read> Read for Tail<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.over {
            return Ok(0);
        }
        let mut kept: Vec<u8> = Vec::new();
        let mut buffer = [0; 4 << 10];
        while let Ok(count @ 1..) = self.from.read(&mut buffer) {
            kept.extend(&buffer[..count]);
            let more = kept.len().saturating_sub(STDERR);
            kept.drain(..more);
        }
        self.over = true;
        out[..kept.len()].copy_from_slice(&kept);
        Ok(kept.len())
    }
}

/// How a command ended that did not succeed.
fn how(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it ended with the code {code}"),
        None => format!("it was ended: {status}"),
    }
}

/// Where programs are if nobody says.
const PATHS: &str = "/usr/local/bin:/bin:/usr/bin";
/// What systems say of a file that is not there.
const NO_ENTRY: i32 = 2;
/// Waits for a line, and becomes what it was given. If there is none, whoever was to write it is gone.
const HELD: &str = "read -r go && exec \"$@\"";

/// The same command, which begins only when it is told a line.
fn held(command: &Command) -> io::Result<Command> {
    findable(command)?;
    let mut held = Command::new("/bin/sh");
    held.args(["-c", HELD, "sh"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => held.env(name, value),
            None => held.env_remove(name),
        };
    }
    if let Some(dir) = command.get_current_dir() {
        held.current_dir(dir);
    }
    Ok(held)
}

/// Whether a command can be started, as the system would say it.
fn findable(command: &Command) -> io::Result<()> {
    let program = Path::new(command.get_program());
    let paths = command.get_envs().find(|(name, _)| *name == "PATH").and_then(|(_, value)| value).map(OsStr::to_owned);
    if !is_found(program, paths) {
        return Err(io::Error::from_raw_os_error(NO_ENTRY));
    }
    Ok(())
}

/// Whether a program can be found: where it is if it is named with a directory, else in one of `paths`, or where programs are.
pub(super) fn is_found(program: &Path, paths: Option<OsString>) -> bool {
    if program.as_os_str().as_encoded_bytes().contains(&b'/') {
        return program.is_file();
    }
    let paths = paths.or_else(|| std::env::var_os("PATH")).unwrap_or_else(|| PATHS.into());
    std::env::split_paths(&paths).any(|dir| dir.join(program).is_file())
}

fn start(mut command: Command) -> io::Result<Child> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// The process group of a child, known as long as the child runs.
pub(super) struct Group(u32);

impl Group {
    /// Starts a command in a group of its own, with pipes to it and from it. It does not begin before the group is known to whoever ends it.
    pub(super) fn spawn(command: Command) -> io::Result<(Child, Self)> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let guarded = running.guard();
        let mut child = start(if guarded { held(&command)? } else { command })?;
        running.add(child.id());
        drop(running);
        let group = Self(child.id());
        if guarded && let Some(stdin) = &mut child.stdin {
            // If it is gone, that is seen by what it says.
            drop(stdin.write_all(b"\n"));
        }
        Ok((child, group))
    }

    /// Tells the group to end, kills what is left of it, and takes the child's status.
    pub(super) fn end(&self, child: &mut Child) {
        signal(self.0, false);
        // Not taken before the group is killed: as long as it is not, the group's number is nobody else's.
        let until = Instant::now() + GRACE;
        while Instant::now() < until && is_there(self.0) {
            thread::sleep(Duration::from_millis(10));
        }
        signal(self.0, true);
        drop(child.kill());
        drop(child.wait());
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).remove(self.0);
    }
}

#[cfg(unix)]
fn signal(group: u32, hard: bool) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let pid = i32::try_from(group).ok().and_then(Pid::from_raw);
    // One that is gone needs no end.
    let _gone = pid.map(|pid| kill_process_group(pid, if hard { Signal::KILL } else { Signal::TERM }));
}

/// Whether anything but the child, which is gone but not taken yet, may be left of a group: that cannot be told apart, so a group is
/// given its time unless it is gone.
#[cfg(unix)]
fn is_there(group: u32) -> bool {
    let pid = i32::try_from(group).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process_group(pid).is_ok())
}

#[cfg(not(unix))]
fn signal(_group: u32, _hard: bool) {}

#[cfg(not(unix))]
fn is_there(_group: u32) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn sh(script: &str, seconds: f64, most: usize) -> Said {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, b"hello\n", Duration::from_secs_f64(seconds), most).unwrap()
    }

    #[test]
    fn what_a_command_says_comes_back() {
        let said = sh("cat; echo bad >&2", 600.0, 100);
        assert_eq!((said.stdout, said.stderr.as_str(), said.ended), (b"hello\n".to_vec(), "bad\n", Ended::Well));
        let said = sh("echo oops >&2; exit 3", 600.0, 100);
        assert_eq!((said.stderr.as_str(), said.ended), ("oops\n", Ended::Badly("it ended with the code 3".into())));
        assert!(matches!(sh("kill -9 $$", 600.0, 100).ended, Ended::Badly(how) if how.contains('9')));
    }

    #[test]
    fn bounds_hold_with_children_and_without() {
        let began = Instant::now();
        assert_eq!(sh("sleep 9999 & sleep 9999", 0.3, 100).ended, Ended::Late);
        assert_eq!(sh("trap '' TERM; sleep 9999", 0.3, 100).ended, Ended::Late);
        assert_eq!(sh("yes", 600.0, 1000).ended, Ended::TooMuch);
        // One that closes its output and hangs.
        assert_eq!(sh("exec >&-; sleep 9999", 0.3, 1000).ended, Ended::Late);
        // One that leaves a child with its output open.
        let said = sh("sleep 9999 & echo done", 600.0, 1000);
        assert_eq!((said.stdout, said.ended), (b"done\n".to_vec(), Ended::Well));
        assert!(began.elapsed() < Duration::from_secs(600), "{:?}", began.elapsed());
    }

    /// A host that is killed between starting a command and noting it leaves nothing behind: the command has not begun.
    #[test]
    fn nothing_begins_before_it_is_told_to() {
        let dir = tempfile::tempdir().unwrap();
        let touch = || {
            let mut command = Command::new("touch");
            command.arg("begun").current_dir(dir.path());
            start(held(&command).unwrap()).unwrap()
        };
        let mut child = touch();
        drop(child.stdin.take());
        assert!(!child.wait().unwrap().success());
        assert!(!dir.path().join("begun").exists());
        let mut child = touch();
        child.stdin.take().unwrap().write_all(b"\n").unwrap();
        assert!(child.wait().unwrap().success());
        assert!(dir.path().join("begun").exists());
        assert_eq!(held(&Command::new("no-such-program")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn only_the_end_of_standard_error_is_kept() {
        let said = sh("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done", 600.0, 100);
        assert!(said.stderr.len() <= STDERR && said.stderr.ends_with("line 2999\n"), "{}", said.stderr);
    }
}
