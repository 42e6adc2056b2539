//! `asterisk report`.

use super::{GlobalArgs, ProjectArgs, RunArg};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_report::{self as report, RunReport};
use asterisk_session::{Files, RunResult, Session, SessionError};
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Rewrite the reports and case directories of a run from its journal.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  asterisk report latest\n  asterisk report 20260214-212109-ab12cd --format html > report.html\n  asterisk report latest --format csv > cases.csv\n  \
                        asterisk report latest --files always --out /tmp/reports"
)]
pub(super) struct ReportArgs {
    #[command(flatten)]
    run: RunArg,
    /// Also print one of: the page, the Markdown, the data (`rca.json`), or a table of the cases (CSV).
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ReportFormat>,
    /// Whether to write a directory for each case [default: as for the run].
    #[arg(long, value_enum, value_name = "WHEN")]
    files: Option<FilesArg>,
    /// The output directory [default: .asterisk/investigations in the project's directory].
    #[arg(id = "ASTERISK_OUT", long = "out", value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum FilesArg {
    #[default]
    Auto,
    Always,
    Never,
}

impl From<FilesArg> for Files {
    fn from(files: FilesArg) -> Self {
        match files {
            FilesArg::Auto => Self::Auto,
            FilesArg::Always => Self::Always,
            FilesArg::Never => Self::Never,
        }
    }
}

/// The format to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// `report.html`.
    Html,
    /// `report.md`.
    Md,
    /// `rca.json`.
    Json,
    /// A line for each case.
    Csv,
}

impl ReportFormat {
    /// The file of the report with that format, if it is one of its files.
    fn file(self) -> Option<&'static str> {
        match self {
            Self::Html => Some("report.html"),
            Self::Md => Some("report.md"),
            Self::Json => Some("rca.json"),
            Self::Csv => None,
        }
    }
}

pub(super) fn report(global: &GlobalArgs, args: &ReportArgs) -> Result<Exit, SessionError> {
    let ui = &global.printer(OutputFormat::Pretty);
    let session = global.session(&ProjectArgs::default(), args.out.clone())?;
    let result = session.rebuild(&args.run.run, args.files.map(Files::from))?;
    let (report, exit) = build(ui, &session, &result)?;
    let Some(pages) = report::write(&session, &result, &report)? else {
        if let Some(summary) = session.report_path(&result) {
            ui.out(&summary.display().to_string());
        }
        return Ok(exit);
    };
    match args.format.map(|format| (format, format.file())) {
        Some((ReportFormat::Json, Some(file))) => ui.json_with(|out| pages.print(file, out)),
        Some((_, Some(file))) => ui.out_with(|out| pages.print(file, out)),
        Some((_, None)) => ui.out_with(|out| report::csv(&report, out)),
        None => {
            let dir = session.run_dir(&result.run)?;
            for name in pages.names() {
                ui.out(&dir.path().join(name).display().to_string());
            }
        }
    }
    Ok(exit)
}

/// The maximum number of diagnostics printed per code; the report has all of them.
const MAX_PRINTED: usize = 5;

/// Builds the report of a run. The result of a failing summary script, and damaged data of the store, are missing from it: the
/// report is still written, but the exit code is not success.
pub(super) fn build(ui: &Ui, session: &Session, result: &RunResult) -> Result<(RunReport, Exit), SessionError> {
    let (report, diagnostics) = report::of_run(session, result)?;
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &diagnostics {
        let count = kinds.entry(&one.code).or_default();
        *count += 1;
        if *count <= MAX_PRINTED {
            ui.diagnostic(one);
        }
    }
    for (kind, count) in kinds.into_iter().filter(|(_, count)| *count > MAX_PRINTED) {
        ui.note(&format!("{} more of {kind}: the report lists all", count - MAX_PRINTED));
    }
    Ok((report, if diagnostics.has_errors() { Exit::Cases } else { Exit::Ok }))
}
