//! The kernel's bounds on a command: this program is started again, takes them upon itself, and becomes the command.
//!
//! Landlock, where the kernel has it, leaves the command the working directory and a directory for temporary files to write in, the
//! system's programs to read and run, and no network. Limits on processes and on the size of files hold everywhere.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The first argument of a program that is to become a confined command.
const CONFINE: &str = "__confine";
/// What the program says of its confinement, in the directory for temporary files.
const SAID: &str = ".confined";
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

/// The words that run `sh -c TEXT` confined: this program, its bounds, the command.
pub(super) fn words(workdir: &Path, temporary: &Path, processes: u64, text: &str) -> std::io::Result<Vec<String>> {
    let own = std::env::current_exe()?;
    let path = |path: &Path| path.to_string_lossy().into_owned();
    // An existing file is not emptied by `>`.
    let rest = ["sh".to_owned(), "-C".to_owned(), "-c".to_owned(), text.to_owned()];
    let bounds = [path(&own), CONFINE.to_owned(), path(workdir), path(temporary), processes.to_string()];
    Ok(bounds.into_iter().chain(rest).collect())
}

/// Whether the kernel confined the command that used this directory for temporary files; an error says why it was not started.
pub(super) fn was_confined(temporary: &Path) -> Result<bool, String> {
    let said = std::fs::read_to_string(temporary.join(SAID)).unwrap_or_default();
    if said.starts_with(FAILED) { Err(said) } else { Ok(said == "yes") }
}

/// Becomes a confined command, if that is what the arguments ask for. Returns only if they don't, or if it fails.
pub fn become_confined(args: &[OsString]) -> Option<ExitCode> {
    let [_, first, workdir, temporary, processes, command @ ..] = args else { return None };
    if first != CONFINE {
        return None;
    }
    let failed = confine(workdir, temporary, processes, command);
    // Whoever started this program reads it there; the exit code says that it failed in any case.
    let _written = std::fs::write(Path::new(temporary).join(SAID), format!("{FAILED}{failed}"));
    Some(ExitCode::from(NOT_STARTED))
}

/// Takes the bounds and becomes the command; returns why it failed.
fn confine(workdir: &OsStr, temporary: &OsStr, processes: &OsStr, command: &[OsString]) -> String {
    let (workdir, temporary) = (Path::new(workdir), Path::new(temporary));
    let Some((program, args)) = command.split_first() else { return "no command".into() };
    let Some(processes) = processes.to_str().and_then(|number| number.parse::<u64>().ok()) else { return "no limit".into() };
    for (what, limit) in [(rustix::process::Resource::Nproc, processes), (rustix::process::Resource::Fsize, MAX_FILE)] {
        let current = rustix::process::getrlimit(what);
        let limit = current.maximum.map_or(limit, |most| most.min(limit));
        if let Err(error) =
            rustix::process::setrlimit(what, rustix::process::Rlimit { current: Some(limit), maximum: Some(limit) })
        {
            return error.to_string();
        }
    }
    let said = temporary.join(SAID);
    // Written before the bounds hold, and again if they don't.
    if let Err(error) = std::fs::write(&said, "yes") {
        return error.to_string();
    }
    match landlock(workdir, temporary) {
        Ok(true) => {}
        Ok(false) => {
            if let Err(error) = std::fs::write(&said, "no") {
                return error.to_string();
            }
        }
        Err(error) => return error,
    }
    let kept: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(|name| name.starts_with("ASTERISK_COMMAND"))).collect();
    let mut command = Command::new(program);
    command.args(args).current_dir(workdir).env_clear().envs(kept);
    command.env("PATH", PATH).env("HOME", temporary).env("TMPDIR", temporary).env("LANG", "C.UTF-8");
    command.exec().to_string()
}

/// Restricts this process. Returns whether the kernel enforces it all.
#[cfg(target_os = "linux")]
fn landlock(workdir: &Path, temporary: &Path) -> Result<bool, String> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus,
        path_beneath_rules,
    };
    let abi = ABI::V4;
    let there = SYSTEM.iter().filter(|path| Path::new(path).exists());
    let restrict = || {
        Ruleset::default()
            .handle_access(AccessFs::from_all(abi))?
            .handle_access(AccessNet::from_all(abi))?
            .create()?
            .add_rules(path_beneath_rules(there, AccessFs::from_read(abi)))?
            .add_rules(path_beneath_rules(["/dev/null"], AccessFs::from_file(abi)))?
            .add_rules(path_beneath_rules([workdir, temporary], AccessFs::from_all(abi)))?
            .restrict_self()
    };
    let status = restrict().map_err(|error: landlock::RulesetError| error.to_string())?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it has the form that it has on Linux")]
fn landlock(_workdir: &Path, _temporary: &Path) -> Result<bool, String> {
    Ok(false)
}
