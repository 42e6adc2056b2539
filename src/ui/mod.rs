//! The only printer: data on stdout, everything else on stderr.

mod clean;
mod colour;
mod diagnostics;
mod failure;
mod fields;
mod functions;
mod line;
mod page;
mod progress;
mod stdout;
mod style;
mod table;
mod usage;

pub use clean::{Printed, plain};
pub use colour::Colour;
pub use fields::Fields;
pub use functions::{FunctionDocs, ScriptFn};
pub use line::{Assist, Candidate, Hint, LineEditor, SyntaxClass, TypedLine};
pub use progress::Progress;
pub use stdout::take_failure;
pub use style::{Painted, TextStyle};
pub use table::{CellPaint, Table};

use crate::diag::{Diagnostic, Diagnostics};
use anstream::AutoStream;
use clean::{CleanForm, Cleaning};
use serde::Serialize;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};

/// How data is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Pretty,
    /// For programs.
    Json,
}

/// The terminal, or what stands in for it.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    colour: Colour,
    format: OutputFormat,
}

impl Ui {
    /// A printer in that colour choice and format.
    pub fn new(colour: Colour, format: OutputFormat) -> Self {
        Self { colour, format }
    }

    /// The format asked for.
    pub fn format(self) -> OutputFormat {
        self.format
    }

    /// Prints a value for programs, indented, and an end of line.
    pub fn json(self, value: &impl Serialize) {
        self.json_with(|out| {
            serde_json::to_writer_pretty(&mut *out, value)?;
            writeln!(out)
        });
    }

    /// Prints a value for programs on one line.
    pub fn json_line(self, value: &impl Serialize) {
        self.json_with(|out| {
            serde_json::to_writer(&mut *out, value)?;
            writeln!(out)
        });
    }

    /// Prints data and an end of line.
    pub fn out(self, text: &(impl Printed + ?Sized)) {
        let text = text.printed();
        let mut stream = AutoStream::new(io::stdout().lock(), self.colour.choice());
        let end = if text.ends_with('\n') { "" } else { "\n" };
        stdout::keep(write!(stream, "{text}{end}").and_then(|()| stream.flush()));
    }

    /// Prints text that is too much to hold.
    pub fn out_with(self, fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        self.stream(CleanForm::Text, fill);
    }

    /// Prints JSON that is too much to hold, or in pieces.
    pub fn json_with(self, fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        self.stream(CleanForm::Json, fill);
    }

    fn stream(self, form: CleanForm, fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        let stream = BufWriter::new(AutoStream::new(io::stdout().lock(), self.colour.choice()));
        let mut stream = Cleaning::new(stream, form);
        stdout::keep(fill(&mut stream).and_then(|()| stream.finish()));
    }

    /// Prints a remark for the person at the terminal.
    pub fn note(self, text: &(impl Printed + ?Sized)) {
        let mut stream = AutoStream::new(io::stderr().lock(), self.colour.choice());
        drop(writeln!(stream, "{}", text.printed()));
    }

    /// Prints a diagnostic with its source.
    pub fn diagnostic(self, diagnostic: &Diagnostic) {
        self.note(&diagnostics::render(diagnostic, self.colour.on_stderr()));
    }

    /// Prints a diagnostic that is data: what a command was asked to find.
    pub fn finding(self, diagnostic: &Diagnostic) {
        self.out(&diagnostics::render(diagnostic, self.colour.on_stdout()));
        self.out("");
    }

    /// Prints diagnostics, and how many there were if there were several.
    pub fn diagnostics(self, all: &Diagnostics) {
        all.iter().for_each(|diagnostic| self.diagnostic(diagnostic));
        if all.len() > 1 {
            self.note(&format!("{} problems", all.len()));
        }
    }

    /// A progress bar on stderr; silent off a terminal and for programs.
    pub fn progress(self, total: usize) -> Progress {
        Progress::new(total, self.format == OutputFormat::Pretty)
    }

    /// Whether remarks go to a terminal.
    pub fn on_terminal(self) -> bool {
        io::stderr().is_terminal()
    }

    /// Whether someone is typing at a terminal and sees there what is printed.
    pub fn is_typed_to(self) -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }

    /// How wide a table may be, in characters.
    pub fn width(self) -> usize {
        table::width()
    }

    /// A table in the colours of this printer.
    pub fn table(self, columns: &[&str]) -> Table {
        Table::new(columns, self.colour.on_stdout())
    }
}
