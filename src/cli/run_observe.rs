//! `--observe` and `observers:`: observers and their outputs.

use super::run_view::LiveView;
use crate::ui::{Ui, plain};
use asterisk_base::clock::Clock;
use asterisk_diag::Diagnostic;
use asterisk_files::open_private;
use asterisk_observe::{
    Attached, DefaultOutput, MakeObserver, ObserverFanout, ObserverKind, ObserverOptions, ObserverOutput, parse,
};
use asterisk_session::SessionError;
use clap::Args;
use std::io::{self, BufWriter, LineWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which observers, and what they receive.
#[derive(Clone, Debug, Args)]
pub(super) struct ObserveArgs {
    /// Attach an observer, without any effect on the run: `narration` (readable sentences), `log` (the same with time and data; more
    /// with -v), `log-json`, `jsonl` (every recorded event), `metrics` (Prometheus), `trace` (Chrome), `otlp` (OpenTelemetry, in
    /// builds with the feature `otel`). The first three write to standard error unless FILE is given; `otlp` sends to the
    /// collector at URL, or at that of `OTEL_EXPORTER_OTLP_ENDPOINT` (by default on this machine); the others need a FILE; `-` is
    /// standard output, which then receives nothing else.
    #[arg(long, value_name = "KIND[=FILE|URL]")]
    pub(super) observe: Vec<String>,
    /// What `narration`, `log`, `log-json`, `trace` and `otlp` show, in place of their usual levels: TARGET=LEVEL or LEVEL,
    /// separated by commas, such as `asterisk=info,asterisk_script=trace`. The targets: `asterisk::journal` (what happens in the run),
    /// `asterisk_walk` (steps, queries, answers), `asterisk_script` (calls), `asterisk_store` (commits).
    #[arg(id = "ASTERISK_LOG_FILTER", long = "log-filter", value_name = "DIRECTIVES")]
    pub(super) log_filter: Option<String>,
}

/// A requested observer.
#[derive(Clone)]
pub(super) struct WantedObserver {
    /// The text that requested it.
    text: String,
    kind: &'static ObserverKind,
    to: ObserverDestination,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ObserverDestination {
    Stderr,
    Stdout,
    File(PathBuf),
    /// A server, with its address if given.
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

/// All requested observers: those of the command line, with files relative to the current directory, and those of the project
/// file, with files relative to the project's directory.
pub(super) fn wanted(given: &[String], permanent: &[String], root: &Path) -> Result<Vec<WantedObserver>, SessionError> {
    let given = given.iter().map(|text| read(text, Path::new("")));
    let all = given.chain(permanent.iter().map(|text| read(text, root)));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let mut taken: Vec<&ObserverDestination> = Vec::new();
    for one in &all {
        if one.to != ObserverDestination::Stderr && taken.contains(&&one.to) {
            return Err(bad_request(
                "input/observe",
                format!("the observer `{}` writes to the same place as another observer", one.text),
                "give each its own file",
            ));
        }
        taken.push(&one.to);
    }
    Ok(all)
}

/// Whether an observer has exclusive use of standard output.
pub(super) fn take_stdout(wanted: &[WantedObserver]) -> bool {
    wanted.iter().any(|one| one.to == ObserverDestination::Stdout)
}

/// Whether an observer prints turns to standard error, which makes `-v` redundant.
pub(super) fn writes_stderr(wanted: &[WantedObserver]) -> bool {
    wanted.iter().any(|one| one.to == ObserverDestination::Stderr)
}

fn read(text: &str, below: &Path) -> Result<WantedObserver, SessionError> {
    let (kind, file) = parse(text).map_err(|(message, help)| bad_request("input/observe", message, help))?;
    let to = match file {
        address if kind.usual == DefaultOutput::Server => ObserverDestination::Server(address.map(str::to_owned)),
        None => ObserverDestination::Stderr,
        Some("-") => ObserverDestination::Stdout,
        Some(file) => ObserverDestination::File(below.join(file)),
    };
    Ok(WantedObserver { text: text.to_owned(), kind, to })
}

fn bad_request(code: &'static str, message: String, help: impl Into<String>) -> SessionError {
    SessionError::BadRequest(Box::new(Diagnostic::error(code, message).help(help)))
}

/// Creates the observers, each with its file open or its server known.
pub(super) fn attach(
    wanted: &[WantedObserver],
    live: &Arc<LiveView>,
    ui: &Ui,
    (verbose, filter): (u8, Option<&str>),
    clock: &Arc<dyn Clock>,
) -> Result<Vec<Attached>, SessionError> {
    let options = ObserverOptions::new(verbose, filter, clock, ui.environment().variables());
    let options = options.map_err(|(message, help)| bad_request("input/log-filter", message, help))?;
    let one = |wanted: &WantedObserver| {
        let (observer, layer) = match wanted.kind.make {
            MakeObserver::Writes(make) => make(ObserverOutput::new(output(wanted, live, ui)?), &options),
            MakeObserver::Sends(make) => {
                make(wanted.to.address(), &options).map_err(|(message, help)| bad_request("input/observe", message, help))?
            }
        };
        Ok(Attached { name: wanted.text.clone(), observer, layer })
    };
    wanted.iter().map(one).collect()
}

/// Ends the observers, and warns of those that could not write everything.
pub(super) fn end(observed: Option<ObserverFanout<'_>>, ui: &Ui) {
    for (name, error) in observed.map(ObserverFanout::end).unwrap_or_default() {
        ui.note(&format!("warning: not all of `--observe {name}` could be written: {error}"));
    }
}

/// The output of an observer.
fn output(wanted: &WantedObserver, live: &Arc<LiveView>, ui: &Ui) -> Result<Box<dyn Write + Send>, SessionError> {
    let (live, ui) = (Arc::clone(live), ui.clone());
    Ok(match &wanted.to {
        ObserverDestination::Stderr => {
            Box::new(LineSplitter { emit: move |line: &str| live.with_bar_hidden(|ui| ui.note(&plain(line))), rest: Vec::new() })
        }
        ObserverDestination::Stdout if wanted.kind.json => {
            Box::new(LineSplitter { emit: move |line: &str| ui.json_with(|out| writeln!(out, "{line}")), rest: Vec::new() })
        }
        ObserverDestination::Stdout => Box::new(LineSplitter { emit: move |line: &str| ui.out(line), rest: Vec::new() }),
        ObserverDestination::File(path) => open(path, wanted.kind.usual).map_err(|error| {
            let message = format!("the observer `{}` cannot write `{}`: {error}", wanted.kind.name, path.display());
            bad_request("input/observe", message, "use a writable file")
        })?,
        ObserverDestination::Server(_) => Box::new(io::sink()),
    })
}

/// Opens a file. Line-based output is appended, and flushed by line so that it can be followed.
pub(super) fn open(path: &Path, usual: DefaultOutput) -> io::Result<Box<dyn Write + Send>> {
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

/// Passes on whole lines.
struct LineSplitter<F> {
    emit: F,
    rest: Vec<u8>,
}

impl<F: FnMut(&str)> Write for LineSplitter<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend(bytes);
        if let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') {
            let rest = self.rest.split_off(end + 1);
            (self.emit)(String::from_utf8_lossy(&self.rest[..end]).as_ref());
            self.rest = rest;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.rest.is_empty() {
            (self.emit)(String::from_utf8_lossy(&self.rest).as_ref());
            self.rest.clear();
        }
        Ok(())
    }
}
