//! Runs a command with limits on time and output, in a process group of its own that is terminated with it.

use super::group::{GRACE, ProcessGroup, is_over};
use asterisk_base::environment::Variables;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Number of bytes kept of the end of standard error.
const STDERR_TAIL: usize = 4 << 10;

/// Output of a command.
pub(super) struct CommandOutput {
    pub(super) stdout: Vec<u8>,
    /// The end of standard error.
    pub(super) stderr: String,
    pub(super) ended: CommandEnd,
    /// Processes it left behind that could not be terminated.
    pub(super) left: Vec<u32>,
}

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CommandEnd {
    /// Exited with success.
    Success,
    /// Exited with failure, as described by the system.
    Failure(String),
    /// Killed after the timeout.
    TimedOut,
    /// Killed after exceeding the output limit.
    OutputLimit,
}

/// Runs a command to completion and terminates what it leaves behind. After `most` bytes of output, or after `timeout`, it is killed with
/// all its children.
pub(super) fn run(command: Command, input: &[u8], timeout: Duration, most: usize) -> io::Result<CommandOutput> {
    let deadline = Instant::now() + timeout;
    let (mut child, group) = ProcessGroup::spawn(command)?;
    // A command that does not read its input is not waited for: the thread ends with the pipe.
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    let stdout = child.stdout.take().map(chunks);
    let stderr = child.stderr.take().map(|stderr| chunks(OutputTail::new(stderr)));
    let mut output = Vec::new();
    let ended = match stdout.as_ref().map_or(ReadEnd::Over, |stdout| read(stdout, deadline, most, &mut output, &mut child)) {
        ReadEnd::Over => None,
        ReadEnd::TimedOut => Some(CommandEnd::TimedOut),
        ReadEnd::OutputLimit => Some(CommandEnd::OutputLimit),
    };
    let by_itself = ended.is_none() && wait(&mut child, deadline)?;
    let left = group.end(&mut child);
    let status = child.wait()?;
    drop(group);
    let ended = ended.unwrap_or_else(|| match status {
        _ if !by_itself => CommandEnd::TimedOut,
        status if status.success() => CommandEnd::Success,
        status => CommandEnd::Failure(describe_failure(status)),
    });
    let mut tail = Vec::new();
    if let Some(stderr) = stderr {
        let until = Instant::now() + GRACE;
        while let Ok(chunk) = stderr.recv_timeout(until.saturating_duration_since(Instant::now())) {
            tail.extend(chunk);
        }
    }
    Ok(CommandOutput { stdout: output, stderr: String::from_utf8_lossy(&tail).into_owned(), ended, left })
}

/// A command from a program and arguments, with `root` as working directory; `None` for an empty list. A program named with a directory is
/// resolved relative to `root`. Its environment is `variables`.
pub(super) fn command(words: &[String], root: &Path, variables: &Variables) -> Option<Command> {
    let (program, args) = words.split_first()?;
    let path = Path::new(program);
    let program = if program.contains('/') && path.is_relative() { root.join(path) } else { path.to_owned() };
    let mut command = Command::new(program);
    command.args(args).current_dir(root).env_clear().envs(variables.iter());
    Some(command)
}

enum ReadEnd {
    Over,
    TimedOut,
    OutputLimit,
}

/// Collects output until its end. After the child has ended, output held open by others is read for a grace period.
fn read(chunks: &Receiver<Vec<u8>>, deadline: Instant, most: usize, output: &mut Vec<u8>, child: &mut Child) -> ReadEnd {
    let mut over: Option<Instant> = None;
    loop {
        let until = over.map_or(deadline, |over| (over + GRACE).min(deadline));
        let left = until.saturating_duration_since(Instant::now());
        match chunks.recv_timeout(left.min(GRACE / 4)) {
            Ok(chunk) if output.len() + chunk.len() > most => return ReadEnd::OutputLimit,
            Ok(chunk) => output.extend(chunk),
            Err(RecvTimeoutError::Disconnected) => return ReadEnd::Over,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                return if over.is_some() { ReadEnd::Over } else { ReadEnd::TimedOut };
            }
            Err(RecvTimeoutError::Timeout) => {
                if over.is_none() && is_over(child) {
                    over = Some(Instant::now());
                }
            }
        }
    }
}

/// Waits for the child until the deadline, without reaping it: so the number of its group is not reused.
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

/// Reads in a thread of its own, which ends with the input or when the receiver is dropped.
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

