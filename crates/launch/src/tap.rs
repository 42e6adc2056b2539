//! Reads TAP, versions 12 to 14: test points, subtests, YAML diagnostics, and the comments that Perl, Bats and others write
//! instead.
//!
//! A test that failed because of its subtests is not a separate failure. Points marked `SKIP` or `TODO` are skipped. A script that
//! died, or ran fewer tests than it planned, is a case of its own.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::lines::{LineReader, push_bounded};
use super::tap_diagnostics::TapDiagnostics;
use super::tap_lines::{TapPoint, heading, is_skipped, plan, point};
use super::{InputPart, texts, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;

/// The maximum bytes of text kept around a test point.
const MAX_TEXT: usize = 64 << 10;

/// The maximum nesting of subtests.
const MAX_DEPTH: usize = 32;

/// What Perl prints about a script that could not be compiled, up to its file.
const ABORTED: &str = "BEGIN failed--compilation aborted at ";

/// Lines by which Perl's tools say that a script died, or ran another number of tests than it planned.
const DIED: [&str; 4] = [
    "# Looks like your test exited with ",
    "# Looks like you planned ",
    "# Looks like your test died ",
    "Dubious, test returned ",
];

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow { name: "TAP", signs: &[FormatSign::Line(is_tap)], is_json: false, read };

/// Whether a line is a TAP version, a plan or a numbered test point.
fn is_tap(line: &[u8]) -> bool {
    let number = |text: &[u8]| text.first().is_some_and(u8::is_ascii_digit);
    let point = line.strip_prefix(b"not ok ").or_else(|| line.strip_prefix(b"ok "));
    let point = point.is_some_and(|rest| {
        let word = rest.split(|byte| *byte == b' ').next().unwrap_or_default();
        !word.is_empty() && word.iter().all(u8::is_ascii_digit) || rest.starts_with(b"- ")
    });
    let plan = line.strip_prefix(b"1..").is_some_and(|rest| {
        let rest = rest.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
        number(rest) && rest.iter().all(u8::is_ascii_digit)
    });
    let has_died = [&b"Bail out!"[..], ABORTED.as_bytes()].iter().any(|start| line.starts_with(start));
    point || plan || has_died || line.strip_prefix(b"TAP version ").is_some_and(number)
}

/// Reads a TAP stream.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let name = input.source.name();
    let mut reader = TapReader {
        builder: input.builder(),
        file: String::new(),
        path: Vec::new(),
        failed_below: [false; MAX_DEPTH + 1],
        seen_below: [false; MAX_DEPTH + 1],
        pending: None,
        printed: String::new(),
        yaml: None,
        planned: None,
        seen: 0,
        bailed_out: false,
        died: String::new(),
        failed: false,
        input: texts::file_name(name).split('.').next().unwrap_or_default().to_owned(),
    };
    let mut lines = LineReader::new(input.stream);
    while let Some(line) = lines.next()? {
        reader.line(line.text, line.number);
    }
    Ok(reader.finish(name))
}

/// A test point whose diagnostics may follow.
struct PendingPoint {
    record: TestRecord,
    /// Whether its subtests failed.
    is_parent: bool,
    comments: String,
    yaml: String,
}

struct TapReader {
    builder: LaunchBuilder,
    /// The file whose points follow, from the headings of `prove -v`.
    file: String,
    /// The names of the open subtests.
    path: Vec<String>,
    /// Whether points deeper than this failed, or were seen, since the last one at this depth.
    failed_below: [bool; MAX_DEPTH + 1],
    seen_below: [bool; MAX_DEPTH + 1],
    pending: Option<PendingPoint>,
    /// The output since the last point.
    printed: String,
    /// The indent of the open YAML block.
    yaml: Option<usize>,
    planned: Option<u64>,
    seen: u64,
    bailed_out: bool,
    /// What was said about the end of the script, if it died.
    died: String,
    /// Whether a point of the script failed.
    failed: bool,
    /// The name of the input without its ending, the script's if there is no heading.
    input: String,
}

impl TapReader {
    fn line(&mut self, line: &str, number: usize) {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        if let Some(block) = self.yaml {
            if body.trim_end() == "..." && indent <= block {
                self.yaml = None;
                return;
            }
            // An unclosed block ends with the next point.
            if indent >= block || body.is_empty() {
                if let Some(pending) = &mut self.pending {
                    let own = line.get(block.min(indent)..).unwrap_or_default();
                    push_bounded(&mut pending.yaml, &format!("{own}\n"), MAX_TEXT);
                }
                return;
            }
            self.yaml = None;
            self.builder.damage.add(number, "a YAML block that is not closed ends here");
        }
        let depth = (indent / 4).min(MAX_DEPTH);
        if let Some(point) = point(body) {
            self.flush();
            self.point(&point, depth);
        } else if body.trim_end() == "---" && self.pending.is_some() {
            self.yaml = Some(indent);
        } else if let Some(reason) = body.strip_prefix("Bail out!") {
            self.flush();
            let mut record = TestRecord::fixture(&self.file, "Bail out!");
            record.error = format!("Bail out! {}", reason.trim());
            record.log = std::mem::take(&mut self.printed);
            self.builder.add(record);
            self.planned = None;
            self.bailed_out = true;
        } else if let Some(name) = body.strip_prefix("# Subtest:").or(body.strip_prefix("# Subtest ")) {
            self.flush();
            self.path.truncate(depth);
            self.path.push(texts::one_line(name));
        } else if let Some(plan) = plan(body) {
            self.flush();
            if depth == 0 {
                self.planned = Some(self.planned.unwrap_or(0).saturating_add(plan));
            }
        } else if DIED.iter().any(|start| body.starts_with(start)) {
            push_bounded(&mut self.died, &format!("{body}\n"), MAX_TEXT);
            body.strip_prefix('#').into_iter().for_each(|comment| self.comment(comment));
        } else if let Some(comment) = body.strip_prefix('#') {
            self.comment(comment);
        } else if body.starts_with("TAP version ") || body.starts_with("pragma ") {
            self.flush();
        } else if let Some(file) = heading(body) {
            self.flush();
            self.end_script();
            file.clone_into(&mut self.file);
        } else if !body.is_empty() {
            if let Some(file) = body.strip_prefix(ABORTED).and_then(|rest| rest.split(" line ").next()) {
                file.clone_into(&mut self.file);
                self.died.push_str("the script could not be compiled\n");
            }
            push_bounded(&mut self.printed, &format!("{line}\n"), MAX_TEXT);
        }
    }

