//! Running a command with bounds on time and output, in a process group of its own that ends with it.

use super::family::{self, Process};
use super::warden::Warden;
use std::collections::{BTreeMap, BTreeSet};
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
/// How long what was killed may take to be gone.
const END: Duration = Duration::from_secs(2);

/// The groups that are running.
static RUNNING: Mutex<Running> = Mutex::new(Running { groups: BTreeMap::new(), count: 0, warden: None });

/// The groups that are running, with the marks of their commands, and who ends them if this process cannot.
struct Running {
    groups: BTreeMap<u32, String>,
    /// How many commands there were.
    count: u64,
    warden: Option<Warden>,
}

impl Running {
    /// Sees to it that somebody ends the groups if this process cannot. Whether somebody does.
    fn guard(&mut self) -> bool {
        if self.warden.is_none() {
            family::adopt();
        }
        self.warden = self.warden.take().or_else(Warden::start);
        self.warden.is_some()
    }

    fn add(&mut self, group: u32, mark: String) {
        self.groups.insert(group, mark);
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

    /// What there still is of a command: its group, and what left the group. Those that are over are seen off on the way. What has no mark,
    /// because its environment was emptied, is anybody's: it is taken for what the last command left. Nothing where the system does
    /// not say what runs.
    fn left_of(&self, Group(group, mark): &Group) -> Option<Vec<Process>> {
        let own = std::process::id();
        let all = family::all()?;
        let here = all.iter().find(|one| one.pid == own)?.group;
        let warden = self.warden.as_ref().map(Warden::id);
        let alone = self.groups.keys().all(|other| other == group);
        let left = |one: &Process| {
            if one.group == *group {
                return !one.over || (one.pid != *group && one.parent == own);
            }
            // Whoever is the child of another ends up here once that one is gone.
            if one.parent != own || self.groups.contains_key(&one.group) || Some(one.group) == warden {
                return false;
            }
            if one.over {
                return one.group != here;
            }
            match family::mark(one.pid).filter(|mark| mark.starts_with(family::root())) {
                Some(of) if family::is_of(&of, mark) => true,
                Some(of) => self.groups.values().all(|other| !family::is_of(&of, other)),
                None => alone && one.group != here,
            }
        };
        let (over, left) = all.into_iter().filter(left).partition::<Vec<_>, _>(|one| one.over);
        for one in over {
            see_off(one.pid);
        }
        Some(left)
    }
}

/// What a command said.
pub(super) struct Said {
    pub(super) stdout: Vec<u8>,
    /// The end of it.
    pub(super) stderr: String,
    pub(super) ended: Ended,
    /// What it left behind that cannot be ended.
    pub(super) left: Vec<u32>,
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

/// Runs a command to its end, and ends what it leaves behind. More than `most` bytes of output, or more time than `timeout`, and it is
/// killed with all its children.
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
    let ended = match stdout.as_ref().map_or(Flow::Over, |stdout| read(stdout, deadline, most, &mut said, &mut child)) {
        Flow::Over => None,
        Flow::Late => Some(Ended::Late),
        Flow::TooMuch => Some(Ended::TooMuch),
    };
    let by_itself = ended.is_none() && wait(&mut child, deadline)?;
    let left = group.end(&mut child);
    let status = child.wait()?;
    drop(group);
    let ended = ended.unwrap_or_else(|| match status {
        _ if !by_itself => Ended::Late,
        status if status.success() => Ended::Well,
        status => Ended::Badly(how(status)),
    });
    let mut tail = Vec::new();
    if let Some(stderr) = stderr {
        let until = Instant::now() + GRACE;
        while let Ok(chunk) = stderr.recv_timeout(until.saturating_duration_since(Instant::now())) {
            tail.extend(chunk);
        }
    }
    Ok(Said { stdout: said, stderr: String::from_utf8_lossy(&tail).into_owned(), ended, left })
}

/// A program with its arguments, as a command that runs below `root`; nothing of no words. A program named with a directory is looked for
/// from there. It is not told this program's own secrets, nor those that others have in these variables.
pub(super) fn command(words: &[String], root: &Path, withheld: &BTreeSet<String>) -> Option<Command> {
    let (program, args) = words.split_first()?;
    let path = Path::new(program);
    let program = if program.contains('/') && path.is_relative() { root.join(path) } else { path.to_owned() };
    let mut command = Command::new(program);
    command.args(args).current_dir(root);
    for name in crate::net::OWN.into_iter().chain(withheld.iter().map(String::as_str)) {
        command.env_remove(name);
    }
    Some(command)
}

/// Ends every command that runs, before the process itself ends at once.
pub fn end_all() {
    for group in RUNNING.lock().unwrap_or_else(PoisonError::into_inner).groups.keys() {
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
                if over.is_none() && is_over(child) {
                    over = Some(Instant::now());
                }
            }
        }
    }
}