/// The last bytes of a reader, available once it has ended.
struct OutputTail<R> {
    from: R,
    over: bool,
}

impl<R: Read> OutputTail<R> {
    fn new(from: R) -> Self {
        Self { from, over: false }
    }
}

impl<R: Read> Read for OutputTail<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.over {
            return Ok(0);
        }
        let mut kept: Vec<u8> = Vec::new();
        let mut buffer = [0; 4 << 10];
        while let Ok(count @ 1..) = self.from.read(&mut buffer) {
            kept.extend(&buffer[..count]);
            let more = kept.len().saturating_sub(STDERR_TAIL);
            kept.drain(..more);
        }
        self.over = true;
        out[..kept.len()].copy_from_slice(&kept);
        Ok(kept.len())
    }
}

/// Describes the failure of a command.
fn describe_failure(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it exited with code {code}"),
        None => format!("it was killed: {status}"),
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::family::{self, Process};
    use super::*;

    fn sh(script: &str, seconds: f64, most: usize) -> CommandOutput {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, b"hello\n", Duration::from_secs_f64(seconds), most).unwrap()
    }

    #[test]
    fn what_a_command_says_comes_back() {
        let output = sh("cat; echo bad >&2", 600.0, 100);
        assert_eq!((output.stdout, output.stderr.as_str(), output.ended), (b"hello\n".to_vec(), "bad\n", CommandEnd::Success));
        let output = sh("echo oops >&2; exit 3", 600.0, 100);
        assert_eq!((output.stderr.as_str(), output.ended), ("oops\n", CommandEnd::Failure("it exited with code 3".into())));
        assert!(matches!(sh("kill -9 $$", 600.0, 100).ended, CommandEnd::Failure(reason) if reason.contains('9')));
    }

    #[test]
    fn bounds_hold_with_children_and_without() {
        let began = Instant::now();
        assert_eq!(sh("sleep 9999 & sleep 9999", 0.3, 100).ended, CommandEnd::TimedOut);
        assert_eq!(sh("trap '' TERM; sleep 9999", 0.3, 100).ended, CommandEnd::TimedOut);
        assert_eq!(sh("yes", 600.0, 1000).ended, CommandEnd::OutputLimit);
        // Closes its output and hangs.
        assert_eq!(sh("exec >&-; sleep 9999", 0.3, 1000).ended, CommandEnd::TimedOut);
        // Leaves a child behind that holds its output open.
        let output = sh("sleep 9999 & echo done", 600.0, 1000);
        assert_eq!((output.stdout, output.ended), (b"done\n".to_vec(), CommandEnd::Success));
        assert!(began.elapsed() < Duration::from_secs(600), "{:?}", began.elapsed());
    }

    /// Processes other than this one that hold the file open as their output.
    #[cfg(target_os = "linux")]
    fn holders(path: &Path) -> Vec<u32> {
        let others = family::all().unwrap().into_iter().filter(|one| one.pid != std::process::id());
        let holds = |one: &Process| std::fs::read_link(format!("/proc/{}/fd/1", one.pid)).is_ok_and(|to| to == path);
        others.filter(holds).map(|one| one.pid).collect()
    }

    /// Everything a command started is terminated with it, wherever it moved and however the command ended; other commands are unaffected.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_leaves_the_group_ends_with_the_command() {
        family::adopt_orphans();
        let dir = tempfile::tempdir().unwrap();
        let (mine, other) = (dir.path().canonicalize().unwrap().join("mine"), dir.path().canonicalize().unwrap().join("other"));
        let mut waiter = Command::new("sh");
        waiter.args(["-c", "(setsid sleep 1000 &) >$0 2>&1; echo up; read -r end; read -r end"]).arg(&other);
        let (mut child, group) = ProcessGroup::spawn(waiter).unwrap();
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
            let output = run(command, b"", Duration::from_millis(700), 100).unwrap();
            assert_eq!((holders(&mine), output.left), (vec![], vec![]), "{script}");
        }
        assert!(!holders(&other).is_empty(), "that of another command");
        assert_eq!((group.end(&mut child), holders(&other)), (vec![], vec![]));
    }

    #[test]
    fn only_the_end_of_standard_error_is_kept() {
        let output = sh("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done", 600.0, 100);
        assert!(output.stderr.len() <= STDERR_TAIL && output.stderr.ends_with("line 2999\n"), "{}", output.stderr);
    }
}
