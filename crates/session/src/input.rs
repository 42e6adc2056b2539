//! The launch to analyse, from files and directories.

use super::{LaunchFiles, Session, SessionError};
use asterisk_base::environment::InputStream;
use asterisk_base::model::Launch;
use asterisk_diag::{Code, Diagnostic, Diagnostics};
use asterisk_evidence::Masker;
use asterisk_files::{FileError, FoundReports, InputFile, list_inputs};
use asterisk_launch::{InputError, LaunchMerger, TextLimits, is_not_a_launch};
use std::collections::HashSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most files that a note on ignored files names.
const MAX_NAMED: usize = 5;

/// Reads all of them as one launch. A file that was named must be a launch; of those found in a directory, others are skipped
/// with a note. A launch that is damaged is an error either way: its failures would be missed.
pub(super) fn launch(files: &LaunchFiles, stdin: &InputStream, masker: &Arc<Masker>) -> Result<Launch, SessionError> {
    let paths = &files.paths;
    let listed = list_inputs(paths)?;
    let baseline = baseline(&files.baseline_logs, stdin)?;
    let InputReading { merger, mut others, texts, mut wrong, gaps, .. } =
        InputReading::of(&listed.inputs, stdin, masker, &baseline)?;
    if merger.is_empty() {
        others.extend(texts);
    }
    let others: Vec<String> = others.into_iter().map(|(_, other)| other).collect();
    let mut gaps = [listed.gaps, gaps].concat();
    if wrong.is_empty() && merger.is_empty() {
        let dirs: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
        let help = if !gaps.is_empty() {
            gaps.truncate(MAX_NAMED);
            gaps.join("; ")
        } else if others.is_empty() {
            "launches are `.xml`, `.json`, `.jsonl`, `.ndjson`, `.trx`, `.tap`, `.log` and `.txt` files, and archives (`.zip`) of these; hidden files and directories are skipped"
                .to_owned()
        } else {
            format!("the files are not launches: {}", shortened(others.clone()).join("; "))
        };
        let message = format!("no launch found in {}", dirs.join(", "));
        wrong.push(Diagnostic::error("input/nothing", message).help(help));
    }
    let mut launch = wrong.into_result(merger.finish())?;
    launch.notes.extend(listed.notes);
    for gap in gaps {
        launch.gap(gap);
    }
    launch.notes.extend(shortened(others).into_iter().map(|other| format!("left out: {other}")));
    Ok(launch)
}

/// The launch of reports that were found, and the result of each file.
#[derive(Debug)]
pub struct ReadReports {
    /// The launch; nothing if no file is a report.
    pub launch: Option<Launch>,
    /// The files that were read.
    pub read: Vec<InputFile>,
    /// Those that were not, and why.
    pub skipped: Vec<(String, String)>,
}

impl Session {
    /// Reads the reports that were found below a directory. Those that usually repeat others are read if one of their failures is in no other
    /// report. A damaged report is an error.
    /// A line of a job log that a log among `baseline_logs` has, too, is no evidence.
    pub fn read_reports(
        &self,
        found: &FoundReports,
        baseline_logs: &[PathBuf],
        masker: &Arc<Masker>,
    ) -> Result<ReadReports, SessionError> {
        let stdin = self.setup.environment.input();
        let baseline = &baseline(baseline_logs, stdin)?;
        let first = InputReading::of(&found.files, stdin, masker, baseline)?;
        let more = InputReading::of(&found.repeating, stdin, masker, baseline)?;
        let mut skipped = found.skipped.clone();
        skipped.extend(first.others.iter().chain(&more.others).map(|(file, other)| {
            let why = other.strip_prefix(&format!("{file} is not a test report; ")).unwrap_or(other);
            (file.clone(), why.to_owned())
        }));
        let InputReading { read, merger, .. } = first;
        let again: Vec<InputFile> = more.read.clone();
        let wrong: Diagnostics = first.wrong.into_iter().chain(more.wrong).collect();
        let gaps = [first.gaps, more.gaps].concat();
        let alone = wrong.into_result(merger.finish())?;
        let known: HashSet<&str> = alone.cases.iter().map(|case| case.name.as_str()).collect();
        let repeats = more.merger.finish().cases.iter().all(|case| known.contains(case.name.as_str()));
        let (launch, read) = match (read.is_empty(), again.is_empty()) {
            (true, true) => (None, Vec::new()),
            (_, true) => (Some(alone), read),
            (false, false) if repeats => {
                let why = "its failures are also in the other reports";
                skipped.extend(again.into_iter().map(|file| (file.name, why.to_owned())));
                (Some(alone), read)
            }
            (_, false) => {
                let all = [read, again].concat();
                (Some(InputReading::of(&all, stdin, masker, baseline)?.merger.finish()), all)
            }
        };
        let launch = launch.map(|mut launch| {
            for gap in gaps {
                launch.gap(gap);
            }
            launch
        });
        Ok(ReadReports { launch, read, skipped })
    }
}

