//! Which findings of the failed steps are failures of their own, and their cases.

use super::super::launch_builder::{LaunchBuilder, TestRecord, error_text};
use super::super::{cut, texts};
use super::JobStep;
use super::tool::{Finding, ProblemKind};
use super::tools::TOOLS;
use asterisk_base::model::{CiSystem, TestOutcome};
use asterisk_diag::counted;
use std::collections::BTreeMap;

/// The maximum number of further errors of the same cause in the text of a case.
const MAX_FOLLOWERS: usize = 20;

/// The maximum bytes of a name made of a message.
const MAX_NAME: usize = 160;

/// A failure with the findings that follow from it or repeat it.
struct RootFinding<'f> {
    finding: &'f Finding,
    followers: Vec<&'f Finding>,
}

fn kind(finding: &Finding) -> ProblemKind {
    finding.kind
}

/// Adds the cases of failed steps.
pub(super) fn add_cases(builder: &mut LaunchBuilder, steps: &[&JobStep], system: CiSystem) {
    let mut kinds: Vec<ProblemKind> = steps.iter().flat_map(|step| step.scanned.findings.iter().map(kind)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut found = 0;
    let mut conditions: Vec<ProblemKind> = Vec::new();
    for step in steps {
        let mut roots = roots(&step.scanned.findings, &kinds);
        // What ended the job is one failure, however many steps it was reported in.
        roots.retain(|root| {
            let is_known = conditions.contains(&kind(root.finding));
            conditions.extend(kind(root.finding).is_outside().then_some(kind(root.finding)));
            !is_known
        });
        let tests = step.scanned.findings.iter().filter(|finding| kind(finding) == ProblemKind::Test).count() + step.scanned.more;
        let declared = step.scanned.declared.unwrap_or(0);
        if declared > tests as u64 {
            let what = format!(
                "the log declares {}, and shows {tests}",
                counted(usize::try_from(declared).unwrap_or(usize::MAX), "failed test", "failed tests")
            );
            builder.launch().gap(what);
        }
        for root in &roots {
            builder.add(record(root, step));
        }
        found += roots.len();
    }
    // A step that failed without saying why.
    let silent = steps.iter().rev().find(|step| step.exit.is_some() || !step.errors.is_empty());
    if found == 0
        && let Some(step) = silent.or(steps.last().filter(|_| system != CiSystem::Plain))
    {
        builder.add(silent_record(step));
    }
}

/// The findings of a step that are failures of their own. `kinds` are those of all failed steps.
fn roots<'f>(findings: &'f [Finding], kinds: &[ProblemKind]) -> Vec<RootFinding<'f>> {
    let has = |wanted: &[ProblemKind]| kinds.iter().any(|kind| wanted.contains(kind));
    let is_specific = kinds.iter().any(|kind| !matches!(kind, ProblemKind::Command | ProblemKind::Cancelled));
    let is_outside = kinds.iter().any(|kind| kind.is_outside() && *kind != ProblemKind::Cancelled);
    let links = findings.iter().filter(|finding| kind(finding) == ProblemKind::Link).count();
    let counts = |finding: &&Finding| match kind(finding) {
        ProblemKind::Command | ProblemKind::Cancelled if is_specific => false,
        // What ran in the image failed.
        ProblemKind::Image => {
            !is_outside
                && !has(&[ProblemKind::Test, ProblemKind::Compile, ProblemKind::Dependency, ProblemKind::Lint, ProblemKind::Link])
        }
        ProblemKind::Dependency | ProblemKind::Checkout | ProblemKind::Artifact => {
            let is_follower = kind(finding) == ProblemKind::Artifact && kinds.len() > 1;
            !(is_outside || is_follower || has(&[ProblemKind::Credentials]) && kind(finding) != ProblemKind::Checkout)
        }
        // A checkout that was refused.
        ProblemKind::Credentials => TOOLS[finding.tool].name != "ssh" || !has(&[ProblemKind::Checkout]),
        // A compiler that only says that the linker failed.
        ProblemKind::Link => !(TOOLS[finding.tool].name == "rustc" && links > 1),
        // A package that did not build, whose errors are there.
        ProblemKind::Test => {
            !(finding.name == "build" && finding.is_error && has(&[ProblemKind::Compile, ProblemKind::Dependency]))
        }
        _ => true,
    };
    let findings: Vec<&Finding> = findings.iter().filter(counts).collect();
    let mut roots: Vec<RootFinding<'f>> = Vec::new();
    for finding in findings {
        // A failed test follows from nothing.
        let first = (finding.kind != ProblemKind::Test).then(|| roots.iter().position(|root| follows(finding, root)));
        match first.flatten() {
            Some(index) => roots[index].followers.push(finding),
            None => roots.push(RootFinding { finding, followers: Vec::new() }),
        }
    }
    drop_parents(&mut roots);
    roots
}

