//! `asterisk fmt`.

use super::{FormatArg, GlobalArgs, ParallelArg, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_diag::{Diagnostic, Source, Span, counted};
use asterisk_files::{FileOrigin, read_input, read_text_file};
use asterisk_session::SessionError;
use asterisk_syntax::format::{FormatError, FormatLanguage, apply, diff, format, format_range};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Format scripts, pipelines, data and templates.
///
/// Changes the layout only: the formatted text is compared with the original before it is written. A file with a syntax error stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "Without PATH the files of the project are formatted, not the bundled ones.\n\
                        Exits with 1 if a file has a syntax error, or with --check if a file would change.\n\
                        To keep the layout of a statement or function, add a comment before it, or after it on its line:\n  \
                        // fmt: skip\n\n\
                        Examples:\n  asterisk fmt\n  asterisk fmt --check\n  asterisk fmt --diff\n  \
                        asterisk fmt - --stdin-name mine.rhai < scripts/lib/mine.rhai")]
pub(super) struct FmtArgs {
    /// Files and directories to format; `-` formats standard input to standard output.
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// List the files that would change, and write nothing.
    #[arg(long, conflicts_with = "diff")]
    check: bool,
    /// Show what would change, and write nothing.
    #[arg(long)]
    diff: bool,
    /// Format only these lines of a single file, with the statements around them.
    #[arg(long, value_name = "START:END", value_parser = line_range)]
    range: Option<LineRange>,
    /// The name of standard input, whose ending is that of its language.
    #[arg(long, value_name = "NAME", default_value = "stdin.rhai")]
    stdin_name: String,
    /// The directory of scripts that overlays the bundled ones.
    #[arg(id = "ASTERISK_SCRIPTS", long = "scripts", value_name = "DIR")]
    scripts: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArg,
}

/// Lines from the first to the last, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LineRange {
    first: usize,
    last: usize,
}

impl LineRange {
    /// The bytes of the lines in a text.
    fn bytes(self, text: &str) -> Range<usize> {
        let ends: Vec<usize> = text
            .split_inclusive('\n')
            .scan(0, |end, line| {
                *end += line.len();
                Some(*end)
            })
            .collect();
        let end = |line: usize| line.checked_sub(1).map_or(0, |at| ends.get(at).copied().unwrap_or(text.len()));
        let start = end(self.first - 1);
        // Without the line end, which belongs to the next statement too.
        start..end(self.last).saturating_sub(1).max(start)
    }
}

fn line_range(text: &str) -> Result<LineRange, String> {
    let numbers = text.split_once(':').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    match numbers {
        Some((first, last)) if first > 0 && first <= last => Ok(LineRange { first, last }),
        _ => Err("two line numbers, such as 10:20".to_owned()),
    }
}

/// A file to format.
struct FileToFormat {
    shown: String,
    /// Where it is; none for standard input.
    path: Option<PathBuf>,
    language: FormatLanguage,
    text: String,
}

/// The outcome of formatting a file.
struct FormattedFile {
    file: FileToFormat,
    outcome: Result<String, Box<Diagnostic>>,
}

impl FormattedFile {
    /// The formatted text, if it differs.
    fn changed(&self) -> Option<&str> {
        self.outcome.as_deref().ok().filter(|formatted| **formatted != self.file.text)
    }
}

pub(super) fn fmt(global: &GlobalArgs, args: &FmtArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    let from_stdin = args.paths.iter().any(|path| path == Path::new("-"));
    let files = if from_stdin { vec![standard_input(global, args)?] } else { files(global, args)? };
    if args.range.is_some() && files.len() != 1 {
        return Err(bad_request(&format!("--range is for a single file, not {}", files.len()), "name one file"));
    }
    let formatted = all_formatted(files, args.range);
    if !args.check && !args.diff && !from_stdin {
        for one in &formatted {
            if let (Some(path), Some(text)) = (&one.file.path, one.changed()) {
                write(path, text).map_err(|source| SessionError::Write { path: path.display().to_string(), source })?;
            }
        }
    }
    match ui.format() {
        OutputFormat::Json => ui.json(&report(&formatted, args)),
        OutputFormat::Pretty => show(ui, &formatted, args, from_stdin),
    }
    let failed = formatted.iter().any(|one| one.outcome.is_err());
    let would_change = args.check && formatted.iter().any(|one| one.changed().is_some());
    Ok(if failed || would_change { Exit::Findings } else { Exit::Ok })
}

fn standard_input(global: &GlobalArgs, args: &FmtArgs) -> Result<FileToFormat, SessionError> {
    if args.paths.len() > 1 {
        return Err(bad_request("`-` is for standard input alone", "name either files or `-`"));
    }
    let Some(language) = FormatLanguage::of(&args.stdin_name) else {
        let help = "names of scripts end in `.rhai`, of pipelines and data in `.yaml`, of templates in `.md`";
        return Err(bad_request(&format!("`{}` has no language that can be formatted", args.stdin_name), help));
    };
    let text = read_input(Path::new("-"), global.environment.input())?.text().to_owned();
    Ok(FileToFormat { shown: args.stdin_name.clone(), path: None, language, text })
}

/// The files of the project on disk, or of the paths given.
fn files(global: &GlobalArgs, args: &FmtArgs) -> Result<Vec<FileToFormat>, SessionError> {
    let project = ProjectArgs { scripts: args.scripts.clone(), ..ProjectArgs::default() };
    let session = global.session(&project, None)?;
    let mut files = Vec::new();
    for text in session.texts(&args.paths)?.into_iter().filter(|text| text.requested) {
        let FileOrigin::File(path) = text.origin else { continue };
        let Some(language) = FormatLanguage::of(text.source.name()) else { continue };
        // The text of a file that extends another one has both.
        files.push(FileToFormat { shown: text.shown, text: read_text_file(&path)?, path: Some(path), language });
    }
    if files.is_empty() && !args.paths.is_empty() {
        let help = "scripts end in `.rhai`, pipelines and data in `.yaml`, templates in `.md`";
        return Err(bad_request("nothing to format", help));
    }
    Ok(files)
}

