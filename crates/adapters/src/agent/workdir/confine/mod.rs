//! The kernel's bounds on a command. This program is started again, twice: the first process watches the second, which takes the bounds
//! upon itself and becomes the command, or runs the commands of a line that needs no shell.
//!
//! | what | by |
//! |---|---|
//! | files: the working directory and a directory for temporary files are written, the system's programs read | Landlock |
//! | rights, owners and times of files elsewhere | a read-only mount namespace, where the kernel supports it; commands that only read are denied these calls |
//! | the network, other processes, devices, the kernel | seccomp; no capabilities; namespaces where the kernel supports them |
//! | processes, memory, what is written to the disk | limits of each process, and a watcher that adds up what all of them take |
//!
//! What the kernel cannot enforce: [`SandboxGaps`].

#[cfg(target_os = "linux")]
mod bounds;
#[cfg(target_os = "linux")]
mod watch;

use super::paths::Guarded;
use super::plain::PlainCommand;
use asterisk_base::environment::{Environment, Variables};
use asterisk_base::model::{CommandErrors, CommandJoin};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The first argument of a program that watches a confined command.
const WATCH: &str = "__watch";
/// The first argument of a program that is to become a confined command.
const CONFINE: &str = "__confine";
/// The most bytes of a file that a command writes.
const MAX_FILE: u64 = 256 << 20;
/// How many times its memory the address space of an approved command may be: runtimes reserve far more than they use.
const RESERVED: u64 = 16;
/// The search path of a command.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// What a confinement that failed begins with.
const FAILED: &str = "not started: ";
/// The exit code of a command that could not be started.
const NOT_STARTED: u8 = 126;

/// Where and how a command runs.
pub(super) struct Bounds<'a> {
    pub(super) workdir: &'a Path,
    /// The directory for temporary files.
    pub(super) temporary: &'a Path,
    /// Processes at once.
    pub(super) processes: u64,
    /// Bytes of memory, of all processes.
    pub(super) memory: u64,
    /// What the command may not change, and perhaps not read.
    pub(super) guarded: &'a Guarded,
    /// Whether the command is not started if the kernel does not confine it.
    pub(super) strict: bool,
    /// Whether this program can create namespaces ([`SandboxGaps`]).
    pub(super) namespaces: bool,
}

/// What is run.
pub(super) enum Job<'a> {
    /// A text for a shell.
    Shell(&'a str),
    /// Commands that need none and only read, and their variables.
    Plain(Vec<PlainCommand>, BTreeMap<String, String>),
}

/// The settings of a confined program.
#[derive(Debug, Serialize, Deserialize)]
struct ConfineSetting {
    /// The process that has the command run.
    host: i32,
    workdir: PathBuf,
    temporary: PathBuf,
    report: PathBuf,
    processes: u64,
    memory: u64,
    strict: bool,
    readable: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    /// Whether the commands only read.
    plain: bool,
    shell: String,
    commands: Vec<PlainCommand>,
    env: BTreeMap<String, String>,
    /// Whether the process has namespaces of its own.
    namespaces: bool,
}

/// What this system cannot enforce on commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SandboxGaps {
    /// Landlock is missing, or too old.
    pub landlock: bool,
    /// This program cannot create namespaces.
    pub namespaces: bool,
}

impl SandboxGaps {
    /// Probes the system; `program` is this program's file.
    #[cfg(target_os = "linux")]
    pub fn find(program: &Path) -> Self {
        let namespaces = Command::new(program).args([WATCH, "?"]).env_clear().stdin(Stdio::null()).stdout(Stdio::null()).status();
        Self { landlock: !bounds::has_landlock(), namespaces: !namespaces.is_ok_and(|status| status.success()) }
    }

    /// Probes the system; `program` is this program's file.
    #[cfg(not(target_os = "linux"))]
    pub fn find(_program: &Path) -> Self {
        Self { landlock: true, namespaces: true }
    }

