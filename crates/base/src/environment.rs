//! What the program is given from outside: its arguments and variables, the working directory and the standard streams. Only this module
//! reads them from the process; a test gives others.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal as _, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The inputs and outputs of one call of the program. Cloning costs one reference count.
#[derive(Clone, Default)]
pub struct Environment(Arc<Given>);

#[derive(Default)]
struct Given {
    arguments: Vec<OsString>,
    variables: Variables,
    directory: PathBuf,
    program: PathBuf,
    input: InputStream,
    output: OutputStream,
    errors: OutputStream,
    /// Whether the call is all that this process does.
    owns_process: bool,
}

impl Environment {
    /// The environment of this process, which does nothing but this call.
    pub fn of_process() -> Self {
        let directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let arguments: Vec<OsString> = std::env::args_os().collect();
        let program = std::env::current_exe().ok().or_else(|| arguments.first().map(PathBuf::from)).unwrap_or_default();
        Self(Arc::new(Given {
            arguments,
            variables: Variables::of_process(),
            directory,
            program,
            input: InputStream::of_process(),
            output: OutputStream::new(Sink::Stdout, io::stdout().is_terminal()),
            errors: OutputStream::new(Sink::Stderr, io::stderr().is_terminal()),
            owns_process: true,
        }))
    }

    /// An environment for one call of several in a process. `directory` must be the working directory of the calling thread; output is kept
    /// ([`OutputStream::take`]), and nothing is a terminal.
    pub fn within_process(
        arguments: Vec<OsString>,
        variables: Variables,
        directory: &Path,
        program: &Path,
        input: Vec<u8>,
    ) -> Self {
        Self(Arc::new(Given {
            arguments,
            variables,
            directory: directory.to_owned(),
            program: program.to_owned(),
            input: InputStream::new(Cursor::new(input), false),
            ..Given::default()
        }))
    }

    /// The arguments; the first is the program's name.
    pub fn arguments(&self) -> &[OsString] {
        &self.0.arguments
    }

    /// The variables.
    pub fn variables(&self) -> &Variables {
        &self.0.variables
    }

    /// The working directory.
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// The program's file, to start it again.
    pub fn program(&self) -> &Path {
        &self.0.program
    }

    /// Standard input.
    pub fn input(&self) -> &InputStream {
        &self.0.input
    }

    /// Standard output.
    pub fn output(&self) -> &OutputStream {
        &self.0.output
    }

    /// Standard error.
    pub fn errors(&self) -> &OutputStream {
        &self.0.errors
    }

    /// Whether the process ends with this call, which then may set signal handlers and adopt orphaned processes.
    pub fn owns_process(&self) -> bool {
        self.0.owns_process
    }

    /// Calls `handler` when the user interrupts the process. Without a handler, an interrupt ends the process.
    pub fn on_interrupt(&self, handler: impl FnMut() + Send + 'static) {
        if self.owns_process() {
            drop(ctrlc::set_handler(handler));
        }
    }

    /// Has a write beyond the limit on the size of files (`ulimit -f`) fail like any other, instead of ending the process by a signal. All
    /// threads and commands that are started later inherit that.
    #[cfg(unix)]
    pub fn outlive_file_limit(&self) {
        if self.owns_process() {
            let _ = nix::sys::signal::SigSet::from(nix::sys::signal::SIGXFSZ).thread_block();
        }
    }

    /// Leaks a large value if the process ends with this call, which is faster than freeing it; drops it otherwise.
    pub fn forget<T>(&self, value: T) {
        if self.owns_process() {
            std::mem::forget(value);
        }
    }

    /// Exits the process, if it ends with this call; returns otherwise.
    pub fn stop(&self, code: u8) {
        if self.owns_process() {
            std::process::exit(code.into());
        }
    }
}

/// Variables may be secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("directory", &self.0.directory).finish_non_exhaustive()
    }
}

/// Environment variables. Clones share them.
#[derive(Clone, Default)]
pub struct Variables(Arc<BTreeMap<OsString, OsString>>);

impl Variables {
    /// Those of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// The value of a variable, if it is Unicode.
    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name)?.to_str().map(str::to_owned)
    }

    /// Whether a variable has this value.
    pub fn says(&self, name: &str, value: impl AsRef<OsStr>) -> bool {
        self.get(name) == Some(value.as_ref())
    }

    /// All of them, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// All but those that `left_out` names.
    #[must_use]
    pub fn without(&self, left_out: impl Fn(&str) -> bool) -> Self {
        let kept = self.iter().filter(|(name, _)| !name.to_str().is_some_and(&left_out));
        kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

impl FromIterator<(OsString, OsString)> for Variables {
    fn from_iter<T: IntoIterator<Item = (OsString, OsString)>>(pairs: T) -> Self {
        Self(Arc::new(pairs.into_iter().collect()))
    }
}

/// Variables may be secrets.
impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variables").finish_non_exhaustive()
    }
}

