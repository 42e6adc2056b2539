//! Runs `git` isolated from the settings of checkout, user and machine, for reading only.

use asterisk_base::environment::Variables;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Timeout of one command.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of bytes read from standard output.
const LIMIT: u64 = 8 << 20;
/// Maximum number of bytes read from standard error.
const MAX_STDERR_BYTES: u64 = 4 << 10;

/// Overrides of settings that a checkout could use to run a program, to sign, to reach a network, or to change the output.
const CONFIG_OVERRIDES: &[&str] = &[
    "color.ui=never",
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=false",
    "diff.orderFile=/dev/null",
    "gc.auto=0",
    "grep.column=false",
    "grep.fullName=false",
    "grep.patternType=default",
    "log.follow=false",
    "log.mailmap=false",
    "log.showSignature=false",
    "mailmap.blob=",
    "mailmap.file=/dev/null",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
];

/// Environment of `git` besides `PATH`: no settings of user or machine, no prompts, no locks, no replacement or lazy fetching of objects,
/// and literal path specs.
const ENVIRONMENT: &[(&str, &str)] = &[
    // No transport: unlike `protocol.allow`, no setting of a checkout overrides this.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ASKPASS", "false"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// The `git` executable.
#[derive(Clone, Debug)]
pub(super) struct GitProgram {
    program: PathBuf,
    path: OsString,
    timeout: Duration,
}

/// Output of a command.
#[derive(Debug, Default)]
pub(super) struct GitOutput {
    /// Standard output, possibly truncated.
    pub(super) text: Vec<u8>,
    /// Whether the output is truncated because it was too long or the command timed out.
    pub(super) cut: bool,
    /// Whether the command succeeded; true for truncated output.
    pub(super) ok: bool,
    /// First line of standard error.
    pub(super) error_line: String,
}

impl GitProgram {
    /// Finds the program in an absolute directory of `PATH`; a relative one could be inside the checkout.
    pub(super) fn find(variables: &Variables) -> Option<Self> {
        let path = variables.get("PATH")?;
        let name = format!("git{}", std::env::consts::EXE_SUFFIX);
        let dirs: Vec<PathBuf> = std::env::split_paths(path).filter(|dir| dir.is_absolute()).collect();
        let program = dirs.iter().map(|dir| dir.join(&name)).find(|program| program.is_file())?;
        Some(Self { program, path: std::env::join_paths(dirs).ok()?, timeout: TIMEOUT })
    }

    /// The same with another timeout.
    pub(super) fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Runs a command in a directory. Arguments that could be mistaken for options must follow `--` or `--end-of-options`.
    pub(super) fn run(&self, dir: &Path, args: &[&str]) -> Result<GitOutput, String> {
        let mut command = Command::new(&self.program);
        command.arg("-C").arg(dir).arg("--no-pager");
        for setting in CONFIG_OVERRIDES {
            command.arg("-c").arg(setting);
        }
        command.args(args).env_clear().env("PATH", &self.path).envs(ENVIRONMENT.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("git cannot be run: {error}"))?;
        let output = self.collect_output(&mut child);
        // The result is known; the process may still be running.
        drop(child.kill());
        let status = child.wait().map_err(|error| format!("git failed: {error}"))?;
        let mut output = output?;
        output.ok = output.cut || status.success();
        Ok(output)
    }

    /// The single line of output, if the command succeeds.
    pub(super) fn line(&self, dir: &Path, args: &[&str]) -> Result<Option<String>, String> {
        let output = self.run(dir, args)?;
        let text = String::from_utf8_lossy(&output.text).trim_end().to_owned();
        Ok((output.ok && !text.is_empty()).then_some(text))
    }

    fn collect_output(&self, child: &mut Child) -> Result<GitOutput, String> {
        let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else {
            return Err("git produced no output".into());
        };
        let out = read(out, LIMIT)?;
        let err = read(err, MAX_STDERR_BYTES)?;
        let mut output = GitOutput::default();
        let end = std::time::Instant::now() + self.timeout;
        loop {
            match out.recv_timeout(end.saturating_duration_since(std::time::Instant::now())) {
                Ok(OutputPiece::Bytes(bytes)) => output.text.extend_from_slice(&bytes),
                Ok(OutputPiece::End) => break,
                Ok(OutputPiece::More) | Err(_) => {
                    output.cut = true;
                    return Ok(output);
                }
            }
        }
        // Standard error ends soon after standard output.
        let mut stderr = Vec::new();
        while let Ok(OutputPiece::Bytes(bytes)) = err.recv_timeout(Duration::from_secs(1)) {
            stderr.extend_from_slice(&bytes);
        }
        let stderr = String::from_utf8_lossy(&stderr);
        output.error_line = super::text::line(stderr.lines().find(|line| !line.is_empty()).unwrap_or_default());
        // The process may have closed its output and still run.
        let left = end.saturating_duration_since(std::time::Instant::now());
        wait(child, left);
        Ok(output)
    }
}

/// A piece of a program's output.
enum OutputPiece {
    Bytes(Vec<u8>),
    /// End of output.
    End,
    /// The limit was reached.
    More,
}

/// Reads a pipe in a thread of its own, up to `most` bytes.
fn read(mut pipe: impl Read + Send + 'static, most: u64) -> Result<mpsc::Receiver<OutputPiece>, String> {
    let (send, receive) = mpsc::sync_channel(4);
    let body = move || {
        let mut left = most;
        loop {
            let mut bytes = vec![0; 64 << 10];
            let piece = match pipe.read(&mut bytes) {
                Ok(0) | Err(_) => OutputPiece::End,
                Ok(_) if left == 0 => OutputPiece::More,
                Ok(count) => {
                    bytes.truncate(count.min(usize::try_from(left).unwrap_or(usize::MAX)));
                    left -= bytes.len() as u64;
                    OutputPiece::Bytes(bytes)
                }
            };
            let over = !matches!(piece, OutputPiece::Bytes(_));
            if send.send(piece).is_err() || over {
                return;
            }
        }
    };
    thread::Builder::new().spawn(body).map(drop).map_err(|error| format!("no thread to listen to git: {error}"))?;
    Ok(receive)
}

/// Waits for a process to exit, with a timeout.
fn wait(child: &mut Child, timeout: Duration) {
    let end = std::time::Instant::now() + timeout;
    while matches!(child.try_wait(), Ok(None)) && std::time::Instant::now() < end {
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::print_stderr)]

    use super::*;

    /// A fake `git` with the given script.
    #[cfg(unix)]
    fn fake(body: &str, timeout: Duration) -> (tempfile::TempDir, GitProgram) {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        let program = dir.path().join("git");
        std::fs::write(&program, format!("#!/bin/sh\n{body}\n")).expect("written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("made executable");
        let path = Variables::of_process().get("PATH").unwrap_or_default().to_owned();
        (dir, GitProgram { program, path, timeout })
    }

    #[cfg(unix)]
    #[test]
    fn a_hanging_command_times_out() {
        let begun = std::time::Instant::now();
        // A loaded machine may need longer until the process writes anything.
        let output = [300, 3_000, 30_000].map(Duration::from_millis).into_iter().find_map(|timeout| {
            let (dir, git) = fake("echo begun; exec sleep 9999", timeout);
            let output = git.run(dir.path(), &[]).expect("run");
            assert!(output.cut, "{output:?}");
            (!output.text.is_empty()).then_some(output.text)
        });
        assert_eq!(output.as_deref(), Some(&b"begun\n"[..]));
        assert!(begun.elapsed() < Duration::from_secs(600));
    }

    #[cfg(unix)]
    #[test]
    fn excessive_output_is_truncated() {
        let (dir, git) = fake("exec yes git", TIMEOUT);
        let output = git.run(dir.path(), &[]).expect("run");
        assert_eq!((output.cut, output.text.len() as u64), (true, LIMIT));
    }

    #[cfg(unix)]
    #[test]
    fn the_environment_is_not_inherited() {
        let (dir, git) = fake("env; echo no >&2; exit 3", TIMEOUT);
        let output = git.run(dir.path(), &[]).expect("run");
        let text = String::from_utf8_lossy(&output.text).into_owned();
        assert_eq!((output.ok, output.cut, output.error_line.as_str()), (false, false, "no"));
        assert!(text.contains("GIT_TERMINAL_PROMPT=0") && !text.contains("\nCARGO"), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn no_setting_of_a_checkout_opens_a_transport_or_reads_elsewhere() {
        let git = GitProgram::find(&Variables::of_process()).expect("git, which these tests need");
        let dir = tempfile::tempdir().expect("a directory");
        assert!(git.run(dir.path(), &["init", "--quiet"]).expect("run").ok);
        let mark = dir.path().join("mark");
        let remote = format!("ext::sh -c touch% {}", mark.display());
        let settings = [("protocol.ext.allow", "always"), ("mailmap.file", "/dev/zero"), ("diff.orderFile", "/dev/zero")];
        for (key, value) in settings {
            assert!(git.run(dir.path(), &["config", key, value]).expect("run").ok);
        }
        let output = git.run(dir.path(), &["ls-remote", &remote]).expect("run");
        assert!(!output.ok && output.error_line.contains("not allowed") && !mark.exists(), "{output:?}");
        for key in ["mailmap.file", "diff.orderFile"] {
            assert_eq!(git.line(dir.path(), &["config", key]), Ok(Some("/dev/null".to_owned())));
        }
    }
}
