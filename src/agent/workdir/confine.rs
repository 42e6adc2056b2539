//! The kernel's bounds on a command: this program is started again, takes them upon itself, and becomes the command.
//!
//! Landlock, where the kernel has it, leaves the command the working directory and a directory for temporary files to write in, the
//! system's programs to read and run, and no TCP; newer kernels also keep it from signalling other processes and from abstract sockets.
//! Limits on processes and on the size of files hold everywhere. UDP, the sockets of the file system, and the rights and times of files
//! elsewhere are not confined.

use super::paths::Guarded;
use crate::environment::{Environment, Variables};
use serde_json::Value;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first argument of a program that is to become a confined command.
const CONFINE: &str = "__confine";
/// What may be read and run.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/opt",
    "/nix/store",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
];
/// The search path of a command.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// The most bytes of a file that a command writes.
const MAX_FILE: u64 = 256 << 20;
/// What a confinement that failed begins with.
const FAILED: &str = "not started: ";
/// The exit code of a command that could not be started.
const NOT_STARTED: u8 = 126;

/// Where and how a command runs.
pub(super) struct Bounds<'a> {
    pub(super) workdir: &'a Path,
    /// The directory for temporary files.
    pub(super) temporary: &'a Path,
    pub(super) processes: u64,
    /// What the command may not change, and perhaps not read.
    pub(super) guarded: &'a Guarded,
    /// Whether the command is not started if the kernel does not confine it.
    pub(super) strict: bool,
}

/// What the confined program reports: a file without a name, which the command cannot open.
pub(super) struct Report {
    file: File,
    _dir: tempfile::TempDir,
}

impl Report {
    /// Whether the kernel confined the command wholly; an error says why it was not started.
    pub(super) fn was_confined(mut self) -> Result<bool, String> {
        let mut said = String::new();
        let _unreadable_is_no = self.file.read_to_string(&mut said);
        if said.starts_with(FAILED) { Err(said) } else { Ok(said == "yes") }
    }
}

/// The words that run `sh -C -c TEXT` confined: this program, its bounds, the command. The report is written by the time it begins.
pub(super) fn words(program: &Path, bounds: &Bounds<'_>, text: &str) -> std::io::Result<(Vec<String>, Report)> {
    let dir = tempfile::tempdir()?;
    let report = dir.path().join("report");
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&report)?;
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let settings = serde_json::json!({
        "workdir": path(bounds.workdir), "temporary": path(bounds.temporary), "processes": bounds.processes, "report": path(&report),
        "strict": bounds.strict, "readable": bounds.guarded.readable, "hidden": bounds.guarded.hidden,
    });
    // An existing file is not emptied by `>`.
    let command = ["sh", "-C", "-c", text].map(str::to_owned);
    let words = [path(program), CONFINE.to_owned(), settings.to_string()].into_iter().chain(command).collect();
    Ok((words, Report { file, _dir: dir }))
}

/// Becomes a confined command, if that is what the arguments ask for. Returns only if they don't, or if it fails.
pub fn become_confined(environment: &Environment) -> Option<u8> {
    let [_, first, settings, command @ ..] = environment.arguments() else { return None };
    if first != CONFINE {
        return None;
    }
    let settings: Value = serde_json::from_str(settings.to_str().unwrap_or_default()).unwrap_or_default();
    let report = Path::new(settings["report"].as_str().unwrap_or_default());
    // Closed when the command takes over, and by then without a name.
    let Ok(mut said) = OpenOptions::new().write(true).open(report) else { return Some(NOT_STARTED) };
    let failed = match std::fs::remove_file(report) {
        Ok(()) => confine(environment.variables(), &settings, command, &mut said),
        Err(error) => error.to_string(),
    };
    let written = said.set_len(0).and_then(|()| said.rewind()).and_then(|()| write!(said, "{FAILED}{failed}"));
    // The exit code says that it failed in any case.
    drop(written);
    Some(NOT_STARTED)
}

