//! The only printer: data on stdout, everything else on stderr.

mod clean;
mod colour;
mod diagnostics;
mod failure;
mod fields;
mod functions;
mod inert;
mod line;
mod page;
mod progress;
mod style;
mod table;
mod usage;
mod wrap;

pub use clean::{Printed, plain};
pub use colour::Colour;
pub use fields::Fields;
pub use functions::{FunctionDocs, ScriptFn};
pub use line::{Assist, Candidate, Hint, LineEditor, SyntaxClass, TypedLine};
pub use progress::Progress;
pub use style::{Painted, TextStyle};
pub use table::{CellPaint, Table};
pub use wrap::{unbroken, wrapped};

use anstream::{AutoStream, ColorChoice};
use asterisk_base::environment::{Environment, OutputStream};
use asterisk_base::model::CiSystem;
use asterisk_diag::{Diagnostic, Diagnostics};
use clean::{CleanForm, Cleaning};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

/// The format of printed data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// Text.
    #[default]
    #[value(alias = "human")]
    Pretty,
    /// JSON.
    Json,
}

/// Prints to the standard streams of an environment.
#[derive(Clone, Debug)]
pub struct Ui {
    environment: Environment,
    colour: Colour,
    format: OutputFormat,
    /// The CI system whose log the output may become part of.
    job: Option<CiSystem>,
}

impl Ui {
    /// Creates a printer with a choice of colours and a format.
    pub fn new(environment: &Environment, colour: Colour, format: OutputFormat) -> Self {
        let job = CiSystem::of_job(|name| environment.variables().text(name));
        Self { environment: environment.clone(), colour, format, job }
    }

    /// The same printer for a job of a CI system: no text is taken as a command there.
    #[must_use]
    pub fn in_job(self, system: CiSystem) -> Self {
        Self { job: Some(system), ..self }
    }

    /// Where it prints to.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// The requested format.
    pub fn format(&self) -> OutputFormat {
        self.format
    }

    /// Prints a value as indented JSON, and a line break.
    pub fn json(&self, value: &impl Serialize) {
        self.json_with(|out| {
            serde_json::to_writer_pretty(&mut *out, value)?;
            writeln!(out)
        });
    }

    /// Prints a value as JSON on one line.
    pub fn json_line(&self, value: &impl Serialize) {
        self.json_with(|out| {
            serde_json::to_writer(&mut *out, value)?;
            writeln!(out)
        });
    }

    /// Prints data and a line break.
    pub fn out(&self, text: &(impl Printed + ?Sized)) {
        self.line(&self.inert(text.printed()));
    }

    /// Prints a command for the CI system.
    pub fn command(&self, command: &str) {
        self.line(&command.printed());
    }

    /// A text without commands for the CI system.
    fn inert<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        match self.job {
            Some(system) => inert::text(system, text),
            None => text,
        }
    }

    fn line(&self, text: &str) {
        let output = self.environment.output();
        let mut stream = self.writer(output);
        let end = if text.ends_with('\n') { "" } else { "\n" };
        output.record(write!(stream, "{text}{end}").and_then(|()| stream.flush()));
    }

    /// Prints text too large to hold in memory.
    pub fn out_with(&self, fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        self.stream(CleanForm::Text, fill);
    }

    /// Prints JSON in pieces, or too large to hold in memory.
    pub fn json_with(&self, fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        self.stream(CleanForm::Json, fill);
    }

    fn stream(&self, form: CleanForm, fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        let output = self.environment.output();
        let mut stream = Cleaning::new(BufWriter::new(self.writer(output)), form, self.job);
        output.record(fill(&mut stream).and_then(|()| stream.finish()));
    }

    /// Prints a note on stderr.
    pub fn note(&self, text: &(impl Printed + ?Sized)) {
        drop(writeln!(self.writer(self.environment.errors()), "{}", self.inert(text.printed())));
    }

    /// A writer to a stream that keeps colours or strips them.
    fn writer(&self, stream: &OutputStream) -> AutoStream<Box<dyn Write>> {
        AutoStream::new(stream.writer(), if self.colours(stream) { ColorChoice::Always } else { ColorChoice::Never })
    }

    fn colours(&self, stream: &OutputStream) -> bool {
        self.colour.on(stream.is_terminal(), self.environment.variables())
    }

    /// Prints a diagnostic with its source.
    pub fn diagnostic(&self, diagnostic: &Diagnostic) {
        self.note(&diagnostics::render(diagnostic, self.colours(self.environment.errors())));
    }

    /// Prints a diagnostic that is the result of a command, on stdout.
    pub fn finding(&self, diagnostic: &Diagnostic) {
        self.out(&diagnostics::render(diagnostic, self.colours(self.environment.output())));
        self.out("");
    }

    /// Prints diagnostics, and their number if there are several.
    pub fn diagnostics(&self, all: &Diagnostics) {
        all.iter().for_each(|diagnostic| self.diagnostic(diagnostic));
        if all.len() > 1 {
            self.note(&format!("{} problems", all.len()));
        }
    }

    /// A progress bar on stderr; hidden without a terminal and for JSON output.
    pub fn progress(&self, total: usize) -> Progress {
        Progress::new(total, self.format == OutputFormat::Pretty && self.on_terminal())
    }

    /// Whether the output may become part of the log of a CI job, where the commands in hints cannot be entered.
    pub fn is_in_job(&self) -> bool {
        self.job.is_some()
    }

    /// Whether notes go to a terminal.
    pub fn on_terminal(&self) -> bool {
        self.environment.errors().is_terminal()
    }

    /// Whether input and output are a terminal.
    pub fn is_interactive(&self) -> bool {
        self.environment.input().is_terminal() && self.environment.output().is_terminal()
    }

    /// The maximum width of a table, in characters.
    pub fn width(&self) -> usize {
        table::width(&self.environment)
    }

    /// A table in the colours of this printer.
    pub fn table(&self, columns: &[&str]) -> Table {
        Table::new(&self.environment, columns, self.colours(self.environment.output()))
    }
}