/// The texts of logs of jobs that passed.
fn baseline(paths: &[PathBuf], stdin: &InputStream) -> Result<Vec<String>, SessionError> {
    let text = |input: &InputFile| {
        let mut bytes = Vec::new();
        let read = input.open(stdin).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|source| FileError::Io { path: input.path.clone(), source })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    list_inputs(paths)?.inputs.iter().map(text).collect()
}

/// Inputs read one after another.
struct InputReading {
    merger: LaunchMerger,
    /// The inputs that are launches.
    read: Vec<InputFile>,
    /// Those found in a directory that are something else, and what.
    others: Vec<(String, String)>,
    /// Those among them that are texts of any kind, as there are many.
    texts: Vec<(String, String)>,
    /// What is wrong with launches, and with files that were named.
    wrong: Diagnostics,
    /// Files that cannot be read.
    gaps: Vec<String>,
}

impl InputReading {
    fn of(inputs: &[InputFile], stdin: &InputStream, masker: &Arc<Masker>, baseline: &[String]) -> Result<Self, SessionError> {
        let merger = LaunchMerger::new(TextLimits::default()).masking(Arc::clone(masker)).compared_to(baseline);
        let (read, others, texts, gaps) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut reading = Self { merger, read, others, texts, wrong: Diagnostics::new(), gaps };
        for input in inputs {
            reading.merger.set_found(input.below);
            match reading.merger.add_input(&input.name, input.size, || input.open(stdin)) {
                Ok(()) => reading.read.push(input.clone()),
                Err(InputError::Io(error)) if input.below => {
                    reading.gaps.push(format!("`{}` cannot be read ({error})", input.name));
                }
                Err(InputError::Io(source)) => return Err(FileError::Io { path: input.path.clone(), source }.into()),
                Err(InputError::Wrong(wrong)) if input.below && is_not_a_launch(&wrong) => {
                    let others = if is_text(input) { &mut reading.texts } else { &mut reading.others };
                    others.push((input.name.clone(), other(input, &wrong)));
                }
                // One file of many is refused, not the launch.
                Err(InputError::Wrong(wrong)) if input.below && is_too_large(&wrong) => {
                    reading.gaps.extend(wrong.iter().map(|one| format!("`{}` is left out: {}", input.name, one.message)));
                }
                Err(InputError::Wrong(wrong)) => reading.wrong.extend(wrong),
            }
        }
        Ok(reading)
    }
}

/// Whether a file is a text that may be anything.
fn is_text(input: &InputFile) -> bool {
    Path::new(&input.name)
        .extension()
        .is_some_and(|suffix| suffix.eq_ignore_ascii_case("txt") || suffix.eq_ignore_ascii_case("log"))
}

/// Whether a file is refused for its size alone.
fn is_too_large(wrong: &Diagnostics) -> bool {
    wrong.iter().all(|one| matches!(one.known(), Some(Code::IngestTooLarge | Code::IngestTooDeep)))
}

/// Describes what a file is instead of a launch.
fn other(input: &InputFile, wrong: &Diagnostics) -> String {
    wrong.iter().next().map_or_else(|| input.name.clone(), |first| first.message.clone())
}

fn shortened(mut names: Vec<String>) -> Vec<String> {
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    if more > 0 {
        names.push(format!("{more} more files that are not test reports"));
    }
    names
}
