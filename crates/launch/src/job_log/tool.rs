//! Tools whose output is recognised on a console, each a row of patterns.

use regex::{Captures, Regex};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProblemKind {
    Test,
    Compile,
    Link,
    Lint,
    Dependency,
    Image,
    Gate,
    Credentials,
    Checkout,
    Artifact,
    Memory,
    Disk,
    Timeout,
    Cancelled,
    Runner,
    Command,
}

impl ProblemKind {
    /// Its name in the attribute `kind` of a case.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Compile => "compile",
            Self::Link => "link",
            Self::Lint => "lint",
            Self::Dependency => "dependency",
            Self::Image => "image",
            Self::Gate => "gate",
            Self::Credentials => "credentials",
            Self::Checkout => "checkout",
            Self::Artifact => "artifact",
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Runner => "runner",
            Self::Command => "command",
        }
    }

    /// Whether it may end any job, whatever its commands do.
    pub(super) fn is_outside(self) -> bool {
        matches!(self, Self::Memory | Self::Disk | Self::Timeout | Self::Cancelled | Self::Runner)
    }
}

/// A tool, by what it prints.
pub(super) struct Tool {
    /// Its name in reports.
    pub(super) name: &'static str,
    pub(super) kind: ProblemKind,
    /// Whether it runs other tools' tests, and prints what these say.
    pub(super) is_wrapper: bool,
    pub(super) patterns: &'static [LinePattern],
    /// Completes a failure from its whole text.
    pub(super) shape: fn(&mut Finding),
}

/// A line of a tool. The named groups `name`, `suite`, `file`, `line`, `code`, `message` and, in totals, `failed` and `errors`
/// are taken from it.
pub(super) struct LinePattern {
    /// Anchored at the start of the line.
    pub(super) regex: &'static str,
    pub(super) does: Does,
}

/// What a matching line does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    /// The tool lists its failures from here on.
    Arm,
    /// The list or the output of the tool ends here.
    Disarm,
    /// A failure begins.
    Failure(Extent),
    /// A failure begins if the tool lists failures.
    Listed(Extent),
    /// A failure begins, unless this is within the text of another one.
    Outside(Extent),
    /// Both: the tool lists failures, and this is not within the text of another one.
    ListedOutside(Extent),
    /// What follows, up to the next failure, belongs to that failure.
    Lead,
    /// Adds to a failure of that name, or is one if there is none.
    Summary,
    /// What follows belongs to this file or suite.
    Context,
    /// The failures before belong to this suite.
    Belongs,
    /// A test begins; if it does not end, it failed.
    Begun,
    /// The same, unless this is within the text of a failure.
    BegunOutside,
    /// A test ended well.
    Over,
    /// A test failed only at first.
    Flaky,
    /// The same, if the tool lists such tests.
    FlakyListed,
    /// Numbers of failures.
    Totals,
}

/// Where the text of a failure ends, unless a line of the tool ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// With the next line of the tool that says anything.
    Section,
    /// Before a line that is indented no more than the first one.
    Dedent,
    /// With the first line that is indented no more than the first one.
    Through,
    /// At a blank line.
    Blank,
    /// It is a single line.
    Line,
}

thread_local! {
    /// The patterns of places, compiled once.
    static PLACES: RefCell<HashMap<&'static str, Option<Regex>>> = RefCell::default();
}

/// A failure on a console.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) tool: usize,
    pub(super) kind: ProblemKind,
    pub(super) name: String,
    pub(super) suite: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) code: String,
    pub(super) message: String,
    /// The lines after the first one.
    pub(super) text: String,
    /// The first line.
    pub(super) head: String,
    /// The task that printed it, if several were run at once.
    pub(super) task: String,
    /// The number of its first line in the log.
    pub(super) at: usize,
    /// Whether it was only named in a summary so far.
    pub(super) is_summary: bool,
    /// Whether the test did not fail by an assertion: a set-up, a crash, a file that did not load.
    pub(super) is_error: bool,
    /// Set by [`Tool::shape`] if this is not a failure after all.
    pub(super) is_none: bool,
}

impl Finding {
    /// From a line that matched.
    pub(super) fn of(tool: usize, kind: ProblemKind, head: &str, at: usize, groups: &Captures<'_>) -> Self {
        let group = |name: &str| groups.name(name).map_or("", |found| found.as_str().trim()).to_owned();
        Self {
            tool,
            kind,
            name: group("name"),
            suite: group("suite"),
            file: Some(group("file")).filter(|file| !file.is_empty()),
            line: group("line").parse().ok(),
            code: group("code"),
            message: group("message"),
            text: String::new(),
            head: head.to_owned(),
            task: String::new(),
            at,
            is_summary: false,
            is_error: false,
            is_none: false,
        }
    }

    /// Takes a place from the first or last line of the text that matches, with the groups `file` and `line`.
    pub(super) fn place_from(&mut self, regex: &'static str, last: bool) {
        PLACES.with_borrow_mut(|known| {
            let Some(regex) = known.entry(regex).or_insert_with(|| Regex::new(regex).ok()) else { return };
            let mut all = self.text.lines().filter_map(|line| regex.captures(line));
            let Some(found) = (if last { all.next_back() } else { all.next() }) else { return };
            let file = found.name("file").map(|file| file.as_str().to_owned());
            let line = found.name("line").and_then(|line| line.as_str().parse().ok());
            (self.file, self.line) = (file, line);
        });
    }
}

/// A pattern with its tool, compiled when it first matches.
pub(super) struct CompiledPattern {
    pub(super) tool: usize,
    pub(super) pattern: &'static LinePattern,
    regex: OnceLock<Option<Regex>>,
}

impl CompiledPattern {
    pub(super) fn new(tool: usize, pattern: &'static LinePattern) -> Self {
        Self { tool, pattern, regex: OnceLock::new() }
    }

    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| Regex::new(self.pattern.regex).ok()).as_ref()
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    pub(super) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.regex()?.captures(text)
    }
}