    fn comment(&mut self, comment: &str) {
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.record.outcome.is_failure()) {
            push_bounded(&mut pending.comments, &format!("{}\n", comment.strip_prefix(' ').unwrap_or(comment)), MAX_TEXT);
        }
    }

    fn point(&mut self, point: &TapPoint<'_>, depth: usize) {
        let had_subtests = std::mem::take(&mut self.seen_below[depth]);
        let is_parent = std::mem::take(&mut self.failed_below[depth]) && !point.passed;
        for outer in 0..depth {
            self.seen_below[outer] = true;
            self.failed_below[outer] |= !point.passed && !is_skipped(point);
        }
        self.path.truncate(depth);
        self.seen += u64::from(depth == 0);
        let log = std::mem::take(&mut self.printed);
        self.failed |= !point.passed && !is_skipped(point);
        let outcome = match (point.passed, is_skipped(point)) {
            (_, true) => TestOutcome::Skipped,
            (true, _) => TestOutcome::Passed,
            (false, _) => TestOutcome::Failed,
        };
        // Passed subtests are counted themselves.
        if had_subtests && !outcome.is_failure() {
            return;
        }
        let name = if point.description.is_empty() { format!("test {}", point.number) } else { point.description.to_owned() };
        let mut path: Vec<&str> = self.path.iter().map(String::as_str).collect();
        if !self.file.is_empty() {
            path.insert(0, &self.file);
        }
        let mut record = TestRecord::new(&path.join(" > "), name.trim(), outcome);
        let took = point.directive.strip_prefix("time=").and_then(times::seconds);
        record.duration_s = took;
        record.log = log;
        if record.file.is_none() && !self.file.is_empty() {
            record.file = Some(self.file.clone());
        }
        self.pending = Some(PendingPoint { record, is_parent, comments: String::new(), yaml: String::new() });
    }

    /// Adds the pending point, whose diagnostics are complete.
    fn flush(&mut self) {
        self.yaml = None;
        let Some(PendingPoint { mut record, is_parent, comments, yaml }) = self.pending.take() else { return };
        let diagnostics = TapDiagnostics::read(&yaml);
        if is_parent && !matches!(diagnostics.failure_type.as_str(), "hookFailed" | "testCodeFailure") {
            self.builder.part.parents += 1;
            return;
        }
        record.duration_s = diagnostics.duration_s.or(record.duration_s);
        if record.outcome.is_failure() {
            diagnostics.fill(&mut record);
            if record.error.is_empty() {
                comments.trim_end().clone_into(&mut record.error);
            } else if !comments.trim().is_empty() {
                record.log = format!("{}{comments}", record.log);
            }
        }
        self.builder.add(record);
    }

    /// Ends a script. One that died is a failure, besides its failed tests.
    fn end_script(&mut self) -> Option<String> {
        let missing = self.planned.filter(|planned| *planned > self.seen);
        let missing = missing.map(|planned| format!("the plan has {planned} tests, but {} ran", self.seen));
        // The exit code of a script is the number of its failed tests.
        let has_died = self.died.lines().any(|line| !line.starts_with("Dubious") || !self.failed && !self.bailed_out);
        if missing.is_some() || has_died {
            let name = if self.file.is_empty() { self.input.clone() } else { self.file.clone() };
            let mut record = TestRecord::fixture("", &name);
            record.set("fixture", "script");
            record.file = Some(self.file.clone()).filter(|file| !file.is_empty());
            let reasons = [self.printed.trim(), missing.as_deref().unwrap_or_default(), self.died.trim()];
            let reasons: Vec<&str> = reasons.into_iter().filter(|reason| !reason.is_empty()).collect();
            record.error = reasons.join("\n");
            self.builder.add(record);
        }
        self.path.clear();
        self.printed.clear();
        self.died.clear();
        self.failed = false;
        (self.planned, self.seen) = (None, 0);
        missing
    }

    fn finish(mut self, input: &str) -> InputPart {
        let in_yaml = self.yaml.is_some();
        self.flush();
        let (planned, seen) = (self.planned, self.seen);
        let missing = self.end_script();
        match planned {
            _ if missing.is_some() => self.builder.cut_off(missing.unwrap_or_default()),
            _ if in_yaml => self.builder.cut_off("the stream ends within a YAML block".to_owned()),
            // All producers write a plan, before their tests or after them.
            None if seen > 0 && !self.bailed_out => {
                self.builder.cut_off("the stream has no plan (1..N): tests may be missing at its end".to_owned());
            }
            _ => {}
        }
        self.builder.finish(input)
    }
}