/// Standard input. Clones share it.
#[derive(Clone)]
pub struct InputStream {
    from: Arc<Mutex<Box<dyn BufRead + Send>>>,
    is_terminal: bool,
}

impl InputStream {
    /// That of this process.
    pub fn of_process() -> Self {
        Self::new(BufReader::new(io::stdin()), io::stdin().is_terminal())
    }

    fn new(from: impl BufRead + Send + 'static, is_terminal: bool) -> Self {
        Self { from: Arc::new(Mutex::new(Box::new(from))), is_terminal }
    }

    /// Whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// The stream, for one reader at a time.
    pub fn lock(&self) -> MutexGuard<'_, Box<dyn BufRead + Send>> {
        self.from.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing.
impl Default for InputStream {
    fn default() -> Self {
        Self::new(io::empty(), false)
    }
}

impl Read for InputStream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.lock().read(bytes)
    }
}

impl fmt::Debug for InputStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputStream").field("is_terminal", &self.is_terminal).finish_non_exhaustive()
    }
}

/// Standard output or standard error. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct OutputStream(Arc<OutputState>);

#[derive(Debug, Default)]
struct OutputState {
    to: Sink,
    is_terminal: bool,
    failure: Mutex<Option<io::Error>>,
}

#[derive(Debug)]
enum Sink {
    Stdout,
    Stderr,
    Kept(Mutex<Vec<u8>>),
}

impl Default for Sink {
    fn default() -> Self {
        Self::Kept(Mutex::default())
    }
}

impl OutputStream {
    fn new(to: Sink, is_terminal: bool) -> Self {
        Self(Arc::new(OutputState { to, is_terminal, failure: Mutex::default() }))
    }

    /// Whether it is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.0.is_terminal
    }

    /// A writer whose output is not mixed with that of others.
    pub fn writer(&self) -> Box<dyn Write> {
        match &self.0.to {
            Sink::Stdout => Box::new(io::stdout().lock()),
            Sink::Stderr => Box::new(io::stderr().lock()),
            Sink::Kept(_) => Box::new(KeptWriter { bytes: Vec::new(), to: self.clone() }),
        }
    }

    /// Records a failed write. A reader that closed the pipe (`| head -1`) is not a failure.
    pub fn record(&self, written: io::Result<()>) {
        if let Err(error) = written
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// Takes the first failed write, for the exit code.
    pub fn take_failure(&self) -> Option<io::Error> {
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes what was kept; nothing of a process's stream is.
    pub fn take(&self) -> Vec<u8> {
        match &self.0.to {
            Sink::Kept(kept) => std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner)),
            Sink::Stdout | Sink::Stderr => Vec::new(),
        }
    }
}

/// Keeps output, all of it at once when it is dropped or flushed.
struct KeptWriter {
    bytes: Vec<u8>,
    to: OutputStream,
}

impl Write for KeptWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Sink::Kept(kept) = &self.to.0.to {
            kept.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.bytes);
        }
        Ok(())
    }
}

impl Drop for KeptWriter {
    fn drop(&mut self) {
        drop(self.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_kept_whole_and_secrets_are_not_shown() {
        let variables: Variables =
            [("TOKEN", "hush"), ("PATH", "/bin")].map(|(name, value)| (name.into(), value.into())).into_iter().collect();
        let environment = Environment::within_process(vec![], variables, Path::new("/"), Path::new("/p"), b"one\ntwo".to_vec());
        let (mut first, mut second) = (environment.output().writer(), environment.output().writer());
        for part in ["a", "b"] {
            write!(first, "{part}").expect("kept");
            write!(second, "{}", part.to_uppercase()).expect("kept");
        }
        drop(first);
        drop(second);
        assert_eq!(environment.output().take(), b"abAB");
        let mut line = String::new();
        environment.input().lock().read_line(&mut line).expect("read");
        assert_eq!(io::read_to_string(environment.input().clone()).expect("read"), "two");
        assert!(!format!("{environment:?} {:?}", environment.variables()).contains("hush"));
        let kept = environment.variables().without(|name| name == "TOKEN");
        assert_eq!((kept.get("TOKEN"), kept.text("PATH")), (None, Some("/bin".to_owned())));
        environment.output().record(Err(io::ErrorKind::BrokenPipe.into()));
        assert!(environment.output().take_failure().is_none());
        environment.output().record(Err(io::ErrorKind::StorageFull.into()));
        assert!(environment.output().take_failure().is_some() && environment.output().take_failure().is_none());
        environment.stop(1);
    }
}