/// Words of an error about a name that does not exist.
const MISSING: [&str; 14] = [
    "undeclared",
    "not declared",
    "undefined",
    "unknown",
    "cannot find",
    "not found",
    "does not exist",
    "no such",
    "unresolved",
    "has no member",
    "not in scope",
    "does not name a type",
    "incomplete type",
    "Cannot resolve",
];

/// Words of an error after which the parser is out of step.
const SYNTAX: [&str; 6] = ["expected ", "syntax error", "unterminated", "unexpected ", "unmatched", "missing "];

/// Words of an error about something that could not be imported.
const IMPORTS: [&str; 6] =
    ["package ", "Cannot find module", "unresolved import", "No such file or directory", "file not found", "No module named"];

/// Words of an error about a name that an import may have been meant to bring.
const NAMES: [&str; 9] = [
    "cannot find symbol",
    "undeclared",
    "not declared",
    "unknown type",
    "Cannot find name",
    "undefined: ",
    "does not name a type",
    "not found in this scope",
    "failed to resolve",
];

/// How far behind a syntax error its followers are, in lines.
const NEAR: u32 = 3;

/// Whether a finding is the same failure as another one, or follows from it.
fn follows(finding: &Finding, root: &RootFinding<'_>) -> bool {
    let first = root.finding;
    let (tool, other) = (TOOLS[finding.tool], TOOLS[first.tool]);
    match finding.kind {
        ProblemKind::Test => false,
        ProblemKind::Compile | ProblemKind::Link => {
            if finding.kind != first.kind {
                return false;
            }
            if message_key(finding) == message_key(first) {
                return true;
            }
            if finding.file != first.file || finding.file.is_none() || finding.kind == ProblemKind::Link {
                return false;
            }
            let last = root.followers.last().map_or(first, |last| last);
            let is_near = finding.line.zip(last.line).is_some_and(|(own, last)| own.abs_diff(last) <= NEAR);
            let is_out_of_step = SYNTAX.iter().any(|word| first.message.contains(word)) && is_near;
            let is_missing = MISSING.iter().any(|word| first.message.contains(word))
                && quoted(&first.message).any(|name| {
                    finding.message.contains(name) || finding.text.lines().next().is_some_and(|line| line.contains(name))
                });
            let is_said = std::iter::once(&first).chain(&root.followers).any(|own| own.line == finding.line);
            // What an import was to bring is missing everywhere.
            let is_import = IMPORTS.iter().any(|word| first.message.contains(word))
                && NAMES.iter().any(|word| finding.message.contains(word));
            is_said || is_out_of_step || is_missing || is_import
        }
        ProblemKind::Lint => finding.kind == first.kind && tool.name == other.name,
        kind => kind == first.kind,
    }
}

/// What an error says, wherever it says so.
fn message_key(finding: &Finding) -> (&str, &str, &str) {
    // javac names what it did not find in a line of its own.
    let symbol = finding
        .text
        .lines()
        .map(|line| line.trim_start_matches("[ERROR]").trim())
        .find(|line| line.starts_with("symbol:"))
        .unwrap_or_default();
    (&finding.code, &finding.message, symbol)
}

/// The names in quotes in a message.
fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message
        .split(['\'', '"', '`', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}'])
        .skip(1)
        .step_by(2)
        .filter(|name| name.len() > 1)
}

/// Drops tests that failed only because of their subtests: `TestCart` next to `TestCart/empty`.
fn drop_parents(roots: &mut Vec<RootFinding<'_>>) {
    let mut parents: BTreeMap<(usize, String), bool> = BTreeMap::new();
    for root in roots.iter().filter(|root| kind(root.finding) == ProblemKind::Test) {
        for (at, _) in root.finding.name.match_indices('/') {
            parents.insert((root.finding.tool, root.finding.name[..at].to_owned()), true);
        }
    }
    roots.retain(|root| {
        !(parents.contains_key(&(root.finding.tool, root.finding.name.clone())) && TOOLS[root.finding.tool].name == "go test")
    });
}

