//! Reads inputs one after another, each freed before the next, and merges them into one launch.

use super::allure::AllureResults;
use super::detect;
use super::job_log::{self, LogBaseline};
use super::logs::ItemLogs;
use super::part::InputPart;
use super::room::TextRoom;
use super::stream::Stream;
use super::unique::Ids;
use super::{TextLimits, decode, formats, merge, texts};
use asterisk_base::model::{Attributes, Hash, Launch, TestOutcomes};
use asterisk_diag::{Code, Diagnostic, Diagnostics, Source, hide_secrets};
use asterisk_evidence::Masker;
use std::borrow::Cow;
use std::io::{self, BufReader, Read, Seek as _, Write as _};
use std::sync::Arc;

/// The maximum size of an input, in bytes.
pub const MAX_BYTES: u64 = 1 << 30;

/// Inputs up to this size, in bytes, are held in memory, so that errors can be located.
const HELD: u64 = 4 << 20;

/// The format is checked on this many bytes before more is read: devices have no end.
const HEAD: u64 = 64 << 10;

/// The read buffer, in bytes.
const BUFFER: usize = 256 << 10;

/// Collects the launches of several inputs and merges them.
///
/// ```text
/// bytes -decode-> Source -detect-> format -formats-> Part -merge-> Launch
///   `- large ones: Stream ----------^
/// ```
#[derive(Debug, Default)]
pub struct LaunchMerger {
    room: TextRoom,
    parts: Vec<InputPart>,
    logs: ItemLogs,
    allure: AllureResults,
    notes: Vec<String>,
    /// Whether the inputs were found, not named.
    is_found: bool,
}

impl LaunchMerger {
    /// An empty merger.
    pub fn new(limits: TextLimits) -> Self {
        Self { room: TextRoom::new(limits), ..Self::default() }
    }

    /// Masks secrets and personal data in all texts read from now on.
    #[must_use]
    pub fn masking(mut self, masker: Arc<Masker>) -> Self {
        self.room.masker = masker;
        self
    }

    /// Leaves out, from job logs read from now on, what these logs of jobs that passed also say.
    #[must_use]
    pub fn compared_to(mut self, logs: &[String]) -> Self {
        let mut baseline = LogBaseline::default();
        for log in logs {
            baseline.add(log);
        }
        self.room.baseline = Arc::new(baseline);
        self
    }

    /// Whether the next inputs were found in a directory: then a text in which only single lines read like errors is no job log.
    pub fn set_found(&mut self, is_found: bool) {
        self.is_found = is_found;
    }

    /// The number of launches read.
    pub fn len(&self) -> usize {
        self.parts.len() + self.allure.len()
    }

