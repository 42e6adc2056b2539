//! The one harness: a temporary project, the program in it with nothing of the machine's environment, and the result as one text.
//!
//! The program is called in this process, in a thread with a separate working directory. Tests about processes start one:
//! [`Project::command`], [`Project::start`].
//!
//! Everything that could differ between two machines is an input: the clock is fixed at [`CLOCK`], randomness is seeded,
//! colour is off, and the temporary directory shows as `[DIR]`.

use asterisk_base::environment::Environment;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// When everything happens.
pub(crate) const CLOCK: &str = "2026-02-14T21:21:09Z";

/// A pipeline whose first node continues by what agents answer.
pub(crate) const TWO: &str = "\
pipeline: two
nodes:
  - name: look
    code: T1
    schema: { found: bool, why?: string, by?: string }
  - name: close
edges:
  - { id: E1, from: look, to: close, condition: found }
  - { id: E2, from: look, to: _done, condition: \"!found\" }
  - { id: E3, from: close, to: _done }
start: look
done: _done
";

/// A temporary directory that is a separate project, whatever its parent directories contain.
pub(crate) struct Project {
    dir: tempfile::TempDir,
    root: PathBuf,
}

impl Project {
    /// An empty project.
    pub(crate) fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("asterisk-").tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let project = Self { dir, root };
        project.file("asterisk.yaml", "");
        project
    }

    /// A project with these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let project = Self::new();
        for (path, text) in files {
            project.file(path, text);
        }
        project
    }

    /// Its directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file, with the directories above it.
    pub(crate) fn file(&self, path: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Replaces a file in one step, so that a program that watches it sees the old text or the new one, never half of it.
    pub(crate) fn edit(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Watchers pass over hidden files.
        let aside = path.with_file_name(".aside");
        std::fs::write(&aside, text).unwrap();
        std::fs::rename(aside, path).unwrap();
    }

    /// Reads a file.
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The command, not yet run.
    pub(crate) fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_asterisk"));
        command.args(args).current_dir(&self.root).env_clear();
        command.env("ASTERISK_CLOCK", CLOCK).env("NO_COLOR", "1").env("HOME", &self.root);
        // Many tests at once on a small machine starve a script of its second.
        command.env("ASTERISK_SCRIPT_SECONDS", "60");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// A call of the program, not yet made.
    pub(crate) fn call(&self, args: &[impl AsRef<OsStr>]) -> ProgramCall<'_> {
        let command = self.command(args);
        let given = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let args = args.iter().map(|arg| arg.as_ref().to_owned()).collect();
        ProgramCall { project: self, args, variables: given.collect(), directory: self.root.clone(), input: Vec::new() }
    }

    /// Calls the program.
    pub(crate) fn asterisk(&self, args: &[impl AsRef<OsStr>]) -> Ran {
        self.call(args).ran()
    }

    /// Calls the program with a text on its standard input.
    pub(crate) fn asterisk_reading(&self, args: &[impl AsRef<OsStr>], input: &str) -> Ran {
        self.call(args).reading(input).ran()
    }

    /// Runs the program in a separate process.
    pub(crate) fn process(&self, args: &[impl AsRef<OsStr>]) -> Ran {
        self.ran(&self.command(args).output().unwrap())
    }

    /// Starts the program and does not wait for it.
    pub(crate) fn start(&self, args: &[impl AsRef<OsStr>]) -> Child {
        self.command(args).spawn().unwrap()
    }

    /// The result of a finished process.
    pub(crate) fn ran(&self, output: &Output) -> Ran {
        self.came_of(&output.stdout, &output.stderr, output.status.code())
    }

    fn came_of(&self, stdout: &[u8], stderr: &[u8], code: Option<i32>) -> Ran {
        let redact = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(self.root.to_str().unwrap(), "[DIR]");
        Ran { stdout: redact(stdout), stderr: redact(stderr), code }
    }

    /// Every file and directory below, but for the settings file, with its text (directories end in `/`).
    pub(crate) fn tree(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        walk(&self.root, &self.root, &mut found);
        found.retain(|(path, _)| path != "asterisk.yaml");
        found
    }

    /// Keeps the directory for a look at it, when a test is being written.
    #[allow(dead_code)]
    pub(crate) fn keep(self) -> PathBuf {
        self.dir.keep()
    }
}

/// A call of the program.
pub(crate) struct ProgramCall<'p> {
    project: &'p Project,
    args: Vec<OsString>,
    variables: BTreeMap<OsString, OsString>,
    directory: PathBuf,
    input: Vec<u8>,
}