/// The message of a finding on one line.
fn headline(finding: &Finding) -> String {
    // Package managers put themselves before each line.
    let own = |line: &str| {
        ["npm error ", "npm ERR! "].iter().fold(line.trim().to_owned(), |line, mark| line.trim_start_matches(mark).to_owned())
    };
    let message = if finding.message.is_empty() {
        finding.text.lines().map(own).find(|line| !line.is_empty()).unwrap_or_else(|| own(&finding.head))
    } else {
        finding.message.clone()
    };
    let line = match finding.code.as_str() {
        code if code.is_empty() || message.starts_with(code) => message,
        code => format!("{code}: {message}"),
    };
    line[..cut::floor(&line, MAX_NAME)].to_owned()
}

fn record(root: &RootFinding<'_>, step: &JobStep) -> TestRecord {
    let finding = root.finding;
    let tool = TOOLS[finding.tool];
    let mut record = if finding.kind == ProblemKind::Test {
        let outcome = if finding.is_error { TestOutcome::Error } else { TestOutcome::Failed };
        TestRecord::new(&finding.suite, &finding.name, outcome)
    } else {
        TestRecord::fixture(step.title(), &headline(finding))
    };
    let placed = std::iter::once(&finding).chain(&root.followers).find(|own| own.file.is_some()).unwrap_or(&finding);
    record.file.clone_from(&placed.file);
    record.set("kind", finding.kind.name());
    record.set("tool", tool.name);
    record.set("task", Some(finding.task.as_str()).filter(|task| !task.is_empty()));
    if let Some(line) = placed.line {
        record.set("line", line.to_string().as_str());
    }
    place(&mut record, step);
    record.error = if finding.kind == ProblemKind::Test {
        let text = error_text(&finding.message, &finding.text);
        if text.trim().is_empty() { finding.head.trim().to_owned() } else { text }
    } else {
        error(root)
    };
    if finding.kind != ProblemKind::Test {
        record.log = tail(step);
    }
    record
}

fn place(record: &mut TestRecord, step: &JobStep) {
    record.set("step", Some(texts::one_line(step.title())).as_deref().filter(|title| !title.is_empty()));
    record.set("exit_code", step.exit.map(|code| code.to_string()).as_deref());
    record.started_at = step.started_at;
}

/// The text of a finding other than a test, with the first of those that follow from it.
fn error(root: &RootFinding<'_>) -> String {
    let own = |finding: &Finding| format!("{}\n{}", finding.head.trim_end(), finding.text.trim_end()).trim_end().to_owned();
    let mut text = own(root.finding);
    for finding in root.followers.iter().take(MAX_FOLLOWERS) {
        text.push('\n');
        text.push_str(finding.head.trim_end());
    }
    if root.followers.len() > MAX_FOLLOWERS {
        text.push('\n');
        text.push_str(&counted(root.followers.len() - MAX_FOLLOWERS, "more error", "more errors"));
    }
    text
}

fn tail(step: &JobStep) -> String {
    step.tail.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The case of a step that failed without a known message: by its exit code, or the last line that reads like an error.
fn silent_record(step: &JobStep) -> TestRecord {
    let (kind, by_code) = match step.exit {
        Some(137) => (ProblemKind::Memory, Some("killed (exit code 137)")),
        Some(124) => (ProblemKind::Timeout, Some("timed out (exit code 124)")),
        Some(143) => (ProblemKind::Runner, Some("terminated (exit code 143)")),
        _ => (ProblemKind::Command, None),
    };
    let is_error = |line: &&String| {
        let line = line.trim_start().to_ascii_lowercase();
        ["error", "fatal", "failed", "failure", "panic", "exception", "abort", "e: ", "cannot ", "could not ", "unable to "]
            .iter()
            .any(|word| line.starts_with(word) || line.contains(&format!(": {word}")) || line.contains(&format!(" {word}:")))
    };
    let message = by_code.map(str::to_owned).or_else(|| step.errors.first().cloned());
    let message = message.or_else(|| step.tail.iter().rev().find(is_error).cloned());
    let exit = step.exit.map_or_else(|| "failed".to_owned(), |code| format!("exit code {code}"));
    let message = message.unwrap_or(exit);
    let mut record = TestRecord::fixture(step.title(), &message[..cut::floor(&message, MAX_NAME)]);
    record.set("kind", kind.name());
    place(&mut record, step);
    record.error = match step.exit {
        Some(code) if by_code.is_none() => format!("{}\nthe step ended with exit code {code}", message.trim()),
        _ => message.trim().to_owned(),
    };
    record.log = tail(step);
    record
}