    /// What follows from it, one sentence for each.
    pub fn sentences(self) -> Vec<&'static str> {
        let landlock =
            "this system cannot confine commands: they can read and write everything that you can, and use the network";
        let namespaces = "this system lets Asterisk create no namespaces: an approved command can change the permissions, owners and \
                          times of your files elsewhere";
        match self {
            Self { landlock: true, .. } => vec![landlock],
            Self { namespaces: true, .. } => vec![namespaces],
            Self { .. } => Vec::new(),
        }
    }
}

/// What the confined program reports: a file without a name, which the command cannot open.
pub(super) struct Report {
    file: File,
}

impl Report {
    /// Whether the kernel confined the command wholly; an error says why it was not started, or why it was ended.
    pub(super) fn was_confined(mut self) -> Result<bool, String> {
        let mut said = String::new();
        let _unreadable_is_no = self.file.read_to_string(&mut said);
        let (first, ended) = said.split_once('\n').unwrap_or((&said, ""));
        match (first, ended) {
            (_, why) if !why.is_empty() => Err(why.to_owned()),
            (why, _) if why.starts_with(FAILED) => Err(why.to_owned()),
            (first, _) => Ok(first == "yes"),
        }
    }
}

/// The words that run a job confined. The report is written by the time it begins.
pub(super) fn words(program: &Path, bounds: &Bounds<'_>, job: Job<'_>) -> std::io::Result<(Vec<String>, Report)> {
    let report = bounds.temporary.join(".report");
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&report)?;
    let (plain, shell, commands, env) = match job {
        Job::Shell(text) => (false, text.to_owned(), Vec::new(), BTreeMap::new()),
        Job::Plain(commands, env) => (true, String::new(), commands, env),
    };
    let setting = ConfineSetting {
        host: rustix::process::getpid().as_raw_nonzero().get(),
        workdir: bounds.workdir.to_owned(),
        temporary: bounds.temporary.to_owned(),
        report,
        processes: bounds.processes,
        memory: bounds.memory,
        strict: bounds.strict,
        readable: bounds.guarded.readable.clone(),
        hidden: bounds.guarded.hidden.clone(),
        plain,
        shell,
        commands,
        env,
        namespaces: bounds.namespaces,
    };
    let words = vec![program.to_string_lossy().into_owned(), WATCH.to_owned(), serde_json::to_string(&setting)?];
    Ok((words, Report { file }))
}

/// Becomes a confined command, or what watches one, if that is what the arguments ask for. Returns only if they don't, or when it has ended.
pub fn become_confined(environment: &Environment) -> Option<u8> {
    let [_, first, setting] = environment.arguments() else { return None };
    let watches = first == WATCH;
    if !watches && first != CONFINE {
        return None;
    }
    // The program in its place is ended by the limit on its files, which this program outlives.
    #[cfg(unix)]
    let _ = nix::sys::signal::SigSet::from(nix::sys::signal::SIGXFSZ).thread_unblock();
    #[cfg(target_os = "linux")]
    if watches && setting == "?" {
        return Some(u8::from(!bounds::has_namespaces()));
    }
    let Ok(setting) = serde_json::from_str::<ConfineSetting>(setting.to_str().unwrap_or_default()) else {
        return Some(NOT_STARTED);
    };
    let report = || OpenOptions::new().write(true).open(&setting.report);
    #[cfg(target_os = "linux")]
    if watches {
        let Ok(mut said) = report() else { return Some(NOT_STARTED) };
        return Some(watch::watch(environment, &setting, &mut said));
    }
    let shares = Shares::of(&setting);
    // A mount cannot be made read-only while a file of it is open for writing.
    #[cfg(target_os = "linux")]
    let mounted = if setting.namespaces { bounds::mount_read_only(&shares.written) } else { Ok(()) };
    #[cfg(not(target_os = "linux"))]
    let mounted = Ok(());
    // Closed when the command takes over, and by then without a name.
    let Ok(mut said) = report() else { return Some(NOT_STARTED) };
    let unnamed = || std::fs::remove_file(&setting.report).map_err(|error| error.to_string());
    let ended = mounted.and_then(|()| unnamed()).and_then(|()| confine(environment.variables(), &setting, &shares, &mut said));
    Some(ended.unwrap_or_else(|failed| {
        let written = said.set_len(0).and_then(|()| said.rewind()).and_then(|()| write!(said, "{FAILED}{failed}"));
        // The exit code says that it failed in any case.
        drop(written);
        NOT_STARTED
    }))
}

