//! `--observe` and `observers:`: who looks on, and where it is written.

use super::run_view::LiveView;
use crate::diag::Diagnostic;
use crate::files::open_private;
use crate::observe::{Attached, DefaultOutput, MakeObserver, ObserverKind, ObserverOptions, ObserverOutput, parse};
use crate::session::SessionError;
use crate::ui::{Ui, plain};
use std::io::{self, BufWriter, LineWriter, Write};
use std::path::{Path, PathBuf};

/// An observer that was asked for.
#[derive(Clone)]
pub(super) struct WantedObserver {
    /// What it was asked for by.
    text: String,
    kind: &'static ObserverKind,
    to: ObserverDestination,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ObserverDestination {
    Stderr,
    Stdout,
    File(PathBuf),
    /// A server, at this address if one was named.
    Server(Option<String>),
}

impl ObserverDestination {
    fn address(&self) -> Option<&str> {
        match self {
            Self::Server(address) => address.as_deref(),
            _ => None,
        }
    }
}

/// All that were asked for: those of the command line, with files relative to where it was typed, and those of the project
/// file, with files relative to the project's directory.
pub(super) fn wanted(given: &[String], permanent: &[String], root: &Path) -> Result<Vec<WantedObserver>, SessionError> {
    let given = given.iter().map(|text| read(text, Path::new("")));
    let all = given.chain(permanent.iter().map(|text| read(text, root)));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let mut taken: Vec<&ObserverDestination> = Vec::new();
    for one in &all {
        if one.to != ObserverDestination::Stderr && taken.contains(&&one.to) {
            return Err(bad(
                format!("the observer `{}` writes where another observer writes", one.text),
                "give each a file of its own",
            ));
        }
        taken.push(&one.to);
    }
    Ok(all)
}

/// Whether standard output is an observer's alone.
pub(super) fn take_stdout(wanted: &[WantedObserver]) -> bool {
    wanted.iter().any(|one| one.to == ObserverDestination::Stdout)
}

/// Whether turns are told on standard error by an observer, so that `-v` need not tell them too.
pub(super) fn tell(wanted: &[WantedObserver]) -> bool {
    wanted.iter().any(|one| one.to == ObserverDestination::Stderr)
}

fn read(text: &str, below: &Path) -> Result<WantedObserver, SessionError> {
    let (kind, file) = parse(text).map_err(|(message, help)| bad(message, help))?;
    let to = match file {
        address if kind.usual == DefaultOutput::Server => ObserverDestination::Server(address.map(str::to_owned)),
        None => ObserverDestination::Stderr,
        Some("-") => ObserverDestination::Stdout,
        Some(file) => ObserverDestination::File(below.join(file)),
    };
    Ok(WantedObserver { text: text.to_owned(), kind, to })
}

fn bad(message: String, help: impl Into<String>) -> SessionError {
    SessionError::Asked(Box::new(Diagnostic::error("input/observe", message).help(help)))
}

/// The observers, each with its file open or its server known.
pub(super) fn attach<'o>(
    wanted: &[WantedObserver],
    live: &'o LiveView,
    ui: Ui,
    verbose: u8,
) -> Result<Vec<Attached<'o>>, SessionError> {
    let one = |wanted: &WantedObserver| {
        let observer = match wanted.kind.make {
            MakeObserver::Writes(make) => make(ObserverOutput::new(place(wanted, live, ui)?), ObserverOptions { verbose }),
            MakeObserver::Sends(make) => make(wanted.to.address()).map_err(|(message, help)| bad(message, help))?,
        };
        Ok(Attached { name: wanted.text.clone(), observer })
    };
    wanted.iter().map(one).collect()
}

/// Where an observer writes.
fn place<'o>(wanted: &WantedObserver, live: &'o LiveView, ui: Ui) -> Result<Box<dyn Write + Send + 'o>, SessionError> {
    Ok(match &wanted.to {
        ObserverDestination::Stderr => {
            Box::new(LineSplitter { tell: move |line: &str| live.aside(|ui| ui.note(&plain(line))), rest: Vec::new() })
        }
        ObserverDestination::Stdout if wanted.kind.json => {
            Box::new(LineSplitter { tell: move |line: &str| ui.json_with(|out| writeln!(out, "{line}")), rest: Vec::new() })
        }
        ObserverDestination::Stdout => Box::new(LineSplitter { tell: move |line: &str| ui.out(line), rest: Vec::new() }),
        ObserverDestination::File(path) => open(path, wanted.kind.usual).map_err(|error| {
            let message = format!("the observer `{}` cannot write `{}`: {error}", wanted.kind.name, path.display());
            bad(message, "name a file that can be written")
        })?,
        ObserverDestination::Server(_) => Box::new(io::sink()),
    })
}

/// Opens a file: what comes line by line can be followed, and comes after what was there.
fn open(path: &Path, usual: DefaultOutput) -> io::Result<Box<dyn Write + Send>> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        std::fs::create_dir_all(dir)?;
    }
    match usual {
        DefaultOutput::Replace => Ok(Box::new(BufWriter::new(open_private(path, false)?))),
        DefaultOutput::Append | DefaultOutput::Stderr | DefaultOutput::Server => {
            Ok(Box::new(LineWriter::new(open_private(path, true)?)))
        }
    }
}

/// Hands on whole lines.
struct LineSplitter<F> {
    tell: F,
    rest: Vec<u8>,
}

impl<F: FnMut(&str)> Write for LineSplitter<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend(bytes);
        if let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.rest.split_off(end + 1);
            (self.tell)(String::from_utf8_lossy(&self.rest[..end]).as_ref());
            self.rest = rest;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.rest.is_empty() {
            (self.tell)(String::from_utf8_lossy(&self.rest).as_ref());
            self.rest.clear();
        }
        Ok(())
    }
}