    /// Whether no launch was read yet. Log entries do not count.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.allure.is_empty()
    }

    /// Reads a text. The error lists everything that is wrong with it, each problem with its location.
    pub fn add(&mut self, source: &Source) -> Result<(), Diagnostics> {
        let format = detect::detect(source).and_then(|format| {
            let is_none = self.is_found && std::ptr::eq(format, formats::JOB_LOG) && !job_log::is_certain(source.text());
            if is_none { Err(detect::plain_text(source)) } else { Ok(format) }
        });
        let read = format.map_err(Diagnostics::from).and_then(|format| formats::read(format, source, &self.room));
        let mut part = read.map_err(hide_secrets)?;
        if source.text().contains(char::REPLACEMENT_CHARACTER) {
            let note = "some bytes are invalid in the text's encoding; replaced by `\u{fffd}`";
            part.launch.notes.push(note.to_owned());
        }
        self.add_part(source.name(), part, || Hash::of(source.text().as_bytes()));
        Ok(())
    }

    /// Reads an input, a large one without holding it. `open` starts at its first byte each time. Only if something is wrong is
    /// it read as a whole, to locate the errors.
    pub fn add_input<R: Read>(
        &mut self,
        name: &str,
        size: Option<u64>,
        mut open: impl FnMut() -> io::Result<R>,
    ) -> Result<(), InputError> {
        if size.is_some_and(|size| size > MAX_BYTES) {
            return Err(InputError::Wrong(too_large(name).into()));
        }
        let Some(size) = size else { return self.add_pipe(name, open()?) };
        if size <= HELD {
            return self.add_whole(name, size, open()?);
        }
        let mut head = Vec::new();
        open()?.take(HEAD).read_to_end(&mut head)?;
        refuse_head(name, &head)?;
        match self.read_large(name, &head, open()?) {
            Some(part) => {
                self.take(part);
                Ok(())
            }
            None => self.add_whole(name, size, open()?),
        }
    }

    /// Reads an input that can be read only once. A large one is spooled to an unnamed temporary file.
    fn add_pipe(&mut self, name: &str, mut input: impl Read) -> Result<(), InputError> {
        let mut bytes = Vec::new();
        input.by_ref().take(HEAD).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == HEAD {
            refuse_head(name, &bytes)?;
        }
        input.by_ref().take(HELD + 1 - bytes.len() as u64).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= HELD {
            return self.add_bytes(name, bytes);
        }
        let mut file = tempfile::tempfile()?;
        file.write_all(&bytes)?;
        let size = bytes.len() as u64 + io::copy(&mut input.take(MAX_BYTES + 1 - bytes.len() as u64), &mut file)?;
        bytes.truncate(usize::try_from(HEAD).unwrap_or(usize::MAX));
        let head = bytes;
        if size > MAX_BYTES {
            return Err(InputError::Wrong(too_large(name).into()));
        }
        file.rewind()?;
        if let Some(part) = self.read_large(name, &head, &file) {
            self.take(part);
            return Ok(());
        }
        file.rewind()?;
        self.add_whole(name, size, file)
    }

    fn add_whole(&mut self, name: &str, size: u64, input: impl Read) -> Result<(), InputError> {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        input.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(InputError::Wrong(too_large(name).into()));
        }
        self.add_bytes(name, bytes)
    }

    fn add_bytes(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), InputError> {
        let source = decode(name, bytes).map_err(InputError::Wrong)?;
        self.add(&source).map_err(InputError::Wrong)
    }

    /// The launch of a stream; `None` if anything is wrong with it, or if it has to be decoded.
    fn read_large(&self, name: &str, head: &[u8], input: impl Read) -> Option<InputPart> {
        let format = detect::of_head(head)?;
        let mut stream = BufReader::with_capacity(BUFFER, Stream::new(input));
        // A name without a text: errors have no location.
        let source = Source::new(name, String::new());
        if self.is_found && std::ptr::eq(format, formats::JOB_LOG) && !job_log::is_certain(&String::from_utf8_lossy(head)) {
            return None;
        }
        let mut part = formats::read_stream(format, &mut stream, &source, &self.room).ok()?;
        let stream = stream.into_inner();
        name.clone_into(&mut part.name);
        complete(&mut part, || stream.hash());
        Some(part)
    }

    fn add_part(&mut self, name: &str, mut part: InputPart, hash: impl FnOnce() -> Hash) {
        name.clone_into(&mut part.name);
        complete(&mut part, hash);
        self.take(part);
    }

    fn take(&mut self, mut part: InputPart) {
        if let Some(file) = part.allure.take() {
            self.allure.add(&part.name, file);
        } else if let Some(logs) = part.logs.take() {
            self.logs.extend(logs);
        } else if part.is_notes {
            self.notes.append(&mut part.launch.notes);
        } else {
            self.parts.push(part);
        }
    }

    /// Merges all inputs into one launch, with the log entries that were given next to it.
    pub fn finish(self) -> Launch {
        let mut parts = self.parts;
        parts.extend(self.allure.into_parts(&self.room));
        let lists_all = parts.is_empty() || parts.iter().any(|part| !part.only_failures);
        // A log next to reports of the same job adds to them.
        let (mut logs, reports): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| part.is_job_log);
        job_log::name_jobs(&mut logs);
        let mut launch = if reports.is_empty() {
            merge::merge(logs)
        } else {
            let only = (reports.len() == 1).then(|| reports[0].name.clone());
            let mut launch = merge::merge(reports);
            job_log::join(&mut launch, only.as_deref(), logs, &self.room);
            launch
        };
        launch.notes.extend(self.notes);
        self.logs.apply(&mut launch, &self.room);
        launch.outcomes.settle();
        if launch.outcomes.is_over() {
            launch.notes.push(format!("more than {} tests: the others have no history", TestOutcomes::MAX));
        }
        if launch.cases.is_empty() {
            let among = launch.totals.get("total").map_or("in this launch".to_owned(), |total| format!("among {total}"));
            let is_shown = launch.status.as_deref() == Some("PASSED")
                && launch.attributes.get("report_format") == Some(job_log::FORMAT.name);
            let is_empty = launch.totals.get("total").is_none_or(|total| *total == 0);
            if lists_all && is_empty && !is_shown {
                launch.status = None;
                launch.gap("no test is listed: the tests may not have run".to_owned());
            } else {
                launch.notes.push(format!("no failed test {among}"));
            }
        }
        bound_notes(&mut launch.notes);
        bound_notes(&mut launch.gaps);
        mask_fields(&mut launch, &self.room.masker);
        launch
    }
}