/// Takes the bounds, and becomes the command or runs the commands. Returns how those ended, or why it failed.
fn confine(variables: &Variables, setting: &ConfineSetting, shares: &Shares, said: &mut File) -> Result<u8, String> {
    limit(setting)?;
    let wholly = take_bounds(setting, shares)?;
    if !wholly && setting.strict {
        return Err("this system cannot confine it; `--unconfined` runs it nevertheless".into());
    }
    said.write_all(if wholly { b"yes" } else { b"no" }).map_err(|error| error.to_string())?;
    let is_kept = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.starts_with("ASTERISK_COMMAND"));
    let prepared = |program: &str| {
        let mut command = Command::new(program);
        command.env_clear().envs(variables.iter().filter(|(name, _)| is_kept(name))).env("PATH", PATH).env("LANG", "C.UTF-8");
        command.env("HOME", &setting.temporary).env("TMPDIR", &setting.temporary).envs(&setting.env);
        command
    };
    if setting.plain {
        return run_all(&setting.commands, prepared).map_err(|error| error.to_string());
    }
    // An existing file is not emptied by `>`.
    let mut shell = prepared("sh");
    Err(shell.args(["-C", "-c", &setting.shell]).current_dir(&setting.workdir).exec().to_string())
}

/// Sets the resource limits of this process and of each that it starts.
fn limit(setting: &ConfineSetting) -> Result<(), String> {
    let mut limits = vec![(Resource::Nproc, setting.processes), (Resource::Fsize, MAX_FILE), (Resource::Core, 0)];
    if cfg!(target_os = "linux") {
        limits.push((Resource::As, setting.memory.saturating_mul(if setting.plain { 1 } else { RESERVED })));
    }
    for (what, most) in limits {
        let limit = rustix::process::getrlimit(what).maximum.map_or(most, |already| already.min(most));
        setrlimit(what, Rlimit { current: Some(limit), maximum: Some(limit) }).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn take_bounds(setting: &ConfineSetting, shares: &Shares) -> Result<bool, String> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).map_err(|error| error.to_string())?;
    let wholly = bounds::landlock(shares)?;
    bounds::drop_capabilities()?;
    bounds::refuse_calls(setting.plain)?;
    Ok(wholly)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it has the form that it has on Linux")]
fn take_bounds(_setting: &ConfineSetting, _shares: &Shares) -> Result<bool, String> {
    Ok(false)
}

/// Runs the commands of a line as a shell would; returns the exit code of the last one that ran.
fn run_all(commands: &[PlainCommand], prepared: impl Fn(&str) -> Command) -> std::io::Result<u8> {
    let mut code = 0;
    let mut rest = commands;
    while let Some((first, others)) = rest.split_first() {
        let piped = others.iter().take_while(|command| command.join == CommandJoin::Pipe).count();
        let (pipeline, later) = rest.split_at(piped + 1);
        rest = later;
        let runs = match first.join {
            CommandJoin::And => code == 0,
            CommandJoin::Or => code != 0,
            CommandJoin::Then | CommandJoin::Pipe => true,
        };
        if runs {
            code = run_pipeline(pipeline, &prepared)?;
        }
    }
    Ok(code)
}

fn run_pipeline(pipeline: &[PlainCommand], prepared: impl Fn(&str) -> Command) -> std::io::Result<u8> {
    let mut children: Vec<Child> = Vec::new();
    let mut input: Option<std::io::PipeReader> = None;
    for (at, plain) in pipeline.iter().enumerate() {
        let Some((program, args)) = plain.argv.split_first() else { continue };
        let mut command = prepared(program);
        command.args(args).current_dir(&plain.dir);
        match (&plain.input, input.take()) {
            (Some(file), _) => match File::open(file) {
                Ok(file) => drop(command.stdin(file)),
                Err(error) => {
                    writeln!(std::io::stderr(), "{}: {error}", file.display())?;
                    return Ok(1);
                }
            },
            (None, Some(pipe)) => drop(command.stdin(pipe)),
            (None, None) => drop(command.stdin(Stdio::null())),
        }
        let output: Option<std::os::fd::OwnedFd> = if at + 1 < pipeline.len() {
            let (reader, writer) = std::io::pipe()?;
            input = Some(reader);
            Some(writer.into())
        } else if plain.silent {
            Some(OpenOptions::new().write(true).open("/dev/null")?.into())
        } else {
            None
        };
        match (plain.errors, &output) {
            (CommandErrors::Dropped, _) => drop(command.stderr(Stdio::null())),
            (CommandErrors::Joined, Some(output)) => drop(command.stderr(output.try_clone()?)),
            (CommandErrors::Joined, None) => drop(command.stderr(std::io::stdout())),
            (CommandErrors::Kept, _) => {}
        }
        if let Some(output) = output {
            command.stdout(output);
        }
        match command.spawn() {
            Ok(child) => children.push(child),
            Err(error) => {
                // As a shell says it; the commands before it see their pipe close.
                writeln!(std::io::stderr(), "{program}: {error}")?;
                drop(command);
                children.iter_mut().try_for_each(|child| child.wait().map(drop))?;
                return Ok(127);
            }
        }
    }
    let mut code = 0;
    for child in &mut children {
        let status = child.wait()?;
        let of_signal = || status.signal().map_or(1, |signal| 128 + signal);
        code = status.code().unwrap_or_else(of_signal);
    }
    Ok(u8::try_from(code).unwrap_or(1))
}

/// What a command may do with the parts of a working directory.
#[derive(Default)]
struct Shares {
    written: Vec<PathBuf>,
    read: Vec<PathBuf>,
    listed: Vec<PathBuf>,
}

impl Shares {
    fn of(setting: &ConfineSetting) -> Self {
        let guarded = Guarded { readable: setting.readable.clone(), hidden: setting.hidden.clone() };
        let mut shares = Self::default();
        shares.add(&setting.workdir, &guarded);
        // A command that only reads writes temporary files at most.
        if setting.plain {
            let written = std::mem::take(&mut shares.written);
            shares.read.extend(written);
        }
        shares.written.push(setting.temporary.clone());
        shares
    }

    /// Shares a path. One that holds guarded paths is shared child by child, without its links: nothing new can be made in it.
    fn add(&mut self, path: &Path, guarded: &Guarded) {
        if guarded.hides(path) {
            return;
        }
        if guarded.covers(path) {
            self.read.push(path.to_owned());
        } else if guarded.is_within(path) {
            self.listed.push(path.to_owned());
            let children = std::fs::read_dir(path).into_iter().flatten().flatten().map(|child| child.path());
            children.filter(|child| !child.is_symlink()).for_each(|child| self.add(&child, guarded));
        } else {
            self.written.push(path.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_projects_files_are_not_shared_for_writing() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for made in ["scripts/a", "src", ".asterisk", "lib/own"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        std::fs::write(root.join("asterisk.yaml"), "").unwrap();
        std::os::unix::fs::symlink("/etc", root.join("link")).unwrap();
        let guarded = Guarded {
            readable: vec![root.join("scripts"), root.join("asterisk.yaml"), root.join("lib/own")],
            hidden: vec![root.join(".asterisk")],
        };
        let shared = |of: &Path| {
            let mut shares = Shares::default();
            shares.add(of, &guarded);
            let named = |mut paths: Vec<PathBuf>| {
                paths.sort();
                paths.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect::<Vec<_>>()
            };
            [named(shares.written), named(shares.read), named(shares.listed)]
        };
        assert_eq!(shared(root), [vec!["src"], vec!["asterisk.yaml", "lib/own", "scripts"], vec!["", "lib"]]);
        assert_eq!(shared(&root.join("src")), [vec!["src"], vec![], vec![]]);
        assert_eq!(shared(&root.join("scripts/a")), [vec![], vec!["scripts/a"], vec![]]);
    }
}