/// Formats files at the same time; the result is in their order.
fn all_formatted(mut files: Vec<FileToFormat>, range: Option<LineRange>) -> Vec<FormattedFile> {
    let share = files.len().div_ceil(ParallelArg::default().count()).max(1);
    let mut shares = Vec::new();
    while !files.is_empty() {
        shares.push(files.drain(..share.min(files.len())).collect::<Vec<_>>());
    }
    let work = |files: Vec<FileToFormat>| files.into_iter().map(|file| formatted(file, range)).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        let workers: Vec<_> = shares.into_iter().map(|files| scope.spawn(move || work(files))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

fn formatted(file: FileToFormat, range: Option<LineRange>) -> FormattedFile {
    let FileToFormat { shown, language, text, .. } = &file;
    let outcome = match range {
        None => format(*language, text),
        Some(range) => format_range(*language, text, range.bytes(text)).map(|edits| apply(text, &edits)),
    };
    let outcome = outcome.map_err(|error| Box::new(explained(&error, shown, text)));
    FormattedFile { file, outcome }
}

fn explained(error: &FormatError, name: &str, text: &str) -> Diagnostic {
    let source = Source::new(name, text);
    match error {
        FormatError::Syntax { start, end, message } => {
            let span = if start == end { before(text, *start) } else { Span::new(*start, *end) };
            Diagnostic::error("fmt/syntax", message.clone()).label(&source, span, "").help("`asterisk lint` says more about it")
        }
        FormatError::Changed { place } => Diagnostic::error("fmt/internal", error.to_string())
            .label(&source, before(text, *place), "it would differ here")
            .help("the file was not changed; please report this"),
    }
}

/// The character before a place, at which something is missing.
fn before(text: &str, place: usize) -> Span {
    let start = text[..place].trim_end().char_indices().next_back();
    start.map_or(Span::new(0, 0), |(start, char)| Span::new(start, start + char.len_utf8()))
}

/// Replaces a file, so that it has either text, whatever happens.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    // A link stays one: the file it leads to is replaced.
    let path = path.canonicalize()?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(std::fs::metadata(&path)?.permissions())?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

fn show(ui: &Ui, formatted: &[FormattedFile], args: &FmtArgs, from_stdin: bool) {
    for one in formatted {
        match &one.outcome {
            Err(diagnostic) => ui.diagnostic(diagnostic),
            Ok(text) if args.diff => {
                let diff = diff(&one.file.shown, &one.file.text, text);
                if !diff.is_empty() {
                    ui.out(diff.trim_end());
                }
            }
            Ok(_) if args.check => {
                if one.changed().is_some() {
                    ui.out(&one.file.shown);
                }
            }
            Ok(text) if from_stdin => ui.out_with(|out| out.write_all(text.as_bytes())),
            Ok(_) => {}
        }
    }
    if from_stdin {
        return;
    }
    let [changed, unchanged, failed] = counts(formatted);
    let verb = if args.check || args.diff { "would change" } else { "changed" };
    let mut parts = vec![format!("{} {verb}", counted(changed, "file", "files")), format!("{unchanged} unchanged")];
    parts.extend((failed > 0).then(|| format!("{failed} with errors")));
    ui.note(&parts.join(", "));
}

/// How many files changed, did not, or have errors.
fn counts(formatted: &[FormattedFile]) -> [usize; 3] {
    let failed = formatted.iter().filter(|one| one.outcome.is_err()).count();
    let changed = formatted.iter().filter(|one| one.changed().is_some()).count();
    [changed, formatted.len() - changed - failed, failed]
}

fn report(formatted: &[FormattedFile], args: &FmtArgs) -> Value {
    let files = formatted.iter().map(|one| {
        let mut value = json!({ "file": one.file.shown, "changed": one.changed().is_some() });
        match &one.outcome {
            Err(diagnostic) => value["error"] = problem(diagnostic),
            Ok(text) if args.diff => value["diff"] = json!(diff(&one.file.shown, &one.file.text, text)),
            Ok(text) if one.file.path.is_none() => value["text"] = json!(text),
            Ok(_) => {}
        }
        value
    });
    let files: Vec<Value> = files.collect();
    let [changed, unchanged, failed] = counts(formatted);
    json!({ "schema_version": 1, "changed": changed, "unchanged": unchanged, "failed": failed, "files": files })
}

fn problem(diagnostic: &Diagnostic) -> Value {
    let mut value = json!({ "code": diagnostic.code, "message": diagnostic.message });
    if let Some(label) = diagnostic.primary() {
        let (line, column) = label.source.line_column(label.span.start);
        value["line"] = json!(line);
        value["column"] = json!(column);
    }
    value
}

fn bad_request(message: &str, help: &str) -> SessionError {
    SessionError::BadRequest(Box::new(Diagnostic::error("fmt/request", message).help(help)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_lines() {
        assert_eq!(line_range("2:3"), Ok(LineRange { first: 2, last: 3 }));
        for wrong in ["", "1", "0:1", "3:2", "a:b", "1:2:3"] {
            assert!(line_range(wrong).is_err(), "{wrong}");
        }
        let text = "ab\ncd\nef\n";
        let slice = |first, last| &text[LineRange { first, last }.bytes(text)];
        assert_eq!((slice(1, 1), slice(2, 3), slice(3, 9), slice(7, 9)), ("ab", "cd\nef", "ef", ""));
    }
}