/// The maximum number of notes of a launch: they are part of every prompt.
const MAX_NOTES: usize = 50;

/// Counts the notes beyond [`MAX_NOTES`].
fn bound_notes(notes: &mut Vec<String>) {
    if notes.len() > MAX_NOTES {
        let more = notes.split_off(MAX_NOTES - 1).len();
        notes.push(format!("{more} more notes"));
    }
}

/// Masks and bounds every field of a launch except the texts of cases, which were masked before they were cut. The name of an attribute
/// may say that its value is a secret.
fn mask_fields(launch: &mut Launch, masker: &Masker) {
    let field = |text: &mut String| {
        if let Cow::Owned(masked) = masker.mask(text) {
            *text = masked;
        }
        if text.len() > texts::MAX_FIELD {
            *text = texts::bounded(std::mem::take(text));
        }
    };
    let attributes = |attributes: &mut Attributes| {
        let masked = attributes.iter().filter_map(|(name, value)| {
            let (line, head) = (format!("{name}={value}"), name.len() + 1);
            let masked = masker.mask(&line);
            let shown = masked.strip_prefix(&line[..head]).unwrap_or(&masked).to_owned();
            (shown != value).then(|| (name.to_owned(), shown))
        });
        for (name, value) in masked.collect::<Vec<_>>() {
            attributes.insert(name, value);
        }
    };
    let Launch { run_id, name, status, git, notes, gaps, .. } = launch;
    [run_id, name].into_iter().chain(notes).chain(gaps).for_each(field);
    [status, &mut git.branch, &mut git.commit, &mut git.remote].into_iter().flatten().for_each(field);
    attributes(&mut launch.attributes);
    let mut ids = Ids::default();
    for case in &mut launch.cases {
        [&mut case.id, &mut case.name, &mut case.status, &mut case.suite].into_iter().for_each(field);
        [&mut case.file, &mut case.source_defect].into_iter().flatten().for_each(field);
        // Two ids may have differed in their secrets alone.
        case.id = ids.take(&case.id);
        attributes(&mut case.attributes);
    }
}

/// Why an input could not be read.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// An I/O error.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not a launch, or it is invalid.
    #[error("{0}")]
    Wrong(Diagnostics),
}

/// Words by which an invalid text is recognised as a launch.
const MARKS: [&str; 11] = [
    "<testsuite",
    "\"failure_list\"",
    "\"launchId\"",
    "\"failure_lis",
    "<TestRun",
    "<test-run",
    "<test-results",
    "<assemblies",
    "<testng-results",
    "<robot",
    "\"historyId\"",
];

/// Whether an input is not a launch at all: another format, empty, or invalid without anything in it that a launch would have.
pub fn is_not_a_launch(found: &Diagnostics) -> bool {
    found.iter().all(|one| match one.known() {
        Some(Code::IngestFormat | Code::IngestEmpty) => true,
        Some(
            Code::IngestJsonSyntax | Code::IngestXmlSyntax | Code::IngestDoctype | Code::IngestTruncated | Code::IngestTooDeep,
        ) => {
            let text = one.primary().map_or("", |label| label.source.text());
            !MARKS.iter().any(|mark| text.contains(mark)) && detect::by_signs(text.as_bytes()).is_none()
        }
        _ => false,
    })
}

/// Sets a missing id from the hash and a missing name from the input.
fn complete(part: &mut InputPart, hash: impl FnOnce() -> Hash) {
    if part.launch.run_id.is_empty() {
        part.launch.run_id = hash().short();
    }
    if part.launch.name.is_empty() {
        part.launch.name.clone_from(&part.name);
    }
}

/// Rejects an input whose first bytes are binary, or text that no launch begins with.
fn refuse_head(name: &str, head: &[u8]) -> Result<(), InputError> {
    if detect::of_head(head).is_some() || head.iter().all(u8::is_ascii_whitespace) {
        return Ok(());
    }
    let source = decode(name, head).map_err(InputError::Wrong)?;
    if detect::may_be_a_log(&source) {
        return Ok(());
    }
    detect::detect(&source).map(drop).map_err(|refusal| InputError::Wrong(refusal.into()))
}

fn too_large(name: &str) -> Diagnostic {
    Diagnostic::error(Code::IngestTooLarge, format!("{name} has more than {} MiB", MAX_BYTES >> 20))
        .help("pass the failed tests only, without attachments, or in several files")
}