impl ProgramCall<'_> {
    /// Sets a variable.
    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Sets variables.
    pub(crate) fn envs<N: AsRef<OsStr>, V: AsRef<OsStr>>(self, variables: impl IntoIterator<Item = (N, V)>) -> Self {
        variables.into_iter().fold(self, |call, (name, value)| call.env(name, value))
    }

    /// Unsets a variable.
    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.variables.remove(OsStr::new(name));
        self
    }

    /// Calls the program in a directory below the project's.
    pub(crate) fn within(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = self.project.root.join(directory);
        self
    }

    /// Sets the text on standard input.
    pub(crate) fn reading(mut self, input: &str) -> Self {
        self.input = input.as_bytes().to_vec();
        self
    }

    /// Calls the program; in a separate process if a thread cannot have its own working directory.
    #[track_caller]
    pub(crate) fn ran(self) -> Ran {
        match self.within_process() {
            Some((environment, code)) => {
                let (stdout, stderr) = (environment.output().take(), environment.errors().take());
                self.project.came_of(&stdout, &stderr, Some(code.into()))
            }
            None => self.in_a_process(),
        }
    }

    /// Calls the program in a thread, with the stack of a main thread. A panic fails the test.
    #[cfg(target_os = "linux")]
    fn within_process(&self) -> Option<(Environment, u8)> {
        let args = std::iter::once("asterisk".into()).chain(self.args.iter().cloned()).collect();
        let program = Path::new(env!("CARGO_BIN_EXE_asterisk"));
        let variables = self.variables.clone().into_iter().collect();
        let environment = Environment::within_process(args, variables, &self.directory, program, self.input.clone());
        let body = {
            let environment = environment.clone();
            move || {
                nix::sched::unshare(nix::sched::CloneFlags::CLONE_FS).ok()?;
                std::env::set_current_dir(environment.directory()).unwrap();
                Some(asterisk::cli::main(&environment))
            }
        };
        let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(body).unwrap();
        let code = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Some((environment, code))
    }

    #[cfg(not(target_os = "linux"))]
    fn within_process(&self) -> Option<(Environment, u8)> {
        None
    }

    fn in_a_process(self) -> Ran {
        let mut command = self.project.command(&self.args);
        command.current_dir(&self.directory).env_clear().envs(&self.variables).stdin(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that refuses its arguments never reads.
        child.stdin.take().unwrap().write_all(&self.input).unwrap_or_default();
        self.project.ran(&child.wait_with_output().unwrap())
    }
}

/// Files below a directory, in order of their paths.
fn walk(root: &Path, dir: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.push((format!("{name}/"), Vec::new()));
            walk(root, &path, found);
        } else {
            found.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

/// The exit code and the output of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
}

impl Ran {
    /// Everything as one text.
    pub(crate) fn text(&self) -> String {
        let code = self.code.map_or("killed".to_owned(), |code| code.to_string());
        let mut out = format!("exit {code}\n");
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                let _ = write!(out, "--- {name}\n{text}");
            }
        }
        out
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.text());
        self
    }

    /// Asserts success, without any output except the data.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        let ran = self.exits(0);
        assert_eq!(ran.stderr, "", "{}", ran.text());
        ran
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{}", self.text()))
    }

    /// Standard output as a JSON value a line.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}\n{}", self.text()));
        self.stdout.lines().map(parse).collect()
    }
}

/// The lines that a program writes, read as they come.
pub(crate) struct Lines {
    lines: Receiver<String>,
    /// Those that were read.
    pub(crate) seen: Vec<String>,
}

impl Lines {
    pub(crate) fn of(output: impl Read + Send + 'static) -> Self {
        let (send, lines) = channel();
        let output = BufReader::new(output);
        std::thread::spawn(move || output.lines().map_while(Result::ok).for_each(|line| send.send(line).unwrap_or_default()));
        Self { lines, seen: Vec::new() }
    }

    /// Waits for a line with these words.
    #[track_caller]
    pub(crate) fn until(&mut self, words: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("it never said `{words}`, but: {:#?}", self.seen));
            self.seen.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }

    /// All lines, once the program has closed its output.
    pub(crate) fn whole(mut self) -> Vec<String> {
        self.seen.extend(self.lines.iter());
        self.seen
    }
}

/// How long a test waits for what must happen. It only keeps a test that fails from hanging, so no load may reach it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(mut so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < end, "not reached");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Tries what needs a machine that does something within a limit of time, with ten times the limit whenever the machine was too slow for it
/// (`None`). The limit is in milliseconds.
#[track_caller]
pub(crate) fn in_time<T>(first: u64, mut attempt: impl FnMut(u64) -> Option<T>) -> T {
    let limits = [1, 10, 100].map(|factor| first * factor);
    limits.into_iter().find_map(&mut attempt).unwrap_or_else(|| panic!("not even within {} ms", first * 100))
}

/// A text without what an edit elsewhere in a bundled file changes: hashes of texts, and numbers of lines.
pub(crate) fn without_versions(text: &str) -> String {
    let numbers = regex::Regex::new(r"(?m)\b(text )[0-9a-f]{10}\b|(\.(?:yaml|rhai):)\d+|^( *>? *)\d+( \| )").unwrap();
    numbers.replace_all(text, "$1$2${3}N$4").into_owned()
}

/// Whether loops that try the same many times try all of them: `ASTERISK_TEST_SIZE=full`.
pub(crate) fn full_size() -> bool {
    std::env::var_os("ASTERISK_TEST_SIZE").is_some_and(|size| size == "full")
}

/// How many steps such a loop takes at once: one at full size, else seven, which passes all three boundaries of a transaction by turns.
pub(crate) fn stride() -> usize {
    if full_size() { 1 } else { 7 }
}

/// The repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of the repository's test fixtures.
pub(crate) fn fixture(path: &str) -> PathBuf {
    repository().join("tests/fixtures").join(path)
}

/// Copies a directory.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The strings of a JSON list.
#[track_caller]
pub(crate) fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}")).iter().map(|item| item.as_str().unwrap()).collect()
}