/// Waits for the end of the child until then. Its status is not taken: as long as that is so, the number of its group is nobody else's.
fn wait(child: &mut Child, deadline: Instant) -> io::Result<bool> {
    let mut pause = Duration::from_millis(1);
    loop {
        if is_over(child) {
            return Ok(true);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
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

/// The process group of a child, known as long as the child runs, and the mark of its command.
pub(super) struct Group(u32, String);

impl Group {
    /// Starts a command in a group of its own, with pipes to it and from it. It does not begin before the group is known to whoever ends it.
    pub(super) fn spawn(mut command: Command) -> io::Result<(Child, Self)> {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let guarded = running.guard();
        running.count += 1;
        let mark = format!("{}.{}", family::root(), running.count);
        command.env(family::MARK, &mark);
        let mut child = start(if guarded { held(&command)? } else { command })?;
        running.add(child.id(), mark.clone());
        drop(running);
        let group = Self(child.id(), mark);
        if guarded && let Some(stdin) = &mut child.stdin {
            // If it is gone, that is seen by what it says.
            drop(stdin.write_all(b"\n"));
        }
        Ok((child, group))
    }

    /// Tells what is left of the command to end, kills what does not, and takes the child's status. What is there even then.
    pub(super) fn end(&self, child: &mut Child) -> Vec<u32> {
        let began = Instant::now();
        let mut told = false;
        let left = loop {
            let passed = began.elapsed();
            // Held while the processes are listed and told: nobody starts one meanwhile that would not be known.
            let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(left) = running.left_of(self) else {
                signal(self.0, passed >= GRACE);
                if passed >= GRACE || (told && !is_there(self.0)) {
                    break Vec::new();
                }
                told = true;
                drop(running);
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            if left.is_empty() || passed >= GRACE + END {
                break left;
            }
            if !told || passed >= GRACE {
                signal(self.0, told);
                left.iter().filter(|one| one.group != self.0).for_each(|one| signal_one(one.pid, told));
            }
            told = true;
            drop(running);
            thread::sleep(Duration::from_millis(10));
        };
        // As long as its status is not taken, the group's number is nobody else's.
        drop(child.kill());
        drop(child.wait());
        left.into_iter().map(|one| one.pid).collect()
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

/// Tells a process to end. It is a child of this one whose status nobody has taken, so its number is nobody else's.
#[cfg(unix)]
fn signal_one(pid: u32, hard: bool) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let _gone = pid.map(|pid| kill_process(pid, if hard { Signal::KILL } else { Signal::TERM }));
}

/// Takes the status of a child that was adopted and is over.
#[cfg(unix)]
fn see_off(pid: u32) {
    use rustix::process::{Pid, WaitOptions, waitpid};
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let _gone = pid.map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
}

/// Whether a child has ended; its status stays to be taken.
#[cfg(unix)]
pub(super) fn is_over(child: &mut Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // One whose status was taken is none any more.
    !matches!(waitid(WaitId::Pid(Pid::from_child(child)), look), Ok(None))
}

#[cfg(not(unix))]
fn signal(_group: u32, _hard: bool) {}

#[cfg(not(unix))]
fn signal_one(_pid: u32, _hard: bool) {}

#[cfg(not(unix))]
fn see_off(_pid: u32) {}

#[cfg(not(unix))]
pub(super) fn is_over(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

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

    /// Processes that hold this file as their output, other than this one.
    #[cfg(target_os = "linux")]
    fn holders(path: &Path) -> Vec<u32> {
        let others = family::all().unwrap().into_iter().filter(|one| one.pid != std::process::id());
        let holds = |one: &Process| std::fs::read_link(format!("/proc/{}/fd/1", one.pid)).is_ok_and(|to| to == path);
        others.filter(holds).map(|one| one.pid).collect()
    }

    /// Nothing of a command outlives it, wherever it went and however the command ended; what another command is doing stays.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_leaves_the_group_ends_with_the_command() {
        let dir = tempfile::tempdir().unwrap();
        let (mine, other) = (dir.path().canonicalize().unwrap().join("mine"), dir.path().canonicalize().unwrap().join("other"));
        let mut waits = Command::new("sh");
        waits.args(["-c", "(setsid sleep 1000 &) >$0 2>&1; echo up; read -r end; read -r end"]).arg(&other);
        let (mut child, group) = Group::spawn(waits).unwrap();
        let mut up = [0; 3];
        child.stdout.as_mut().unwrap().read_exact(&mut up).unwrap();
        while holders(&other).is_empty() {
            thread::sleep(Duration::from_millis(5));
        }
        for script in [
            "sleep 1000 & exit 0",
            "setsid sleep 1000 & exit 0",
            "(setsid sh -c 'trap \"\" TERM; sleep 1000; :' &); exit 0",
            "(setsid sh -c 'setsid sleep 1000 & setsid sleep 1000' &); exit 0",
            "set -m; sleep 1000 & exit 3",
            "setsid sleep 1000 & sleep 1000",
        ] {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("exec 2>&1 >{}; {script}", mine.display())]);
            let said = run(command, b"", Duration::from_millis(700), 100).unwrap();
            assert_eq!((holders(&mine), said.left), (vec![], vec![]), "{script}");
        }
        assert!(!holders(&other).is_empty(), "that of another command");
        assert_eq!((group.end(&mut child), holders(&other)), (vec![], vec![]));
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