/// Takes the bounds and becomes the command; returns why it failed.
fn confine(variables: &Variables, settings: &Value, command: &[OsString], said: &mut File) -> String {
    let path = |name: &str| settings[name].as_str().map(PathBuf::from);
    let paths =
        |name: &str| settings[name].as_array().into_iter().flatten().filter_map(|path| Some(path.as_str()?.into())).collect();
    let Some((program, args)) = command.split_first() else { return "no command".into() };
    let (Some(workdir), Some(temporary)) = (path("workdir"), path("temporary")) else { return "no directory".into() };
    let Some(processes) = settings["processes"].as_u64() else { return "no limit".into() };
    for (what, limit) in [(rustix::process::Resource::Nproc, processes), (rustix::process::Resource::Fsize, MAX_FILE)] {
        let current = rustix::process::getrlimit(what);
        let limit = current.maximum.map_or(limit, |most| most.min(limit));
        if let Err(error) =
            rustix::process::setrlimit(what, rustix::process::Rlimit { current: Some(limit), maximum: Some(limit) })
        {
            return error.to_string();
        }
    }
    let guarded = Guarded { readable: paths("readable"), hidden: paths("hidden") };
    let wholly = match landlock(&workdir, &temporary, &guarded) {
        Ok(wholly) => wholly,
        Err(error) => return error,
    };
    if !wholly && settings["strict"] == true {
        return "the working directory holds the project's own files, and this kernel cannot keep a command from them".into();
    }
    if let Err(error) = said.write_all(if wholly { b"yes" } else { b"no" }) {
        return error.to_string();
    }
    let kept = variables.iter().filter(|(name, _)| name.to_str().is_some_and(|name| name.starts_with("ASTERISK_COMMAND")));
    let mut command = Command::new(program);
    command.args(args).current_dir(workdir).env_clear().envs(kept);
    command.env("PATH", PATH).env("HOME", &temporary).env("TMPDIR", &temporary).env("LANG", "C.UTF-8");
    command.exec().to_string()
}

/// What a command may do with the parts of a working directory.
#[derive(Default)]
struct Shares {
    written: Vec<PathBuf>,
    read: Vec<PathBuf>,
    listed: Vec<PathBuf>,
}

impl Shares {
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

/// Restricts this process. Returns whether the kernel enforces all that concerns files and TCP.
#[cfg(target_os = "linux")]
fn landlock(workdir: &Path, temporary: &Path, guarded: &Guarded) -> Result<bool, String> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
        path_beneath_rules,
    };
    let abi = ABI::V4;
    let there = SYSTEM.iter().filter(|path| Path::new(path).exists());
    let mut shares = Shares::default();
    shares.add(workdir, guarded);
    shares.written.push(temporary.to_owned());
    let restrict = || {
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(abi))?
            .handle_access(AccessNet::from_all(abi))?
            .create()?
            .add_rules(path_beneath_rules(there, AccessFs::from_read(abi)))?
            .add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_file(abi)))?
            .add_rules(path_beneath_rules(shares.written, AccessFs::from_all(abi)))?
            .add_rules(path_beneath_rules(shares.read, AccessFs::from_read(abi)))?
            .add_rules(path_beneath_rules(shares.listed, AccessFs::ReadDir))?
            .restrict_self()?;
        // Kernels before 6.12 have no scopes, which says nothing of the rest.
        Ruleset::default().scope(Scope::AbstractUnixSocket | Scope::Signal)?.create()?.restrict_self()?;
        Ok(status)
    };
    let status = restrict().map_err(|error: landlock::RulesetError| error.to_string())?;
    Ok(status.ruleset == RulesetStatus::FullyEnforced)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it has the form that it has on Linux")]
fn landlock(_workdir: &Path, _temporary: &Path, _guarded: &Guarded) -> Result<bool, String> {
    Ok(false)
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
